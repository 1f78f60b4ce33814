package fakeprovider

import (
	"encoding/json"
	"net/http"
	"time"
)

// ollama is Ollama's chat format and its generate format, which differs in two members.
type ollama struct{ generate bool }

var (
	_ = serve(at(ollama{}, "/api/chat"))
	_ = serve(at(ollama{generate: true}, "/api/generate"))
)

func (o ollama) name() string {
	if o.generate {
		return "ollama.generate"
	}
	return "ollama.chat"
}

func (ollama) framing(*Call) framing { return ndjson("application/x-ndjson") }

func (ollama) header(*exchange) http.Header { return nil }

func (ollama) failure(_ *exchange, f Failure) []byte {
	return marshal(object{{"error", f.Message}})
}

func (ollama) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("", object{{"error", f.Message}})}
}

func (ollama) badKey(*Call) *Failure {
	return &Failure{Status: http.StatusUnauthorized, Message: "unauthorized"}
}

func (ollama) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusMethodNotAllowed, Message: "405 method not allowed"}
}

// open parses the common part of all Ollama requests: an object that names a model.
func (ollama) open(c *Call) (members, *Failure) {
	if len(c.Body) == 0 {
		return nil, &Failure{Status: http.StatusBadRequest, Message: "missing request body"}
	}
	body, err := parse(c.Body)
	if err != nil {
		return nil, &Failure{Status: http.StatusBadRequest, Message: err.Error()}
	}
	c.Model = body.str("model")
	if c.Model == "" {
		return nil, &Failure{Status: http.StatusBadRequest, Message: "model is required"}
	}
	return body, nil
}

func (o ollama) read(c *Call) *Failure {
	body, fail := o.open(c)
	if fail != nil {
		return fail
	}
	c.Stream = !body.has("stream") || body.flag("stream") // Ollama streams by default
	if kind(body["format"]) == "an object" {
		c.Schema = body["format"]
	}
	if o.generate {
		if s := body.str("system"); s != "" {
			c.Messages = append(c.Messages, Message{Role: "system", Text: s})
		}
		c.Messages = append(c.Messages, Message{Role: "user", Text: body.str("prompt")})
		return nil
	}
	return readOllamaChat(c)
}

func readOllamaChat(c *Call) *Failure {
	var body struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			ToolName  string `json:"tool_name"`
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if json.Unmarshal(c.Body, &body) != nil {
		return &Failure{Status: http.StatusBadRequest, Message: "a member of the body has another type"}
	}
	for _, m := range body.Messages {
		msg := Message{Role: m.Role, Text: m.Content}
		for _, call := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, ToolCall{call.ID, call.Function.Name, string(call.Function.Arguments)})
		}
		if m.Role == "tool" {
			msg.ToolResults = []ToolResult{{ID: m.CallID, Name: m.ToolName, Text: m.Content}}
		}
		c.Messages = append(c.Messages, msg)
	}
	for _, t := range body.Tools {
		c.Tools = append(c.Tools, Tool{t.Function.Name, t.Function.Parameters})
	}
	return nil
}

// piece returns one line with the model's next piece of text.
func (o ollama) piece(x *exchange, text, thinking string, calls []object, end ...member) object {
	x.mint.now = x.mint.now.Add(time.Duration(5+x.mint.rng.IntN(20)) * time.Millisecond) // each line has its own time
	line := object{{"model", x.model()}, {"created_at", x.mint.now.Format(time.RFC3339Nano)}}
	if o.generate {
		line = append(line, member{"response", text})
		if thinking != "" {
			line = append(line, member{"thinking", thinking})
		}
	} else {
		m := object{{"role", "assistant"}, {"content", text}}
		if thinking != "" {
			m = append(m, member{"thinking", thinking})
		}
		if calls != nil {
			m = append(m, member{"tool_calls", calls})
		}
		line = append(line, member{"message", m})
	}
	if end == nil {
		return append(line, member{"done", false})
	}
	return append(line, end...)
}

// end returns the members that only the last line has.
func (o ollama) end(x *exchange) []member {
	reason := x.reply.Finish
	if reason == "" {
		reason = "stop"
	}
	end := []member{{"done", true}, {"done_reason", reason}}
	if o.generate {
		end = append(end, member{"context", []int{128006, 9125, 128007}})
	}
	u := x.usage()
	took := 1_000_000 * (100 + x.mint.rng.IntN(900)) // nanoseconds
	return append(end,
		member{"total_duration", took},
		member{"load_duration", took / 10},
		member{"prompt_eval_count", u.Input},
		member{"prompt_eval_duration", took / 5},
		member{"eval_count", u.Output},
		member{"eval_duration", took / 2},
	)
}

func (ollama) calls(x *exchange) []object {
	var calls []object
	for i, call := range x.toolCalls(x.reply, "call_", 8) {
		calls = append(calls, object{
			{"id", call.ID},
			{"function", object{{"index", i}, {"name", call.Name}, {"arguments", arguments(call.Arguments)}}},
		})
	}
	return calls
}

// said moves a refusal into the text, since Ollama has no member for it.
func (ollama) said(r Reply) Reply {
	if r.Refusal != "" {
		r.Text = r.Refusal
	}
	return r
}

func (o ollama) whole(x *exchange) []byte {
	return marshal(o.piece(x, o.said(x.reply).Text, x.reply.Thinking, o.calls(x), o.end(x)...))
}

func (o ollama) stream(x *exchange) []event {
	var events []event
	send := func(line object) { events = append(events, jsonEvent("", line)) }
	for _, s := range x.reply.Stream.split(x.reply.Thinking, words) {
		send(o.piece(x, "", s, nil))
	}
	for _, s := range o.said(x.reply).fragments() {
		send(o.piece(x, s, "", nil))
	}
	if calls := o.calls(x); calls != nil {
		send(o.piece(x, "", "", calls))
	}
	send(o.piece(x, "", "", nil, o.end(x)...))
	return events
}
