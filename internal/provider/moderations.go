package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const moderationsAPI = "openai.moderations"

// The moderations API of OpenAI and of hosts that copy it, and Mistral's others of the same form: of conversations, and for classes
// of one's own.
var _ = Register(&Codec{
	API:            moderationsAPI,
	Provider:       "openai",
	Match:          posts(has("input"), "/moderations", "/classifications"),
	DecodeRequest:  requests(moderationsAPI, requestForm{prompt: "input"}.decode, sayModeration),
	DecodeResponse: answers(moderationsAPI, folding{}, verdicts),
})

// sayModeration keeps which of the APIs it is.
func sayModeration(w *Wire, _ *modelio.Request) {
	rest, operation, _ := cutLast(w.URL.Path, "/")
	if strings.HasSuffix(rest, "/chat") {
		operation = "chat/" + operation
	}
	w.say("operation", operation, "moderations")
}

// verdicts decodes a list of verdicts: each is a custom part, in the list's order.
func verdicts(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("results").IsArray() {
		return nil, neither("results")
	}
	return responseOf(body, embeddingsUsage, answered(body.Member("results"), "result"), "results"), nil
}
