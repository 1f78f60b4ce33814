package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// onTerminal shows screens until everything is decided, or the user quits.
func (r *reviewRun) onTerminal() error {
	s := newScreen(r)
	program := tea.NewProgram(s, tea.WithContext(r.c.ctx), tea.WithInput(r.c.stdin), tea.WithOutput(os.Stdout))
	r.store.Waiting = func(name string) { program.Send(holder(name)) }
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return err
	}
	r.c.sayAll(s.refused)
	return r.finish()
}

// A screen shows a review and handles keys. The groups are at the top. Below are the changes of the chosen group and
// its tests, or a single test, unfolded.
type screen struct {
	*reviewRun
	width, height int

	at       int  // index of the chosen group
	row      int  // index of the chosen test among those that are left
	unfolded bool // shows the chosen test in full
	helping  bool
	top      int      // first visible line of the changes
	lines    []string // all lines of the changes
	rows     []int    // line numbers of the tests

	question string // waits for y or n
	yes      func() tea.Cmd
	busy     bool // a decision is being carried out
	leaving  bool // quits after the decision
	note     string
	waits    bool // waits for the store, as the note says
	refused  []string
}

func newScreen(r *reviewRun) *screen { return &screen{reviewRun: r, width: 80, height: 24} }

// Messages to the screen other than those of the terminal and an outcome.
type (
	notice string // a text to show
	holder string // who holds the store that a decision is waiting for
)

func (s *screen) Init() tea.Cmd { return nil }

// Update handles a key, a change of size, or the outcome of a decision.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.lay()
	case notice:
		s.note, s.waits = string(msg), false
	case holder:
		s.note, s.waits = "waiting for the store, which "+string(msg)+" holds", true
	case outcome:
		return s, s.took(msg)
	case tea.KeyPressMsg:
		return s, s.key(msg.String())
	}
	return s, nil
}

// chosen returns the undecided tests of the chosen group.
func (s *screen) chosen() []*reviewItem { return left(s.groups[s.at].tests) }

// test returns the chosen test; nil if the group has no undecided tests.
func (s *screen) test() *reviewItem {
	tests := s.chosen()
	if len(tests) == 0 {
		return nil
	}
	return tests[min(s.row, len(tests)-1)]
}

// choose shows a group.
func (s *screen) choose(at int) {
	s.at, s.row, s.top, s.unfolded, s.helping = at, 0, 0, false, false
	s.lay()
}

// next shows the next open group, and wraps around at the end. If there is none, the review is finished.
func (s *screen) next() tea.Cmd {
	for i := range s.groups {
		if at := (s.at + i) % len(s.groups); s.groups[at].open() {
			if at != s.at || s.unfolded {
				s.choose(at)
			}
			s.lay()
			return nil
		}
	}
	return tea.Quit
}

// decideOn carries out a decision while the screen stays readable.
func (s *screen) decideOn(verdict string, tests []*reviewItem) tea.Cmd {
	if len(tests) == 0 {
		return s.next()
	}
	s.busy = true
	return func() tea.Msg {
		if verdict == accepted {
			if err := s.refuseOlder(tests); err != nil {
				return outcome{err: err}
			}
		}
		return s.decide(verdict, tests)
	}
}

// took shows the outcome of a decision.
func (s *screen) took(o outcome) tea.Cmd {
	s.busy = false
	s.settle(o)
	var notes []string
	if s.note != "" && !s.waits {
		notes = append(notes, s.note)
	}
	if len(o.done) > 0 {
		notes = append(notes, o.verdict+" "+page.Count(len(o.done), "test", "tests"))
	}
	if len(o.refused) > 0 {
		s.refused = append(s.refused, o.refused...)
		notes = append(notes, o.refused[0])
	}
	if o.err != nil {
		notes = append(notes, o.err.Error())
		s.refused = append(s.refused, o.err.Error())
	}
	s.note, s.waits = strings.Join(notes, "; "), false
	for _, g := range s.groups { // failed decisions leave their groups open
		g.accepted = g.accepted && !slices.ContainsFunc(left(g.tests), (*reviewItem).ready)
	}
	if s.leaving {
		return tea.Quit
	}
	if s.unfolded && len(s.chosen()) > 0 {
		s.row, s.top = min(s.row, len(s.chosen())-1), 0
		s.lay()
		return nil
	}
	return s.next()
}

// lay formats the changes for the width of the screen.
func (s *screen) lay() {
	s.lines, s.rows = nil, nil
	g := s.groups[s.at]
	width := max(s.width, 1)
	add := func(text string) {
		s.lines = append(s.lines, styledLines(wrapped(strings.TrimRight(text, "\n"), width))...)
	}
	var text strings.Builder
	p := &page.Page{Out: &text, Width: width, Color: s.c.color}
	var err error
	switch item := s.test(); {
	case s.helping:
		text.WriteString(reviewKeys)
	case s.unfolded && item != nil:
		err = s.showTest(p, item)
	case item == nil && g.block == nil:
		text.WriteString("  all of it is decided")
	default:
		err = s.showGroup(p, g)
	}
	if err != nil {
		text.Reset()
		text.WriteString(s.plain(err.Error()))
	}
	add(strings.TrimLeft(text.String(), "\n"))
	if !s.helping && !s.unfolded {
		s.layTests(g, add)
	}
	s.top = max(0, min(s.top, len(s.lines)-s.room()))
}

// layTests formats the tests of a group by name.
func (s *screen) layTests(g *group, add func(string)) {
	add("")
	add(fmt.Sprintf("%d of %s left:", len(left(g.tests)), page.Count(len(g.tests), "test", "tests")))
	row := 0
	for _, item := range g.tests {
		line, mark := s.plain(item.name()), "  "
		switch {
		case item.verdict != "":
			line += ", " + item.verdict
		default:
			if s.rows = append(s.rows, len(s.lines)); row == s.row {
				mark = "> "
			}
			row++
			var others []string
			for _, other := range item.groups {
				if other != g && !other.accepted {
					others = append(others, s.plain(other.headline))
				}
			}
			if others != nil {
				line += "; also: " + strings.Join(page.Most(3, others, "more causes"), "; ")
			}
		}
		add(mark + line)
	}
}

// plain makes a text safe to show.
func (s *screen) plain(text string) string { return plaintext.Line(s.c.secrets.Mask(text)) }

// wrapped wraps the lines of a text that are too long for the screen. Continuation lines are indented.
func wrapped(text string, width int) string {
	const indent = "    "
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if room := width - len(indent); ansi.StringWidth(line) > width && room > len(indent) {
			lines[i] = strings.ReplaceAll(ansi.Wrap(line, room, ""), "\n", "\n"+indent)
		} else {
			lines[i] = ansi.Hardwrap(line, width, true)
		}
	}
	return strings.Join(lines, "\n")
}

// styledLines splits a text into lines. Each starts with the style in effect at that point, and resets it at its end.
func styledLines(text string) []string {
	const none = "\x1b[0m"
	lines := strings.Split(text, "\n")
	style := ""
	for i, line := range lines {
		begins := style
		if at := strings.LastIndex(line, "\x1b["); at >= 0 {
			style, _, _ = strings.Cut(line[at:], "m")
			if style += "m"; style == none {
				style = ""
			}
		}
		lines[i] = begins + line
		if style != "" {
			lines[i] += none
		}
	}
	return lines
}

// shownGroups returns the number of lines for the groups.
func (s *screen) shownGroups() int { return min(len(s.groups), max(1, (s.height-4)/4)) }

// room returns the number of lines for the changes.
func (s *screen) room() int { return max(1, s.height-s.shownGroups()-4) }

// View returns the current screen.
func (s *screen) View() tea.View {
	view := tea.NewView(strings.Join(s.shown(), "\n"))
	view.AltScreen = true
	return view
}

// shown returns the lines of the screen.
func (s *screen) shown() []string {
	open := len(slices.DeleteFunc(slices.Clone(s.groups), func(g *group) bool { return !g.open() }))
	counts := page.Count(open, "cause", "causes") + ", " + page.Count(len(left(s.tests)), "test", "tests") + " left"
	title := s.fitting("traceforge review: "+counts, counts)
	where := s.plain(s.dir)
	if room := s.width - ansi.StringWidth(title) - ansi.StringWidth(where); room >= 2 {
		title += strings.Repeat(" ", room) + where
	}
	lines := []string{s.bold(s.cut(title))}
	shown := s.shownGroups()
	first := max(0, min(s.at-shown/2, len(s.groups)-shown))
	for i := first; i < first+shown; i++ {
		lines = append(lines, s.groupLine(i))
	}
	heading := "── " + s.heading() + " "
	lines = append(lines, s.cut(heading+strings.Repeat("─", max(0, s.width-ansi.StringWidth(heading)))))
	below := s.lines[min(s.top, len(s.lines)):min(s.top+s.room(), len(s.lines))]
	lines = append(append(lines, below...), make([]string, s.room()-len(below))...)
	lines = append(lines, s.cut(s.plain(s.note)), s.bold(s.cut(s.keys())))
	return lines[:min(len(lines), max(1, s.height))]
}

func (s *screen) groupLine(i int) string {
	g := s.groups[i]
	mark, state := "  ", ""
	if i == s.at {
		mark = "> "
	}
	switch n := len(left(g.tests)); {
	case n == 0:
		state = "done: "
	case g.accepted:
		state = "accepted, waits: "
	case g.skipped:
		state = "skipped: "
	}
	line := s.cut(mark + g.kind + "  " + state + s.plain(g.headline))
	if i == s.at {
		return s.bold(line)
	}
	return line
}

// heading describes the content below it.
func (s *screen) heading() string {
	switch item := s.test(); {
	case s.helping:
		return "keys"
	case s.unfolded && item != nil:
		return fmt.Sprintf("test %d of %d: %s", s.row+1, len(s.chosen()), s.plain(item.name()))
	}
	heading := fmt.Sprintf("cause %d of %d", s.at+1, len(s.groups))
	if more := len(s.lines) - s.room(); more > 0 {
		heading += fmt.Sprintf(", line %d of %d", s.top+1, len(s.lines))
	}
	return heading
}

// keys returns a line with the available keys.
func (s *screen) keys() string {
	switch {
	case s.busy:
		return "…"
	case s.question != "":
		return s.question
	case s.helping:
		return s.fitting("space scrolls, another key goes back", "space, or back")
	case s.unfolded:
		return s.fitting("test: a accept  r reject  s skip  n/p  e edit  enter back  ? help  q quit",
			"test: a r s  n/p  enter  ? help  q quit")
	}
	return s.fitting("a accept  r reject  s skip  n/p  enter test  ? help  q quit", "a r s  n/p  enter  ? help  q quit")
}

// fitting returns long if it fits in a line, otherwise short.
func (s *screen) fitting(long, short string) string {
	if len(long) <= s.width {
		return long
	}
	return short
}

func (s *screen) cut(line string) string { return ansi.Truncate(line, max(1, s.width), "…") }

func (s *screen) bold(line string) string {
	return drift.Style{Color: s.c.color}.Styled("1", line)
}
