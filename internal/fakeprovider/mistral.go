package fakeprovider

import (
	"net/http"
	"strings"
)

// mistral is Mistral's chat format. It is OpenAI's with other errors, reasoning in the content and usage in every
// stream. Both have the same path; a call is Mistral's if its host is Mistral's or its path starts with /mistral.
type mistral struct{}

var _ = serve(func(c *Call) format {
	if !onMistral(c) {
		return nil
	}
	return at(mistral{}, chatPath)(c)
})

func onMistral(c *Call) bool {
	return strings.HasSuffix(c.Host, "mistral.ai") || strings.HasPrefix(c.Path, "/mistral/")
}

func (mistral) name() string { return "mistral.chat" }

func (mistral) framing(*Call) framing { return sse() }

func (mistral) header(x *exchange) http.Header {
	id := x.mint.uuid()
	return http.Header{"Mistral-Correlation-Id": {id}, "X-Kong-Request-Id": {id}}
}

// failure returns errors without a type in the shape of Mistral's gateway.
func (mistral) failure(_ *exchange, f Failure) []byte {
	if f.Type == "" && f.Code == "" {
		return marshal(object{{"detail", f.Message}})
	}
	return marshal(mistralError(f))
}

func (mistral) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("", mistralError(f))}
}

func mistralError(f Failure) object {
	return object{
		{"object", "error"},
		{"message", f.Message},
		{"type", f.Type},
		{"param", null(f.Param)},
		{"code", null(f.Code)},
	}
}

func (mistral) badKey(*Call) *Failure {
	return &Failure{Status: http.StatusUnauthorized, Message: "Unauthorized"}
}

func (mistral) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusMethodNotAllowed, Message: "Method Not Allowed"}
}

func (mistral) read(c *Call) *Failure {
	bad := func(message string) *Failure {
		return &Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "3051", Message: message}
	}
	body, err := parse(c.Body)
	if err != nil {
		return bad("Invalid JSON: " + err.Error())
	}
	if !body.into("model", &c.Model) {
		return bad("model: Field required")
	}
	if fail := readChatMessages(c, body); fail != nil {
		return bad(fail.Message)
	}
	c.Stream = body.flag("stream")
	if fail := integer(body, "n", 1, 128, &c.Choices); fail != nil {
		return bad(fail.Message)
	}
	readFunctions(c, body)
	c.Schema = chatSchema(body)
	return nil
}

func (mistral) finish(r Reply) string {
	return openAIChat{}.finish(r)
}

// content returns a string, or a list if there is reasoning. A refusal is text.
func (mistral) content(text, thinking string) any {
	if thinking == "" {
		return text
	}
	list := []object{{{"type", "thinking"}, {"thinking", []object{{{"type", "text"}, {"text", thinking}}}}}}
	if text != "" {
		list = append(list, object{{"type", "text"}, {"text", text}})
	}
	return list
}

func (mistral) usage(x *exchange) object {
	u := x.usage()
	return object{
		{"prompt_tokens", u.Input},
		{"total_tokens", u.Input + u.Output},
		{"completion_tokens", u.Output},
		{"prompt_tokens_details", object{{"cached_tokens", u.CacheRead}}},
	}
}

func (f mistral) whole(x *exchange) []byte {
	var choices []object
	for i, r := range x.choices() {
		var calls []object
		for _, call := range x.toolCalls(r, "", 9) {
			calls = append(calls, functionCall(call, call.Arguments))
		}
		choices = append(choices, object{
			{"index", i},
			{"finish_reason", f.finish(r)},
			{"message", object{
				{"role", "assistant"},
				{"tool_calls", calls}, // null if there are none
				{"content", f.content(r.Text+r.Refusal, r.Thinking)},
			}},
		})
	}
	return marshal(object{
		{"id", x.answerID(x.mint.id("", hexDigits, 32))},
		{"created", x.mint.now.Unix()},
		{"model", x.model()},
		{"usage", f.usage(x)},
		{"object", "chat.completion"},
		{"choices", choices},
	})
}

func (f mistral) stream(x *exchange) []event {
	var events []event
	send := func(index int, delta object, finish any, usage bool) {
		chunk := object{
			{"id", x.answerID(x.mint.id("", hexDigits, 32))},
			{"object", "chat.completion.chunk"},
			{"created", x.mint.now.Unix()},
			{"model", x.model()},
			{"choices", []object{{{"index", index}, {"delta", delta}, {"finish_reason", finish}}}},
		}
		if usage {
			chunk = append(chunk, member{"usage", f.usage(x)})
		}
		events = append(events, jsonEvent("", append(chunk, member{"p", alphabet[:1+x.mint.rng.IntN(len(alphabet))]})))
	}
	choices := x.choices()
	for i, r := range choices {
		send(i, object{{"role", "assistant"}, {"content", ""}}, nil, false)
		for _, s := range r.Stream.split(r.Thinking, words) {
			send(i, object{{"content", f.content("", s)}}, nil, false)
		}
		for _, s := range append(r.fragments(), r.Stream.split(r.Refusal, words)...) {
			send(i, object{{"content", s}}, nil, false)
		}
		end := object{{"content", ""}}
		if calls := x.toolCalls(r, "", 9); len(calls) > 0 { // each call comes whole
			var list []object
			for j, call := range calls {
				list = append(list, append(functionCall(call, call.Arguments), member{"index", j}))
			}
			end = object{{"tool_calls", list}}
		}
		send(i, end, f.finish(r), i == len(choices)-1)
	}
	return append(events, event{data: []byte("[DONE]")})
}
