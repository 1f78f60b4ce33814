package provider

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A growingCall is a function call of Vertex AI whose arguments come piece by piece, each with the
// JSON path of the place it is for.
type growingCall struct {
	call modelio.Object // but for its args
	args argument
	done bool
}

// add takes the next piece.
func (g *growingCall) add(piece jsontext.Value) {
	for _, partial := range piece.Member("partialArgs").Elements() {
		place := &g.args
		for _, step := range pathSteps(partial.Member("jsonPath").Word()) {
			place = place.at(step)
		}
		place.add(partial)
	}
	g.done = string(piece.Member("willContinue").Raw()) != "true"
}

func (g *growingCall) json() json.RawMessage {
	if g.args.object != nil {
		jsontext.Keep(&g.call, "args", g.args.json())
	}
	return jsontext.ObjectText(g.call)
}

// An argument is a value that is under way: one of an object, an array, a string and another
// value.
type argument struct {
	object map[string]*argument
	array  []*argument
	text   []byte // inside of the string
	other  json.RawMessage
}

// at returns the value at a step: the name of a member, or an index in brackets.
func (a *argument) at(step string) *argument {
	inner, isIndex := strings.CutPrefix(step, "[")
	if !isIndex {
		if a.object == nil {
			a.object = map[string]*argument{}
		}
		if a.object[step] == nil {
			a.object[step] = &argument{}
		}
		return a.object[step]
	}
	const most = 10_000 // a larger index is a mistake, not an array
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 || index > most {
		index = len(a.array)
	}
	for len(a.array) <= index {
		a.array = append(a.array, &argument{})
	}
	return a.array[index]
}

// add takes a piece of the value.
func (a *argument) add(partial jsontext.Value) {
	for name, v := range partial.Members() {
		switch {
		case name == "stringValue" && v.IsString():
			raw := v.Raw()
			a.text = append(a.text, raw[1:len(raw)-1]...)
			a.other = quoted(a.text)
		case name == "numberValue" || name == "boolValue":
			a.other = v.Raw()
		case name == "nullValue":
			a.other = json.RawMessage("null")
		}
	}
}

func (a *argument) json() json.RawMessage {
	switch {
	case a.object != nil:
		o := modelio.Object{}
		for name, v := range a.object {
			o[name] = v.json()
		}
		return jsontext.ObjectText(o)
	case a.array != nil:
		all := list{}
		for _, v := range a.array {
			all = append(all, v.json())
		}
		return jsontext.List(all)
	case a.other != nil:
		return a.other
	}
	return json.RawMessage("null")
}

// pathSteps takes a JSON path like $.list[0]['a name'].b apart: names, and indexes as "[0".
func pathSteps(path string) []string {
	var steps []string
	path = strings.TrimPrefix(path, "$")
	for path != "" {
		var step string
		switch {
		case strings.HasPrefix(path, "['"):
			step, path, _ = strings.Cut(path[2:], "']")
		case path[0] == '[':
			step, path, _ = strings.Cut(path, "]")
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			step, path = path[:end], path[end:]
		}
		steps = append(steps, step)
	}
	return steps
}
