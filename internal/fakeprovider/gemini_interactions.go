package fakeprovider

import (
	"encoding/json"
	"net/http"
	"time"
)

// geminiInteractions is Google's format for interactions.
type geminiInteractions struct{ gemini }

var _ = serve(at(geminiInteractions{}, "/interactions"))

func (geminiInteractions) name() string { return "gemini.interactions" }

func (geminiInteractions) framing(*Call) framing {
	f := sse()
	f.contentType = "text/event-stream"
	return f
}

func (f geminiInteractions) header(x *exchange) http.Header {
	h := f.gemini.header(x)
	if x.call.Stream && (x.reply.Failure == nil || x.failsInStream()) {
		h.Set("Content-Type", "text/event-stream")
	}
	return h
}

func (geminiInteractions) failure(_ *exchange, f Failure) []byte {
	return marshal(object{{"error", object{{"message", f.Message}, {"code", f.codeOrType()}}}})
}

func (geminiInteractions) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("",
		object{{"event_type", "error"}, {"error", object{{"message", f.Message}, {"code", f.codeOrType()}}}})}
}

func badInteraction(message string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Code: "invalid_request", Message: message}
}

// A geminiStep is a step of the input.
type geminiStep struct {
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Text      string          `json:"text"`
}

func (geminiInteractions) read(c *Call) *Failure {
	body, err := parse(c.Body)
	switch {
	case err != nil:
		return badInteraction("invalid JSON: " + err.Error())
	case body.str("model") == "" && body.str("agent") == "":
		return badInteraction("model or agent is required")
	case !body.has("input"):
		return badInteraction("input is required")
	}
	c.Model, c.Stream = body.str("model"), body.flag("stream")
	if system := body.str("system_instruction"); system != "" {
		c.Messages = append(c.Messages, Message{Role: "system", Text: system})
	}
	var text string
	var steps []geminiStep
	if body.into("input", &text) {
		c.Messages = append(c.Messages, Message{Role: "user", Text: text})
	} else if !body.into("input", &steps) {
		return badInteraction("input must be a text or a list")
	}
	for _, s := range steps {
		c.Messages = append(c.Messages, s.message())
	}
	var tools []struct {
		Type, Name string
		Parameters json.RawMessage
	}
	body.into("tools", &tools)
	for _, t := range tools {
		if t.Type == "function" {
			c.Tools = append(c.Tools, Tool{t.Name, t.Parameters})
		}
	}
	var format struct {
		Schema json.RawMessage `json:"schema"`
	}
	body.into("response_format", &format)
	c.Schema = format.Schema
	return nil
}

func (s geminiStep) message() Message {
	switch s.Type {
	case "function_call":
		return Message{Role: "model", ToolCalls: []ToolCall{{s.ID, s.Name, string(s.Arguments)}}}
	case "function_result":
		var text string
		if json.Unmarshal(s.Result, &text) != nil {
			text = resultText(s.Result)
		}
		return Message{Role: "user", ToolResults: []ToolResult{{s.CallID, s.Name, text}}}
	case "user_input":
		return Message{Role: "user", Text: textOf(s.Content)}
	case "text":
		return Message{Role: "user", Text: s.Text}
	}
	return Message{Role: "model", Text: textOf(s.Content)}
}

// steps returns the model's steps.
func (geminiInteractions) steps(x *exchange) []object {
	var steps []object
	if x.reply.Thinking != "" {
		steps = append(steps,
			object{{"type", "thought"}, {"summary", []object{{{"type", "text"}, {"text", x.reply.Thinking}}}},
				{"signature", x.mint.or(x.reply.Signature, "", alnum, 64)}})
	}
	if text := x.reply.Text + x.reply.Refusal; text != "" {
		steps = append(steps, object{{"type", "model_output"}, {"content", []object{{{"type", "text"}, {"text", text}}}}})
	}
	for _, call := range x.toolCalls(x.reply, "", 8) {
		steps = append(steps,
			object{{"type", "function_call"}, {"id", call.ID}, {"name", call.Name}, {"arguments", arguments(call.Arguments)}})
	}
	return steps
}

// about returns the interaction object without its steps.
func (geminiInteractions) about(x *exchange, status string) object {
	now := x.mint.now.Format(time.RFC3339)
	return object{{"id", x.answerID(x.mint.id("v1_", alnum, 60))}, {"status", status}, {"created", now}, {"updated", now},
		{"service_tier", "standard"}, {"object", "interaction"}, {"model", x.model()}}
}

func (geminiInteractions) status(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.ToolCalls) > 0:
		return "requires_action"
	}
	return "completed"
}

func (geminiInteractions) usage(x *exchange) object {
	u := x.usage()
	return object{{"total_tokens", u.Input + u.Output}, {"total_input_tokens", u.Input},
		{"total_cached_tokens", u.CacheRead},
		{"total_output_tokens", u.Output - u.Reasoning}, {"total_tool_use_tokens", 0}, {"total_thought_tokens", u.Reasoning}}
}

func (f geminiInteractions) whole(x *exchange) []byte {
	return indented(append(f.about(x, f.status(x.reply)), member{"steps", f.steps(x)}, member{"usage", f.usage(x)}))
}

func (f geminiInteractions) stream(x *exchange) []event {
	send := func(kind string, rest ...member) event {
		return jsonEvent("", append(object(rest), member{"event_type", kind}))
	}
	id := x.answerID(x.mint.id("v1_", alnum, 60))
	events := []event{
		send("interaction.created", member{"interaction",
			object{{"id", id}, {"status", "in_progress"}, {"object", "interaction"}, {"model", x.model()}}}),
		send("interaction.status_update", member{"interaction_id", id}, member{"status", "in_progress"}),
	}
	for i, step := range f.steps(x) {
		index := member{"index", i}
		begin, deltas := step, []object{}
		switch step[0].value {
		case "thought":
			begin = step[:1]
			summary := object{{"type", "text"}, {"text", x.reply.Thinking}}
			deltas = append(deltas, object{{"content", summary}, {"type", "thought_summary"}},
				object{step[2], {"type", "thought_signature"}})
		case "model_output":
			begin = step[:1]
			for _, piece := range append(x.reply.fragments(), x.reply.Stream.split(x.reply.Refusal, words)...) {
				deltas = append(deltas, object{{"text", piece}, {"type", "text"}})
			}
		case "function_call":
			begin = append(step[:3:3], member{"arguments", object{}})
			for _, piece := range pieces(string(marshal(step[3].value))) {
				deltas = append(deltas, object{{"arguments", piece}, {"type", "arguments_delta"}})
			}
		}
		events = append(events, send("step.start", index, member{"step", begin}))
		for _, delta := range deltas {
			events = append(events, send("step.delta", index, member{"delta", delta}))
		}
		events = append(events, send("step.stop", index))
	}
	done := append(f.about(x, f.status(x.reply)), member{"usage", f.usage(x)})
	return append(events, send("interaction.completed", member{"interaction", done}), event{data: []byte("[DONE]")})
}
