package provider

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Bedrock's operation that applies a guardrail to a text, which is decoded as the user's.
var _ = Register(&Codec{
	API:   "bedrock.guardrail",
	Match: both(pathOf(guardrailPath), posts(hasList("content"), "/apply")),
	body: requestForm{members: map[string]taker{"content": takeMessage(modelio.RoleUser,
		blocksOf(converseBlock))}}.decode,
	outside: sayGroup("guardrail", guardrailPath, ""),
	answer:  needs("an action", with(jsontext.Value.IsWord, "action"), guardrailAnswer),
})

var guardrailPath = regexp.MustCompile(`^/guardrail/([^/]+/version/[^/]+)/apply$`)

// guardrailAnswer decodes the text that replaces the original, and the reason.
func guardrailAnswer(body jsontext.Value) *modelio.Response {
	parts := partsOf(body.Member("outputs"), func(output jsontext.Value) modelio.Part {
		return modelio.TextPart(output.Member("text").Word())
	})
	said := (&steady{}).object(body, nil)
	for _, name := range []string{"output", "outputs", "blockedResponse"} {
		delete(said, name)
	}
	return &modelio.Response{Candidates: candidateOf(append(parts, modelio.Part{Custom: said})...)}
}
