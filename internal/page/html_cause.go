package page

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// How much of a cause the page holds.
const (
	AnswersInHTML = 12 // of a block: see [Comparison.KeepAnswers]

	htmlChanges = 20  // of a block
	htmlTests   = 300 // of a block, by name
)

// An htmlCause is causes of the same calls as the page shows them.
type htmlCause struct {
	Block
	Open      bool
	Accept    string
	Tests     string // how many, where there are several
	Packages  []htmlPackage
	MoreTests string

	shown map[Test]*htmlTest // whose conversations the page shows
}

// Changes are the changes of the first call.
func (v *htmlCause) Changes() []*Cause {
	if v.onlyAnswers() {
		return nil
	}
	return v.Block[:min(len(v.Block), htmlChanges)]
}

// MoreChanges says how many changes are left out; empty: none.
func (v *htmlCause) MoreChanges() string {
	return andMore(len(v.Block)-htmlChanges, "change", "changes")
}

// Answers are the first answers that changed, as far as they are known.
func (v *htmlCause) Answers() []Answered {
	all := v.Block[0].Answers
	n := slices.IndexFunc(all, func(a Answered) bool { return a.Changes == nil })
	if n < 0 {
		n = len(all)
	}
	return all[:min(n, AnswersInHTML)]
}

// MoreAnswers says how many answers are left out; empty: none.
func (v *htmlCause) MoreAnswers() string {
	return andMore(len(v.Block[0].Answers)-len(v.Answers()), "answer changed", "answers changed")
}

// Sent is what an answer answers, in a line; empty: it is not known.
func (v *htmlCause) Sent(a Answered) string {
	if test := v.shown[Test{a.Package, a.Test}]; test != nil {
		return test.sent[a.Call]
	}
	return ""
}

// An htmlPackage is tests of a package.
type htmlPackage struct {
	Package string
	Tests   []htmlLink
}

// An htmlLink names something that has, or may have, a place on the page.
type htmlLink struct{ ID, Text, Note string }

// tests names the tests of the calls.
func (v *htmlCause) tests() {
	tests := testsOf(v.Block[0].Calls)
	if len(tests) == 1 {
		return // it is said of the first call
	}
	v.Tests, v.MoreTests = Count(len(tests), "test", "tests"), andMore(len(tests)-htmlTests, "test", "tests")
	at := map[string]int{} // by package
	for _, t := range tests[:min(len(tests), htmlTests)] {
		in, known := at[t.Package]
		if !known {
			in = len(v.Packages)
			at[t.Package] = in
			v.Packages = append(v.Packages, htmlPackage{Package: plaintext.Line(t.Package)})
		}
		link := htmlLink{Text: plaintext.Line(t.Test.Name)}
		if test := v.shown[t.Test]; test != nil {
			link.ID = test.ID
		}
		if t.calls > 1 {
			link.Note = Count(t.calls, "call", "calls")
		}
		v.Packages[in].Tests = append(v.Packages[in].Tests, link)
	}
}

// ID is the same on every page that shows the cause.
func (b Block) ID() string { return "cause-" + plaintext.Line(b[0].Key) } // a receipt may have any key

// link names the places of the causes of a test.
func (t *htmlTest) link(blocks map[*Cause]Block) {
	linked := map[*Cause]bool{} // the first of a block
	for _, cause := range t.causes {
		if b := blocks[cause]; !linked[b[0]] {
			linked[b[0]] = true
			t.Causes = append(t.Causes, htmlLink{ID: b.ID(), Text: plaintext.Line(b.Subject())})
		}
	}
}
