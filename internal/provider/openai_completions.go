package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The legacy completions API of OpenAI and of hosts that copy it.
var _ = Register(&Codec{
	API:      "openai.completions",
	Seeded:   true,
	Prompted: true,
	Match:    both(posts(has("prompt"), "/completions"), not(pathLike(`/(chat|agents)/completions$`))),
	body:     requestForm{prompt: "prompt", parameters: ChatParameters}.decode,
	outside:  deployment,
	answer:   needs("choices", hasList("choices"), completion),
	stream:   chatStream,
	looks:    hasList("choices"),
	begins:   func(_ string, e jsontext.Value) bool { return e.Member("choices").IsArray() },
})

// completion decodes a completion. Some hosts answer with a chat completion.
func completion(body jsontext.Value) *modelio.Response {
	resp := chatCompletion(body)
	for i, choice := range body.Member("choices").Elements() {
		c := &resp.Candidates[i]
		if text, ok := choice.Member("text").Text(); ok && len(c.Message.Content) == 0 {
			c.Message.Content = []modelio.Part{modelio.TextPart(text)}
			tidy(&c.Message)
		}
	}
	return resp
}
