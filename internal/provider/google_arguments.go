package provider

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// growFunctionCall takes a function call. On Vertex AI its arguments may come piece by piece.
func growFunctionCall(part *node, name string, v jsontext.Value) {
	part.put(name, v)
	if !v.Member("willContinue").Present() {
		return
	}
	call := part.member(name)
	call.clear()
	rules{"willContinue": skip, "partialArgs": skip}.fold(call, v)
	growArguments(call, v)
}

// growArguments takes the next piece of a call, with the JSON path of the place that each of its arguments
// is for.
func growArguments(call *node, piece jsontext.Value) {
	for _, partial := range piece.Member("partialArgs").Elements() {
		steps := pathSteps(partial.Member("jsonPath").Word())
		if len(steps) == 0 {
			continue
		}
		place := call.member("args")
		for _, step := range steps {
			place = place.step(step)
		}
		growArgument(place, partial)
	}
	call.open = string(piece.Member("willContinue").Raw()) == "true"
}

// growArgument takes a piece of an argument, a string or the whole of another value.
func growArgument(argument *node, partial jsontext.Value) {
	for name, v := range partial.Members() {
		switch {
		case name == "stringValue" && v.IsString():
			argument.growText(v)
		case name == "numberValue" || name == "boolValue":
			argument.set(v.Raw())
		case name == "nullValue":
			argument.set(json.RawMessage("null"))
		}
	}
}

// step returns the value at a step of a path: the name of a member, or an index as "[0".
func (n *node) step(step string) *node {
	inner, isIndex := strings.CutPrefix(step, "[")
	if !isIndex {
		return n.member(step)
	}
	const most = 10_000 // a larger index is a mistake, not an array
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 || index > most {
		index = len(n.list())
	}
	for len(n.list()) <= index {
		n.add()
	}
	return n.items[index]
}

// pathSteps takes a JSON path like $.list[0]['a name'].b apart: names, and indexes as "[0".
func pathSteps(path string) (steps []string) {
	for _, step := range pathStep.FindAllStringSubmatch(strings.TrimPrefix(path, "$"), -1) {
		steps = append(steps, step[1]+step[2]+step[3])
	}
	return steps
}

var pathStep = regexp.MustCompile(`\['(.*?)'\]|(\[[^\]]*)\]|\.?([^.[]+)`)
