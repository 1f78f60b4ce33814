package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// usageNames says where an API reports its counts: each count may have several members, of which the first existing one
// is used. In every decoded [modelio.Usage], the input includes cache reads and writes, and the output includes
// reasoning, so flags say which of these an API counts separately.
type usageNames struct {
	input, output, total, reasoning, cacheRead, cacheWrite, cacheWriteHour, toolUse paths

	cacheApart     bool // the input does not include cache reads and writes
	reasoningApart bool // the output does not include reasoning
	toolUseApart   bool // the input does not include results of the provider's own tools
}

// paths are names of members, with a slash before the name of an inner member.
type paths []string

// mostTokens is the maximum of a count. A larger value is not a count, and sums of several would not be integers that
// JSON can represent.
const mostTokens = 1 << 48

// decode returns the counts in v, with members that are no counts in Unknown. It returns nil for a value that is not an
// object.
func (names usageNames) decode(v jsontext.Value) *modelio.Usage {
	if !v.IsObject() || v.IsEmpty() {
		return nil
	}
	u := &modelio.Usage{}
	var counted [8]string
	taken := counted[:0]
	for _, field := range []struct {
		count **int64
		paths
	}{
		{&u.InputTokens, names.input},
		{&u.OutputTokens, names.output},
		{&u.TotalTokens, names.total},
		{&u.ThoughtsTokens, names.reasoning},
		{&u.CachedContentTokens, names.cacheRead},
		{&u.CacheWriteTokens, names.cacheWrite},
		{&u.CacheWriteHourTokens, names.cacheWriteHour},
		{&u.ToolUseTokens, names.toolUse},
	} {
		for _, path := range field.paths {
			count := v
			for name := range strings.SplitSeq(path, "/") {
				count = count.Member(name)
			}
			if n, ok := count.Count(); ok && *n >= 0 && *n <= mostTokens {
				*field.count = n
				taken = append(taken, path)
				break
			}
		}
	}
	includeAudio(u, v)
	names.includeParts(u)
	u.Unknown = beside(v, taken...)
	return u
}

// of returns the counts in the member usage of a body, as decode does.
func (names usageNames) of(body jsontext.Value) *modelio.Usage {
	return names.decode(body.Member("usage"))
}

// includeAudio makes the input include audio, which Mistral counts separately. It becomes nil if there was audio but
// its amount is not reported.
func includeAudio(u *modelio.Usage, v jsontext.Value) {
	if u.InputTokens == nil || u.OutputTokens == nil || u.TotalTokens == nil {
		return
	}
	rest := *u.TotalTokens - *u.InputTokens - *u.OutputTokens
	heard, said := v.Member("prompt_tokens_details", "audio_tokens").Count()
	seconds, isNumber := v.Member("prompt_audio_seconds").Number()
	switch {
	case rest <= 0:
	case said && (*heard == rest || u.ThoughtsTokens != nil && *heard+*u.ThoughtsTokens == rest):
		include(&u.InputTokens, heard)
	case isNumber && *seconds != "0":
		u.InputTokens = nil
	}
}

// includeParts makes input and output include their parts, unless their sum is already the reported total.
func (names usageNames) includeParts(u *modelio.Usage) {
	if u.InputTokens != nil && u.OutputTokens != nil && u.TotalTokens != nil && *u.Used() == *u.TotalTokens {
		return
	}
	if names.cacheApart {
		include(&u.InputTokens, u.CachedContentTokens, u.CacheWriteTokens)
	}
	if names.toolUseApart {
		include(&u.InputTokens, u.ToolUseTokens)
	}
	if names.reasoningApart {
		include(&u.OutputTokens, u.ThoughtsTokens)
	}
	if u.InputTokens == nil || u.TotalTokens == nil {
		return
	}
	switch rest := *u.TotalTokens - *u.InputTokens; {
	case u.OutputTokens == nil && names.reasoningApart && rest >= 0: // Gemini's for an answer that consists of thoughts
		u.OutputTokens = &rest
	case u.OutputTokens == nil || names.reasoningApart || rest <= *u.OutputTokens:
	case u.ThoughtsTokens == nil || *u.ThoughtsTokens == rest-*u.OutputTokens:
		// Some hosts of chat completions count reasoning separately: xAI, and Google without saying how much it is.
		u.OutputTokens = &rest
	}
}

// include adds parts to a count that does not include them. The count stays nil if it was not reported.
func include(count **int64, parts ...*int64) {
	if *count == nil {
		return
	}
	sum := **count
	for _, part := range parts {
		if part != nil {
			sum += *part
		}
	}
	*count = &sum
}

// among returns the counts of a body that has them among its other members, or nil.
func (names usageNames) among(body jsontext.Value) *modelio.Usage {
	u := names.decode(body)
	if u == nil || u.InputTokens == nil && u.OutputTokens == nil {
		return nil
	}
	u.Unknown = nil
	return u
}

// chatUsage is the usage object of chat completions, with the spellings of its many hosts.
var chatUsage = usageNames{
	input:     paths{"prompt_tokens"},
	output:    paths{"completion_tokens"},
	total:     paths{"total_tokens"},
	reasoning: paths{"completion_tokens_details/reasoning_tokens", "reasoning_tokens"},
	cacheRead: paths{
		"prompt_tokens_details/cached_tokens",
		"prompt_cache_hit_tokens",            // DeepSeek
		"cached_tokens",                      // Moonshot
		"num_cached_tokens",                  // Mistral
		"prompt_token_details/cached_tokens", // also Mistral
		"cache_read_input_tokens",
		"prompt_tokens_details/cache_read_input_tokens",
	},
	cacheWrite: paths{
		"prompt_tokens_details/cache_write_tokens",
		"prompt_tokens_details/cache_creation_input_tokens",
		"cache_creation_input_tokens",
	},
	cacheWriteHour: paths{"cache_creation/ephemeral_1h_input_tokens"},
}

// responsesUsage is the usage object of OpenAI's responses, and of its audio and image APIs, some of which count
// seconds instead.
var responsesUsage = usageNames{
	input:     paths{"input_tokens", "prompt_tokens"},
	output:    paths{"output_tokens", "completion_tokens"},
	total:     paths{"total_tokens"},
	reasoning: paths{"output_tokens_details/reasoning_tokens"},
	cacheRead: paths{
		"input_tokens_details/cached_tokens", "input_token_details/cached_tokens", "prompt_tokens_details/cached_tokens",
	},
	cacheWrite: paths{"input_tokens_details/cache_write_tokens"},
}

// embeddingsUsage counts what was embedded. Voyage reports only the total, which is all input, because nothing is
// generated.
var embeddingsUsage = usageNames{
	input:     paths{"prompt_tokens", "total_tokens"},
	output:    chatUsage.output,
	total:     chatUsage.total,
	cacheRead: chatUsage.cacheRead,
}

var claudeUsage = usageNames{
	input:      paths{"input_tokens"},
	output:     paths{"output_tokens"},
	reasoning:  paths{"output_tokens_details/thinking_tokens"},
	cacheRead:  paths{"cache_read_input_tokens"},
	cacheWrite: paths{"cache_creation_input_tokens"},

	cacheWriteHour: paths{"cache_creation/ephemeral_1h_input_tokens"},
	cacheApart:     true,
}

var converseUsage = usageNames{
	input:      paths{"inputTokens"},
	output:     paths{"outputTokens"},
	total:      paths{"totalTokens"},
	cacheRead:  paths{"cacheReadInputTokens", "cacheReadInputTokenCount"},
	cacheWrite: paths{"cacheWriteInputTokens", "cacheWriteInputTokenCount"},
	cacheApart: true,
}

var cohereUsage = usageNames{
	input:     paths{"tokens/input_tokens", "billed_units/input_tokens"},
	output:    paths{"tokens/output_tokens", "billed_units/output_tokens"},
	cacheRead: paths{"cached_tokens"},
	reasoning: paths{"tokens/reasoning_tokens", "reasoning_tokens"},
}

var generateUsage = usageNames{
	input:     paths{"promptTokenCount"},
	output:    paths{"candidatesTokenCount", "responseTokenCount"}, // the latter in sessions
	total:     paths{"totalTokenCount"},
	reasoning: paths{"thoughtsTokenCount"},
	cacheRead: paths{"cachedContentTokenCount"},
	toolUse:   paths{"toolUsePromptTokenCount"},

	reasoningApart: true,
	toolUseApart:   true,
}

// interactionsUsage counts everything separately.
var interactionsUsage = usageNames{
	input: paths{"total_input_tokens"}, output: paths{"total_output_tokens"}, total: paths{"total_tokens"},
	reasoning: paths{"total_thought_tokens"}, cacheRead: paths{"total_cached_tokens"},
	toolUse:        paths{"total_tool_use_tokens"},
	reasoningApart: true, toolUseApart: true,
}

// looseUsage returns the counts of an answer that has them under a common name, or nil.
func looseUsage(body jsontext.Value) *modelio.Usage {
	for _, at := range []string{"usage", "usageMetadata", "meta"} {
		for _, names := range looseUsages {
			if counts := body.Member(at); counts.Member(names.sign...).Present() {
				return names.decode(counts)
			}
		}
	}
	return nil
}

// looseUsages are common names, each with a member that identifies its kind.
var looseUsages = []struct {
	sign []string
	usageNames
}{
	{[]string{"prompt_tokens"}, chatUsage},
	{[]string{"tokens", "input_tokens"}, cohereUsage},
	{[]string{"billed_units", "input_tokens"}, cohereUsage},
	{[]string{"cache_read_input_tokens"}, claudeUsage},
	{[]string{"input_tokens"}, usageNames{ // without cache writes
		input: responsesUsage.input, output: responsesUsage.output, total: responsesUsage.total,
		reasoning: responsesUsage.reasoning, cacheRead: responsesUsage.cacheRead,
	}},
	{[]string{"promptTokenCount"}, generateUsage},
	{[]string{"inputTokens"}, converseUsage},
	{[]string{"total_input_tokens"}, interactionsUsage},
	{[]string{"total_tokens"}, chatUsage},
}
