package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/modelio"
)

var openSchema = Rule{
	Name: "open-schema",
	Fix:  "say what it takes",
	each: func(l *Linter, d *document, c *call, add adder) {
		if c.base != nil && slices.EqualFunc(c.Request.Tools, c.base.Request.Tools, page.SameTool) {
			return // reported for the call that it continues
		}
		for n, tool := range c.Request.Tools {
			for _, open := range openIn(&tool) {
				message := fmt.Sprintf("tool %s %s", tool.Name, open)
				add(message, "", d.at(c, []string{"request", "tools", fmt.Sprint(n)}, "%s", message))
			}
		}
	},
}

// openIn returns what a tool's schema leaves open. A tool without a schema takes no input, or the provider runs it.
func openIn(tool *modelio.ToolDefinition) (all []string) {
	if tool.InputSchema == nil {
		return nil
	}
	if strings.TrimSpace(tool.Description) == "" {
		all = append(all, "has no description")
	}
	root := jsontext.ValueOf(tool.InputSchema)
	named := root.Member("properties").Present() || root.Member("additionalProperties").Present() || says(root)
	var open []string
	if isOfObjects(root) && !named {
		open = append(open, "takes an object of which no properties are named")
	}
	open = appendOpen(open, "", root, isStrict(tool))
	if len(open) > mostOpen {
		open = append(open[:mostOpen], fmt.Sprintf("leaves %d places more open", len(open)-mostOpen))
	}
	return append(all, open...)
}

// mostOpen limits how many places of one schema are reported.
const mostOpen = 3

// isStrict reports whether the provider must make the model obey the schema.
func isStrict(tool *modelio.ToolDefinition) bool {
	ofFunction := jsontext.ValueOf(tool.Metadata["function"]).Member("strict").Raw()
	return string(tool.Metadata["strict"]) == "true" || string(ofFunction) == "true"
}

// keywords that restrict a value without a type
var saying = []string{"$ref", "allOf", "anyOf", "const", "enum", "oneOf", "not", "if"}

func says(v jsontext.Value) bool {
	return slices.ContainsFunc(saying, func(name string) bool { return v.Member(name).Present() })
}

// isOfObjects reports whether a schema permits objects.
func isOfObjects(v jsontext.Value) bool {
	isObject := func(kind jsontext.Value) bool { return strings.EqualFold(kind.Word(), "object") } // Gemini writes OBJECT
	return isObject(v.Member("type")) || slices.ContainsFunc(v.Member("type").Values(), isObject)
}

// appendOpen appends what the schema leaves open in the part of a tool's input at pointer.
func appendOpen(open []string, pointer string, v jsontext.Value, strict bool) []string {
	if !v.IsObject() {
		return open // true and false are explicit
	}
	where := ""
	if pointer != "" {
		where = " at " + pointer
	}
	if !v.Member("type").Present() && !says(v) && !v.Member("properties").Present() {
		open = append(open, "takes anything"+where+", which has no type")
	}
	if strict && isOfObjects(v) && string(v.Member("additionalProperties").Raw()) != "false" {
		open = append(open, "is strict, and takes any more properties"+where)
	}
	for name, property := range v.Member("properties").Members() {
		open = appendOpen(open, pointer+jsontext.PointerTo(name), property, strict)
	}
	return appendOpen(open, pointer+"/*", v.Member("items"), strict)
}
