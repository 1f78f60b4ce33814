package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Anthropic's API before messages: one text in which Human and Assistant take turns. It reports no usage.
var _ = Register(&Codec{
	API:    "anthropic.complete",
	Fixed:  claudeFixed,
	Match:  posts(has("prompt"), "/v1/complete"),
	body:   prompted("prompt", "temperature", "max_tokens_to_sample=max_tokens", "top_p", "stop_sequences=stop").decode,
	answer: needs("a completion", with(jsontext.Value.IsString, "completion"), claudeCompletion),
	stream: textStream,
})

func claudeCompletion(body jsontext.Value) *modelio.Response {
	c := candidate(body.Member("stop_reason").Word(), modelio.TextPart(body.Member("completion").Word()))
	return responseOf(body, claudeUsage.of(body), []modelio.Candidate{c}, "completion", "stop_reason", "type")
}
