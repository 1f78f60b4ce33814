package fakeprovider_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func TestEcho(t *testing.T) {
	user := func(text string) []fakeprovider.Message { return []fakeprovider.Message{{Role: "user", Text: text}} }
	look := fakeprovider.ToolCall{Name: "look", Arguments: `{"at":"sky"}`}
	tools := []fakeprovider.Tool{{Name: "look"}}
	for _, c := range []struct {
		name, why string
		call      fakeprovider.Call
		want      fakeprovider.Reply
	}{
		{"plain", "", fakeprovider.Call{Messages: user("Hi  there")}, fakeprovider.Text("You said: Hi there")},
		{"summary", "the demo's prompt", fakeprovider.Call{Messages: user("Summarize: AI is transforming software development")}, fakeprovider.Text("Summary: AI is transforming software development")},
		{"summary-cut", "a summary is shorter than a long text", fakeprovider.Call{Messages: user("Summarise 1 2 3 4 5 6 7 8 9 10 11 12 13")}, fakeprovider.Text("Summary: 1 2 3 4 5 6 7 8 9 10 11 12")},
		{"nothing", "no message of the user", fakeprovider.Call{}, fakeprovider.Text("You said nothing.")},
		{"tool", "the tool is offered", fakeprovider.Call{Messages: user("Hi"), Tools: tools}, fakeprovider.CallTools(look)},
		{"no-tool", "the tool is not offered", fakeprovider.Call{Messages: user("Hi"), Tools: []fakeprovider.Tool{{Name: "other"}}}, fakeprovider.Text("You said: Hi")},
		{"result", "the tool has answered", fakeprovider.Call{Tools: tools, Messages: append(user("Hi"),
			fakeprovider.Message{Role: "assistant", ToolCalls: []fakeprovider.ToolCall{look}},
			fakeprovider.Message{Role: "tool", ToolResults: []fakeprovider.ToolResult{{Text: "blue"}}},
			fakeprovider.Message{Role: "tool", ToolResults: []fakeprovider.ToolResult{{Text: "wide"}}},
		)}, fakeprovider.Text("The tools say: blue; wide")},
		{"schema", "structured output", fakeprovider.Call{Messages: user("Hi"), Schema: json.RawMessage(`{
			"type":"object","$defs":{"Mood":{"enum":["good","bad"]},"Loop":{"$ref":"#/$defs/Loop"}},
			"properties":{
				"text":{"type":"string"}, "count":{"type":"integer"}, "share":{"type":["number","null"]}, "sure":{"type":"boolean"},
				"mood":{"$ref":"#/$defs/Mood"}, "loop":{"$ref":"#/$defs/Loop"}, "kind":{"const":"x"},
				"list":{"type":"ARRAY","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}
			}}`)},
			fakeprovider.Text(`{"count":1,"kind":"x","list":["You said: Hi"],"loop":null,"mood":"good","share":1.5,"sure":true,"text":"You said: Hi"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, fakeprovider.Echo(look)(c.call), c.why)
		})
	}
}

func TestAgent(t *testing.T) {
	user := []fakeprovider.Message{{Role: "user", Text: "Hi"}}
	look := fakeprovider.Tool{Name: "look", Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"},"far":{"type":"boolean"}}}`)}
	for _, c := range []struct {
		name, why string
		call      fakeprovider.Call
		want      fakeprovider.Reply
	}{
		{"tool", "the first one with a name", fakeprovider.Call{Messages: user, Tools: []fakeprovider.Tool{{}, look, {Name: "other"}}},
			fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{"at":"Hi","far":true}`})},
		{"no-schema", "a tool without arguments", fakeprovider.Call{Messages: user, Tools: []fakeprovider.Tool{{Name: "now"}}},
			fakeprovider.CallTools(fakeprovider.ToolCall{Name: "now", Arguments: `{}`})},
		{"no-tool", "none is offered", fakeprovider.Call{Messages: user, Tools: []fakeprovider.Tool{{}}}, fakeprovider.Text("You said: Hi")},
		{"result", "it ends", fakeprovider.Call{Tools: []fakeprovider.Tool{look}, Messages: append(user,
			fakeprovider.Message{Role: "tool", ToolResults: []fakeprovider.ToolResult{{Text: "blue"}}})}, fakeprovider.Text("The tools say: blue")},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, fakeprovider.Agent()(c.call), c.why)
		})
	}
}
