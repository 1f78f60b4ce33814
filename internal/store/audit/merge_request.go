package audit

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// mergeRequest merges two requests that were one, by member, by element and by line, as git merges lines. Where both sides changed the
// same one differently ours stays: left names these components.
func mergeRequest(base, ours, theirs *modelio.Request) (merged *modelio.Request, left []string, err error) {
	var sides [3]jsontext.Value
	for i, r := range []*modelio.Request{base, ours, theirs} {
		text, err := jsontext.Marshal(r)
		if err != nil {
			return nil, nil, err
		}
		doc, err := jsontext.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		sides[i] = doc.Root()
	}
	m := merger{}
	merged = &modelio.Request{}
	if err := json.Unmarshal(m.value("", sides[0], sides[1], sides[2]), merged); err != nil {
		return nil, nil, err
	}
	for i, pointer := range m.left {
		m.left[i] = componentAt(pointer, ours)
	}
	return merged, slices.Compact(m.left), nil
}

// componentAt names what a pointer into a request leads to, as differences do.
func componentAt(pointer string, r *modelio.Request) string {
	words := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	if len(words) > 1 {
		switch i, _ := strconv.Atoi(words[1]); {
		case words[0] == "Messages" && i < len(r.Messages) && r.Messages[i].Role == modelio.RoleSystem:
			return "system"
		case words[0] == "Messages" && i < len(r.Messages):
			return "message " + strconv.Itoa(i+1) + " (" + string(r.Messages[i].Role) + ")"
		case words[0] == "Tools" && i < len(r.Tools):
			return "tool " + r.Tools[i].Name
		case words[0] == "Options":
			return "parameters: " + words[1]
		}
	}
	return strings.ToLower(words[0])
}

// A merger merges values.
type merger struct {
	left []string // pointers to what both sides changed
}

// value returns what becomes of a value; nil means nothing.
func (m *merger) value(pointer string, base, ours, theirs jsontext.Value) json.RawMessage {
	b, o, t := string(base.Raw()), string(ours.Raw()), string(theirs.Raw())
	all := func(is func(jsontext.Value) bool) bool { return is(base) && is(ours) && is(theirs) }
	switch {
	case o == t || t == b:
		return ours.Raw()
	case o == b:
		return theirs.Raw()
	case all(jsontext.Value.IsObject):
		return m.object(pointer, base, ours, theirs)
	case all(jsontext.Value.IsArray):
		return jsontext.List(m.list(pointer, base, ours, theirs))
	case all(jsontext.Value.IsString):
		return m.text(pointer, base, ours, theirs)
	}
	m.left = append(m.left, pointer)
	return ours.Raw()
}

func (m *merger) object(pointer string, base, ours, theirs jsontext.Value) json.RawMessage {
	names, merged := ours.Object(), map[string]json.RawMessage{}
	maps.Copy(names, theirs.Object())
	for _, name := range inorder.Names(names) {
		at := pointer + jsontext.PointerTo(name)
		if v := m.value(at, base.Member(name), ours.Member(name), theirs.Member(name)); v != nil {
			merged[name] = v
		}
	}
	return jsontext.ObjectText(merged)
}

// list merges lists. Where both sides changed as many elements at one place, these are merged.
func (m *merger) list(pointer string, base, ours, theirs jsontext.Value) (merged []json.RawMessage) {
	var sides [3][]jsontext.Value
	var texts [3][]string
	for i, v := range []jsontext.Value{base, ours, theirs} {
		for _, element := range v.Elements() {
			sides[i], texts[i] = append(sides[i], element), append(texts[i], string(element.Raw()))
		}
	}
	take := func(list []string) {
		for _, text := range list {
			merged = append(merged, json.RawMessage(text))
		}
	}
	for _, c := range chunks(texts[0], texts[1], texts[2]) {
		b, o, t := c.of(0, texts[0]), c.of(1, texts[1]), c.of(2, texts[2])
		switch kept, conflict := settled(b, o, t); {
		case !conflict:
			take(kept)
		case len(b) == len(o) && len(o) == len(t):
			for i := range o {
				at := pointer + "/" + strconv.Itoa(c.from[1]+i)
				v := m.value(at, sides[0][c.from[0]+i], sides[1][c.from[1]+i], sides[2][c.from[2]+i])
				merged = append(merged, v)
			}
		default:
			m.left = append(m.left, pointer+"/"+strconv.Itoa(c.from[1]))
			take(o)
		}
	}
	return merged
}

// text merges texts by line.
func (m *merger) text(pointer string, base, ours, theirs jsontext.Value) json.RawMessage {
	var sides [3][]string
	for i, v := range []jsontext.Value{base, ours, theirs} {
		text, _ := v.Text()
		sides[i] = strings.SplitAfter(text, "\n")
	}
	var merged strings.Builder
	for _, c := range chunks(sides[0], sides[1], sides[2]) {
		kept, conflict := settled(c.of(0, sides[0]), c.of(1, sides[1]), c.of(2, sides[2]))
		if conflict {
			m.left = append(m.left, pointer)
			kept = c.of(1, sides[1])
		}
		merged.WriteString(strings.Join(kept, ""))
	}
	return jsontext.Text(merged.String())
}

// settled returns what becomes of a place of lists that one side changed at most, or both alike.
func settled(base, ours, theirs []string) (kept []string, conflict bool) {
	switch {
	case slices.Equal(ours, theirs) || slices.Equal(theirs, base):
		return ours, false
	case slices.Equal(ours, base):
		return theirs, false
	}
	return nil, true
}

// A chunk is a place of three lists: base, ours and theirs.
type chunk struct{ from, to [3]int }

func (c *chunk) of(side int, list []string) []string { return list[c.from[side]:c.to[side]] }

// chunks takes three lists apart into places that are the same and places where some differ. Changes that touch are one.
func chunks(base, ours, theirs []string) (all []chunk) {
	changes := [3][]drift.Edit{1: drift.Edits(base, ours), 2: drift.Edits(base, theirs)}
	var at [3]int // where the next chunk begins
	for len(changes[1])+len(changes[2]) > 0 {
		first := 1
		if len(changes[1]) == 0 || len(changes[2]) > 0 && changes[2][0].A0 < changes[1][0].A0 {
			first = 2
		}
		same := changes[first][0].A0 - at[0]
		c := chunk{from: [3]int{at[0] + same, at[1] + same, at[2] + same}}
		all = append(all, chunk{at, c.from})
		end := c.from[0]
		longer := [3]int{} // than base
		for grown := true; grown; {
			grown = false
			for side := 1; side <= 2; side++ {
				if len(changes[side]) > 0 && changes[side][0].A0 <= end {
					e := changes[side][0]
					end = max(end, e.A1)
					longer[side] += (e.B1 - e.B0) - (e.A1 - e.A0)
					changes[side], grown = changes[side][1:], true
				}
			}
		}
		n := end - c.from[0]
		c.to = [3]int{end, c.from[1] + n + longer[1], c.from[2] + n + longer[2]}
		all, at = append(all, c), c.to
	}
	return append(all, chunk{at, [3]int{len(base), len(ours), len(theirs)}})
}
