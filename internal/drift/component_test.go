package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

func says(role modelio.Role, parts ...modelio.Part) modelio.Message {
	return modelio.Message{Role: role, Content: parts}
}

func textMessage(role modelio.Role, text string) modelio.Message {
	return says(role, modelio.TextPart(text))
}

func cached(text string) modelio.Part {
	part := modelio.TextPart(text)
	part.Metadata = modelio.Object{"cache_control": []byte(`{"type":"ephemeral"}`)}
	return part
}

func request() *modelio.Request {
	zero := json.Number("0")
	return &modelio.Request{
		API: "openai.chat", Model: "m", Temperature: &zero,
		Messages: []modelio.Message{
			textMessage("system", "Be brief.\nNever guess."), textMessage("user", "Which one?"),
			says("model", modelio.TextPart("This."), modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "look", Ref: "1", Input: []byte(`{"a":1}`)}}),
			says("tool", modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "look", Ref: "1", Output: []byte(`"found\nit"`)}}),
			textMessage("user", "And now?"),
		},
		Tools: []modelio.ToolDefinition{
			{Name: "look", Description: "Looks.", InputSchema: []byte(`{"type":"object"}`)}, {Name: "find", Description: "Finds."},
		},
		Options: modelio.Object{"$headers": []byte(`{"anthropic-beta":["a"]}`), "response_format": []byte(`{"type":"text"}`)},
	}
}

func TestCompare(t *testing.T) {
	one := json.Number("1")
	tests := []struct {
		name, why, want string
		change          func(*modelio.Request)
	}{
		{"nothing", "equal requests", "", func(*modelio.Request) {}},
		{"model", "another model", "model /model [model] -m +n", func(r *modelio.Request) { r.Model = "n" }},
		{"system", "the system prompt has no number", "system /messages/0 [system] -Never guess. +Do not guess.",
			func(r *modelio.Request) { r.Messages[0] = textMessage("system", "Be brief.\nDo not guess.") }},
		{"message", "others are counted from 1", "message 2 (user) /messages/1 [user message] -Which one? +Which?",
			func(r *modelio.Request) { r.Messages[1] = textMessage("user", "Which?") }},
		{"inserted", "one message, and none of those behind it", "message 3 (user) added /messages/2 [user message] +Wait.",
			func(r *modelio.Request) {
				r.Messages = append(append(append([]modelio.Message{}, r.Messages[:2]...), textMessage("user", "Wait.")), r.Messages[2:]...)
			}},
		{"inserted beside", "a message is held against that which it was", "message 5 (user) added /messages/4 [user message] +Wait a moment, please.\n" +
			"message 6 (user) /messages/5 [user message] -And now? +And now?!",
			func(r *modelio.Request) {
				r.Messages = append(append([]modelio.Message{}, r.Messages[:4]...), textMessage("user", "Wait a moment, please."), textMessage("user", "And now?!"))
			}},
		{"removed", "at its place in the recorded request", "message 5 (user) removed /messages/4 [user message] -And now?",
			func(r *modelio.Request) { r.Messages = r.Messages[:4] }},
		{"role", "another one speaks", "message 5 (user) removed /messages/4 [user message] -And now?\nmessage 5 (model) added /messages/4 [model message] +And now?",
			func(r *modelio.Request) { r.Messages[4] = textMessage("model", "And now?") }},
		{"order", "equal messages at other places", "the same messages in another order /messages [messages in another order] -user: Which one? +user: And now? -user: And now? +user: Which one?",
			func(r *modelio.Request) { r.Messages[1], r.Messages[4] = r.Messages[4], r.Messages[1] }},
		{"order and more", "they are not all the same", "messages in another order /messages [messages in another order] -user: Which one? +user: And now? -user: And now? +user: Which one?\n" +
			"system /messages/0 [system] -Be brief. -Never guess. +Be quick.",
			func(r *modelio.Request) {
				r.Messages[0], r.Messages[1], r.Messages[4] = textMessage("system", "Be quick."), r.Messages[4], r.Messages[1]
			}},
		{"parts", "equal parts at other places", "message 3 (model) /messages/2 [model message] -This. +This.",
			func(r *modelio.Request) {
				parts := r.Messages[2].Content
				r.Messages[2].Content = []modelio.Part{parts[1], parts[0]}
			}},
		{"arguments", "a part that changed, of a message that says more", `message 3 (model) /messages/2 [model message] -look({"a":1}) +look({"a":2})`,
			func(r *modelio.Request) {
				r.Messages[2] = says("model", modelio.TextPart("This."), modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "look", Ref: "1", Input: []byte(`{"a":2}`)}})
			}},
		{"result", "a text is a text", "message 4 (tool) /messages/3 [tool message] -it +that",
			func(r *modelio.Request) {
				r.Messages[3] = says("tool", modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "look", Ref: "1", Output: []byte(`"found\nthat"`)}})
			}},
		{"two texts", "what reads alike is shown as it is sent", "system /messages/0 [system] -  \"content\": \"Be brief.\\nNever guess.\", +  \"content\": [ +    { +      \"text\": \"Be brief.\" +    }, +    { +      \"text\": \"Never guess.\" +    } +  ],",
			func(r *modelio.Request) {
				r.Messages[0] = says("system", modelio.TextPart("Be brief."), modelio.TextPart("Never guess."))
			}},
		{"tool", "by name, and by what changed of it", "tool find: description /tools/1/description [tool find: description] -Finds. +Finds it.",
			func(r *modelio.Request) { r.Tools[1].Description = "Finds it." }},
		{"schema", "JSON by lines", `tool look: input schema /tools/0/inputSchema [tool look: input schema] -  "type": "object" +  "type": "object", +  "x": 1`,
			func(r *modelio.Request) { r.Tools[0].InputSchema = []byte(`{"type":"object","x":1}`) }},
		{"tool added", "the others stay what they were", "tool new added /tools/0 [tool new] +{ +  \"name\": \"new\" +}",
			func(r *modelio.Request) { r.Tools = append([]modelio.ToolDefinition{{Name: "new"}}, r.Tools...) }},
		{"tool removed", "by name", "tool look removed /tools/0 [tool look] -{ -  \"description\": \"Looks.\", -  \"inputSchema\": { -    \"type\": \"object\" -  }, -  \"name\": \"look\" -}",
			func(r *modelio.Request) { r.Tools = r.Tools[1:] }},
		{"tool order", "equal tools at other places", "the same tools in another order /tools [tools in another order] -look +look",
			func(r *modelio.Request) { r.Tools[0], r.Tools[1] = r.Tools[1], r.Tools[0] }},
		{"tool renamed", "what else it says is the same", "tool renamed: find → seek /tools/1/name [tool renamed: find → seek] -find +seek",
			func(r *modelio.Request) { r.Tools[1].Name = "seek" }},
		{"tool replaced", "it says something else", "tool find removed /tools/1 [tool find] -{ -  \"description\": \"Finds.\", -  \"name\": \"find\" -}\n" +
			"tool seek added /tools/1 [tool seek] +{ +  \"description\": \"Seeks.\", +  \"name\": \"seek\" +}",
			func(r *modelio.Request) { r.Tools[1] = modelio.ToolDefinition{Name: "seek", Description: "Seeks."} }},
		{"tool without a name", "a provider's tool has none", "tool find removed /tools/1 [tool find] -{ -  \"description\": \"Finds.\", -  \"name\": \"find\" -}\n" +
			"tool 2 added /tools/1 [tool 2] +{ +  \"description\": \"Finds.\" +}",
			func(r *modelio.Request) { r.Tools[1].Name = "" }},
		{"tools alike", "each is renamed once", "tool renamed: find → seek /tools/1/name [tool renamed: find → seek] -find +seek\n" +
			"tool search added /tools/2 [tool search] +{ +  \"description\": \"Finds.\", +  \"name\": \"search\" +}",
			func(r *modelio.Request) {
				r.Tools[1].Name = "seek"
				r.Tools = append(r.Tools, modelio.ToolDefinition{Name: "search", Description: "Finds."})
			}},
		{"metadata", "the text is the same", "message 2 (user): cache_control added /messages/1/content/0/metadata/cache_control " +
			"[user message: cache_control] +{ +  \"type\": \"ephemeral\" +}",
			func(r *modelio.Request) { r.Messages[1].Content = []modelio.Part{cached("Which one?")} }},
		{"metadata and text", "both changed", "message 2 (user): cache_control added /messages/1/content/0/metadata/cache_control " +
			"[user message: cache_control] +{ +  \"type\": \"ephemeral\" +}\nmessage 2 (user) /messages/1 [user message] -Which one? +Which?",
			func(r *modelio.Request) { r.Messages[1].Content = []modelio.Part{cached("Which?")} }},
		{"metadata of an answer", "it is part of the answer", "message 3 (model) /messages/2 [model message] -This. -look({\"a\":1}) +That.",
			func(r *modelio.Request) { r.Messages[2].Content = []modelio.Part{cached("That.")} }},
		{"form and metadata", "the form follows from it", "system: cache_control added /messages/0/content/0/metadata/cache_control " +
			"[system: cache_control] +{ +  \"type\": \"ephemeral\" +}",
			func(r *modelio.Request) {
				r.Messages[0].Metadata = modelio.Object{"$wire": []byte(`"string"`)}
				r.Messages[0].Content = []modelio.Part{cached("Be brief.\nNever guess.")}
			}},
		{"metadata of both", "a message's own is told with the message", "message 2 (user): cache_control added /messages/1/content/0/metadata/cache_control " +
			"[user message: cache_control] +{ +  \"type\": \"ephemeral\" +}\nmessage 2 (user) /messages/1 [user message] " +
			"-  \"content\": \"Which one?\", +  \"content\": [ +    { +      \"metadata\": { +        \"cache_control\": { +          \"type\": \"ephemeral\" +        } +      }, " +
			"+      \"text\": \"Which one?\" +    } +  ], +  \"metadata\": { +    \"name\": \"ann\" +  },",
			func(r *modelio.Request) {
				r.Messages[1].Content = []modelio.Part{cached("Which one?")}
				r.Messages[1].Metadata = modelio.Object{"name": []byte(`"ann"`)}
			}},
		{"metadata and ref", "it is an answer to another call", "message 4 (tool): cache_control added /messages/3/content/0/metadata/cache_control " +
			"[tool message: cache_control] +{ +  \"type\": \"ephemeral\" +}\nmessage 4 (tool) /messages/3 [tool message] " +
			"+      \"metadata\": { +        \"cache_control\": { +          \"type\": \"ephemeral\" +        } +      }, -        \"ref\": \"1\" +        \"ref\": \"2\"",
			func(r *modelio.Request) {
				result := cached("")
				result.Text, result.ToolResponse = nil, &modelio.ToolResponse{Name: "look", Ref: "2", Output: []byte(`"found\nit"`)}
				r.Messages[3] = says("tool", result)
			}},
		{"temperature", "a parameter", "parameters: temperature /temperature [parameters: temperature] -0 +1", func(r *modelio.Request) { r.Temperature = &one }},
		{"option", "one that was not sent before", `parameters: logit_bias added /provider_options/logit_bias [parameters: logit_bias] +{}`,
			func(r *modelio.Request) { r.Options["logit_bias"] = []byte(`{}`) }},
		{"kinds", "a text is no number", `parameters: k /provider_options/k [parameters: k] -"1" +1`,
			func(r *modelio.Request) { r.Options["k"] = []byte(`1`) }},
		{"choice", "an option about tools", `tools: tool_choice added /provider_options/tool_choice [tools: tool_choice] +none`,
			func(r *modelio.Request) { r.Options["tool_choice"] = []byte(`"none"`) }},
		{"format", "an option about the output", `output format /provider_options/response_format [output format] -  "type": "text" +  "type": "json"`,
			func(r *modelio.Request) { r.Options["response_format"] = []byte(`{"type":"json"}`) }},
		{"text", "what a sound is to say is no format", `parameters: text added /provider_options/text [parameters: text] +hello`,
			func(r *modelio.Request) { r.Options["text"] = []byte(`"hello"`) }},
		{"header", "one that changes behaviour", `headers: anthropic-beta /provider_options/$headers/anthropic-beta [headers: anthropic-beta] -  "a" +  "b"`,
			func(r *modelio.Request) { r.Options["$headers"] = []byte(`{"anthropic-beta":["b"]}`) }},
		{"header of none", "what is no object has no headers", `parameters: $headers /provider_options/$headers [parameters: $headers] -{ -  "anthropic-beta": [ -    "a" -  ] -} +1`,
			func(r *modelio.Request) { r.Options["$headers"] = []byte(`1`) }},
		{"no options", "each is a component of its own", `headers: anthropic-beta removed /provider_options/$headers/anthropic-beta [headers: anthropic-beta] -[ -  "a" -]` +
			"\noutput format removed /provider_options/response_format [output format] -{ -  \"type\": \"text\" -}",
			func(r *modelio.Request) { r.Options = nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recorded, got := request(), request()
			tt.change(got)
			if tt.name == "kinds" {
				recorded.Options["k"] = []byte(`"1"`)
			}
			changes, err := compare(recorded, got, nil)
			require.NoError(t, err)
			var lines []string
			for _, c := range changes {
				line := fmt.Sprintf("%s %s [%s]", c, c.Pointer, c.Kind)
				c.Visit(func(op, text string) { line += " " + op + text })
				lines = append(lines, line)
			}
			require.Equal(t, tt.want, strings.Join(lines, "\n"), tt.why)
		})
	}
}

// TestCompareIgnored checks that members named by pointers are not components.
func TestCompareIgnored(t *testing.T) {
	recorded, got := request(), request()
	got.Messages[0], got.Model = textMessage("system", "Be quick."), "n"
	changes, err := compare(recorded, got, []string{"/messages/0"})
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, "model", changes[0].Component)
	_, err = compare(recorded, got, []string{"model"})
	require.ErrorContains(t, err, "model")
	got.Tools[0].InputSchema = []byte(`{`)
	_, err = compare(recorded, got, nil)
	require.Error(t, err, "a value that is no JSON")
}

// compare returns the components in which two requests differ, without those at the ignored pointers: see
// [Comparer.Changes]. An error means that a value in a request is not JSON.
func compare(recorded, got *modelio.Request, ignored []string) ([]Change, error) {
	c := NewComparer(ignored)
	r, err := c.Request(recorded)
	g, err2 := c.Request(got)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return c.Changes(r, g), nil
}
