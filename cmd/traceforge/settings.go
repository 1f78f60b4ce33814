package main

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// mostRuled is the maximum number of bytes of text, for each state, on which a changed rule is tried.
const mostRuled = 64 << 20

// settings returns how two states of config.json differ: first the rules, with the texts that they replace. A
// config.json that cannot be read is shown as its source text.
func settings(c *call, from, to *store.Store) (all []*page.Setting, err error) {
	before, errBefore := from.ConfigText()
	after, errAfter := to.ConfigText()
	if errBefore == nil && errAfter == nil && bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return nil, nil
	}
	was, errBefore := from.Config() // its errors are among those of ConfigText
	is, errAfter := to.Config()
	if errBefore != nil || errAfter != nil {
		// a link may name another program's config.json, with its credentials
		if errBefore != nil {
			before, _ = from.Read(store.ConfigName)
		}
		if errAfter != nil {
			after, _ = to.Read(store.ConfigName)
		}
		broken := drift.Change{Component: "config.json", Kind: "config.json", Before: shownAs(before, errBefore),
			After: shownAs(after, errAfter)}
		all = append(all, &page.Setting{Change: broken})
		if errAfter != nil {
			is = was // so that no rule seems to be removed: no test runs
		}
	}
	rules, err := rulesOf(c, from, to, was.Scrub, is.Scrub)
	if err != nil {
		return nil, err
	}
	all = append(all, rules...)
	if errBefore == nil && errAfter == nil {
		all = append(all, members(before, after)...)
	}
	c.secrets.Hide(&all) // no error if both spellings are valid
	return all, nil
}

// shownAs returns a text as one side of a change, with the reason why it cannot be read in front.
func shownAs(text []byte, err error) *string {
	if text == nil && err == nil {
		return nil
	}
	shown := string(text)
	if err != nil {
		why := strings.Join(strings.Fields(err.Error()), " ")
		if _, after, ok := strings.Cut(why, store.ConfigName+": "); ok { // without the directory, which may belong to a copy
			why = after
		}
		shown = "cannot be read: " + why + "\n" + shown
	}
	return &shown
}

// members returns the differences other than rules.
func members(before, after []byte) (all []*page.Setting) {
	object := func(text []byte) []byte { return []byte(cmp.Or(string(text), "{}")) }
	for _, d := range drift.JSON(object(before), object(after)) {
		name := strings.TrimPrefix(d.Pointer, "/")
		if kind, _, _ := strings.Cut(name, "/"); kind != "scrub" {
			all = append(all, &page.Setting{Change: drift.Change{
				Component: name, Kind: kind, Pointer: d.Pointer, Before: shownAs(d.Recorded, nil), After: shownAs(d.Got, nil)}})
		}
	}
	return all
}

// rulesOf returns the rules that differ, with the texts that they replace.
func rulesOf(c *call, from, to *store.Store, was, is []store.ScrubRule) (all []*page.Setting, err error) {
	latest := map[string]store.ScrubRule{} // by name
	told := func(rules []store.ScrubRule) (names []string, patterns map[string]*string) {
		patterns = map[string]*string{}
		for _, r := range rules {
			name, pattern := r.Name, r.Pattern
			if r.Volatile {
				name, pattern = "volatile", "what differs in each run"
			}
			names, patterns[name], latest[name] = append(names, name), &pattern, r
		}
		return names, patterns
	}
	before, patternsBefore := told(was)
	after, patternsAfter := told(is)
	var tried []*trial
	for _, n := range inorder.With(nil, slices.Concat(after, before)...) {
		old, now := patternsBefore[n], patternsAfter[n]
		if old != nil && now != nil && *old == *now {
			continue
		}
		rules, err := recorder.RulesOf([]store.ScrubRule{latest[n]})
		if err != nil {
			return nil, fmt.Errorf("config.json: %w", err)
		}
		s := &page.Setting{Takes: &page.Takes{},
			Change: drift.Change{Component: "rule " + n, Kind: "scrub", Pointer: "/scrub", Before: old, After: now}}
		all, tried = append(all, s), append(tried, &trial{rules: rules, Takes: s.Takes})
	}
	if len(tried) == 0 && !slices.Equal(before, after) {
		old, now := strings.Join(before, "\n"), strings.Join(after, "\n")
		return []*page.Setting{{Change: drift.Change{Component: "rules in another order", Kind: "scrub", Pointer: "/scrub",
			Before: &old, After: &now}}}, nil
	}
	if len(tried) > 0 {
		known := map[uint64]bool{}
		try(c, from, tried, known, true, mostRuled)
		try(c, to, tried, known, false, mostRuled)
	}
	return all, nil
}

// A trial is a rule that is tried on the texts of a store.
type trial struct {
	rules *scrub.Rules
	*page.Takes
	taken map[uint64]bool // texts of the base that the rule matches
}

var textSeed = maphash.MakeSeed()

// try tries rules on the texts of a store, on at most left bytes, and once for each text. The base comes first, so that
// only new texts of the other state are tried.
func try(c *call, s *store.Store, tried []*trial, known map[uint64]bool, base bool, left int) {
	const shown = 3 // new texts
	for doc := range place.Readable(s, nil) {
		for i := range doc.Document.Snapshots {
			record := &doc.Document.Snapshots[i]
			counted := map[*trial]bool{}
			textsOf(record, func(pointer, text string) {
				sum := maphash.String(textSeed, text)
				fresh := !known[sum]
				if known[sum] = true; fresh {
					left -= len(text)
				}
				for _, t := range tried {
					if left < 0 {
						t.Partly = true
						continue
					}
					start, end := 0, 0
					if fresh {
						start, end = t.rules.First(text)
					}
					switch {
					case end == 0:
					case base:
						if t.taken == nil {
							t.taken, t.Sample = map[uint64]bool{}, sample(c, t.rules, text, start)
						}
						t.taken[sum] = true
						t.Texts++
					case len(t.New) == shown:
						t.Others++
					default:
						t.New = append(t.New, page.NewText{File: doc.File(), Call: record.Number(), Pointer: pointer, Bytes: len(text)})
					}
					if base && t.taken[sum] && !counted[t] {
						counted[t] = true
						t.Calls++
					}
				}
			})
		}
	}
}

// sample returns an excerpt of a text around the part that a rule matches, without secrets.
func sample(c *call, rules *scrub.Rules, text string, start int) string {
	const around, most = 20, 120 // bytes
	if masked := c.secrets.Mask(text); masked != text {
		text = masked
		start, _ = rules.First(text) // 0 if they no longer match
	}
	from, to := max(0, start-around), min(len(text), max(0, start-around)+most)
	shown := strings.ToValidUTF8(text[from:to], "")
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(text) {
		shown += "…"
	}
	return strings.Join(strings.Fields(shown), " ")
}

// textsOf visits the texts of a record, including the names of members.
func textsOf(s *snapshot.Snapshot, visit func(pointer, text string)) {
	var walk func(pointer string, v jsontext.Value)
	walk = func(pointer string, v jsontext.Value) {
		if text, ok := v.Text(); ok {
			visit(pointer, text)
		}
		for name, member := range v.Members() {
			visit(pointer, name)
			walk(pointer+jsontext.PointerTo(name), member)
		}
		for i, element := range v.Elements() {
			walk(pointer+"/"+strconv.Itoa(i), element)
		}
	}
	request, response := cores(s, nil)
	walk("/request", jsontext.ValueOf(request))
	walk("/response", jsontext.ValueOf(response))
}
