package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

// A Change is a component in which two requests, or two answers, differ. It is plain data: callers may remove from its
// texts what must not be printed.
type Change struct {
	// Component is what changed, in words: "system", "message 2 (user)", "tool search: description", "parameters:
	// temperature", "the same messages in another order", "answer: text".
	Component string `json:"component"`

	// Kind is the component without details that differ between calls, such as the number of a message: "system", "user
	// message", "tool search: description".
	Kind string `json:"kind"`

	// Pointer is the RFC 6901 pointer to the component in the request or response that has it.
	Pointer string `json:"pointer"`

	// Both sides: texts unchanged, everything else as canonical JSON with line breaks. nil if absent.
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// AnotherOrder is the end of the name of a component whose parts only changed their order.
const AnotherOrder = " in another order"

// ToolRenamed is the beginning of the name of a component of a tool whose name alone changed.
const ToolRenamed = "tool renamed: "

// String describes the change: "message 3 (user) added".
func (c Change) String() string {
	if fate := c.Fate(); fate != Changed {
		return c.Component + " " + fate
	}
	return c.Component
}

// The fates of a component, a call or a document.
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Fate returns what happened to the component: [Added], [Removed] or [Changed].
func (c Change) Fate() string {
	switch {
	case c.Before == nil && c.After != nil:
		return Added
	case c.After == nil && c.Before != nil:
		return Removed
	}
	return Changed
}

// Key returns the same text for changes of one kind with the same changed lines, in all calls, tests and processes.
func (c Change) Key() string {
	h := sha256.New()
	io.WriteString(h, c.Kind)
	c.Visit(func(op, line string) { io.WriteString(h, "\n"+op+line) })
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// OfMessages reports whether the change concerns messages, which later calls of a conversation repeat.
func (c Change) OfMessages() bool { return strings.HasPrefix(c.Pointer, "/messages") }

// Lines returns the numbers of removed and added lines.
func (c Change) Lines() (removed, added int) {
	c.Visit(func(op, _ string) {
		if op == before {
			removed++
		} else {
			added++
		}
	})
	return removed, added
}

// Visit visits the lines that changed.
func (c Change) Visit(visit func(op, line string)) {
	b, a := lines(c.Before), lines(c.After)
	for _, e := range Edits(b, a) {
		for _, line := range b[e.A0:e.A1] {
			visit(before, line)
		}
		for _, line := range a[e.B0:e.B1] {
			visit(after, line)
		}
	}
}

// lines returns the lines of a text, which strings.Join with newlines reverses; none if it is absent.
func lines(text *string) []string {
	if text == nil {
		return nil
	}
	return strings.Split(*text, "\n")
}

// A Hunk is a range of lines, some of which changed.
type Hunk struct {
	Before int    `json:"before"` // number of its first line before the change, from 1
	After  int    `json:"after"`  // and after the change
	Lines  []Line `json:"lines"`
}

// The sides of a line: [Line.Op].
const (
	before = "-"
	after  = "+"
	inBoth = " "
)

// A Line is a line of one side or of both.
type Line struct {
	Op    string `json:"op"` // "-" before, "+" after, " " both
	Text  string `json:"text"`
	Marks []Mark `json:"marks,omitempty"` // the parts that changed; if Op is - or +, none means the complete line
}

// A Mark is a changed part of a line: its bytes from From to To. A line and its replacement have the same number of
// marks; one of a pair is empty if only the other line contains something there.
type Mark struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Hunks returns the changed lines, at most most of them, with around equal lines on each side. more is the number of
// changed lines that it left out. A line follows the one that it replaces; in both, the words that only one of them
// contains are marked.
func (c Change) Hunks(around, most int) (hunks []Hunk, more int) {
	b, a := lines(c.Before), lines(c.After)
	all := Edits(b, a)
	for i, e := range all {
		if most <= 0 {
			more += e.A1 - e.A0 + e.B1 - e.B0
			continue
		}
		from := max(0, e.A0-around)
		if i > 0 && e.A0-all[i-1].A1 <= 2*around {
			from = all[i-1].A1
		} else {
			hunks = append(hunks, Hunk{Before: from + 1, After: e.B0 - (e.A0 - from) + 1})
		}
		h := &hunks[len(hunks)-1]
		h.same(b[from:e.A0])
		was := len(h.Lines)
		left := h.replaced(b[e.A0:e.A1], a[e.B0:e.B1], most)
		most, more = most-len(h.Lines)+was, more+left
		if i == len(all)-1 || all[i+1].A0-e.A1 > 2*around {
			h.same(b[e.A1:min(len(b), e.A1+around)])
		}
	}
	return hunks, more
}

func (h *Hunk) same(lines []string) {
	for _, line := range lines {
		h.Lines = append(h.Lines, Line{Op: inBoth, Text: line})
	}
}

// replaced adds the lines of an edit, each after the one that it replaces, at most most lines. It returns how many were
// left out.
func (h *Hunk) replaced(b, a []string, most int) (left int) {
	i, j := 0, 0
	end := len(h.Lines) + most
	upTo := func(toBefore, toAfter int) {
		for ; i < toBefore && len(h.Lines) < end; i++ {
			h.Lines = append(h.Lines, Line{Op: before, Text: b[i]})
		}
		for ; j < toAfter && len(h.Lines) < end; j++ {
			h.Lines = append(h.Lines, Line{Op: after, Text: a[j]})
		}
	}
	for _, pair := range pairLines(b, a) {
		if upTo(pair[0], pair[1]); len(h.Lines) >= end {
			break
		}
		was, is := marks(b[i], a[j])
		h.Lines = append(h.Lines, Line{before, b[i], was}, Line{after, a[j], is})
		i, j = i+1, j+1
	}
	upTo(len(b), len(a))
	return len(b) - i + len(a) - j
}

// pairLines pairs lines with their replacements: in order if both sides have the same number, or else by common
// prefixes and suffixes.
func pairLines(b, a []string) (pairs [][2]int) {
	if len(b) == len(a) {
		for i := range b {
			pairs = append(pairs, [2]int{i, i})
		}
		return pairs
	}
	return matched(len(b), len(a), func(i, j int) int {
		common := commonEnds(b[i], a[j])
		if common*4 < max(len(b[i]), len(a[j])) {
			return 0
		}
		return common
	})
}
