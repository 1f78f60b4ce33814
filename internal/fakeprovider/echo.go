package fakeprovider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Echo returns a handler for [Server.Handle] whose answer depends only on the call:
//
//   - new tool results are passed on: "The tools say: 22 degrees";
//   - a call with a JSON Schema gets a generated value of that schema;
//   - a call that offers tools gets those of the given tool calls that it offers;
//   - "Summarize: …" gets "Summary: …", and any other text gets "You said: …".
func Echo(tools ...ToolCall) func(Call) Reply {
	return func(c Call) Reply {
		text := echo(c.LastUser())
		if results := c.ToolResults(); len(results) > 0 {
			var said []string
			for _, r := range results {
				said = append(said, r.Text)
			}
			text = "The tools say: " + strings.Join(said, "; ")
		} else if calls := offered(c, tools); len(calls) > 0 {
			return CallTools(calls...)
		}
		if c.Schema != nil {
			return Text(string(marshal(instance(c.Schema, c.Schema, text, 0))))
		}
		return Text(text)
	}
}

// Agent returns a handler that works like [Echo], and also calls the first tool that is offered, with arguments that
// match its schema.
func Agent() func(Call) Reply {
	return func(c Call) Reply {
		i := slices.IndexFunc(c.Tools, func(t Tool) bool { return t.Name != "" }) // the provider's own tools have no name
		if i < 0 {
			return Echo()(c)
		}
		arguments, ok := instance(c.Tools[i].Schema, c.Tools[i].Schema, c.LastUser(), 0).(object)
		if !ok {
			arguments = object{}
		}
		return Echo(ToolCall{Name: c.Tools[i].Name, Arguments: string(marshal(arguments))})(c)
	}
}

func offered(c Call, tools []ToolCall) []ToolCall {
	return slices.DeleteFunc(slices.Clone(tools), func(t ToolCall) bool { return !c.offers(t.Name) })
}

// echo answers one message.
func echo(said string) string {
	words := strings.Fields(said)
	if len(words) == 0 {
		return "You said nothing."
	}
	order := strings.ToLower(words[0])
	if !strings.HasPrefix(order, "summari") {
		return "You said: " + strings.Join(words, " ")
	}
	if _, rest, ok := strings.Cut(said, ":"); ok { // "Summarize in one line: …"
		words = strings.Fields(rest)
	} else {
		words = words[1:]
	}
	return "Summary: " + strings.Join(words[:min(12, len(words))], " ")
}

// instance generates a value for a JSON Schema: every property, one item for each array, and text for strings.
func instance(root, schema json.RawMessage, text string, depth int) any {
	var s struct {
		Type       any                        `json:"type"` // a name, or a list of names
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Enum       []any                      `json:"enum"`
		Const      any                        `json:"const"`
		AnyOf      []json.RawMessage          `json:"anyOf"`
		OneOf      []json.RawMessage          `json:"oneOf"`
		Ref        string                     `json:"$ref"`
	}
	if json.Unmarshal(schema, &s) != nil || depth > 16 { // stop at a schema that refers to itself
		return nil
	}
	if list, ok := s.Type.([]any); ok && len(list) > 0 {
		s.Type = list[0]
	}
	options := append(s.AnyOf, s.OneOf...)
	typ, _ := s.Type.(string)
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Ref != "":
		return instance(root, resolve(root, s.Ref), text, depth+1)
	case len(options) > 0:
		return instance(root, options[0], text, depth+1)
	}
	switch strings.ToLower(typ) { // Gemini writes types in upper case
	case "object":
		o := object{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			o = append(o, member{name, instance(root, s.Properties[name], text, depth+1)})
		}
		return o
	case "array":
		return []any{instance(root, s.Items, text, depth+1)}
	case "string":
		return text
	case "integer":
		return 1
	case "number":
		return 1.5
	case "boolean":
		return true
	default:
		return nil
	}
}

// resolve returns the value in root that a reference of the form #/a/b refers to.
func resolve(root json.RawMessage, ref string) json.RawMessage {
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		var o map[string]json.RawMessage
		if json.Unmarshal(root, &o) != nil {
			return nil
		}
		root = o[step]
	}
	return root
}
