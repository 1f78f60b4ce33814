package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const acmeAPI = "acme.judge"

// This is a made-up API, the only one of its provider: it judges an answer to a question.
var _ = Register(&Codec{
	API:       acmeAPI,
	Provider:  "acme",
	Hosts:     []string{"api.acme.example"},
	Home:      "https://api.acme.example",
	Keys:      []string{"ACME_API_KEY"},
	Generates: true,
	Match:     posts(has("question"), "/v1/judge"),
	body:      requestForm{prompt: "question", parameters: acmeParameters}.decode,
	answer:    acmeVerdict,
})

var acmeParameters = parametersOf("temperature", "max_tokens")

var acmeUsage = usageNames{input: paths{"in"}, output: paths{"out"}}

func acmeVerdict(body jsontext.Value) (*modelio.Response, error) {
	verdict, ok := body.Member("verdict").Text()
	if !ok {
		return nil, neither("a verdict")
	}
	all := []modelio.Candidate{candidate(body.Member("ended").Word(), modelio.TextPart(verdict))}
	return responseOf(body, acmeUsage.of(body), all, "verdict", "ended"), nil
}
