package provider

import (
	"encoding/json"
	"strconv"

	"github.com/traceforge/traceforge-go/modelio"
)

const completionsAPI = "openai.completions"

// openAICompletions is the legacy completions API of OpenAI and of hosts that copy it.
type openAICompletions struct{}

func (openAICompletions) API() string      { return completionsAPI }
func (openAICompletions) Provider() string { return "openai" }
func (openAICompletions) Seeded() bool     { return true }

func (openAICompletions) Match(w *Wire) bool {
	return w.posts(func(body value) bool { return body.member("prompt").present() }, "/completions")
}

func (openAICompletions) Endpoint(req *Request) string { return req.deployed("/v1", "/completions") }

func (openAICompletions) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(completionsAPI)
	if err != nil {
		return nil, err
	}
	req := decodePrompt(completionsAPI, body, "prompt", chatParameters.decode)
	req.deployment(w)
	return req, nil
}

func (openAICompletions) EncodeRequest(req *Request) ([]byte, error) {
	body, err := chatParameters.encode(req)
	if err != nil {
		return nil, err // unreachable: the API has them all
	}
	return encodePrompt(req, "prompt", body)
}

// decodePrompt decodes a request whose content is one member. If that is a string it is the
// prompt. Other members are for take.
func decodePrompt(api string, body value, name string, take func(r *Request, name string, v value) bool) *Request {
	req := &Request{API: api, Options: modelio.Object{}}
	for member, v := range body.members() {
		switch member {
		case "model":
			if v.isWord() {
				req.Model = v.word()
				continue
			}
		case name:
			if text, ok := v.text(); ok {
				req.Prompt = &text
				continue
			}
		default:
			if take(req, member, v) {
				continue
			}
		}
		req.Options[member] = v.raw()
	}
	if req.Prompt == nil {
		req.Messages = []modelio.Message{}
	}
	return req
}

// encodePrompt undoes decodePrompt; body is what was for take.
func encodePrompt(req *Request, name string, body modelio.Object) ([]byte, error) {
	if len(req.Messages) > 0 {
		return nil, &WireError{API: req.API, Pointer: "/messages", Reason: "the API takes no messages but a prompt"}
	}
	if req.Model != "" && req.Model != req.urlSegment("deployment") {
		body["model"] = jsonText(req.Model)
	}
	if req.Prompt != nil {
		body[name] = jsonText(*req.Prompt)
	}
	overlay(body, req.options())
	return jsonObject(body), nil
}

func (openAICompletions) DecodeResponse(a *Answer) (*Response, error) {
	return decodeAnswer(completionsAPI, a, func() fold { return &completionFold{} }, completion)
}

// completion decodes a completion. Some hosts answer with a chat completion.
func completion(body value) (*Response, error) {
	if !body.member("choices").isArray() {
		return nil, &WireError{API: completionsAPI, Reason: "the answer has neither choices nor an error"}
	}
	resp := &Response{
		ID:       body.member("id").word(),
		Model:    body.member("model").word(),
		Usage:    chatUsage.decode(body.member("usage")),
		Metadata: beside(body, "id", "model", "usage", "choices", "object"),
	}
	for _, choice := range body.member("choices").elements() {
		c := chatChoice(choice)
		if text, ok := choice.member("text").text(); ok && len(c.Message.Content) == 0 {
			c.Message.Content = []modelio.Part{modelio.TextPart(text)}
			tidy(&c.Message)
		}
		resp.Candidates = append(resp.Candidates, c)
	}
	return resp, nil
}

// completionFold makes a completion of its chunks.
type completionFold struct {
	top     growing
	choices sequence[completionGrowing]
}

// completionGrowing is one choice that is under way.
type completionGrowing struct {
	choice   growing
	logprobs growing
}

func (f *completionFold) add(_ string, chunk value) error {
	for name, v := range chunk.members() {
		switch name {
		case "choices":
			for _, choice := range v.elements() {
				f.choices.at(choice.member("index")).add(choice)
			}
		case "id", "model":
			f.top.first(name, v)
		case "object", "obfuscation":
		default:
			f.top.put(name, v)
		}
	}
	return nil
}

func (c *completionGrowing) add(choice value) {
	for name, v := range choice.members() {
		switch name {
		case "text":
			c.choice.grow(name, v)
		case "logprobs":
			for name, tokens := range v.members() {
				c.logprobs.extend(name, tokens)
			}
		default:
			c.choice.put(name, v)
		}
	}
}

func (f *completionFold) body() (json.RawMessage, bool) {
	complete := len(f.choices.items) > 0
	choices := list{}
	for i, c := range f.choices.items {
		choice := c.choice.object()
		reason, ended := choice["finish_reason"]
		complete = complete && ended && !saysNothing(reason)
		choice["index"] = json.RawMessage(strconv.FormatInt(f.choices.indexes[i], 10))
		if logprobs := c.logprobs.object(); len(logprobs) > 0 {
			choice["logprobs"] = jsonObject(logprobs)
		}
		choices = append(choices, jsonObject(choice))
	}
	body := f.top.object()
	if len(body) == 0 && len(choices) == 0 {
		return nil, false
	}
	body["choices"] = jsonList(choices)
	return jsonObject(body), complete
}
