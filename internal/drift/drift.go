// Package drift tells two recordings of a model call apart: which JSON values differ, where,
// and which component of the request is the cause.
package drift

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A Difference is one place where two JSON texts disagree.
type Difference struct {
	Pointer  string          // RFC 6901; in an array that grew or shrank, the index on the side that has the element
	Recorded json.RawMessage // nil: absent
	Got      json.RawMessage // nil: absent
}

// JSON compares two canonical JSON texts and returns their differences in document order,
// none when they are equal. Both texts must be valid JSON.
func JSON(recorded, got []byte) []Difference {
	var d differ
	d.compare("", recorded, got)
	return d.found
}

type differ struct{ found []Difference }

func (d *differ) compare(pointer string, recorded, got json.RawMessage) {
	if bytes.Equal(recorded, got) {
		return
	}
	if r, g, ok := decodeBoth[map[string]json.RawMessage](recorded, got, '{'); ok {
		d.objects(pointer, r, g)
		return
	}
	if r, g, ok := decodeBoth[[]json.RawMessage](recorded, got, '['); ok {
		d.arrays(pointer, r, g)
		return
	}
	d.found = append(d.found, Difference{pointer, recorded, got})
}

// decodeBoth decodes both texts when both start with the given delimiter.
func decodeBoth[T any](recorded, got json.RawMessage, delim byte) (r, g T, ok bool) {
	if len(recorded) == 0 || len(got) == 0 || recorded[0] != delim || got[0] != delim {
		return r, g, false
	}
	ok = json.Unmarshal(recorded, &r) == nil && json.Unmarshal(got, &g) == nil
	return r, g, ok
}

func (d *differ) objects(pointer string, recorded, got map[string]json.RawMessage) {
	names := make([]string, 0, len(recorded))
	for name := range recorded {
		names = append(names, name)
	}
	for name := range got {
		if _, ok := recorded[name]; !ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		d.compare(pointer+"/"+escape(name), recorded[name], got[name])
	}
}

// arrays pairs equal elements at both ends, so that one inserted element is one difference
// and not one for each element behind it.
func (d *differ) arrays(pointer string, recorded, got []json.RawMessage) {
	head := 0
	for head < len(recorded) && head < len(got) && bytes.Equal(recorded[head], got[head]) {
		head++
	}
	tail := 0
	for tail < len(recorded)-head && tail < len(got)-head &&
		bytes.Equal(recorded[len(recorded)-1-tail], got[len(got)-1-tail]) {
		tail++
	}
	r, g := recorded[head:len(recorded)-tail], got[head:len(got)-tail]
	for i := range max(len(r), len(g)) {
		at := pointer + "/" + strconv.Itoa(head+i)
		switch {
		case i >= len(r):
			d.found = append(d.found, Difference{Pointer: at, Got: g[i]})
		case i >= len(g):
			d.found = append(d.found, Difference{Pointer: at, Recorded: r[i]})
		default:
			d.compare(at, r[i], g[i])
		}
	}
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Requests compares the cores of two requests. The pointers in ignored are left out of both.
func Requests(recorded, got *snapshot.Request, ignored []string) ([]Difference, error) {
	r, err := recorded.Core(ignored)
	if err != nil {
		return nil, err
	}
	g, err := got.Core(ignored)
	if err != nil {
		return nil, err
	}
	return JSON(r, g), nil
}

// Causes names the components of a request that the differences of its core lie in, each
// once: "model", "system", "message 2 (user)", "tools", "parameters", "output format".
func Causes(differences []Difference, recorded, got *snapshot.Request) []string {
	var causes []string
	seen := map[string]bool{}
	for _, d := range differences {
		for _, member := range members(d) {
			cause := component(member, recorded, got)
			if !seen[cause] {
				seen[cause] = true
				causes = append(causes, cause)
			}
		}
	}
	return causes
}

// members splits the difference between some provider options and none into one for each, as
// each is a component of its own.
func members(d Difference) []Difference {
	if d.Pointer != "/provider_options" {
		return []Difference{d}
	}
	var split differ
	split.compare(d.Pointer, orEmpty(d.Recorded), orEmpty(d.Got))
	return split.found
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// outputOptions are the provider options that say what form the answer must have.
var outputOptions = map[string]bool{
	"response_format": true, "output_config": true, "output_format": true, "format": true,
	"text": true, "output": true, "modalities": true,
}

// toolOptions are the provider options that say how tools may be used.
var toolOptions = map[string]bool{
	"tool_choice": true, "parallel_tool_calls": true, "toolChoice": true, "toolConfig": true,
	"functions": true, "function_call": true, "tools": true,
}

func component(d Difference, recorded, got *snapshot.Request) string {
	tokens := strings.Split(d.Pointer, "/")
	if len(tokens) < 2 {
		return "request"
	}
	switch tokens[1] {
	case "model", "tools", "prompt", "api":
		return tokens[1]
	case "messages":
		return message(d, tokens, recorded, got)
	case "provider_options":
		if len(tokens) > 2 {
			switch {
			case outputOptions[tokens[2]]:
				return "output format"
			case toolOptions[tokens[2]]:
				return "tools"
			}
		}
	}
	return "parameters"
}

func message(d Difference, tokens []string, recorded, got *snapshot.Request) string {
	if len(tokens) < 3 {
		return "messages"
	}
	i, err := strconv.Atoi(tokens[2])
	if err != nil {
		return "messages"
	}
	from := got.Messages
	if d.Got == nil && len(tokens) == 3 || i >= len(from) {
		from = recorded.Messages
	}
	if i >= len(from) {
		return "messages"
	}
	role := from[i].Role
	if role == "system" {
		return "system"
	}
	return fmt.Sprintf("message %d (%s)", i+1, role)
}

// Size is the number of bytes in the values that differ, without the part that two strings
// have in common at both ends: a measure of how far two requests are apart.
func Size(differences []Difference) int {
	size := 0
	for _, d := range differences {
		r, g := string(d.Recorded), string(d.Got)
		head := commonPrefix(r, g)
		tail := commonSuffix(r[head:], g[head:])
		size += len(r) + len(g) - 2*(head+tail) + 1
	}
	return size
}
