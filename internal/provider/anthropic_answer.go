package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var claudeUsage = usageNames{
	input:      [][]string{{"input_tokens"}},
	output:     [][]string{{"output_tokens"}},
	reasoning:  [][]string{{"output_tokens_details", "thinking_tokens"}},
	cacheRead:  [][]string{{"cache_read_input_tokens"}},
	cacheWrite: [][]string{{"cache_creation_input_tokens"}},
}

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
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Usage:      claudeUsage.decode(body.Member("usage")),
		ID:         body.Member("id").Word(),
		Model:      body.Member("model").Word(),
		Metadata:   beside(body, "id", "type", "role", "model", "content", "stop_reason", "usage"),
	}, nil
}

// claudeFold makes a message of its events.
type claudeFold struct {
	message growing
	usage   growing
	blocks  sequence[claudeGrowing]
	done    bool
}

// claudeGrowing is a block that is under way.
type claudeGrowing struct {
	block growing
	input []byte // of a tool call: the inside of the string that holds its text
}

// isClaudeEvent reports whether kind is the type of an event of the messages API.
func isClaudeEvent(kind string) bool {
	return strings.HasPrefix(kind, "message_") || strings.HasPrefix(kind, "content_block_") || kind == "ping"
}

func (f *claudeFold) add(_ string, event jsontext.Value) error {
	switch kind := event.Member("type").Word(); kind {
	case "message_start":
		*f = claudeFold{} // a second one begins anew, as a server that retries has it
		f.merge(event.Member("message"))
	case "message_delta":
		f.merge(event.Member("delta"))
		f.merge(event)
	case "content_block_start":
		f.blocks.at(event.Member("index")).block.putAll(event.Member("content_block"))
	case "content_block_delta":
		f.blocks.at(event.Member("index")).delta(event.Member("delta"))
	case "message_stop":
		f.done = true
	case "": // other kinds carry no content: ping, content_block_stop
		return fmt.Errorf("an event without a type")
	}
	return nil
}

// merge takes members of the message.
func (f *claudeFold) merge(v jsontext.Value) {
	for name, m := range v.Members() {
		switch name {
		case "type", "delta", "content":
		case "usage": // counts so far
			f.usage.putAll(m)
		default:
			f.message.put(name, m)
		}
	}
}

func (b *claudeGrowing) delta(delta jsontext.Value) {
	for name, v := range delta.Members() {
		switch name {
		case "type":
		case "partial_json":
			if raw := v.Raw(); v.IsString() {
				b.input = append(b.input, raw[1:len(raw)-1]...)
			}
		case "citation":
			b.block.append("citations", v.Raw())
		case "signature": // comes whole
			b.block.put(name, v)
		default:
			b.block.grow(name, v)
		}
	}
}

func (b *claudeGrowing) json() json.RawMessage {
	o := b.block.object()
	if len(b.input) > 0 {
		o["input"] = inputOf(b.input)
	}
	return jsontext.ObjectText(o)
}

// inputOf returns the value whose text is the inside of a string, or the string if it is no whole
// value.
func inputOf(inner []byte) json.RawMessage {
	text := quoted(inner)
	doc, err := jsontext.Parse(text)
	if err != nil {
		return jsontext.Text(string(inner)) // unreachable: pieces of strings make a string
	}
	if input, ok := doc.Root().Text(); ok {
		if _, err := jsontext.Parse([]byte(input)); err == nil {
			return bytes.TrimSpace([]byte(input))
		}
	}
	return text
}

func (f *claudeFold) body() (json.RawMessage, bool) {
	message := f.message.object()
	if len(message) == 0 && len(f.blocks.items) == 0 {
		return nil, false
	}
	content := list{}
	for _, b := range f.blocks.items {
		content = append(content, b.json())
	}
	message["content"] = jsontext.List(content)
	if usage := f.usage.object(); len(usage) > 0 {
		message["usage"] = jsontext.ObjectText(usage)
	}
	return jsontext.ObjectText(message), f.done
}
