package integration_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// A changeKind is one way to change an answer. change returns false if it does not apply to the answer.
type changeKind struct {
	name   string
	change func(*stream, *rand.Rand) bool
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// changeKinds has the order of the table: changes of events, members, texts, and bytes.
var changeKinds = []changeKind{
	{"unchanged", func(*stream, *rand.Rand) bool { return true }},

	{"event dropped", anEvent(func(s *stream, i int) { s.events = slices.Delete(s.events, i, i+1) })},
	{"event doubled", anEvent(func(s *stream, i int) { s.events = slices.Insert(s.events, i, s.clone().events[i]) })},
	{"event swapped with the next", anEvent(func(s *stream, i int) {
		if i+1 < len(s.events) {
			s.events[i], s.events[i+1] = s.events[i+1], s.events[i]
		}
	})},
	{"event moved to the end", anEvent(func(s *stream, i int) { s.events = append(slices.Delete(s.events, i, i+1), s.events[i]) })},
	{"event moved to the start", anEvent(func(s *stream, i int) {
		s.events = slices.Insert(slices.Delete(slices.Clone(s.events), i, i+1), 0, s.events[i])
	})},
	{"events cut", anEvent(func(s *stream, i int) { s.events = s.events[:i+1] })},
	{"first event again at the end", func(s *stream, _ *rand.Rand) bool {
		s.events = append(s.events, s.clone().events[0])
		return len(s.events) > 2
	}},
	{"event renamed", func(s *stream, r *rand.Rand) bool {
		i, other := r.IntN(len(s.events)), pick(r, s.events).name
		s.events[i].name = other
		return s.framing == framedEvents || s.framing == framedAWS
	}},
	{"event unnamed", named(func(e *told) { e.name = "" })},
	{"name of an event in capitals", named(func(e *told) { e.name = strings.ToUpper(e.name) })},
	{"event given a name", func(s *stream, r *rand.Rand) bool {
		e := &s.events[r.IntN(len(s.events))]
		unnamed := e.name == ""
		e.name = pick(r, []string{"message", "error", "ping", "thread.run.created"})
		return unnamed && s.framing == framedEvents
	}},

	{"member added", aMember(func(m member, _ *rand.Rand) { m.insert("added", leaf("x")) })},
	{"member dropped", aMember(func(m member, _ *rand.Rand) { m.remove() })},
	{"member doubled", aMember(func(m member, _ *rand.Rand) { m.insert(m.name(), m.value().clone()) })},
	{"member doubled, the last other", aMember(func(m member, _ *rand.Rand) { m.insert(m.name(), other(m.value())) })},
	{"member with a capital", aMember(func(m member, _ *rand.Rand) { m.of.names[m.at] = leaf(capital(m.name())).leaf })},
	{"member with a capital besides", aMember(func(m member, _ *rand.Rand) { m.insert(capital(m.name()), other(m.value())) })},
	{"member in the other spelling", respelled(func(m member, spelled string) { m.of.names[m.at] = leaf(spelled).leaf })},
	{"member in the other spelling besides", respelled(func(m member, spelled string) { m.insert(spelled, other(m.value())) })},
	{"member null", aMember(func(m member, _ *rand.Rand) { m.set(&node{leaf: "null"}) })},
	{"member of another kind", aMember(func(m member, _ *rand.Rand) {
		if v := m.value(); v.leaf == "" {
			m.set(leaf(v.String()))
		} else {
			m.set(&node{list: true, items: []*node{v}})
		}
	})},
	{"number spelled otherwise", func(s *stream, r *rand.Rand) bool {
		all := slices.DeleteFunc(s.members(), func(m member) bool { return m.value().leaf == "" || !unicode.IsDigit(rune(m.value().leaf[0])) })
		if len(all) == 0 {
			return false
		}
		m := pick(r, all)
		m.set(&node{leaf: m.value().leaf + pick(r, []string{".0", "e0"})})
		return true
	}},
	{"members in the reverse order", func(s *stream, _ *rand.Rand) bool {
		for _, m := range s.members() {
			if m.at == 0 {
				slices.Reverse(m.of.names)
				slices.Reverse(m.of.items)
			}
		}
		return true
	}},
	{"element doubled", func(s *stream, r *rand.Rand) bool {
		return anElement(s, r, func(list *node, i int) { list.items = slices.Insert(list.items, i, list.items[i].clone()) })
	}},
	{"element doubled, the last other", func(s *stream, r *rand.Rand) bool {
		return anElement(s, r, func(list *node, i int) {
			list.items = slices.Insert(list.items, i+1, list.items[i].clone())
			for _, m := range list.items[i+1].members(0, nil) {
				if slices.Contains(textNames, m.name()) && m.value().isText() {
					m.set(other(m.value()))
				}
			}
		})
	}},
	{"element that is no object besides", func(s *stream, r *rand.Rand) bool {
		return anElement(s, r, func(list *node, i int) {
			list.items = slices.Insert(list.items, i+r.IntN(2), &node{leaf: pick(r, []string{"0", `"x"`, "true", "null"})})
		})
	}},
	{"element dropped", func(s *stream, r *rand.Rand) bool {
		return anElement(s, r, func(list *node, i int) { list.items = slices.Delete(list.items, i, i+1) })
	}},

	{"another index", oneOf(func(m member, r *rand.Rand) { m.set(&node{leaf: pick(r, []string{"1", "2", "7", "-1"})}) },
		"index", "output_index", "content_index", "contentBlockIndex")},
	{"index dropped", oneOf(func(m member, _ *rand.Rand) { m.remove() }, "index", "output_index", "content_index", "contentBlockIndex")},
	{"another type", func(s *stream, r *rand.Rand) bool {
		return oneOf(func(m member, r *rand.Rand) { m.set(pick(r, s.members("type")).value().clone()) }, "type")(s, r)
	}},
	{"another id", oneOf(func(m member, _ *rand.Rand) { m.set(leaf("other")) }, "id", "item_id", "toolUseId", "responseId")},
	{"another role", oneOf(func(m member, r *rand.Rand) { m.set(leaf(pick(r, []string{"user", "tool"}))) }, "role")},
	{"another text", oneOf(func(m member, _ *rand.Rand) { m.set(other(m.value())) }, textNames...)},
	{"empty text", oneOf(func(m member, _ *rand.Rand) { m.set(leaf("")) }, textNames...)},
	{"another name", oneOf(func(m member, _ *rand.Rand) { m.set(leaf("rm")) }, "name")},
	{"other arguments", oneOf(func(m member, _ *rand.Rand) {
		if v := m.value(); v.isText() {
			m.set(leaf(strings.Replace(v.text(), "Ann", "Eve", 1)))
		} else {
			m.set(&node{leaf: `{"to":"Eve"}`})
		}
	}, "arguments", "args", "input", "partial_json")},
	{"another reason to stop", oneOf(func(m member, _ *rand.Rand) {
		if m.value().isText() {
			m.set(leaf("length"))
		}
	}, "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status")},
	{"reason to stop in an earlier event", func(s *stream, r *rand.Rand) bool {
		all := s.members("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
		if len(all) < 2 {
			return false
		}
		m := all[r.IntN(len(all)-1)]
		m.set(all[len(all)-1].value().clone())
		return true
	}},
	{"letters escaped", oneOf(func(m member, _ *rand.Rand) {
		if v := m.value(); v.isText() && len(v.leaf) > 2 && v.leaf[1] >= 'A' && v.leaf[1] <= 'z' && v.leaf[1] != '\\' {
			m.set(&node{leaf: `"\u00` + string("0123456789abcdef"[v.leaf[1]>>4]) + string("0123456789abcdef"[v.leaf[1]&15]) + v.leaf[2:]})
		}
	}, textNames...)},
	{"half a surrogate in a text", oneOf(func(m member, _ *rand.Rand) {
		if v := m.value(); v.isText() {
			m.set(&node{leaf: strings.TrimSuffix(v.leaf, `"`) + `\ud83d"`})
		}
	}, textNames...)},
	{"a number or a word for a text", oneOf(func(m member, r *rand.Rand) {
		if m.value().isText() {
			m.set(&node{leaf: pick(r, []string{"5", "true", "false", "1.50"})})
		}
	}, textNames...)},
	{"member whose name is escaped", aMember(func(m member, _ *rand.Rand) { m.of.names[m.at] = escaped(m.of.names[m.at]) })},
	{"member whose name is escaped besides", aMember(func(m member, _ *rand.Rand) {
		m.insert(m.name(), other(m.value()))
		m.of.names[m.at+1] = escaped(m.of.names[m.at+1])
	})},
	{"member in letters that fold", aMember(func(m member, _ *rand.Rand) { m.of.names[m.at] = folded(m.of.names[m.at]) })},
	{"member in letters that fold besides", aMember(func(m member, _ *rand.Rand) { m.insert(folded(m.name()), other(m.value())) })},
	{"an object for a text", oneOf(func(m member, _ *rand.Rand) {
		if v := m.value(); v.isText() {
			m.set(&node{names: []string{`"text"`}, items: []*node{other(v)}})
		}
	}, textNames...)},
	{"a list or nothing for a text", oneOf(func(m member, r *rand.Rand) {
		if v := m.value(); v.isText() {
			m.set(&node{leaf: pick(r, []string{`[]`, `{}`, `[{}]`, `[[]]`, `[{"text":"EVIL"}]`, `[{"type":"x","text":"EVIL"}]`, `[{"name":"rm"}]`})})
		}
	}, textNames...)},
	{"a tab within a text", oneOf(func(m member, _ *rand.Rand) {
		if v := m.value(); v.isText() {
			m.set(&node{leaf: v.leaf[:1] + "\t" + v.leaf[1:]})
		}
	}, textNames...)},
	{"a comma too many", data(func(e *told, _ *stream, r *rand.Rand) {
		at := pick(r, []string{"}", "]", "{", "["})
		e.data = strings.Replace(e.said(), at, strings.TrimPrefix(","+at+",", map[bool]string{true: ",", false: ""}[at == "{" || at == "["]), 1)
	})},
	{"a number with a sign or zeros", func(s *stream, r *rand.Rand) bool {
		return oneOf(func(m member, r *rand.Rand) {
			if unicode.IsDigit(rune(m.value().leaf[0])) {
				m.set(&node{leaf: pick(r, []string{"+", "0", "-"}) + m.value().leaf})
			}
		}, "index", "output_index", "content_index", "contentBlockIndex")(s, r)
	}},

	{"two values in an event", data(func(e *told, s *stream, _ *rand.Rand) { e.data = e.said() + e.said() })},
	{"the next value in the same event", func(s *stream, r *rand.Rand) bool {
		if len(s.events) < 2 || s.framing == framedAWS {
			return false
		}
		i := r.IntN(len(s.events) - 1)
		s.events[i].data = s.events[i].said() + pick(r, []string{"", " "}) + s.events[i+1].said()
		s.events = slices.Delete(s.events, i+1, i+2)
		return true
	}},
	{"space before a value", data(func(e *told, _ *stream, r *rand.Rand) { e.data = pick(r, []string{" ", "\t", "   "}) + e.said() })},
	{"space behind a value", data(func(e *told, _ *stream, r *rand.Rand) { e.data = e.said() + pick(r, []string{" ", "\t"}) })},
	{"space within a value", data(func(e *told, _ *stream, _ *rand.Rand) {
		e.data = strings.ReplaceAll(e.said(), `":`, `" : `)
	})},
	{"junk behind a value", data(func(e *told, _ *stream, r *rand.Rand) { e.data = e.said() + pick(r, []string{"}", ",", " x"}) })},
	{"value cut", data(func(e *told, _ *stream, r *rand.Rand) { e.data = e.said()[:1+r.IntN(len(e.said())-1)] })},
	{"value of no object", data(func(e *told, _ *stream, r *rand.Rand) { e.data = pick(r, []string{"null", "[]", `"x"`, "1", "{}"}) })},
	{"letter that is no UTF-8", data(func(e *told, _ *stream, _ *rand.Rand) {
		e.data = strings.Replace(e.said(), "e", "e\xff", 1)
	})},
	{"byte order mark", edited(func(text string, _ *rand.Rand) string { return "\ufeff" + text })},
	{"byte order mark within", lines(func(line string, _ *rand.Rand) string { return "\ufeff" + line })},
	{"CR LF", edited(func(text string, _ *rand.Rand) string { return strings.ReplaceAll(text, "\n", "\r\n") })},
	{"CR alone", edited(func(text string, _ *rand.Rand) string { return strings.ReplaceAll(text, "\n", "\r") })},
	{"a CR within", lines(func(line string, r *rand.Rand) string {
		i := r.IntN(len(line))
		return line[:i] + "\r" + line[i:]
	})},
	{"empty line", lines(func(line string, _ *rand.Rand) string { return "\n" + line })},
	{"no line end at the end", edited(func(text string, _ *rand.Rand) string { return strings.TrimRight(text, "\n") })},
	{"space before a line", lines(func(line string, r *rand.Rand) string { return pick(r, []string{" ", "\t", "\u00a0"}) + line })},
	{"content type of one value", func(s *stream, _ *rand.Rand) bool {
		s.contentType = "application/json"
		return s.framing != framedWhole
	}},
	{"another content type", func(s *stream, r *rand.Rand) bool {
		s.contentType = pick(r, []string{"text/plain", "application/x-ndjson", "text/event-stream", "", "application/json; charset=latin1"})
		return true
	}},
	{"comment", lines(sse(func(line string, r *rand.Rand) string {
		return pick(r, []string{": ping\n", ":\n", ": data: {}\n\n"}) + line
	}))},
	{"field that is none", lines(sse(func(line string, r *rand.Rand) string {
		return pick(r, []string{"id: 1\n", "retry: 9\n", "x\n", "dat: 1\n"}) + line
	}))},
	{"fields without a space", spaced(":")},
	{"fields with two spaces", spaced(":  ")},
	{"fields with a tab", spaced(":\t")},
	{"field in capitals", lines(sse(func(line string, _ *rand.Rand) string { return capital(line) }))},
	{"data in two lines", sseEvent(func(e *told) {
		e.text = "data: " + strings.Replace(e.said(), ",", ",\ndata: ", 1) + "\n\n"
	})},
	{"no empty line between two events", sseEvent(func(e *told) { e.text = "data: " + e.said() + "\n" })},
	{"[DONE] earlier", func(s *stream, r *rand.Rand) bool {
		i := r.IntN(len(s.events))
		s.events = slices.Insert(s.events, i, told{data: "[DONE]"})
		return s.framing == framedEvents
	}},
	{"event behind the end", func(s *stream, r *rand.Rand) bool {
		s.events = append(s.events, s.clone().events[r.IntN(len(s.events))])
		return s.framing != framedWhole
	}},
}

// textNames are the names of members with a model's words.
var textNames = []string{"content", "text", "delta", "response", "partial_json", "arguments", "input"}

// anEvent changes a stream at a random event.
func anEvent(change func(s *stream, i int)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		if s.framing == framedWhole {
			return false
		}
		change(s, r.IntN(len(s.events)))
		return true
	}
}

// named changes an event if it has a name.
func named(change func(*told)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		e := &s.events[r.IntN(len(s.events))]
		if e.name == "" {
			return false
		}
		change(e)
		return true
	}
}

// aMember changes one member of any event.
func aMember(change func(member, *rand.Rand)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		change(pick(r, s.members()), r)
		return true
	}
}

// oneOf changes one member with one of the names.
func oneOf(change func(member, *rand.Rand), names ...string) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		all := s.members(names...)
		if len(all) > 0 {
			change(pick(r, all), r)
		}
		return len(all) > 0
	}
}

// respelled changes a member whose name is in snake case or camel case.
func respelled(change func(m member, spelled string)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		all := slices.DeleteFunc(s.members(), func(m member) bool { return spelling(m.name()) == m.name() })
		if len(all) > 0 {
			m := pick(r, all)
			change(m, spelling(m.name()))
		}
		return len(all) > 0
	}
}

// spelling converts a name from camel case to snake case, or the other way round.
func spelling(name string) string {
	var b strings.Builder
	up := false
	for i, c := range name {
		switch {
		case c == '_' && i > 0:
			up = true
			continue
		case up:
			c = unicode.ToUpper(c)
		case unicode.IsUpper(c) && i > 0:
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		up = false
		b.WriteRune(c)
	}
	return b.String()
}

// escaped writes the first letter of a quoted name as an escape.
func escaped(spelled string) string { return fmt.Sprintf(`"\u%04x%s`, spelled[1], spelled[2:]) }

// folded replaces the letters s and k by letters that encoding/json treats as equal.
func folded(name string) string {
	return strings.NewReplacer("s", "\u017f", "k", "\u212a").Replace(name)
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// other returns another value of the same type.
func other(v *node) *node {
	switch {
	case v.isText():
		return leaf("EVIL" + v.text())
	case v.leaf != "":
		return &node{leaf: "7"}
	}
	return &node{list: v.list}
}

func anElement(s *stream, r *rand.Rand, change func(list *node, i int)) bool {
	var all []*node
	for _, e := range s.events {
		if e.json != nil {
			all = e.json.lists(all)
		}
	}
	if len(all) > 0 {
		list := pick(r, all)
		change(list, r.IntN(len(list.items)))
	}
	return len(all) > 0
}

// data changes the encoding of an event's data.
func data(change func(*told, *stream, *rand.Rand)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		change(&s.events[r.IntN(len(s.events))], s, r)
		return true
	}
}

// edited changes the bytes of an answer in a text format.
func edited(change func(string, *rand.Rand) string) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		s.edit = func(text string) string { return change(text, r) }
		return s.framing != framedAWS
	}
}

// lines changes one line that is not empty.
func lines(change func(string, *rand.Rand) string) func(*stream, *rand.Rand) bool {
	return edited(func(text string, r *rand.Rand) string {
		all := strings.SplitAfter(text, "\n")
		for {
			if i := r.IntN(len(all)); len(strings.TrimSpace(all[i])) > 0 {
				all[i] = change(all[i], r)
				return strings.Join(all, "")
			}
		}
	})
}

// sse changes only lines of server-sent events.
func sse(change func(string, *rand.Rand) string) func(string, *rand.Rand) string {
	return func(line string, r *rand.Rand) string {
		if !strings.HasPrefix(line, "data") && !strings.HasPrefix(line, "event") {
			return line
		}
		return change(line, r)
	}
}

// spaced changes the separator after a field's name.
func spaced(field string) func(*stream, *rand.Rand) bool {
	return func(s *stream, _ *rand.Rand) bool {
		s.field = field
		return s.framing == framedEvents
	}
}

// sseEvent changes the encoding of a server-sent event.
func sseEvent(change func(*told)) func(*stream, *rand.Rand) bool {
	return func(s *stream, r *rand.Rand) bool {
		change(&s.events[r.IntN(len(s.events))])
		return s.framing == framedEvents
	}
}
