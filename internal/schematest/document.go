package schematest

import (
	"bufio"
	"go/ast"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// headings are the tables of docs/format.md that describe the objects of a document, by their definitions.
var headings = map[string]string{
	"document": "Document", "record": "Record", "source": "Source", "request": "Request", "message": "Message", "part": "Part",
	"tool": "Tool", "continues": "Continues", "response": "Response", "tool_calls": "Tool call", "candidates": "Candidate",
	"citations": "Citation", "providerError": "Error", "readings": "Reading", "usage": "Usage",
}

// A documentSchema is made of the lists of members that package snapshot reads and writes with.
type documentSchema struct {
	*source
	defs      Schema
	tables    map[string]map[string]string // what docs/format.md says of members, by heading
	inherited map[string][]string          // members that may be null in a record that continues another, by definition
}

// Document returns the schema of a document.
func Document(t *testing.T) Schema {
	t.Helper()
	d := &documentSchema{source: sourceOf(t, "snapshot"), defs: Schema{}, tables: formatTables(t), inherited: map[string][]string{}}
	d.defs["any"], d.defs["object"], d.defs["text"] = freeValue(), freeObject(), text()
	root := d.object("document", d.funcs["coder.document"])
	d.refine()
	later := Schema{"properties": Schema{"source": Schema{"not": anyOf(Schema{"required": []string{"now"}},
		Schema{"required": []string{"package"}}, Schema{"required": []string{"test"}})}}}
	snapshots := root["properties"].(Schema)["snapshots"].(Schema)
	snapshots["prefixItems"], snapshots["items"] = []any{ref("record")}, Schema{"allOf": []any{ref("record"), later}}
	snapshots["minItems"] = 1
	root["$defs"] = d.defs
	root["title"] = "A document of the snapshot format, version " + snapshot.Version
	root["description"] = "The calls of one test. Of hashes, of what requests continue, of numbers that do not fit and of the order of " +
		"members a schema cannot say whether they are right: traceforge verify can."
	return root
}

// Shown returns the schema of records in the literal form, each with the hashes of its cores.
func Shown(t *testing.T, title string) Schema {
	t.Helper()
	s := Document(t)
	record := s["$defs"].(Schema)["record"].(Schema)
	for _, of := range [][2]string{{"prompt_hash", "request"}, {"response_hash", "response"}} {
		record["properties"].(Schema)[of[0]] = described(hash(), "of the core of the "+of[1])
		record["required"] = append(record["required"].([]string), of[0])
	}
	return Schema{
		"title": title, "$defs": s["$defs"], "type": "object", "additionalProperties": false, "required": []string{"snapshots"},
		"properties": Schema{"snapshots": arrayOf(ref("record"))},
	}
}

// refine adds what hangs on several members.
func (d *documentSchema) refine() {
	request, record := d.defs["request"].(Schema), d.defs["record"].(Schema)
	request["oneOf"] = []any{Schema{"required": []string{"messages"}}, Schema{"required": []string{"prompt"}}}
	without := Schema{"not": Schema{"required": []string{"continues"}}}
	request["if"], request["then"] = without, d.notNull("request")
	request["dependentRequired"] = Schema{"continues": []string{"messages"}}

	ranges := Schema{}
	for _, p := range modelio.Parameters {
		if p.Most < math.MaxFloat64 {
			ranges[p.Name] = Schema{"minimum": p.Least, "maximum": p.Most}
		}
	}
	answered := Schema{"properties": Schema{
		"request":  without,
		"response": Schema{"not": Schema{"required": []string{"error"}}, "properties": Schema{"status": Schema{"maximum": 399}}},
	}}
	record["if"], record["then"] = answered, Schema{"properties": Schema{"request": Schema{"properties": ranges}}}
	record["dependentSchemas"] = Schema{"request": Schema{"if": Schema{"properties": Schema{"request": without}},
		"then": Schema{"properties": Schema{"response": d.notNull("response")}}}}
}

// notNull lets the inherited members of an object be null, and returns a schema of one in which they are not.
func (d *documentSchema) notNull(def string) Schema {
	there := Schema{}
	properties := d.defs[def].(Schema)["properties"].(Schema)
	for _, name := range d.inherited[def] {
		there[name] = Schema{"not": Schema{"type": "null"}}
		properties[name] = orNull(properties[name])
	}
	if def == "response" {
		there["usage"] = d.notNull("usage")
		headers := properties["headers"].(Schema)
		there["headers"] = Schema{"additionalProperties": Schema{"not": Schema{"type": "null"}}}
		headers["additionalProperties"] = orNull(headers["additionalProperties"])
		own := headers["properties"].(Schema)
		own["content-type"] = orNull(own["content-type"])
	}
	return Schema{"properties": there}
}

// object returns the schema of the object that a function goes through.
func (d *documentSchema) object(def string, in ast.Node) Schema {
	call := first(in, "object")
	require.NotNil(d, call, def)
	s := Schema{"type": "object", "properties": Schema{}}
	var required []string
	open := word(call.Args[0]) != "nil"
	s["additionalProperties"] = any(false)
	if open {
		s["additionalProperties"] = ref("any")
	}
	d.members(def, open, d.body(call.Args[1]), s["properties"].(Schema), &required)
	if required != nil {
		s["required"] = required
	}
	return s
}

// members adds the members that statements go through. In an open object what is null or empty is kept as it is.
func (d *documentSchema) members(def string, open bool, list []ast.Stmt, properties Schema, required *[]string) {
	for _, call := range calls(list) {
		name, args := named(call), call.Args
		switch name {
		case "agree", "checkDocument", "checkReadings", "checkRecord", "contentType", "report", "sfOrder", "total":
			continue
		case "inherit":
			for _, arg := range args[1:] {
				if name := d.text(arg); name != "*" {
					d.inherited[def] = append(d.inherited[def], name)
				}
			}
			continue
		case "continues":
			d.defs["continues"] = d.object("continues", d.funcs["coder.readContinues"])
			properties["continues"] = d.describe(def, "continues", ref("continues"))
			continue
		case "headers":
			any := Schema{"type": "array", "items": Schema{"type": "string"}}
			properties["headers"] = d.describe(def, "headers", Schema{"type": "object", "minProperties": 1,
				"properties": Schema{"content-type": any}, "additionalProperties": with(any, "minItems", 1)})
			continue
		case "list", "field", "pointer", "integer":
			args = args[1:] // the coder
		}
		literal, ok := args[0].(*ast.BasicLit)
		if !ok { // a list of its own
			require.Contains(d, d.funcs, "coder."+name)
			d.members(def, open, d.funcs["coder."+name].Body.List, properties, required)
			continue
		}
		member := d.text(literal)
		if properties[member] != nil {
			continue
		}
		s, need, leftOut := d.value(name, member, args)
		switch {
		case need == "required", need == "nullable":
			*required = append(*required, member)
		case need == "optional" && leftOut && !open:
			s = notEmpty(s)
		}
		if need == "nullable" || open && need == "optional" {
			s = orNull(s)
		}
		if member == "sent" {
			s = orNull(s)
		}
		properties[member] = d.describe(def, member, s)
	}
}

func (d *documentSchema) describe(def, member string, s any) any {
	if word := headings[def]; word != "" {
		text, ok := d.tables[word][member]
		require.True(d, ok, "docs/format.md does not list %s of a %s", member, word)
		return described(s, text)
	}
	return s
}

// notEmpty returns s without the empty value, which is left out where it is a member's.
func notEmpty(s any) any {
	schema, ok := s.(Schema)
	if !ok {
		return s
	}
	switch schema["type"] {
	case "string":
		if schema["pattern"] == nil && schema["enum"] == nil && schema["const"] == nil {
			return with(schema, "minLength", 1)
		}
	case "array":
		return with(schema, "minItems", 1)
	case "integer":
		return with(schema, "minimum", max(1, schema["minimum"].(int)))
	}
	switch schema["$ref"] {
	case "#/$defs/object":
		return with(schema, "minProperties", 1)
	case "#/$defs/text":
		return with(schema, "minLength", 1)
	}
	return s
}

func with(s Schema, name string, value any) Schema {
	s = maps.Clone(s)
	s[name] = value
	return s
}

// value returns the schema of a member, when it is there, and whether an empty one is left out. args begin with its name.
func (d *documentSchema) value(function, member string, args []ast.Expr) (s any, need string, leftOut bool) {
	if len(args) > 1 {
		need = word(args[1])
	}
	switch function {
	case "text":
		return d.checked(args[3]), need, true
	case "hash":
		return hash(), need, true
	case "pieces":
		return ref("text"), need, true
	case "raw":
		return ref("any"), "valued", false
	case "free":
		return ref("object"), "optional", true
	case "integer":
		least, err := strconv.Atoi(args[3].(*ast.BasicLit).Value)
		require.NoError(d, err)
		return Schema{"type": "integer", "minimum": least}, need, true
	case "pointer":
		return d.of(member, args[3]), need, false
	case "field":
		return d.of(member, args[4]), need, false
	case "list":
		return arrayOf(d.of(member, args[3])), need, true
	}
	require.Fail(d, "no schema of "+function+" is known", member)
	return nil, "", false
}

// of returns the schema of what a function reads.
func (d *documentSchema) of(member string, f ast.Expr) any {
	name := word(f)
	switch name {
	case "number":
		kept := Schema{"type": "object", "properties": Schema{"$number": Schema{"type": "string", "pattern": numberPattern}},
			"required": []string{"$number"}, "additionalProperties": false}
		return anyOf(Schema{"type": "number"}, kept)
	case "count":
		return Schema{"type": "integer", "minimum": 0}
	case "longText":
		return ref("text")
	case "word":
		return Schema{"type": "string"}
	case "ignored":
		return Schema{"type": "string", "pattern": `^(/([^~/]|~[01])*)+$`}
	case "headerName":
		return Schema{"type": "string", "pattern": "^[a-z0-9!#$%&'*+.^_`|~-]+$"}
	case "time":
		return Schema{"type": "string", "format": "date-time", "pattern": timePattern, "not": Schema{"const": "0001-01-01T00:00:00Z"}}
	case "freeObject":
		return ref("object")
	case "content":
		d.define("part")
		return anyOf(ref("text"), arrayOf(ref("part")))
	case "sentPart":
		d.define("part")
		changed := Schema{"type": "object", "required": []string{"metadata", "part"}, "additionalProperties": false,
			"properties": Schema{"metadata": ref("object"), "part": Schema{"type": "integer", "minimum": 0}}}
		other := Schema{"allOf": []any{ref("part"), Schema{"not": Schema{"required": []string{"part"}}}}}
		return anyOf(Schema{"type": "integer", "minimum": 0}, changed, other)
	case "request":
		if d.defs["request"] == nil {
			d.defs["request"] = Schema{}
			list := d.funcs["coder.requestMembers"]
			s := Schema{"type": "object", "properties": Schema{}, "additionalProperties": false}
			var required []string
			d.inherited["request"] = d.texts(d.values["inherited"].(*ast.CompositeLit).Elts)
			d.members("request", false, list.Body.List, s["properties"].(Schema), &required)
			s["required"] = required
			d.defs["request"] = s
		}
		return ref("request")
	case "":
		switch {
		case member == "partial":
			return Schema{"const": true}
		case first(f, "object") == nil:
			return arrayOf(d.of(member, first(f, "elements").Args[2]))
		}
		d.defs[member] = d.object(member, f)
		return ref(member)
	}
	d.define(name)
	return ref(name)
}

// define makes the definition of the object that a function goes through.
func (d *documentSchema) define(name string) {
	if d.defs[name] != nil {
		return
	}
	d.defs[name] = Schema{} // it may hold itself
	require.Contains(d, d.funcs, "coder."+name)
	s := d.object(name, d.funcs["coder."+name])
	if name == "part" {
		s["not"] = anyOf(pairs("media", "reasoning", "text", "toolRequest", "toolResponse")...)
	}
	d.defs[name] = s
}

// pairs returns schemas of objects that have two of the members, neither of them null.
func pairs(names ...string) (all []any) {
	for i, a := range names {
		for _, b := range names[i+1:] {
			there := Schema{"not": Schema{"type": "null"}}
			all = append(all, Schema{"required": []string{a, b}, "properties": Schema{a: there, b: there}})
		}
	}
	return all
}

// checked returns the schema of a string that passes a check of the parser.
func (d *documentSchema) checked(check ast.Expr) any {
	if literal, ok := d.values[word(check)].(*ast.CallExpr); ok && named(literal) == "oneOf" {
		return Schema{"type": "string", "enum": d.texts(literal.Args)}
	}
	switch word(check) {
	case "nil", "must", "notEmpty":
		s := Schema{"type": "string"}
		if word(check) == "notEmpty" {
			s["minLength"] = 1
		}
		return s
	case "isVersion":
		return Schema{"enum": []string{snapshot.Version, snapshot.VersionSF}}
	case "isProvider":
		return Schema{"type": "string", "pattern": providerPattern, "not": Schema{"pattern": `^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`}}
	case "isPath":
		return Schema{"type": "string", "pattern": `^[^/\\]+(/[^/\\]+)*$`, "not": Schema{"pattern": `(^|/)\.\.?(/|$)|:/`}}
	case "isLane":
		return Schema{"type": "string", "pattern": d.pattern("laneName")}
	}
	require.Fail(d, "no schema of the check is known", word(check))
	return nil
}

// text is a text, or its pieces.
func text() any {
	return Schema{"type": []string{"string", "array"}, "items": Schema{"type": "string"}, "minItems": 1}
}

// freeValue is any JSON, in which numbers are kept and texts are in pieces (docs/format.md section 2).
func freeValue() Schema {
	only := func(name string, value Schema, otherwise Schema) Schema {
		return Schema{
			"if":   Schema{"type": "object", "required": []string{name}, "maxProperties": 1},
			"then": Schema{"properties": Schema{name: value}}, "else": otherwise,
		}
	}
	number := Schema{"type": "string", "pattern": numberPattern}
	pieces := Schema{"type": "array", "items": Schema{"type": "string"}, "minItems": 1}
	return only("$number", number, only("$text", pieces, Schema{"items": ref("any"), "additionalProperties": ref("any")}))
}

func freeObject() Schema {
	return Schema{"type": "object", "additionalProperties": ref("any")}
}

// formatTables returns what docs/format.md says of members, by heading.
func formatTables(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(Checkout("docs/format.md"))
	require.NoError(t, err)
	defer f.Close()
	tables := map[string]map[string]string{}
	heading := ""
	number := regexp.MustCompile(`^\d+\. `)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if name := strings.TrimLeft(line, "#"); name != line {
			heading = number.ReplaceAllString(strings.TrimSpace(name), "")
			tables[heading] = map[string]string{}
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) < 3 && !slices.Contains([]string{"Continues"}, heading) {
			continue
		}
		meaning := strings.TrimSuffix(cells[len(cells)-1], " |")
		if len(cells) == 3 { // without a meaning
			meaning = ""
		}
		tables[heading][strings.Trim(cells[0], "`")] = strings.TrimSpace(meaning)
	}
	return tables
}
