package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var cohereParameters = parametersOf(
	"temperature", "max_tokens", "p=top_p", "frequency_penalty",
	"presence_penalty", "seed", "stop_sequences=stop",
)

// Version 2 of Cohere's chat API. Its messages are those of chat completions, but its answers and streams are not.
var _ = Register(&Codec{
	API:     "cohere.chat",
	Hosts:   []string{"api.cohere.com", "api.cohere.ai"},
	Home:    "https://api.cohere.com",
	Keys:    []string{"COHERE_API_KEY", "CO_API_KEY"},
	Seeded:  true,
	Match:   posts(hasList("messages"), "/v2/chat"),
	body:    requestForm{members: chatMembers, parameters: cohereParameters}.decode,
	Refusal: refuseAsCohere,
	answer:  needs("a message", with(jsontext.Value.IsObject, "message"), cohereAnswer),
	stream:  foldRules{add: addCohere, end: endsWith(objectNode, "message")},
	looks:   isCohereAnswer,
	begins:  isOfType("message-start"),
})

func isCohereAnswer(body jsontext.Value) bool {
	return body.Member("message").IsObject() && body.Member("finish_reason").Present()
}

func cohereAnswer(body jsontext.Value) *modelio.Response {
	c := candidate(body.Member("finish_reason").Word())
	c.Message = chatAnswer(body.Member("message"))
	c.Citations = cohereCitations(body.Member("message"))
	return responseOf(body, cohereUsage.of(body), []modelio.Candidate{c}, "message", "finish_reason")
}

var (
	cohereBlock = rules{"type": (*node).put, "": (*node).grow}
	cohereCall  = rules{"function": into("function", growing("name"))}
)

// addCohere takes an event. Most contain a part of the message.
func addCohere(f *fold, _ string, event jsontext.Value) {
	piece := event.Member("delta", "message")
	message := func() *node { return f.body.member("message") }
	switch event.Member("type").Word() {
	case "message-start":
		f.body.put("id", event.Member("id"))
		message().put("role", piece.Member("role"))
	case "content-start", "content-delta":
		cohereBlock.fold(cohereBlockAt(message().member("content"), event), piece.Member("content"))
		if tokens := event.Member("logprobs"); tokens.IsObject() {
			f.body.member("logprobs").append(tokens.Raw())
		}
	case "tool-plan-delta":
		message().grow("tool_plan", piece.Member("tool_plan"))
	case "tool-call-start", "tool-call-delta":
		cohereCall.fold(message().member("tool_calls").at(event.Member("index")), piece.Member("tool_calls"))
	case "citation-start":
		message().member("citations").append(piece.Member("citations").Raw())
	case "message-end":
		f.body.putAll(event.Member("delta"))
		f.done = true
	}
}

// cohereBlockAt returns the content block of an event: the latest one with its index. A start event begins a new block
// even if its index is in use, because some models give reasoning and text the same index.
func cohereBlockAt(content *node, event jsontext.Value) *node {
	index := string(event.Member("index").Raw())
	block := content.keyed[index]
	if block == nil || event.Member("type").Word() != "content-delta" {
		block = content.add()
		content.key(index, block)
	}
	return block
}
