package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/snapshot"
)

const allLines = 1 << 30 // of a change

// Whole shows causes of the same calls completely: each change, and each answer that is known.
func (p *Page) Whole(b Block) {
	p.portion(b, portion{changes: len(b), lines: allLines, answers: 1, answerLines: allLines, around: 2})
	if spent := b.Spent(); spent != "" {
		p.line("", margin, spent)
	}
}

// Tests returns the tests whose calls have causes, in the order of the calls.
func (b Block) Tests() (tests []Test) {
	for _, t := range testsOf(b[0].Calls) {
		tests = append(tests, t.Test)
	}
	return tests
}

// Unfold shows what happened to the calls of a test: the changes in each call that both documents have, and the other
// calls completely. A change that an earlier call has is only named. from or to is nil if there are no calls. provider
// is that of the document's directory.
func (p *Page) Unfold(provider string, from, to *snapshot.Document) {
	if from == nil || to == nil {
		p.Document(provider, cmp.Or(to, from))
		return
	}
	u := unfoldedTest{p, newCallPairs(), map[string]int{}, map[int]toldChanges{}}
	for i := range to.Snapshots {
		now := &to.Snapshots[i]
		if was := callOf(from, now.Number()); was == nil {
			p.callAlone(drift.Added, provider, now)
		} else {
			u.call(was, now)
		}
	}
	for i := range from.Snapshots {
		if was := &from.Snapshots[i]; callOf(to, was.Number()) == nil {
			p.callAlone(drift.Removed, provider, was)
		}
	}
}

// An unfoldedTest is a test while it is unfolded.
type unfoldedTest struct {
	*Page
	*callPairs
	shown map[string]int      // calls, by the keys of the changes that they were shown with
	told  map[int]toldChanges // by call
}

// toldChanges are the changes in a call's messages as the calls that continue it refer to them: one line each, and the
// number of further ones.
type toldChanges struct {
	lines []string
	more  int
}

const toldLines = 5

// call shows what changed in a call.
func (u *unfoldedTest) call(was, now *snapshot.Snapshot) {
	changes, inherits, _ := u.next(was, now)
	n := now.Number()
	answered, _ := answers(*was, *now, len(changes) > 0 || inherits > 0)
	answered = append(answered, ofProviders(was.Provider, now.Provider)...)
	if changes = append(changes, answered...); len(changes) == 0 && inherits == 0 {
		return
	}
	u.heading(bold, fmt.Sprintf("call %d, %s:%d", n, now.Source.File, now.Source.Line))
	known := u.told[inherits]
	for _, line := range known.lines {
		u.line(faint, margin, line)
	}
	if more := andMore(known.more, "change", "changes"); more != "" {
		u.line(faint, margin, more+" of the calls before")
	}
	known.lines = slices.Clip(known.lines)
	defer func() { u.told[n] = known }()
	for _, c := range changes {
		if before, known := u.shown[c.Key()]; known {
			u.line(faint, margin, fmt.Sprintf("%s: as in call %d", c, before))
			continue
		}
		u.shown[c.Key()] = n
		u.changes(allLines, 2, c)
		switch {
		case !c.OfMessages():
		case len(known.lines) < toldLines:
			known.lines = append(known.lines, fmt.Sprintf("%s: as in call %d", c, n))
		default:
			known.more++
		}
	}
}

// callAlone shows a call that only one document has.
func (p *Page) callAlone(fate, provider string, s *snapshot.Snapshot) {
	p.heading(bold, fmt.Sprintf("call %d %s", s.Number(), fate))
	p.Call(provider, s)
}
