package provider

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const cohereAPI = "cohere.chat"

var cohereParameters = parameters{
	"temperature":       "temperature",
	"max_tokens":        "max_tokens",
	"p":                 "top_p",
	"frequency_penalty": "frequency_penalty",
	"presence_penalty":  "presence_penalty",
	"seed":              "seed",
	"stop_sequences":    "stop",
}

// Version 2 of Cohere's chat API. Its messages are those of chat completions, its answers and their
// streams are not.
var _ = Register(&Codec{
	API:            cohereAPI,
	Provider:       "cohere",
	Hosts:          []string{"api.cohere.com", "api.cohere.ai"},
	Home:           "https://api.cohere.com",
	Keys:           []string{"COHERE_API_KEY", "CO_API_KEY"},
	Generates:      true,
	Seeded:         true,
	Match:          posts(hasList("messages"), "/v2/chat"),
	DecodeRequest:  requests(cohereAPI, decodeCohere),
	DecodeResponse: answers(cohereAPI, func() fold { return &cohereFold{} }, cohereAnswer),
})

func decodeCohere(_ *Wire, body jsontext.Value) *modelio.Request {
	return chatRequest(body, cohereParameters)
}

var cohereUsage = usageNames{
	input:     [][]string{{"tokens", "input_tokens"}, {"billed_units", "input_tokens"}},
	output:    [][]string{{"tokens", "output_tokens"}, {"billed_units", "output_tokens"}},
	cacheRead: [][]string{{"cached_tokens"}},
}

func cohereAnswer(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("message").IsObject() {
		return nil, neither("a message")
	}
	c := candidate(body.Member("finish_reason").Word())
	c.Message = chatAnswer(body.Member("message"))
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Usage:      cohereUsage.decode(body.Member("usage")),
		ID:         body.Member("id").Word(),
		Metadata:   beside(body, "id", "message", "finish_reason", "usage"),
	}, nil
}

// cohereFold makes an answer of its events.
type cohereFold struct {
	top     growing
	message growing    // but for what follows
	content []*growing // blocks, in the order in which they came
	indexes []string   // theirs
	calls   sequence[cohereGrowing]
	done    bool
}

// cohereGrowing is a tool call that is under way.
type cohereGrowing struct {
	call     growing
	function *growing
}

func (f *cohereFold) add(_ string, event jsontext.Value) error {
	index, delta := event.Member("index"), event.Member("delta")
	message := delta.Member("message")
	switch event.Member("type").Word() {
	case "message-start":
		f.top.put("id", event.Member("id"))
		f.message.put("role", message.Member("role"))
	case "content-start", "content-delta":
		block := f.block(event)
		for name, v := range message.Member("content").Members() {
			if name == "type" {
				block.put(name, v)
			} else {
				block.grow(name, v)
			}
		}
	case "tool-plan-delta":
		f.message.grow("tool_plan", message.Member("tool_plan"))
	case "tool-call-start", "tool-call-delta":
		call := f.calls.at(index)
		for name, v := range message.Member("tool_calls").Members() {
			if name == "function" {
				growMembers(&call.function, v, "name")
			} else {
				call.call.put(name, v)
			}
		}
	case "citation-start":
		f.message.append("citations", message.Member("citations").Raw())
	case "message-end":
		f.top.putAll(delta)
		f.done = true
	}
	return nil
}

// block returns the block of the content that an event is about: the latest of its index. A
// start begins one even where its index is in use: some models give reasoning and text the same.
func (f *cohereFold) block(event jsontext.Value) *growing {
	index := string(event.Member("index").Raw())
	if event.Member("type").Word() == "content-delta" {
		for i, used := range slices.Backward(f.indexes) {
			if used == index {
				return f.content[i]
			}
		}
	}
	f.content, f.indexes = append(f.content, &growing{}), append(f.indexes, index)
	return f.content[len(f.content)-1]
}

func (f *cohereFold) body() (json.RawMessage, bool) {
	body, message := f.top.object(), f.message.object()
	if len(body) == 0 && len(message) == 0 && len(f.content) == 0 {
		return nil, false
	}
	if len(f.content) > 0 {
		message["content"] = jsonGrowing(f.content)
	}
	calls := list{}
	for _, call := range f.calls.items {
		o := call.call.object()
		if call.function != nil {
			o["function"] = call.function.json()
		}
		calls = append(calls, jsontext.ObjectText(o))
	}
	if len(calls) > 0 {
		message["tool_calls"] = jsontext.List(calls)
	}
	body["message"] = jsontext.ObjectText(message)
	return jsontext.ObjectText(body), f.done
}
