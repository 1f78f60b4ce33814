package provider

import (
	"encoding/json"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const completionsAPI = "openai.completions"

// The legacy completions API of OpenAI and of hosts that copy it.
var _ = Register(&Codec{
	API:            completionsAPI,
	Provider:       "openai",
	Generates:      true,
	Seeded:         true,
	Match:          matchCompletions,
	DecodeRequest:  requests(completionsAPI, decodeCompletions),
	DecodeResponse: answers(completionsAPI, func() fold { return &completionFold{} }, completion),
})

func matchCompletions(w *Wire) bool {
	return posts(has("prompt"), "/completions")(w) && !w.pathEndsIn(chatPaths)
}

func decodeCompletions(w *Wire, body jsontext.Value) *modelio.Request {
	req := decodePrompt(body, "prompt", chatParameters.decode)
	deployment(req, w)
	return req
}

// completion decodes a completion. Some hosts answer with a chat completion.
func completion(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("choices").IsArray() {
		return nil, neither("choices")
	}
	resp := &modelio.Response{
		ID:       body.Member("id").Word(),
		Model:    body.Member("model").Word(),
		Usage:    chatUsage.decode(body.Member("usage")),
		Metadata: beside(body, "id", "model", "usage", "choices", "object"),
	}
	for _, choice := range body.Member("choices").Elements() {
		c := chatChoice(choice)
		if text, ok := choice.Member("text").Text(); ok && len(c.Message.Content) == 0 {
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

func (f *completionFold) add(_ string, chunk jsontext.Value) error {
	for name, v := range chunk.Members() {
		switch name {
		case "choices":
			for _, choice := range v.Elements() {
				f.choices.at(choice.Member("index")).add(choice)
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

func (c *completionGrowing) add(choice jsontext.Value) {
	for name, v := range choice.Members() {
		switch name {
		case "text":
			c.choice.grow(name, v)
		case "logprobs":
			for name, tokens := range v.Members() {
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
			choice["logprobs"] = jsontext.ObjectText(logprobs)
		}
		choices = append(choices, jsontext.ObjectText(choice))
	}
	body := f.top.object()
	if len(body) == 0 && len(choices) == 0 {
		return nil, false
	}
	body["choices"] = jsontext.List(choices)
	return jsontext.ObjectText(body), complete
}
