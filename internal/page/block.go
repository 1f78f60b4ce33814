package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Block is a group of causes that affect the same calls and are shown together.
type Block []*Cause

// Blocks groups causes that affect the same calls, and otherwise keeps their order.
func Blocks(causes []*Cause) []Block {
	type ends struct {
		calls       int
		first, last Place
	}
	var blocks []Block
	at := map[ends][]int{} // indexes of blocks that may have the same calls
	for _, c := range causes {
		key := ends{len(c.Calls), c.Calls[0], c.Calls[len(c.Calls)-1]}
		same := slices.IndexFunc(at[key], func(i int) bool { return slices.Equal(blocks[i][0].Calls, c.Calls) })
		if same >= 0 {
			i := at[key][same]
			blocks[i] = append(blocks[i], c)
			continue
		}
		at[key] = append(at[key], len(blocks))
		blocks = append(blocks, Block{c})
	}
	return blocks
}

// Headline says what changed and how much it affects: "system prompt changed in 4 packages: 100 calls of 27 tests, 1
// line; 3 answers changed".
func (b Block) Headline() string { return b.Subject() + b.Extent() }

// answerChanged and answersChanged name answers that differ from the stored ones.
const answerChanged, answersChanged = "answer changed", "answers changed"

// Extent says how much a block affects.
func (b Block) Extent() string {
	packages := map[string]bool{}
	for _, at := range b[0].Calls {
		packages[at.Package] = true
	}
	line := fmt.Sprintf(" in %s: %s of %s", Count(len(packages), "package", "packages"),
		Count(len(b[0].Calls), "call", "calls"), Count(len(testsOf(b[0].Calls)), "test", "tests"))
	if b.onlyAnswers() {
		return line + ", and nothing of what was sent"
	}
	if lines := b.lines(); lines > 0 {
		line += ", " + Count(lines, "line", "lines")
	}
	if n := len(b[0].Answers); n > 0 {
		line += "; " + Count(n, answerChanged, answersChanged)
	}
	if n := b[0].Adopted; n > 0 {
		line += "; " + Count(n, "answer", "answers") + " adopted"
	}
	return line
}

func (b Block) onlyAnswers() bool { return b[0].Change.Kind == OtherAnswers }

// Subject says what changed: "system prompt changed, tool search added".
func (b Block) Subject() string {
	if b.onlyAnswers() {
		return answersChanged
	}
	var names, fates []string
	times := map[string]int{} // by name and fate
	for _, c := range b {
		name, fate := nameOf(c.Change), " "+c.Change.Fate()
		if unmatched[c.Change.Kind] != "" || strings.HasSuffix(c.Change.Component, drift.AnotherOrder) ||
			strings.HasPrefix(c.Change.Component, drift.ToolRenamed) { // the name says it
			fate = ""
		}
		if times[name+fate]++; times[name+fate] == 1 {
			names, fates = append(names, name), append(fates, fate)
		}
	}
	for i, fate := range fates {
		if n := times[names[i]+fate]; n > 1 && strings.HasSuffix(names[i], " message") {
			names[i] = fmt.Sprintf("%d %ss", n, names[i])
		}
		if i == len(fates)-1 || fates[i+1] != fate {
			names[i] += fate
		}
	}
	return strings.Join(Most(5, names, "more"), ", ")
}

// unmatched describes calls without a counterpart, by the kind of their cause.
var unmatched = map[string]string{Unrecorded: "calls without a snapshot", Uncalled: "recorded calls that were not made"}

// nameOf describes a change without the number of a message.
func nameOf(c drift.Change) string {
	switch of, isSystem := strings.CutPrefix(c.Kind, string(modelio.RoleSystem)); {
	case isSystem && (of == "" || of[0] == ':'):
		return "system prompt" + of
	case strings.HasPrefix(c.Component, "the same "): // in another order
		return c.Component
	}
	return cmp.Or(unmatched[c.Kind], c.Kind)
}

// lines returns the number of changed lines; 0 if no text has several lines, as for a parameter.
func (b Block) lines() (n int) {
	several := false
	for _, c := range b {
		if unmatched[c.Change.Kind] != "" {
			return 0
		}
		for _, side := range []*string{c.Change.Before, c.Change.After} {
			several = several || side != nil && strings.Contains(*side, "\n")
		}
		several = several || c.Change.Kind == string(modelio.RoleSystem)
		removed, added := c.Change.Lines()
		n += max(removed, added)
	}
	if !several {
		return 0
	}
	return n
}

// A testCalls is a test with the number of its affected calls.
type testCalls struct {
	Test
	calls int
}

// testsOf returns the tests of calls, in the order of the calls.
func testsOf(calls []Place) (tests []testCalls) {
	at := map[Test]int{}
	for _, c := range calls {
		test := Test{c.Package, c.Test}
		i, known := at[test]
		if !known {
			i = len(tests)
			at[test] = i
			tests = append(tests, testCalls{Test: test})
		}
		tests[i].calls++
	}
	return tests
}

// others names all calls of a block except its first, in about room characters. It names them by test, with tests of
// the first call's package first.
func (b Block) others(room int) string {
	tests := testsOf(b[0].Calls)
	var text strings.Builder
	if more := tests[0].calls - 1; more > 0 {
		fmt.Fprintf(&text, "%s of it", Count(more, "more call", "more calls"))
	}
	in, last := tests[0].Package, map[bool]int{true: 1}
	slices.SortStableFunc(tests[1:], func(a, b testCalls) int {
		return cmp.Or(last[a.Package != in]-last[b.Package != in], cmp.Compare(a.Package, b.Package))
	})
	for i, t := range tests[1:] {
		if text.Len()+len(t.Package)+len(t.Test.Name) > room && i > 0 {
			text.WriteString(" " + andMore(len(tests)-1-i, "test", "tests"))
			break
		}
		separator := ", "
		if t.Package != in {
			in, separator = t.Package, "; "+t.Package+": "
		}
		if text.Len() == 0 {
			separator = separator[2:]
		}
		text.WriteString(separator + t.Test.Name)
		if t.calls > 1 {
			fmt.Fprintf(&text, " (%d calls)", t.calls)
		}
	}
	return text.String()
}

// Where describes the place of a call: "TestX in example.com/shop, call 2, shop/ask.go:31".
func Where(at Place) string {
	text := at.Test
	if at.Package != "" {
		text += " in " + at.Package
	}
	if at.Call > 0 {
		text += fmt.Sprintf(", call %d", at.Call)
	}
	if at.File != "" {
		text += fmt.Sprintf(", %s:%d", at.File, at.Line)
	}
	return strings.TrimPrefix(text, ", ")
}
