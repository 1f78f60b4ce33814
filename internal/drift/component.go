package drift

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Changes returns the components in which two requests differ (design R3): model, system and other messages, tools,
// parameters, output format, headers. Messages are aligned, so that an inserted message is one change. Tools and
// options are compared by name. If equal messages or tools only changed their order, there is one change that says so.
func (c *Comparer) Changes(recorded, got *Request) []Change {
	w := writer{c: c}
	first := [...]string{"model", "api", "prompt"}
	for _, name := range first {
		w.named(name, "/"+name, recorded.members[name], got.members[name])
	}
	w.messages(recorded, got)
	w.tools(recorded, got)
	for _, name := range inorder.Names(recorded.members, got.members) {
		r, g := recorded.members[name], got.members[name]
		switch {
		case slices.Contains(first[:], name):
		case name == "provider_options":
			w.options(r, g)
		default:
			w.named("parameters: "+name, "/"+name, r, g)
		}
	}
	return w.found
}

// A writer describes differences in words.
type writer struct {
	c     *Comparer
	found []Change
}

func (w *writer) named(component, pointer string, r, g *part) {
	w.change(component, component, pointer, r, g, Readable)
}

// change adds a component unless both sides are equal.
func (w *writer) change(component, kind, pointer string, r, g *part, spell Spelling) {
	if r == g {
		return
	}
	before, after := r.spelled(spell), g.spelled(spell)
	if before != nil && after != nil && *before == *after { // such as a text in one part and in two, or "1" and 1
		before, after = r.spelled(laidOut), g.spelled(laidOut)
	}
	w.found = append(w.found, Change{component, kind, pointer, before, after})
}

// Between returns the change of a component from one JSON text to another, either of which is nil if it is absent. It
// returns none if they are equal.
func Between(component, kind, pointer string, before, after json.RawMessage, spell Spelling) []Change {
	w := writer{c: NewComparer(nil)}
	w.change(component, kind, pointer, w.c.part(before), w.c.part(after), spell)
	return w.found
}

// spelled returns a part as people read it, or nil if it is absent. Each text is computed once.
func (p *part) spelled(as Spelling) *string {
	if p == nil {
		return nil
	}
	if p.texts[as] == nil {
		text := as.Text(p.text)
		p.texts[as] = &text
	}
	return p.texts[as]
}

// A gap contains the indexes of the elements that only one of two lists, the recorded one and the other, has at a
// place.
type gap struct{ r, g []int }

// gaps returns the gaps between two lists, without elements that both have at different places; moved reports whether
// there are such elements.
func gaps(r, g []*part) (all []gap, moved bool) {
	found := Edits(r, g)
	gone, come := map[*part]int{}, map[*part]int{}
	for _, e := range found {
		for _, p := range r[e.A0:e.A1] {
			gone[p]++
		}
		for _, p := range g[e.B0:e.B1] {
			come[p]++
		}
	}
	pick := func(list []*part, from, to int, elsewhere map[*part]int) (left []int) {
		for i := from; i < to; i++ {
			if elsewhere[list[i]] > 0 {
				elsewhere[list[i]]--
				moved = true
			} else {
				left = append(left, i)
			}
		}
		return left
	}
	for _, e := range found {
		one := gap{pick(r, e.A0, e.A1, come), pick(g, e.B0, e.B1, gone)}
		if len(one.r)+len(one.g) > 0 {
			all = append(all, one)
		}
	}
	return all, moved
}

// reordered adds a change of order. all is true if the lists do not differ otherwise.
func (w *writer) reordered(what string, all bool, before, after []string) {
	kind := what + AnotherOrder
	component := kind
	if all {
		component = "the same " + kind
	}
	was, is := strings.Join(before, "\n"), strings.Join(after, "\n")
	w.found = append(w.found, Change{component, kind, "/" + what, &was, &is})
}

// messages adds the differences between the messages of two requests.
func (w *writer) messages(recorded, got *Request) {
	all, moved := gaps(recorded.messages, got.messages)
	if moved {
		var only gap
		for _, one := range all {
			only.r, only.g = append(only.r, one.r...), append(only.g, one.g...)
		}
		w.reordered("messages", len(all) == 0, recorded.glances(only.r), got.glances(only.g))
	}
	for _, gap := range all {
		i, j := 0, 0
		upTo := func(r, g int) {
			for ; i < r; i++ {
				w.message(recorded, gap.r[i], recorded.messages[gap.r[i]], nil)
			}
			for ; j < g; j++ {
				w.message(got, gap.g[j], nil, got.messages[gap.g[j]])
			}
		}
		for _, pair := range pairMessages(recorded, got, gap) {
			upTo(pair[0], pair[1])
			w.message(got, gap.g[j], recorded.messages[gap.r[i]], got.messages[gap.g[j]])
			i, j = i+1, j+1
		}
		upTo(len(gap.r), len(gap.g))
	}
}

// pairMessages pairs messages with replacements of the same role: in order if both sides have the same number, or else
// by common prefixes and suffixes.
func pairMessages(recorded, got *Request, in gap) [][2]int {
	const frame = len(`{"content":"","role":"user"}`) // part of every message
	return matched(len(in.r), len(in.g), func(i, j int) int {
		if recorded.Messages[in.r[i]].Role != got.Messages[in.g[j]].Role {
			return 0
		}
		r, g := string(recorded.messages[in.r[i]].json()), string(got.messages[in.g[j]].json())
		common := commonEnds(r, g) - frame
		if len(in.r) == len(in.g) {
			return max(common, 1)
		}
		if common*4 < max(len(r), len(g))-frame {
			return 0
		}
		return common
	})
}

// AnswerSent is the kind of a message that sends an answer back.
const AnswerSent = string(modelio.RoleModel) + " message"

// message adds the i-th message of a request.
func (w *writer) message(in *Request, i int, r, g *part) {
	role, pointer := in.Messages[i].Role, fmt.Sprintf("/messages/%d", in.from+i)
	component, kind := fmt.Sprintf("message %d (%s)", in.from+i+1, role), fmt.Sprintf("%s message", role)
	switch {
	case role == modelio.RoleSystem:
		component, kind = "system", "system"
	case in.Tool() != "":
		component = "input of tool " + in.Model
		kind = component
	}
	if r != nil && g != nil {
		was, said := w.c.metadata(r)
		is, says := w.c.metadata(g)
		same, found := bytes.Equal(said, says), len(w.found)
		if same || role != modelio.RoleModel { // metadata of a changed answer, such as a signature, is part of the answer
			for _, at := range inorder.Names(was, is) {
				name := ": " + path.Base(at)
				w.change(component+name, kind+name, pointer+at, was[at], is[at], Readable)
			}
		}
		if same && len(w.found) > found {
			return
		}
	}
	w.change(component, kind, pointer, r, g, Spoken)
}

// metadata returns the metadata of the parts of a message, by the pointers into the message. It also returns what else
// the message says, without how it is written.
func (c *Comparer) metadata(message *part) (found map[string]*part, rest []byte) {
	m := jsontext.ValueOf(message.text)
	found, rest = map[string]*part{}, jsontext.ObjectText(m.Member("metadata").Rest("$wire"))
	if text := m.Member("content"); text.IsString() {
		rest = append(rest, jsontext.ObjectText(map[string]json.RawMessage{"text": text.Raw()})...)
	}
	for i, e := range m.Member("content").Elements() {
		rest = append(rest, jsontext.ObjectText(e.Rest("metadata"))...)
		for name, value := range e.Member("metadata").Members() {
			found[jsontext.PointerTo("content", strconv.Itoa(i), "metadata", name)] = c.part(value.Raw())
		}
	}
	return found, rest
}

// glances returns a line for each message, except for those with the given indexes.
func (r *Request) glances(without []int) (lines []string) {
	for i, m := range r.messages {
		if !slices.Contains(without, i) {
			lines = append(lines, string(r.Messages[i].Role)+": "+glance(Spoken.Text(m.json())))
		}
	}
	return lines
}

// glance returns the start of a text on one line.
func glance(text string) string {
	const most = 80 // bytes
	line := strings.Join(strings.Fields(text[:boundary(text, 4*most)]), " ")
	if len(line) > most {
		line = line[:boundary(line, most)] + "…"
	}
	return line
}

// tools adds the differences between the tools of two requests, which are identified by name.
func (w *writer) tools(recorded, got *Request) {
	place := map[string][]int{} // positions in got
	for j := range got.Tools {
		name := toolName(got.Request, j)
		place[name] = append(place[name], j)
	}
	var before, after []int // positions of those in both
	for i, r := range recorded.tools {
		name := toolName(recorded.Request, i)
		if place[name] == nil && isRenamed(recorded, got, i) {
			place[name] = []int{i}
		}
		if at := place[name]; len(at) > 0 {
			before, after, place[name] = append(before, i), append(after, at[0]), at[1:]
			w.tool(name, at[0], r, got.tools[at[0]])
			continue
		}
		w.named("tool "+name, fmt.Sprintf("/tools/%d", i), r, nil)
	}
	for j, g := range got.tools {
		if !slices.Contains(after, j) {
			w.named("tool "+toolName(got.Request, j), fmt.Sprintf("/tools/%d", j), nil, g)
		}
	}
	if !slices.IsSorted(after) {
		all := len(before) == len(recorded.tools) && len(after) == len(got.tools)
		now := slices.Clone(after)
		sort.Ints(now)
		w.reordered("tools", all, toolNames(recorded.Request, before), toolNames(got.Request, now))
	}
}

// isRenamed reports whether only the name of the i-th tool changed, to one that was not there before.
func isRenamed(recorded, got *Request, i int) bool {
	isOld := func(t modelio.ToolDefinition) bool { return t.Name == got.Tools[i].Name }
	says := func(tool *part) string {
		return string(jsontext.ObjectText(jsontext.ValueOf(tool.json()).Rest("name")))
	}
	return i < len(got.tools) && recorded.Tools[i].Name != "" && got.Tools[i].Name != "" &&
		!slices.ContainsFunc(recorded.Tools, isOld) &&
		says(recorded.tools[i]) != "{}" && says(recorded.tools[i]) == says(got.tools[i])
}

// toolName returns the name of a tool. For a provider's tool without a name it is the type, or else the number.
func toolName(r *modelio.Request, i int) string {
	return cmp.Or(r.Tools[i].Name, jsontext.WordOf(r.Tools[i].Unknown["type"]), strconv.Itoa(i+1))
}

func toolNames(r *modelio.Request, indexes []int) (names []string) {
	for _, i := range indexes {
		names = append(names, toolName(r, i))
	}
	return names
}

// tool adds the differences between two tools with one name; j is the index of the second.
func (w *writer) tool(name string, j int, r, g *part) {
	if r == g {
		return
	}
	before, after := w.c.memberParts(r), w.c.memberParts(g)
	for _, member := range inorder.Names(before, after) {
		component := "tool " + name + ": " + cmp.Or(toolMembers[member], member)
		if member == "name" {
			component = ToolRenamed + name + " → " + jsontext.WordOf(after[member].json())
		}
		w.named(component, fmt.Sprintf("/tools/%d%s", j, jsontext.PointerTo(member)), before[member], after[member])
	}
}

var toolMembers = map[string]string{"inputSchema": "input schema", "outputSchema": "output schema"}

// memberParts returns the members of an object.
func (c *Comparer) memberParts(object *part) map[string]*part {
	parts := map[string]*part{}
	for name, value := range jsontext.ValueOf(object.json()).Members() {
		parts[name] = c.part(value.Raw())
	}
	return parts
}

// options adds the differences between the provider options of two requests.
func (w *writer) options(recorded, got *part) {
	before, after := w.c.memberParts(recorded), w.c.memberParts(got)
	for _, name := range inorder.Names(before, after) {
		r, g, pointer := before[name], after[name], "/provider_options"+jsontext.PointerTo(name)
		switch {
		case name == "$headers" && isHeaders(r) && isHeaders(g):
			r, g := w.c.memberParts(r), w.c.memberParts(g)
			for _, header := range inorder.Names(r, g) {
				w.named("headers: "+header, pointer+jsontext.PointerTo(header), r[header], g[header])
			}
		case outputOptions[name] && (name != "text" || !jsontext.ValueOf(g.json()).IsString()): // or it is what is asked
			w.named("output format", pointer, r, g)
		case toolOptions[name]:
			w.named("tools: "+name, pointer, r, g)
		default:
			w.named("parameters: "+name, pointer, r, g)
		}
	}
}

// isHeaders reports whether a part is absent or an object with members.
func isHeaders(p *part) bool { return p == nil || p.text[0] == '{' && len(p.text) > 2 }
