package snapshot

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// The schema of the format: SF "Field Definitions" and the optional members that
// docs/format.md adds. Documents and records have their members in the order of SF, all
// else is in canonical order (design R2).

var documentObject = object[document]{
	members: []member[document]{
		field("version", required, version, func(d *document) *string { return &d.Version }),
		field("snapshots", required, list(recordObject.codec()), func(d *document) *[]record { return &d.records }),
		field("hash", required, hash, func(d *document) *canon.Hash { return &d.Hash }),
	},
	check: (*cursor).checkDocument,
}

var recordObject = object[record]{
	members: []member[record]{
		sealed(0, field("id", required, nonEmpty, func(r *record) *string { return &r.ID })),
		sealed(1, field("timestamp", required, timestamp, func(r *record) *time.Time { return &r.Timestamp })),
		sealed(2, field("source", required, sourceObject.codec(), func(r *record) *Source { return &r.Source })),
		sealed(3, field("request", required, requestObject.codec(), func(r *record) *Request { return &r.Request })),
		sealed(4, field("response", required, responseObject.codec(), func(r *record) *Response { return &r.Response })),
		field("hash", required, hash, func(r *record) *canon.Hash { return &r.Hash }),
	},
	check: (*cursor).checkRecord,
}

var sourceObject = object[Source]{
	members: []member[Source]{
		field("file", required, sourcePath, func(s *Source) *string { return &s.File }),
		field("function", required, nonEmpty, func(s *Source) *string { return &s.Function }),
		field("ignored", ifAny, list(pointerText), func(s *Source) *[]string { return &s.Ignored }),
		field("line", required, integer[int](1), func(s *Source) *int { return &s.Line }),
		field("nondeterministic", ifAny, text, func(s *Source) *string { return &s.Nondeterministic }),
		field("ordinal", ifAny, integer[int](0), func(s *Source) *int { return &s.Ordinal }),
		field("package", ifAny, text, func(s *Source) *string { return &s.Package }),
		field("test", ifAny, text, func(s *Source) *string { return &s.Test }),
	},
}

var requestObject = object[Request]{
	members: []member[Request]{
		field("api", ifAny, text, func(r *Request) *string { return &r.API }),
		field("blobs", ifAny, list(hash), func(r *Request) *[]canon.Hash { return &r.Blobs }),
		field("call_ids", ifAny, mapOf(text), func(r *Request) *map[string]string { return &r.CallIDs }),
		field("frequency_penalty", ifAny, optional(number), func(r *Request) **Number { return &r.FrequencyPenalty }),
		field("max_tokens", nullable, optional(number), func(r *Request) **Number { return &r.MaxTokens }),
		messagesMember,
		field("model", required, text, func(r *Request) *string { return &r.Model }),
		field("presence_penalty", ifAny, optional(number), func(r *Request) **Number { return &r.PresencePenalty }),
		field("prompt", ifAny, optional(text), func(r *Request) **string { return &r.Prompt }),
		field("prompt_hash", ifAny, hash, func(r *Request) *canon.Hash { return &r.PromptHash }),
		field("provider_options", ifAny, mapOf(anyValue), func(r *Request) *map[string]json.RawMessage { return &r.ProviderOptions }),
		field("seed", ifAny, optional(number), func(r *Request) **Number { return &r.Seed }),
		field("stop", ifAny, list(text), func(r *Request) *[]string { return &r.Stop }),
		field("temperature", nullable, optional(number), func(r *Request) **Number { return &r.Temperature }),
		field("tools", ifAny, list(rawObject), func(r *Request) *[]json.RawMessage { return &r.Tools }),
		field("top_p", ifAny, optional(number), func(r *Request) **Number { return &r.TopP }),
		field("wire_hash", ifAny, hash, func(r *Request) *canon.Hash { return &r.WireHash }),
	},
	// SF "Request Fields": messages, or prompt for completions.
	check: func(c *cursor, _ *Request, has func(string) bool) {
		switch messages, prompt := has("messages"), has("prompt"); {
		case messages && prompt:
			c.report(ruleValue, "must have messages or prompt, has both")
		case !messages && !prompt:
			c.report(ruleMissing, "is required, or prompt", "messages")
		}
	},
}

// messagesMember is absent where it is nil: no messages is a request too.
var messagesMember = func() member[Request] {
	messages := list(messageObject.codec())
	messages.empty = func(m []Message) bool { return m == nil }
	return field("messages", ifAny, messages, func(r *Request) *[]Message { return &r.Messages })
}()

var messageObject = object[Message]{
	members: []member[Message]{
		field("content", required, content, func(m *Message) *json.RawMessage { return &m.Content }),
		field("metadata", ifAny, rawObject, func(m *Message) *json.RawMessage { return &m.Metadata }),
		field("role", required, oneOf("system", "user", "model", "tool"), func(m *Message) *string { return &m.Role }),
	},
}

var finishReason = oneOf("stop", "length", "blocked", "other")

var responseObject = object[Response]{
	members: []member[Response]{
		field("candidates", ifAny, list(candidateObject.codec()), func(r *Response) *[]Candidate { return &r.Candidates }),
		field("content", required, text, func(r *Response) *string { return &r.Content }),
		field("error", ifAny, optional(errorObject.codec()), func(r *Response) **ProviderError { return &r.Error }),
		field("finish_reason", required, finishReason, func(r *Response) *string { return &r.FinishReason }),
		field("finish_reason_raw", ifAny, text, func(r *Response) *string { return &r.FinishReasonRaw }),
		field("headers", ifAny, mapOf(list(text)), func(r *Response) *map[string][]string { return &r.Headers }),
		field("incomplete", ifAny, oneOf("aborted", "error"), func(r *Response) *string { return &r.Incomplete }),
		field("latency_ms", required, integer[int64](0), func(r *Response) *int64 { return &r.LatencyMS }),
		field("model", ifAny, text, func(r *Response) *string { return &r.Model }),
		field("output_ref", ifAny, hash, func(r *Response) *canon.Hash { return &r.OutputRef }),
		field("parts", ifAny, list(rawObject), func(r *Response) *[]json.RawMessage { return &r.Parts }),
		field("raw_output_ref", ifAny, hash, func(r *Response) *canon.Hash { return &r.RawOutputRef }),
		field("response_hash", ifAny, hash, func(r *Response) *canon.Hash { return &r.ResponseHash }),
		field("status", ifAny, integer[int](0), func(r *Response) *int { return &r.Status }),
		field("timing_ms", ifAny, list(integer[int64](0)), func(r *Response) *[]int64 { return &r.TimingMS }),
		field("tokens_used", nullable, optional(integer[int64](0)), func(r *Response) **int64 { return &r.TokensUsed }),
		field("tool_calls", ifAny, list(toolCallObject.codec()), func(r *Response) *[]ToolCall { return &r.ToolCalls }),
		field("usage", ifAny, optional(usageObject.codec()), func(r *Response) **Usage { return &r.Usage }),
	},
}

var toolCallObject = object[ToolCall]{
	members: []member[ToolCall]{
		field("input", ifAny, anyValue, func(t *ToolCall) *json.RawMessage { return &t.Input }),
		field("name", required, text, func(t *ToolCall) *string { return &t.Name }),
		field("ref", required, text, func(t *ToolCall) *string { return &t.Ref }),
	},
}

var candidateObject = object[Candidate]{
	members: []member[Candidate]{
		field("content", required, text, func(a *Candidate) *string { return &a.Content }),
		field("finish_reason", required, finishReason, func(a *Candidate) *string { return &a.FinishReason }),
		field("finish_reason_raw", ifAny, text, func(a *Candidate) *string { return &a.FinishReasonRaw }),
		field("parts", ifAny, list(rawObject), func(a *Candidate) *[]json.RawMessage { return &a.Parts }),
		field("tool_calls", ifAny, list(toolCallObject.codec()), func(a *Candidate) *[]ToolCall { return &a.ToolCalls }),
	},
}

var errorObject = object[ProviderError]{
	members: []member[ProviderError]{
		field("code", ifAny, text, func(e *ProviderError) *string { return &e.Code }),
		field("message", required, text, func(e *ProviderError) *string { return &e.Message }),
		field("status", ifAny, integer[int](0), func(e *ProviderError) *int { return &e.Status }),
		field("type", ifAny, text, func(e *ProviderError) *string { return &e.Type }),
	},
}

var usageObject = object[Usage]{
	members: []member[Usage]{
		count("cache_read", func(u *Usage) **int64 { return &u.CacheRead }),
		count("cache_write", func(u *Usage) **int64 { return &u.CacheWrite }),
		count("input", func(u *Usage) **int64 { return &u.Input }),
		count("output", func(u *Usage) **int64 { return &u.Output }),
		count("reasoning", func(u *Usage) **int64 { return &u.Reasoning }),
		count("total", func(u *Usage) **int64 { return &u.Total }),
	},
}

func count(name string, at func(*Usage) **int64) member[Usage] {
	return field(name, ifAny, optional(integer[int64](0)), at)
}

var version = checked(text, func(s string) string {
	if s != Version {
		return Version
	}
	return ""
})

// timestamp has one spelling: RFC 3339 in UTC, with three digits of milliseconds or, where
// they are zero, none.
var timestamp = codec[time.Time]{
	decode: func(c *cursor, v *time.Time) bool {
		var s string
		if !text.decode(c, &s) {
			return false
		}
		t, err := parseTime(s)
		if err != nil || t.IsZero() {
			c.reportf(ruleValue, "must be a time in UTC such as 2026-01-09T10:30:00Z or 2026-01-09T10:30:00.250Z, is %s", strconv.QuoteToASCII(excerpt(s)))
			return false
		}
		*v = t
		return true
	},
	encode: func(b *builder, t time.Time) { b.appendText(formatTime(t)) },
	empty:  time.Time.IsZero,
}

func formatTime(t time.Time) string {
	layout := "2006-01-02T15:04:05.000Z"
	if t = t.UTC(); t.Nanosecond() < int(time.Millisecond) {
		layout = "2006-01-02T15:04:05Z"
	}
	return t.Format(layout)
}

// The cores: what the hash of a request and of a response covers (design R3, R8).
var (
	requestCore  = requestObject.without("blobs", "call_ids", "prompt_hash", "wire_hash")
	responseCore = part{
		"candidates":    candidateObject.without("finish_reason_raw"),
		"content":       nil,
		"error":         nil,
		"finish_reason": nil,
		"parts":         nil,
		"tool_calls":    nil,
	}
)
