package fakeprovider

import (
	"encoding/json"
	"net/http"
	"strings"
)

// bedrock is the common part of AWS Bedrock's formats: errors, headers, event streams.
type bedrock struct{}

// bedrockVerb returns the model and the operation of a path of the form /model/MODEL/OPERATION. An ARN as model
// contains slashes.
func bedrockVerb(path string) (model, verb string) {
	_, rest, ok := strings.Cut(path, "/model/")
	i := strings.LastIndex(rest, "/")
	if !ok || i < 0 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
}

var _ = serve(bedrockFormat)

func bedrockFormat(c *Call) format {
	switch model, verb := bedrockVerb(c.Path); verb {
	case "converse", "converse-stream":
		return converse{}
	case "count-tokens":
		return bedrockCount{}
	case "invoke", "invoke-with-response-stream":
		switch {
		case strings.Contains(model, "embed"):
			return titanEmbed{}
		case strings.Contains(model, "rerank"):
			return invokeRerank{}
		}
		// The name of an inference profile does not show the model's maker, but the body does.
		if body, _ := parse(c.Body); strings.Contains(model, "anthropic.") || body.has("anthropic_version") {
			return invokeClaude{}
		}
		return invokeNova{}
	default:
		return nil
	}
}

func (bedrock) framing(*Call) framing { return eventStream() }

func (bedrock) header(x *exchange) http.Header {
	h := http.Header{"X-Amzn-Requestid": {x.mint.uuid()}}
	if f := x.reply.Failure; f != nil && !x.failsInStream() {
		h.Set("X-Amzn-Errortype", f.Type+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	}
	return h
}

func (bedrock) failure(_ *exchange, f Failure) []byte {
	return marshal(object{{"message", f.Message}})
}

// failureEvents returns an exception. Failure.Type is ThrottlingException or similar; in a stream its name starts with
// a small letter.
func (bedrock) failureEvents(_ *exchange, f Failure, _ int) []event {
	name := f.Type
	if name != "" {
		name = strings.ToLower(name[:1]) + name[1:]
	}
	return []event{{name: name, data: marshal(object{{"message", f.Message}}), failed: true}}
}

func (bedrock) badKey(*Call) *Failure {
	return &Failure{Status: http.StatusForbidden, Type: "UnrecognizedClientException",
		Message: "The security token included in the request is invalid."}
}

func (bedrock) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusNotFound, Type: "UnknownOperationException", Message: "Unknown operation"}
}

func invalidAWS(message string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Type: "ValidationException", Message: message}
}

// open parses the common part of all Bedrock requests: a path with model and operation, and a body that is an object.
func (bedrock) open(c *Call) (members, *Failure) {
	model, verb := bedrockVerb(c.Path)
	c.Model = model
	c.Stream = strings.HasSuffix(verb, "-stream")
	body, err := parse(c.Body)
	if err != nil {
		return nil, &Failure{Status: http.StatusBadRequest, Type: "SerializationException",
			Message: "Unexpected token in the body: " + err.Error()}
	}
	return body, nil
}

// converse is Bedrock's Converse format, which is the same for all models.
type converse struct{ bedrock }

func (converse) name() string { return "bedrock.converse" }

func (f converse) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	var request struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ToolConfig struct {
			Tools []struct {
				Spec struct {
					Name   string `json:"name"`
					Schema struct {
						JSON json.RawMessage `json:"json"`
					} `json:"inputSchema"`
				} `json:"toolSpec"`
			} `json:"tools"`
		} `json:"toolConfig"`
		OutputConfig struct {
			TextFormat struct {
				Structure struct {
					JSONSchema struct {
						Schema string `json:"schema"` // JSON in a string
					} `json:"jsonSchema"`
				} `json:"structure"`
			} `json:"textFormat"`
		} `json:"outputConfig"`
	}
	if json.Unmarshal(c.Body, &request) != nil {
		return &Failure{Status: http.StatusBadRequest, Type: "SerializationException",
			Message: "a member of the body has another type"}
	}
	if body.has("system") {
		c.Messages = append(c.Messages, Message{Role: "system", Text: textOf(request.System)})
	}
	if len(request.Messages) == 0 || request.Messages[0].Role != "user" {
		return invalidAWS(
			"A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	for _, m := range request.Messages {
		c.Messages = append(c.Messages, converseMessage(m.Role, m.Content))
	}
	for _, t := range request.ToolConfig.Tools {
		if t.Spec.Name != "" { // else it is a cache point
			c.Tools = append(c.Tools, Tool{t.Spec.Name, t.Spec.Schema.JSON})
		}
	}
	if s := request.OutputConfig.TextFormat.Structure.JSONSchema.Schema; s != "" {
		c.Schema = json.RawMessage(s)
	}
	return nil
}

func converseMessage(role string, content json.RawMessage) Message {
	m := Message{Role: role, Text: textOf(content)}
	var blocks []struct {
		ToolUse *struct {
			ID    string          `json:"toolUseId"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"toolUse"`
		ToolResult *struct {
			ID      string `json:"toolUseId"`
			Content []struct {
				Text string          `json:"text"`
				JSON json.RawMessage `json:"json"`
			} `json:"content"`
		} `json:"toolResult"`
	}
	json.Unmarshal(content, &blocks) // content of another shape has no tools
	for _, b := range blocks {
		if u := b.ToolUse; u != nil {
			m.ToolCalls = append(m.ToolCalls, ToolCall{u.ID, u.Name, string(u.Input)})
		}
		if r := b.ToolResult; r != nil {
			result := ToolResult{ID: r.ID}
			for _, part := range r.Content {
				result.Text += part.Text + string(part.JSON)
			}
			m.ToolResults = append(m.ToolResults, result)
		}
	}
	return m
}

func (converse) stop(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case r.Refusal != "":
		return "content_filtered"
	case len(r.ToolCalls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func (converse) usage(x *exchange) object {
	u := x.usage()
	o := object{}
	if u.CacheRead+u.CacheWrite > 0 {
		o = append(o, member{"cacheReadInputTokens", u.CacheRead}, member{"cacheWriteInputTokens", u.CacheWrite})
	}
	return append(o,
		member{"inputTokens", u.Input - u.CacheRead - u.CacheWrite},
		member{"outputTokens", u.Output},
		member{"totalTokens", u.Input + u.Output},
	)
}

func (f converse) whole(x *exchange) []byte {
	content := []object{}
	for _, b := range f.blocks(x) {
		content = append(content, b.whole)
	}
	return marshal(object{
		{"metrics", object{{"latencyMs", x.mint.latency()}}},
		{"output", object{{"message", object{{"content", content}, {"role", "assistant"}}}}},
		{"stopReason", f.stop(x.reply)},
		{"usage", f.usage(x)},
	})
}

func (f converse) stream(x *exchange) []event {
	var events []event
	send := func(name string, fields ...member) {
		// p pads events, so that their lengths reveal nothing.
		p := alphabet[:1+x.mint.rng.IntN(len(alphabet))]
		events = append(events, jsonEvent(name, append(object(fields), member{"p", p})))
	}
	send("messageStart", member{"role", "assistant"})
	for i, b := range f.blocks(x) {
		index := member{"contentBlockIndex", i}
		if b.start != nil { // only tools have a start event
			send("contentBlockStart", index, member{"start", b.start})
		}
		for _, d := range b.deltas {
			send("contentBlockDelta", index, member{"delta", d})
		}
		send("contentBlockStop", index)
	}
	send("messageStop", member{"stopReason", f.stop(x.reply)})
	send("metadata", member{"metrics", object{{"latencyMs", x.mint.latency()}}}, member{"usage", f.usage(x)})
	return events
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (f converse) blocks(x *exchange) []block {
	r := x.reply
	var blocks []block
	if r.Thinking != "" {
		signature := x.mint.or(r.Signature, "EqQB", alnum, 120)
		b := block{whole: object{{"reasoningContent", object{
			{"reasoningText", object{{"text", r.Thinking}, {"signature", signature}}},
		}}}}
		for _, s := range r.Stream.split(r.Thinking, words) {
			b.deltas = append(b.deltas, object{{"reasoningContent", object{{"text", s}}}})
		}
		b.deltas = append(b.deltas, object{{"reasoningContent", object{{"signature", signature}}}})
		blocks = append(blocks, b)
	}
	text, fragments := r.Text, r.fragments()
	if r.Refusal != "" { // Bedrock has no member for a refusal
		text, fragments = r.Refusal, r.Stream.split(r.Refusal, words)
	}
	if text != "" {
		b := block{whole: object{{"text", text}}}
		for _, s := range fragments {
			b.deltas = append(b.deltas, object{{"text", s}})
		}
		blocks = append(blocks, b)
	}
	for _, call := range x.toolCalls(r, "tooluse_", 22) {
		b := block{
			whole: object{{"toolUse",
				object{{"input", arguments(call.Arguments)}, {"name", call.Name}, {"toolUseId", call.ID}}}},
			start: object{{"toolUse", object{{"name", call.Name}, {"toolUseId", call.ID}}}},
		}
		for _, s := range r.Stream.split(call.Arguments, pieces) {
			b.deltas = append(b.deltas, object{{"toolUse", object{{"input", s}}}})
		}
		blocks = append(blocks, b)
	}
	return blocks
}
