package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// The moderations API of OpenAI and of hosts that copy it. Mistral has APIs of the same form, for conversations and
// for a user's own classes.
var _ = Register(&Codec{
	API:     "openai.moderations",
	Match:   posts(has("input"), "/moderations", "/classifications"),
	body:    requestForm{prompt: "input"}.decode,
	outside: sayModeration,
	answer:  listed("results", "result"),
})

// sayModeration keeps which of the APIs it is.
func sayModeration(w *Wire, _ *modelio.Request) {
	rest, operation, _ := cutLast(w.URL.Path, "/")
	if strings.HasSuffix(rest, "/chat") {
		operation = "chat/" + operation
	}
	w.say("operation", operation, "moderations")
}
