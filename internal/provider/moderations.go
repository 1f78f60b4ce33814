package provider

import "regexp"

// The moderations API of OpenAI and of hosts that copy it. Mistral has APIs of the same form, for conversations and for
// a user's own classes.
var _ = Register(&Codec{
	API:     "openai.moderations",
	Match:   posts(has("input"), "/moderations", "/classifications"),
	body:    requestForm{prompt: "input"}.decode,
	outside: sayGroup("operation", regexp.MustCompile(`(?:^|/)((?:chat/)?[^/]*)$`), "moderations"),
	answer:  listed("results", "result"),
})
