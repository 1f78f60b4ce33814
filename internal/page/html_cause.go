package page

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Limits on what the page contains of a cause.
const (
	AnswersInHTML = 12 // answers of a block: see [Comparison.KeepAnswers]

	htmlChanges = 20  // changes of a block
	htmlTests   = 300 // tests of a block, by name
)

// An htmlCause is causes of the same calls, as shown on the page.
type htmlCause struct {
	Block
	Open      bool
	Accept    string
	Tests     string // how many, if there are several
	Packages  []htmlPackage
	MoreTests string

	shown map[Test]*htmlTest // tests whose conversations the page shows
}

// Changes returns the changes of the first call.
func (v *htmlCause) Changes() []*Cause {
	if v.onlyAnswers() {
		return nil
	}
	return v.Block[:min(len(v.Block), htmlChanges)]
}

// MoreChanges says how many changes are left out; empty if none.
func (v *htmlCause) MoreChanges() string {
	return andMore(len(v.Block)-htmlChanges, "change", "changes")
}

// Answers returns the first changed answers, as far as they are known.
func (v *htmlCause) Answers() []Answered {
	all := v.Block[0].Answers
	n := slices.IndexFunc(all, func(a Answered) bool { return a.Changes == nil })
	if n < 0 {
		n = len(all)
	}
	return all[:min(n, AnswersInHTML)]
}

// MoreAnswers says how many answers are left out; empty if none.
func (v *htmlCause) MoreAnswers() string {
	return andMore(len(v.Block[0].Answers)-len(v.Answers()), answerChanged, answersChanged)
}

// Sent returns the message that an answer responds to, in one line; empty if unknown.
func (v *htmlCause) Sent(a Answered) string {
	if test := v.shown[Test{a.Package, a.Test}]; test != nil {
		return test.sent[a.Call]
	}
	return ""
}

// An htmlPackage is the tests of a package.
type htmlPackage struct {
	Package string
	Tests   []htmlLink
}

// An htmlLink names something that may have an anchor on the page.
type htmlLink struct{ ID, Text, Note string }

// tests names the tests of the calls.
func (v *htmlCause) tests() {
	tests := testsOf(v.Block[0].Calls)
	if len(tests) == 1 {
		return // shown with the first call
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

// ID returns an anchor that is the same on every page that shows the cause.
func (b Block) ID() string { return "cause-" + plaintext.Line(b[0].Key) } // a receipt may contain any key

// link adds links to the causes of a test.
func (t *htmlTest) link(blocks map[*Cause]Block) {
	linked := map[*Cause]bool{} // the first of each block
	for _, cause := range t.causes {
		if b := blocks[cause]; !linked[b[0]] {
			linked[b[0]] = true
			t.Causes = append(t.Causes, htmlLink{ID: b.ID(), Text: plaintext.Line(b.Subject())})
		}
	}
}
