package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Anthropic's API of before messages: one text, in which Human and Assistant speak in turns. It reports no usage.
var _ = Register(&Codec{
	API:    "anthropic.complete",
	Fixed:  claudeFixed,
	Match:  posts(has("prompt"), "/v1/complete"),
	body:   prompted("prompt", "temperature", "max_tokens_to_sample=max_tokens", "top_p", "stop_sequences=stop").decode,
	answer: claudeCompletion,
	stream: textStream,
})

func claudeCompletion(body jsontext.Value) (*modelio.Response, error) {
	text, ok := body.Member("completion").Text()
	if !ok {
		return nil, neither("a completion")
	}
	c := candidate(body.Member("stop_reason").Word(), modelio.TextPart(text))
	return responseOf(body, claudeUsage, []modelio.Candidate{c}, "completion", "stop_reason", "type"), nil
}
