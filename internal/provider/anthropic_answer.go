package provider

import (
	"errors"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// claudeAnswer decodes the message that the API answers with.
func claudeAnswer(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("content").IsArray() {
		return nil, neither("content")
	}
	c := candidate(body.Member("stop_reason").Word())
	var calls callNames
	c.Message.Content, _ = claudeBlocks(body.Member("content"))
	calls.resolve(&c.Message)
	tidy(&c.Message)
	c.Citations = claudeCitations(body.Member("content"))
	return responseOf(body, claudeUsage, []modelio.Candidate{c}, "type", "role", "content", "stop_reason"), nil
}

var claudeStream = folding{add: addClaude, end: endClaude}

var (
	claudeMessagePieces = rules{"type": skip, "delta": skip, "content": skip, "usage": into("usage", nil)}
	claudeDelta         = rules{
		"type":         skip,
		"partial_json": func(block *node, _ string, v jsontext.Value) { block.growInner("input", v) },
		"citation":     func(block *node, _ string, v jsontext.Value) { block.member("citations").append(v.Raw()) },
		"signature":    (*node).put, // comes whole
		"":             (*node).grow,
	}
)

// isClaudeEvent reports whether kind is the type of an event of the messages API.
func isClaudeEvent(kind string) bool {
	return strings.HasPrefix(kind, "message_") || strings.HasPrefix(kind, "content_block_") || kind == "ping"
}

func addClaude(f *fold, _ string, event jsontext.Value) error {
	block := func() *node { return f.body.member("content").at(event.Member("index")) }
	switch event.Member("type").Word() {
	case "message_start":
		f.body.clear()
		f.done = false // a second one begins again, as a server that retries has it
		claudeMessagePieces.fold(&f.body, event.Member("message"))
	case "message_delta":
		claudeMessagePieces.fold(&f.body, event.Member("delta"))
		claudeMessagePieces.fold(&f.body, event) // it has usage
	case "content_block_start":
		block().putAll(event.Member("content_block"))
	case "content_block_delta":
		claudeDelta.fold(block(), event.Member("delta"))
	case "message_stop":
		f.done = true
	case "": // other kinds carry no content: ping, content_block_stop
		return errors.New("an event without a type")
	}
	return nil
}

func endClaude(f *fold) { f.body.member("content").become(arrayNode) }
