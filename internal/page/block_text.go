package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Limits on what is shown of many causes, so that one screen tells a reviewer what changed.
const (
	wholeBlocks  = 6  // blocks shown in full
	briefBlocks  = 20 // further blocks, of which only the headline is shown
	blockChanges = 4  // changes of a block
	changeLines  = 11 // lines of a change
	answerLines  = 7  // lines of an answer
	testLines    = 3  // lines with the tests of a block
	shownCut     = 5  // changes of an answer that are named only
)

// Causes shows causes: the first call of each in full, its answer, and the other tests by name.
func (p *Page) Causes(causes []*Cause) {
	blocks := Blocks(causes)
	for i, b := range blocks {
		if 0 < i && i <= wholeBlocks {
			fmt.Fprintln(p.Out)
		}
		switch {
		case i < wholeBlocks:
			p.block(b)
		case i < wholeBlocks+briefBlocks:
			p.line(bold, "", b.Headline()+", first "+b[0].Calls[0].Test)
		default:
			p.line(faint, "", andMore(len(blocks)-i, "cause", "causes"))
			return
		}
	}
}

// leftOut matches the words that replace text which a page leaves out.
var leftOut = regexp.MustCompile(`(?m)…|\band [0-9,]+ more\b|, first \S+$`)

// LeavesOut reports whether a page of a comparison may have left something out.
func LeavesOut(page string) bool { return leftOut.MatchString(page) }

func (p *Page) block(b Block) {
	p.line(bold, "", b.Headline())
	few := portion{changes: blockChanges, lines: changeLines, answers: 1, answerLines: answerLines, around: 1}
	if len(b[0].Answers) == 2 {
		few.answers = 2
	}
	shown := p.portion(b, few)
	if more := andMore(len(b[0].Answers)-shown, "answer", "answers"); more != "" && shown > 0 {
		p.line("", margin, more)
	}
	if others := b.others(testLines * p.Width); others != "" {
		p.lines(margin, "", plaintext.Line("also: "+others))
	}
	if spent := b.Spent(); spent != "" {
		p.line("", margin, spent)
	}
}

// Text shows a block as a few lines of plain text. These are the place and the changes of its first call, and the other
// tests by name.
func (b Block) Text() string {
	var text strings.Builder
	text.WriteString("first: " + Where(b[0].Calls[0]) + "\n")
	style := drift.Style{Width: drift.Plain.Width, Around: 1, Most: changeLines}
	for i, c := range b {
		if i == blockChanges {
			text.WriteString(andMore(len(b)-i, "change", "changes") + "\n")
			break
		}
		text.WriteString(style.Text([]drift.Change{c.Change}))
	}
	if others := b.others(mostNamed); others != "" {
		text.WriteString("also: " + others + "\n")
	}
	return text.String()
}

// Spent describes the usage of the answers, before and now: "tokens: 1,200, now 1,300; cost: 0.0120, now 0.0130".
func (b Block) Spent() string {
	var parts []string
	s := b[0].Spent
	if s.TokensBefore > 0 && s.TokensAfter > 0 && s.TokensBefore != s.TokensAfter {
		parts = append(parts, fmt.Sprintf("tokens: %s, now %s", Thousands(s.TokensBefore), Thousands(s.TokensAfter)))
	}
	if was, is := Money(s.CostBefore), Money(s.CostAfter); s.CostBefore > 0 && s.CostAfter > 0 && was != is {
		parts = append(parts, fmt.Sprintf("cost: %s, now %s", was, is))
	}
	return strings.Join(parts, "; ")
}

// Money formats an amount in the repository's own currency.
func Money(amount float64) string {
	if amount < 1 {
		return fmt.Sprintf("%.4f", amount)
	}
	return fmt.Sprintf("%.2f", amount)
}

// changes shows changes in at most most lines, with around lines around each changed one.
func (p *Page) changes(most, around int, changes ...drift.Change) {
	style := drift.Style{Width: max(p.Width-2*len(margin), 20), Around: around, Most: most, Color: p.Color}
	var lines, cut []string
	for _, c := range changes {
		if len(lines) >= most-1 {
			cut = append(cut, c.String())
		}
		lines = append(lines, style.Lines(c)...)
	}
	for i, line := range lines {
		if i == most-1 && len(lines) > most+1 { // one line more shows all of it
			more := "… and more of it: " + strings.Join(Most(shownCut, cut, "more"), ", ")
			p.line(faint, margin+margin, strings.TrimSuffix(more, ": "))
			return
		}
		fmt.Fprintln(p.Out, margin+line)
	}
}

// A portion says how much of a block is shown.
type portion struct {
	changes, lines       int // number of changes, and of lines of each
	answers, answerLines int // number of answers, and of lines of each; a block with only answers shows all that are known
	around               int // equal lines on each side of a change
}

// portion shows changes of a block and of its answers, up to the limits in most. shown is the number of answers that it
// showed.
func (p *Page) portion(b Block, most portion) (shown int) {
	first := b[0].Calls[0]
	if !b.onlyAnswers() {
		p.line(faint, margin, "first: "+Where(first))
		for i, c := range b {
			if i == most.changes {
				p.line(faint, margin, andMore(len(b)-i, "change", "changes"))
				break
			}
			p.changes(most.lines, most.around, c.Change)
		}
	}
	for _, answered := range b[0].Answers {
		if answered.Changes == nil || shown == most.answers && !b.onlyAnswers() {
			break
		}
		if shown++; answered.Place != first || b.onlyAnswers() {
			p.line(faint, margin, "the answer of "+Where(answered.Place))
		}
		p.changes(most.answerLines, most.around, answered.Changes...)
	}
	return shown
}

// line shows a line in a style.
func (p *Page) line(style, indent, line string) {
	fmt.Fprintln(p.Out, indent+p.styled(style, plaintext.Line(line)))
}

// Thousands formats a number with separators.
func Thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

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
	if order := orderOf(from, to); order != nil {
		p.line("", margin, tellOrder(order))
	}
	u := unfoldedTest{p, newCallPairs(from), map[string]int{}, map[int][]string{}}
	before, after := numbered(from), numbered(to)
	for i := range to.Snapshots {
		now := &to.Snapshots[i]
		if was := before[now.Number()]; was == nil {
			p.callAlone(drift.Added, provider, now)
		} else {
			u.call(was, now)
		}
	}
	for i := range from.Snapshots {
		if was := &from.Snapshots[i]; after[was.Number()] == nil {
			p.callAlone(drift.Removed, provider, was)
		}
	}
}

// An unfoldedTest is a test while it is unfolded.
type unfoldedTest struct {
	*Page
	*callPairs
	shown map[string]int   // calls, by the keys of the changes that they were shown with
	told  map[int][]string // the changes in a call's messages, as the calls that continue it refer to them, by call
}

const toldLines = 6

// call shows what changed in a call.
func (u *unfoldedTest) call(was, now *snapshot.Snapshot) {
	changes, inherits, _ := u.next(was, now)
	n := now.Number()
	answered, _ := answers(*was, *now, len(changes) > 0 || inherits > 0)
	answered = slices.Concat(answered, u.ids(was, now), ofProviders(was.Provider, now.Provider))
	if changes = append(changes, answered...); len(changes) == 0 && inherits == 0 {
		return
	}
	u.heading(bold, fmt.Sprintf("call %d, %s:%d", n, now.Source.File, now.Source.Line))
	told := slices.Clip(u.told[inherits])
	for _, line := range told {
		u.line(faint, margin, line)
	}
	for _, c := range changes {
		first, known := u.shown[c.Key()]
		if known {
			u.line(faint, margin, fmt.Sprintf("%s: as in call %d", c, first))
		} else {
			u.changes(allLines, 2, c)
			first, u.shown[c.Key()] = n, n
		}
		if c.OfMessages() && len(told) < toldLines-1 {
			told = append(told, fmt.Sprintf("%s: as in call %d", c, first))
		} else if c.OfMessages() && len(told) < toldLines {
			told = append(told, "and more changes of the calls before")
		}
	}
	u.told[n] = told
}

// callAlone shows a call that only one document has, without the messages of the call that it continues.
func (p *Page) callAlone(fate, provider string, s *snapshot.Snapshot) {
	p.heading(bold, fmt.Sprintf("call %d %s", s.Number(), fate))
	if from := s.Continues; from != nil {
		p.line(faint, margin, fmt.Sprintf("goes on from call %d", from.Call))
		end := *s
		end.Request.Messages = s.Request.Messages[from.Messages:]
		s = &end
	}
	p.Call(provider, s)
}
