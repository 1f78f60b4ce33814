package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Values are the values of one request and their placeholders. They are for one goroutine at a time.
type Values struct {
	rules        *Rules
	scrubbed     bool              // the request was scrubbed already and has placeholders
	placeholders map[string]string // by name and value
	values       map[string]string // by placeholder
	took         []string          // names of rules that found a value that was not yet a placeholder
	count        map[string]int    // by name
}

func (r *Rules) newValues(stored bool) *Values { return &Values{rules: r, scrubbed: stored} }

// Live returns a request of this run with placeholders, and their values. core is the request's core, the part that is
// compared, whose values are counted first.
func (r *Rules) Live(req *modelio.Request, core []byte) (*modelio.Request, *Values) {
	return r.newValues(false).scrub(req, core)
}

// Stored is [Rules.Live] for a request of a record. It keeps the placeholders, and replaces values that the rules find
// in addition because they were recorded without them.
func (r *Rules) Stored(req *modelio.Request, core []byte) (*modelio.Request, *Values) {
	return r.newValues(true).scrub(req, core)
}

// Idle reports whether the rules change neither a request with this core nor its answer.
func (r *Rules) Idle(core []byte) bool {
	return len(r.finders) == 0 && !bytes.Contains(core, []byte("{{"))
}

func (v *Values) scrub(req *modelio.Request, core []byte) (*modelio.Request, *Values) {
	if v.rules.Idle(core) || v.scrubbed && len(v.rules.finders) == 0 {
		return req, v
	}
	said := jsontext.ValueOf(core)
	// values that a conversation keeps as it grows are counted before later ones
	for _, last := range []bool{false, true} {
		for name, member := range said.Members() {
			if (name == "messages") == last {
				member.EachString(func(s jsontext.Value, _ bool) { v.requestEdits(textOf(s).value) })
			}
		}
	}
	return editor(v.requestEdits).texts().Request(req), v
}

// Took returns the names of the rules that replaced something. It is empty for a record that was made with the same
// rules, because that has placeholders.
func (v *Values) Took() []string { return v.took }

// All returns the values that have placeholders in the request, in the order of these.
func (v *Values) All() (all []string) {
	if len(v.values) == 0 {
		return nil // the usual case
	}
	for _, known := range inorder.Names(v.values) {
		all = append(all, v.values[known])
	}
	return all
}

// requestEdits returns the edits that put placeholders into a text of the request.
func (v *Values) requestEdits(text string) []edit {
	return v.edits(text, func(m match, value string) (string, bool) { return v.placeholder(m.name, value), true })
}

// placeholder returns the placeholder of a value, which may be new.
func (v *Values) placeholder(name, value string) string {
	key := name + ":" + value
	known, ok := v.placeholders[key]
	if !ok {
		if v.count == nil {
			v.placeholders, v.values, v.count = map[string]string{}, map[string]string{}, map[string]int{}
		}
		v.count[name]++
		known = placeholder(name, v.count[name])
		v.placeholders[key], v.values[known] = known, value
	}
	return known
}

// answerEdits returns the edits that put placeholders into a text of the answer, for values of the request and for
// secrets.
func (v *Values) answerEdits(text string) []edit {
	return v.edits(text, func(m match, value string) (string, bool) {
		if known, ok := v.placeholders[m.name+":"+value]; ok {
			return known, true
		}
		if m.dummy == nil {
			return "", false
		}
		return v.rules.said.placeholder(m, value), true
	})
}

// placeholder returns the placeholder of a secret that is not in the request and first appears in an answer.
func (s *secrets) placeholder(m match, value string) string {
	if m.one {
		return placeholder(m.name, 1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := m.name + ":" + value
	for s.known[key] == "" {
		s.last[m.name]++
		if next := fmt.Sprintf("{{%s:+%d}}", m.name, s.last[m.name]); !s.taken[next] {
			s.known[key], s.taken[next] = next, true
		}
	}
	return s.known[key]
}

// put gives a secret the placeholder that a record has for it.
func (s *secrets) put(name, value, with string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[name+":"+value], s.taken[with] = with, true
}

// edits returns the edits of a text. replace returns the replacement for a value, if there is one.
func (v *Values) edits(text string, replace func(m match, value string) (string, bool)) (all []edit) {
	var taken, lookAlikes []match
	if v.scrubbed {
		for _, t := range storedTokens(text) {
			taken = append(taken, match{t.span, finder{name: t.name}})
		}
	} else {
		for _, t := range tokens(text) {
			lookAlikes = append(lookAlikes, match{span: t.span})
		}
	}
	found := v.rules.find(text, taken)
	if len(lookAlikes) > 0 { // they split the text too
		found = v.rules.find(text, merge(found, lookAlikes))
	}
	for _, m := range found {
		value := text[m.start:m.end]
		if m.name == "" && !v.scrubbed {
			all = append(all, edit{span{m.start, m.start}, literally})
		} else if m.name != "" {
			if with, ok := replace(m, value); ok && with != value {
				all = append(all, edit{m.span, with})
				if m.find != nil && !slices.Contains(v.took, m.name) {
					v.took = append(v.took, m.name)
				}
			}
		}
	}
	return all
}

// restoreEdits returns the edits that put values in the places of placeholders. It adds placeholders without a known
// value to missing.
func (v *Values) restoreEdits(text string, missing *[]string) (all []edit) {
	for _, t := range storedTokens(text) {
		spelled := text[t.start:t.end]
		value, ok := v.values[spelled]
		f, ruled := v.rules.finder(t.name)
		switch {
		case t.name == "" && len(spelled) > len(literally):
			all = append(all, edit{span{t.start, t.start + len(literally)}, ""})
			continue
		case t.name == "":
			continue
		case !ok && ruled && f.dummy != nil:
			value = f.dummy(t.n)
			if t.said {
				v.rules.said.put(t.name, value, spelled)
			}
		case !ok:
			*missing = append(*missing, spelled)
			continue
		}
		all = append(all, edit{t.span, value})
	}
	return all
}

// Mask returns a function that returns JSON texts of records with placeholders for the values that the rules find. Over
// all calls of the function, equal values have one placeholder.
func (r *Rules) Mask() func(text json.RawMessage) []byte { return r.newValues(true).json }

// json returns a JSON text with placeholders.
func (v *Values) json(text json.RawMessage) []byte {
	editor(v.requestEdits).json(&text)
	return text
}
