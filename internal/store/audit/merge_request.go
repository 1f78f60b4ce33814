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

// mergeRequest merges two versions of a request by member, by element and by line, as git merges lines. If both sides
// changed the same component differently, ours is kept and left names the component.
func mergeRequest(base, ours, theirs *modelio.Request) (merged *modelio.Request, left []string, err error) {
	var sides [3]jsontext.Value
	for i, r := range []*modelio.Request{base, ours, theirs} {
		text, _ := jsontext.Marshal(r) // always possible: it was read
		sides[i] = jsontext.ValueOf(text)
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

// componentAt names the component at a pointer into a request, in the terms of differences.
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

// value returns the merged value; nil if it is removed.
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
		return m.list(pointer, base, ours, theirs)
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

// list merges lists. If both sides changed the same number of elements at one place, these are merged one by one.
func (m *merger) list(pointer string, base, ours, theirs jsontext.Value) json.RawMessage {
	elements := [3][]jsontext.Value{base.Values(), ours.Values(), theirs.Values()}
	var lists [3][]string
	for side, values := range elements {
		for _, v := range values {
			lists[side] = append(lists[side], string(v.Raw()))
		}
	}
	merged := mergedLists(lists, func(c chunk) (kept []string) {
		of := c.of(1, lists[1])
		if len(c.of(0, lists[0])) != len(of) || len(of) != len(c.of(2, lists[2])) {
			m.left = append(m.left, pointer+"/"+strconv.Itoa(c.from[1]))
			return of
		}
		for i := range of {
			at := pointer + "/" + strconv.Itoa(c.from[1]+i)
			kept = append(kept,
				string(m.value(at, elements[0][c.from[0]+i], elements[1][c.from[1]+i], elements[2][c.from[2]+i])))
		}
		return kept
	})
	return json.RawMessage("[" + strings.Join(merged, ",") + "]")
}

// text merges texts by line.
func (m *merger) text(pointer string, base, ours, theirs jsontext.Value) json.RawMessage {
	var lists [3][]string
	for side, v := range []jsontext.Value{base, ours, theirs} {
		text, _ := v.Text()
		lists[side] = strings.SplitAfter(text, "\n")
	}
	merged := mergedLists(lists, func(c chunk) []string {
		m.left = append(m.left, pointer)
		return c.of(1, lists[1])
	})
	return jsontext.Text(strings.Join(merged, ""))
}

// mergedLists merges base, ours and theirs. A place that only one side changed, or that both changed in the same way,
// has that change; conflict returns the result for any other place.
func mergedLists(lists [3][]string, conflict func(chunk) []string) (merged []string) {
	for _, c := range chunks(lists[0], lists[1], lists[2]) {
		kept, theirs := c.of(1, lists[1]), c.of(2, lists[2])
		switch base := c.of(0, lists[0]); {
		case slices.Equal(kept, theirs) || slices.Equal(theirs, base):
		case slices.Equal(kept, base):
			kept = theirs
		default:
			kept = conflict(c)
		}
		merged = append(merged, kept...)
	}
	return merged
}

// A chunk is a range in each of three lists: base, ours and theirs.
type chunk struct{ from, to [3]int }

func (c *chunk) of(side int, list []string) []string { return list[c.from[side]:c.to[side]] }

// chunks divides three lists into ranges that are equal and ranges that differ. Adjacent changes are one chunk.
func chunks(base, ours, theirs []string) (all []chunk) {
	type change struct {
		drift.Edit
		side int
	}
	var changes []change
	for i, list := range [][]string{ours, theirs} {
		for _, e := range drift.Edits(base, list) {
			changes = append(changes, change{e, i + 1})
		}
	}
	inorder.By(changes, func(a, b change) int { return a.A0 - b.A0 })
	var at [3]int // start of the next chunk
	for len(changes) > 0 {
		same := changes[0].A0 - at[0]
		c := chunk{from: [3]int{at[0] + same, at[1] + same, at[2] + same}}
		all = append(all, chunk{at, c.from})
		end, longer := c.from[0], [3]int{} // difference to the length of base
		for ; len(changes) > 0 && changes[0].A0 <= end; changes = changes[1:] {
			e := changes[0]
			end = max(end, e.A1)
			longer[e.side] += (e.B1 - e.B0) - (e.A1 - e.A0)
		}
		n := end - c.from[0]
		c.to = [3]int{end, c.from[1] + n + longer[1], c.from[2] + n + longer[2]}
		all, at = append(all, c), c.to
	}
	return append(all, chunk{at, [3]int{len(base), len(ours), len(theirs)}})
}
