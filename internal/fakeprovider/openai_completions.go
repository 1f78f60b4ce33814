package fakeprovider

import (
	"encoding/json"
	"strings"
)

// openAICompletions is OpenAI's legacy completions format.
type openAICompletions struct{ openAI }

var _ = serve(func(c *Call) format {
	if strings.HasSuffix(c.Path, chatPath) {
		return nil
	}
	return atOpenAI(openAICompletions{}, "/completions")(c)
})

func (openAICompletions) name() string { return "openai.completions" }

func (f openAICompletions) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	prompts, ok := texts(body["prompt"])
	switch {
	case !body.has("prompt"):
		prompts = []string{"<|endoftext|>"} // the documented default
	case !ok:
		return wrongType("prompt", "a string, array of strings, array of integers, or array of arrays of integers",
			body["prompt"])
	}
	if len(prompts) == 0 {
		return emptyArray("prompt")
	}
	if body.has("stream_options") && !c.Stream {
		return invalid("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	var options struct {
		Usage bool `json:"include_usage"`
	}
	body.into("stream_options", &options)
	c.usageChunk = options.Usage
	if fail := integer(body, "n", 1, 128, &c.Choices); fail != nil {
		return fail
	}
	c.Choices *= len(prompts)
	for _, p := range prompts {
		c.Messages = append(c.Messages, Message{Role: "user", Text: p})
	}
	return nil
}

// texts reads one text or a list of texts. A list of tokens stands for a text and is kept as JSON.
func texts(v json.RawMessage) ([]string, bool) {
	var one string
	var many []string
	var tokens []int
	var lists []json.RawMessage
	switch {
	case json.Unmarshal(v, &one) == nil:
		return []string{one}, true
	case json.Unmarshal(v, &many) == nil:
		return many, true
	case json.Unmarshal(v, &tokens) == nil:
		return []string{string(v)}, true
	case json.Unmarshal(v, &lists) != nil:
		return nil, false
	}
	many = nil // discard the failed attempt
	for _, l := range lists {
		if json.Unmarshal(l, &tokens) != nil {
			return nil, false
		}
		many = append(many, string(l))
	}
	return many, true
}

func (openAICompletions) finish(r Reply) string {
	if r.Finish != "" {
		return r.Finish
	}
	return "stop"
}

func (f openAICompletions) whole(x *exchange) []byte {
	var choices []object
	for i, r := range x.choices() {
		choices = append(choices, object{
			{"text", r.Text + r.Refusal}, // the format has no member for a refusal
			{"index", i},
			{"logprobs", nil},
			{"finish_reason", f.finish(r)},
		})
	}
	u := x.usage()
	return indented(object{
		{"id", x.answerID(x.mint.id("cmpl-", alnum, 29))},
		{"object", "text_completion"},
		{"created", x.mint.now.Unix()},
		{"model", x.model()},
		{"choices", choices},
		{"usage", object{
			{"prompt_tokens", u.Input},
			{"completion_tokens", u.Output},
			{"total_tokens", u.Input + u.Output},
		}},
	})
}

func (f openAICompletions) stream(x *exchange) []event {
	var events []event
	send := func(choices []object, usage any) {
		chunk := object{
			{"id", x.answerID(x.mint.id("cmpl-", alnum, 29))},
			{"object", "text_completion"},
			{"created", x.mint.now.Unix()},
			{"choices", choices},
			{"model", x.model()},
		}
		if x.call.usageChunk {
			chunk = append(chunk, member{"usage", usage})
		}
		events = append(events, jsonEvent("", chunk))
	}
	for i, r := range x.choices() {
		say := func(text string, finish any) {
			send([]object{{{"text", text}, {"index", i}, {"logprobs", nil}, {"finish_reason", finish}}}, nil)
		}
		for _, s := range append(r.fragments(), r.Stream.split(r.Refusal, words)...) {
			say(s, nil)
		}
		say("", f.finish(r))
	}
	if x.call.usageChunk {
		u := x.usage()
		send([]object{}, object{
			{"prompt_tokens", u.Input},
			{"completion_tokens", u.Output},
			{"total_tokens", u.Input + u.Output},
		})
	}
	return append(events, event{data: []byte("[DONE]")})
}
