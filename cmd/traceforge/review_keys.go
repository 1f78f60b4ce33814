package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/traceforge/traceforge-go/internal/page"
)

const reviewKeys = `a  accept: pending answers go into the store, changed records are staged with git
r  reject: pending answers are thrown away, changed records become what git has staged
s  skip
A  R  S  the same for all that is left
n  p  the next cause, the previous one; of an unfolded test: the next test
enter  unfold the test that is marked, or fold it again; it can be decided alone
tab  shift+tab  mark the next test, the previous one
up  down  space  b  g  G  scroll
e  open the document in $VISUAL or $EDITOR
h  open all causes of this kind as a page in a browser
?  this help
q  quit; what is not decided stays as it is

Decisions take effect at once. A test with several causes is accepted when all of them are.`

// key handles a key.
func (s *screen) key(key string) tea.Cmd {
	switch {
	case s.busy && (key != "ctrl+c" || !s.leaving): // while a decision waits for a lock, ctrl+c may be pressed again
		s.leaving = s.leaving || key == "ctrl+c" || key == "q"
		return nil
	case key == "ctrl+c":
		return tea.Quit
	case s.question != "":
		return s.answered(key)
	case s.helping:
		if !s.scroll(key) {
			s.helping, s.top = false, 0
		}
		s.lay()
		return nil
	}
	s.note, s.waits = "", false
	if s.move(key) {
		return nil
	}
	switch key {
	case "a", "r":
		return s.pressed(key)
	case "A":
		return s.decideOnAll(accepted)
	case "R":
		return s.decideOnAll(rejected)
	case "S", "q":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "s":
		return s.skip()
	case "e":
		return s.edit()
	case "h":
		return s.browse()
	}
	return nil
}

// move handles the keys that only change what is shown, and reports whether key is one of them.
func (s *screen) move(key string) bool {
	n := len(s.groups)
	switch key {
	case "n", "right", "p", "left":
		by := map[string]int{"n": 1, "right": 1}[key]*2 - 1
		if s.unfolded {
			s.row, s.top = min(max(s.row+by, 0), len(s.chosen())-1), 0
		} else {
			s.choose((s.at + by + n) % n)
		}
	case "enter", "esc":
		if s.test() == nil || key == "esc" && !s.unfolded {
			return true
		}
		s.unfolded, s.top = !s.unfolded, 0
	case "tab", "shift+tab":
		s.mark(key)
		return true
	case "?":
		s.helping, s.top = true, 0
	default:
		if !s.scroll(key) {
			return false
		}
	}
	s.lay()
	return true
}

// scroll handles the keys that show other lines; lay keeps the position in range.
func (s *screen) scroll(key string) bool {
	switch key {
	case "down", "j":
		s.top++
	case "up", "k":
		s.top--
	case "space", "pgdown", "f":
		s.top += s.room()
	case "b", "pgup":
		s.top -= s.room()
	case "g", "home":
		s.top = 0
	case "G", "end":
		s.top = len(s.lines)
	default:
		return false
	}
	return true
}

// mark marks another test, and scrolls to its line.
func (s *screen) mark(key string) {
	n := len(s.chosen())
	if n == 0 || s.unfolded {
		return
	}
	s.row = (min(s.row, n-1) + map[string]int{"tab": 1, "shift+tab": n - 1}[key]) % n
	s.lay()
	if at := s.rows[s.row]; at < s.top || at >= s.top+s.room() {
		s.top = max(0, min(at-s.room()/2, len(s.lines)-s.room()))
	}
}

// pressed accepts or rejects the tests that are shown.
func (s *screen) pressed(key string) tea.Cmd {
	g, tests := s.groups[s.at], s.chosen()
	if s.unfolded {
		tests = []*reviewItem{s.test()}
	}
	if len(tests) == 0 {
		s.note = "all of it is decided"
		return nil
	}
	if key == "r" {
		return s.reject(tests, false)
	}
	if s.unfolded {
		return s.decideOn(accepted, tests)
	}
	ready, waiting := g.accept()
	if waiting > 0 {
		s.note = g.waitFor(waiting)
	}
	return s.decideOn(accepted, ready)
}

// decideOnAll decides on all tests that are left and not skipped.
func (s *screen) decideOnAll(verdict string) tea.Cmd {
	tests := slices.DeleteFunc(left(s.tests), func(item *reviewItem) bool {
		return slices.ContainsFunc(item.groups, func(g *group) bool { return g.skipped })
	})
	if verdict == rejected {
		return s.reject(tests, true)
	}
	for _, g := range s.groups {
		g.accepted = g.accepted || !g.skipped
	}
	return s.decideOn(verdict, tests)
}

// reject rejects tests. If it rejects all of them, or if recordings would be lost, it asks first.
func (s *screen) reject(tests []*reviewItem, all bool) tea.Cmd {
	what := "what they bought is lost"
	if slices.ContainsFunc(tests, func(item *reviewItem) bool { return item.Kind == changedKind }) {
		what, all = "their files become what git has", true
	}
	if !all || len(tests) == 0 {
		return s.decideOn(rejected, tests)
	}
	s.question = fmt.Sprintf("reject %s? y/n: %s", page.Count(len(tests), "test", "tests"), what)
	s.yes = func() tea.Cmd { return s.decideOn(rejected, tests) }
	return nil
}

func (s *screen) answered(key string) tea.Cmd {
	s.question = ""
	if key == "y" || key == "Y" {
		return s.yes()
	}
	s.note = "nothing was rejected"
	return nil
}

// skip leaves the shown tests undecided.
func (s *screen) skip() tea.Cmd {
	if s.unfolded && s.row+1 < len(s.chosen()) {
		s.move("n")
		return nil
	}
	s.groups[s.at].skipped = true
	return s.next()
}

// edit opens the document of the marked test.
func (s *screen) edit() tea.Cmd {
	item := s.test()
	if item == nil {
		return nil
	}
	file := filepath.Join(s.dir, filepath.FromSlash(item.files[0]))
	var err error
	if item.Kind == pendingKind {
		file, err = item.copied()
	} else {
		_, err = os.Stat(file)
	}
	switch editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")); {
	case errors.Is(err, fs.ErrNotExist):
		s.note = item.name() + ": the document was removed"
	case err != nil:
		s.note = item.name() + ": " + err.Error()
	case editor == "":
		s.note = "set VISUAL or EDITOR to open " + file
	default:
		return tea.ExecProcess(editing(editor, file), func(err error) tea.Msg {
			if err != nil {
				return notice("the editor: " + err.Error())
			}
			return notice("")
		})
	}
	return nil
}

// copied returns a file with a copy of the document that the pending answers make up, which are stored in a log.
func (item *reviewItem) copied() (file string, err error) {
	src := item.source
	doc, err := src.to.Load(item.Document, src.providers[item.Document])
	if err != nil {
		return "", err
	}
	data, err := doc.Document.Write(nil)
	if err == nil && src.to.temp == "" {
		src.to.temp, err = os.MkdirTemp("", "traceforge-review-")
	}
	if err != nil {
		return "", err
	}
	file = filepath.Join(src.to.temp, item.Document+".json")
	return file, os.WriteFile(file, data, 0o600)
}

// editing returns the command that opens a file in an editor, which may include arguments, like git's editor.
func editing(editor, file string) *osexec.Cmd {
	if runtime.GOOS == "windows" {
		return osexec.Command("cmd", "/C", editor+` "`+file+`"`)
	}
	return osexec.Command("sh", "-c", editor+` "$@"`, editor, file)
}

// browse opens the differences of the chosen kind as a page in a browser.
func (s *screen) browse() tea.Cmd {
	src := s.groups[s.at].tests[0].source
	file, err := s.writePage(src)
	if err != nil {
		s.note = err.Error()
		return nil
	}
	s.note = "the page is " + file
	browser := browsing(os.Getenv("BROWSER"), file)
	if err := browser.Start(); err != nil {
		s.note += ", which nothing could open: " + err.Error()
		return nil
	}
	return func() tea.Msg {
		_ = browser.Wait() // the browser reports its own errors
		return nil
	}
}

// writePage writes the page, which is kept for the browser, and returns its file.
func (s *screen) writePage(src *source) (string, error) {
	found, err := s.compare(src, true)
	if err != nil {
		return "", err
	}
	about := page.About{Command: "traceforge review", From: "the store", To: "pending answers", All: found.All}
	if src.kind == changedKind {
		about.From, about.To = "what git has staged", "the store"
	}
	f, err := os.CreateTemp("", "traceforge-review-*.html")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(found.HTML(about))
	return f.Name(), errors.Join(err, f.Close())
}

// browsing returns the command that opens a file in a browser: the one in the variable BROWSER, or the system's opener.
func browsing(browser, file string) *osexec.Cmd {
	switch {
	case browser != "":
		return editing(browser, file)
	case runtime.GOOS == "windows":
		return osexec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case runtime.GOOS == "darwin":
		return osexec.Command("open", file)
	}
	return osexec.Command("xdg-open", file)
}
