package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

const (
	reviewedPackage = "example.com/shop/agents"
	systemBefore    = "You answer questions about orders.\nNever guess.\nAnswer in one sentence."
	systemAfter     = "You answer questions about orders.\nDo not guess.\nAnswer in one sentence."
)

// tally counts the decisions.
func (r *reviewRun) tally() string {
	n := map[string]int{}
	for _, item := range r.tests {
		n[item.verdict]++
	}
	return fmt.Sprintf("%d accepted, %d rejected, %d left", n[accepted], n[rejected], n[""])
}

// record records a call of a test in a store.
func recordCall(t testing.TB, dir, test, system, user string) {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	r := pagetest.Recordings()["plain"]
	record := r.Snapshot
	name := snapshot.DocumentName(reviewedPackage, test)
	record.ID, record.Source.Package, record.Source.Test = snapshot.ID(name, 1), reviewedPackage, test
	record.Request.Messages = []modelio.Message{pagetest.Said("user", user)}
	if system != "" {
		record.Request.Messages = slices.Insert(record.Request.Messages, 0, pagetest.Said("system", system))
	}
	record.Response.RawOutputRef = canon.Sum([]byte(r.Body))
	record.Provider = r.Provider
	put := store.PutOf(name, []snapshot.Snapshot{record})
	put.Beside = map[canon.Hash][]byte{record.Response.RawOutputRef: []byte(r.Body)}
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{put}}))
}

// gitIn runs git in a directory and returns what it prints.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := osexec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// commitAll makes a directory a repository whose one commit has all that is in it.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "recorded")
}

// newReviewed makes a repository with a store in which wait: a system prompt that changed in three tests, of which one
// asks something else too, a test that is new, one that is gone, and an answer that a failed test bought.
func newReviewed(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), ".ai-snapshots")
	for _, test := range []string{"TestOrder", "TestRefund", "TestStock"} {
		recordCall(t, dir, test, systemBefore, "Where is my order?")
	}
	recordCall(t, dir, "TestGone", "", "Are you there?")
	recordCall(t, dir, "TestBought", "", "How much is it?")
	top := filepath.Dir(dir)
	require.NoError(t, os.WriteFile(filepath.Join(top, "go.mod"), []byte("module example.com/shop\n"), 0o666))
	commitAll(t, top)
	recordCall(t, dir, "TestOrder", systemAfter, "Where is my order?")
	recordCall(t, dir, "TestRefund", systemAfter, "Where is my order?")
	recordCall(t, dir, "TestStock", systemAfter, "Is it in stock?")
	recordCall(t, dir, "TestNew", "", "Who are you?")
	recordCall(t, filepath.Join(dir, ".pending"), "TestBought", "", "How much is it in euros?")
	gone, err := filepath.Glob(filepath.Join(dir, "openai", "*testgone-*"))
	require.NoError(t, err)
	for _, file := range gone {
		require.NoError(t, os.RemoveAll(file))
	}
	return dir
}

// documentOf returns the name of the document of a test.
func documentOf(test string) string { return snapshot.DocumentName(reviewedPackage, test) }

// A listing is what review --json prints.
type listing struct {
	Causes []struct {
		Kind, Key, Headline, Accept, Reject string
		Changes                             []struct{ Kind, Before, After string }
		Tests                               []struct {
			Kind, Package, Test, Change, Document string
			Records, Also                         []string
			Records_More                          int
		}
	}
	Accepted, Rejected []struct{ Test string }
	Left               int
}

func listReview(t testing.TB, dir string, args ...string) (l listing, code int) {
	t.Helper()
	code, out, said := run("", append([]string{"review", "--json", "--dir", dir}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &l), "%s%s", out, said)
	return l, code
}

// A cause is listed once with its tests; one that has other causes too names them.
func TestReviewLists(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	l, code := listReview(t, dir)
	require.Equal(t, exitFindings, code)
	require.Equal(t, 6, l.Left)
	var heads []string
	for _, c := range l.Causes {
		heads = append(heads, c.Kind+": "+c.Headline)
	}
	require.Equal(t, []string{
		"pending: user message changed in 1 package: 1 call of 1 test",
		"changed: system prompt changed in 1 package: 3 calls of 3 tests, 1 line",
		"changed: user message changed in 1 package: 1 call of 1 test",
		"changed: 1 test added",
		"changed: 1 test removed",
	}, heads)
	system := l.Causes[1]
	require.Equal(t, "TestOrder", system.Tests[0].Test)
	require.Empty(t, system.Tests[0].Also)
	require.Equal(t, []string{l.Causes[2].Key}, system.Tests[2].Also, "TestStock asks something else too")
	require.Equal(t, []string{documentOf("TestOrder") + "-1"}, system.Tests[0].Records)
	_, text, _ := run("", "review", "--dir", dir)
	require.Contains(t, text, "; accept its other causes too: --accept "+l.Causes[2].Key+"\n")

	pending, _ := listReview(t, dir, "--pending")
	require.Len(t, pending.Causes, 1)
	changed, _ := listReview(t, dir, "--changed")
	require.Len(t, changed.Causes, 4)
}

// What is accepted of changed records is staged, and nothing else; what is rejected is what git had.
func TestReviewDecides(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	top := filepath.Dir(dir)
	l, _ := listReview(t, dir)

	var done listing
	code, out, said := run("", "review", "--json", "--dir", dir, "--changed", "--accept", l.Causes[1].Key)
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, l.Causes[1].Headline+": 1 test waits for a decision on: "+l.Causes[2].Headline+"; all at once: traceforge review --dir "+
		gotest.Quote(dir)+" --accept "+gotest.Quote(l.Causes[1].Key)+" --accept "+gotest.Quote(l.Causes[2].Key)+"\n")
	require.Contains(t, said, "\n2 accepted, 0 rejected, 3 left\nchanged records that were accepted are staged: commit them with git\n")
	require.Len(t, done.Accepted, 2, "TestStock waits for its other cause")
	require.Equal(t, 3, done.Left)
	order, refund := documentOf("TestOrder"), documentOf("TestRefund")
	require.Equal(t, "M  .ai-snapshots/openai/"+order+".json\nM  .ai-snapshots/openai/"+refund+".json\n",
		gitStaged(t, top))

	done, _ = listReview(t, dir, "--changed", "--reject", "TestStock,"+documentOf("TestNew")+",removed")
	require.Len(t, done.Rejected, 3)
	require.Equal(t, 0, done.Left)
	require.Equal(t, "M  .ai-snapshots/openai/"+order+".json\nM  .ai-snapshots/openai/"+refund+".json\n",
		gitIn(t, top, "status", "--porcelain"), "the others are as they were committed, and the new one is gone")

	code, out, said = run("", "review", "--dir", dir, "--accept", documentOf("TestBought")+"-1")
	require.Equal(t, exitClean, code)
	require.Equal(t, "accepted "+documentOf("TestBought")+"  TestBought in "+reviewedPackage+"\n", out)
	require.Equal(t, "1 accepted, 0 rejected, 0 left\nanswers that were pending are in the store: replay them with go test, and commit them with git\n", said)
	code, _, said = run("", "verify", "--dir", dir)
	require.Equal(t, exitClean, code, said)
	tbtest.NoPending(t, dir)

	l, code = listReview(t, dir)
	require.Equal(t, exitFindings, code, "what was taken over is a changed record now")
	require.Len(t, l.Causes, 1)
	done, code = listReview(t, dir, "--accept", "TestBought")
	require.Equal(t, exitClean, code)
	require.Len(t, done.Accepted, 1)
	l, code = listReview(t, dir)
	require.Equal(t, exitClean, code)
	require.Empty(t, l.Causes)
}

// gitStaged returns the files that are staged.
func gitStaged(t testing.TB, top string) (staged string) {
	for line := range strings.Lines(gitIn(t, top, "status", "--porcelain", "--untracked-files=no")) {
		if line[0] != ' ' {
			staged += line
		}
	}
	return staged
}

// TestReviewShowsEachTest: tests that have no cause in common are shown one by one, and what is not shown is named.
func TestReviewShowsEachTest(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	recordCall(t, dir, "TestNewer", "M-system", "M-user")
	command := "traceforge review --dir " + gotest.Quote(dir) + " --changed"
	_, out, said := run("", "review", "--changed", "--dir", dir)
	require.Contains(t, out, "changed: 2 tests added\nTestNew in ", said)
	require.Contains(t, out, "\n\nTestNewer in ")
	require.Contains(t, out, "\nsystem\n  M-system\n\nuser\n  M-user\n")
	require.Contains(t, out, "  accept: "+command+" --accept added\n")
	require.NotContains(t, out, "not shown")

	s := newTestScreen(t, dir, 80, 100)
	press(t, s, "n", "n", "n")
	require.Contains(t, strings.Join(s.shown(), "\n"), "M-system")
	press(t, s, "tab", "enter", "r", "y", "enter")
	require.NotContains(t, strings.Join(s.shown(), "\n"), "M-system", "it was rejected")

	recordCall(t, dir, "TestLong", "", strings.Repeat("x ", 50_000))
	for i := range 13 {
		recordCall(t, dir, fmt.Sprintf("TestMore%02d", i), "", fmt.Sprintf("M-more-%02d", i))
	}
	_, out, _ = run("", "review", "--changed", "--dir", dir)
	require.Contains(t, out, "\n  not shown: TestMore00 in example.com/shop/agents, ")
	require.Contains(t, out, "; all of it: "+command+" --json\n")
	_, out, _ = run("", "review", "--changed", "--dir", dir, "--json")
	var listed struct {
		Causes []struct {
			Tests []struct {
				Test string
				Only map[string][]struct {
					Request struct{ Messages []struct{ Content string } }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &listed))
	only := map[string]string{}
	for _, cause := range listed.Causes {
		for _, test := range cause.Tests {
			for fate, calls := range test.Only {
				only[test.Test] = fate + " " + calls[0].Request.Messages[0].Content
			}
		}
	}
	require.Len(t, only, 16)
	require.Equal(t, "added M-more-12", only["TestMore12"])
	require.Equal(t, "removed Are you there?", only["TestGone"])
}

// A document that was only announced to git, with git add -N, is one that git does not have.
func TestReviewOfAnnouncedDocuments(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	top := filepath.Dir(dir)
	gitIn(t, top, "add", "-N", ".ai-snapshots")
	l, _ := listReview(t, dir, "--changed")
	require.Equal(t, "1 test added", l.Causes[2].Headline)
	done, _ := listReview(t, dir, "--changed", "--reject", "added")
	require.Len(t, done.Rejected, 1)
	require.NotContains(t, gitIn(t, top, "status", "--porcelain"), "testnew")
	code, _, said := run("", "verify", "--dir", dir)
	require.Equal(t, exitClean, code, said)
}

// A renamed test is one decision, about both of its documents, as is one whose document has moved to another provider.
func TestReviewOfMovedDocuments(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"--accept", "--reject"} {
		dir := newReviewed(t)
		top := filepath.Dir(dir)
		gitIn(t, top, "add", "-A")
		code, _, said := run("", "mv", "--dir", dir, "TestNew", "TestNewest")
		require.Equal(t, exitClean, code, said)
		l, _ := listReview(t, dir, "--changed")
		require.Len(t, l.Causes, 1)
		require.Equal(t, "1 test moved", l.Causes[0].Headline)
		for _, file := range []string{documentOf("TestStock") + ".json", documentOf("TestStock")} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "anthropic"), 0o777))
			require.NoError(t, os.Rename(filepath.Join(dir, "openai", file), filepath.Join(dir, "anthropic", file)))
		}
		code, _, said = run("", "repair", "--manifest", "--dir", dir)
		require.Equal(t, exitClean, code, said)
		_, out, _ := run("", "review", "--changed", "--dir", dir)
		require.Contains(t, out, "\n  moved from the test whose document is "+documentOf("TestNew")+", with the same calls\n")
		done, _ := listReview(t, dir, "--changed", verb, "TestNewest,TestStock")
		require.Equal(t, 0, done.Left)
		unstaged := gitIn(t, top, "ls-files", "--modified", "--deleted", "--others", "--exclude-standard")
		require.Empty(t, unstaged, "git has all of it, or nothing")
		_, err := os.Stat(filepath.Join(dir, "openai", documentOf("TestNewest")+".json"))
		require.Equal(t, verb == "--accept", err == nil)
		code, _, said = run("", "verify", "--dir", dir)
		require.Equal(t, exitClean, code, said)
	}
}

// What is printed for a test with many causes grows with the number of its calls: the first cause has the ids of all, the
// others the first ones.
func TestReviewListsRecordsOnce(t *testing.T) {
	t.Parallel()
	const calls = 100
	dir, name := filepath.Join(t.TempDir(), ".ai-snapshots"), snapshot.DocumentName(reviewedPackage, "TestMany")
	s, err := store.Open(dir)
	require.NoError(t, err)
	record := func(question string) {
		records := make([]snapshot.Snapshot, calls)
		for i := range records {
			r := pagetest.Recordings()["plain"]
			records[i], records[i].Provider = r.Snapshot, r.Provider
			records[i].ID, records[i].Source.Package, records[i].Source.Test = snapshot.ID(name, i+1), reviewedPackage, "TestMany"
			records[i].Request.Messages = []modelio.Message{pagetest.Said("user", fmt.Sprintf(question, i))}
		}
		require.NoError(t, s.Commit(store.Change{Put: []store.Put{store.PutOf(name, records)}}))
	}
	record("What is %d?")
	gitIn(t, filepath.Dir(dir), "init", "-q")
	gitIn(t, filepath.Dir(dir), "add", "-A")
	record("What was %d?")
	l, _ := listReview(t, dir)
	require.Len(t, l.Causes, calls)
	require.Len(t, l.Causes[0].Tests[0].Records, calls)
	require.Zero(t, l.Causes[0].Tests[0].Records_More)
	for _, c := range l.Causes[1:] {
		require.Equal(t, l.Causes[0].Tests[0].Records[:alsoListed], c.Tests[0].Records)
		require.Equal(t, calls-alsoListed, c.Tests[0].Records_More)
	}
	_, text, _ := run("", "review", "--dir", dir)
	require.Equal(t, calls, strings.Count(text, fmt.Sprintf(" and %d more; it has %d other causes", calls-5, calls-1)), text)
}

// What changed in several calls of a test is unfolded once.
func TestReviewUnfoldsEachChangeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain", "turn1", "turn2"))
	gitIn(t, filepath.Dir(dir), "init", "-q")
	gitIn(t, filepath.Dir(dir), "add", "-A")
	s, err := store.Open(dir)
	require.NoError(t, err)
	name := snapshot.DocumentName("example.com/agents", "TestAgent")
	doc, err := s.Load(name, "openai")
	require.NoError(t, err)
	for i := range doc.Document.Snapshots {
		doc.Document.Snapshots[i].Request.Messages = slices.Insert(
			doc.Document.Snapshots[i].Request.Messages, 0, pagetest.Said("system", "Be kind."))
	}
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{store.PutOf(name, doc.Records())}}))
	shown := newTestScreen(t, dir, 80, 60)
	press(t, shown, "enter")
	text := strings.Join(shown.shown(), "\n")
	require.Equal(t, 1, strings.Count(text, "+ Be kind."), text)
	require.Contains(t, text, "system added: as in call 1", text)
}

func TestReviewCalledWrongly(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	outside := filepath.Join(t.TempDir(), ".ai-snapshots")
	recordCall(t, outside, "TestIt", "", "hello")
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown", []string{"--dir", dir, "--accept", "TestOrdre"},
			"nothing that waits is called TestOrdre: traceforge review --dir "},
		{"near", []string{"--dir", dir, "--accept", "adedd"}, `nothing that waits is called adedd, did you mean added?`},
		{"both", []string{"--dir", dir, "--accept", "TestNew", "--reject", "added"},
			"TestNew in example.com/shop/agents is both accepted and rejected"},
		{"kinds", []string{"--dir", dir, "--pending", "--changed"}, "none of the others can be"},
		{"no_git", []string{"--dir", outside, "--changed"}, outside + " is in no repository of git"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, said := run("", append([]string{"review"}, tt.args...)...)
			require.Equal(t, exitTrouble, code)
			require.Empty(t, out)
			require.Contains(t, said, tt.want)
		})
	}
	code, _, said := run("", "review", "--dir", outside)
	require.Equal(t, exitClean, code)
	require.Contains(t, said, "nothing waits for a decision")
}

// TestReviewUnasked: a repository that cannot be asked is no store in which nothing changed.
func TestReviewUnasked(t *testing.T) {
	dir := newReviewed(t)
	t.Setenv("PATH", t.TempDir())
	for _, args := range [][]string{{}, {"--json"}, {"--accept", "added"}} {
		code, out, said := run("", append([]string{"review", "--dir", dir}, args...)...)
		require.Equal(t, exitTrouble, code)
		require.Empty(t, out)
		require.Contains(t, said, "executable file not found")
	}
	if os.Geteuid() != 0 {
		return // only root gives files to another user
	}
	t.Setenv("HOME", t.TempDir())
	require.NoError(t, os.Chown(filepath.Join(filepath.Dir(dir), ".git"), 12345, 12345))
	code, out, said := run("", "review", "--dir", dir)
	require.Equal(t, exitTrouble, code)
	require.Empty(t, out)
	require.Contains(t, said, "belongs to somebody else; if you trust it: git config --global --add safe.directory")
}

// newTestScreen returns a screen of the store in a directory.
func newTestScreen(t testing.TB, dir string, width, height int) *screen {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	con := newConsole(nil, os.Stdout, os.Stderr)
	con.color = false
	c := &call{console: con, ctx: context.Background()}
	for _, command := range rootCommand(con).Commands() {
		if command.Name() == "review" {
			c.cmd = command
		}
	}
	r := &reviewRun{c: c, store: s, dir: dir}
	t.Cleanup(r.close)
	require.NoError(t, r.gather())
	r.dir = ".ai-snapshots" // as it would be named
	shown := newScreen(r)
	shown.Update(tea.WindowSizeMsg{Width: width, Height: height})
	r.dir = dir
	return shown
}

// press presses keys, and returns whether the screen ended.
func press(t testing.TB, s *screen, keys ...string) (quit bool) {
	t.Helper()
	for _, key := range keys {
		msg := tea.KeyPressMsg{Text: key, Code: []rune(key)[0]}
		switch key {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "tab":
			msg = tea.KeyPressMsg{Code: tea.KeyTab}
		case "shift+tab":
			msg = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
		case "space":
			msg = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
		}
		_, cmd := s.Update(msg)
		for cmd != nil {
			next := cmd()
			if _, quit = next.(tea.QuitMsg); quit {
				return true
			}
			_, cmd = s.Update(next)
		}
	}
	return false
}

// The screens at two sizes: what a line may be of a terminal is kept, whatever is shown.
func TestReviewScreens(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	for _, size := range []struct {
		name          string
		width, height int
	}{{"80x24", 80, 24}, {"40x20", 40, 20}} {
		for _, shown := range []struct {
			name string
			keys []string
		}{
			{"pending", nil},
			{"cause", []string{"n"}},
			{"marked", []string{"n", "tab", "tab"}},
			{"test", []string{"n", "tab", "tab", "enter"}},
			{"new", []string{"n", "n", "n"}},
			{"help", []string{"?"}},
			{"question", []string{"n", "r"}},
			{"skipped", []string{"s"}},
		} {
			t.Run(size.name+"/"+shown.name, func(t *testing.T) {
				s := newTestScreen(t, dir, size.width, size.height)
				require.False(t, press(t, s, shown.keys...))
				lines := s.shown()
				require.LessOrEqual(t, len(lines), size.height)
				for _, line := range lines {
					require.LessOrEqual(t, ansi.StringWidth(line), size.width, line)
				}
				goldie.New(t, goldie.WithFixtureDir("testdata/review")).Assert(t, shown.name+"."+size.name,
					[]byte(strings.ReplaceAll(strings.Join(lines, "\n")+"\n", dir, ".ai-snapshots")))
			})
		}
	}
}

// Decisions by keys: a test with two causes waits for the second, a question is asked before what was recorded is
// lost, and the end comes with the last decision.
func TestReviewKeys(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	top := filepath.Dir(dir)
	s := newTestScreen(t, dir, 80, 24)
	require.False(t, press(t, s, "s")) // what is pending
	require.False(t, press(t, s, "a"))
	require.Equal(t, "2 accepted, 0 rejected, 4 left", s.tally())
	require.Contains(t, s.note, "1 test waits for a decision on: user message changed")
	require.Equal(t, 2, s.at, "the next cause")
	require.False(t, press(t, s, "a"))
	require.Equal(t, "3 accepted, 0 rejected, 3 left", s.tally(), "now both of its causes are accepted")

	require.False(t, press(t, s, "r", "n"))
	require.Equal(t, "nothing was rejected", s.note)
	require.Equal(t, "3 accepted, 0 rejected, 3 left", s.tally())
	require.False(t, press(t, s, "r", "y")) // the new test
	require.Equal(t, "3 accepted, 1 rejected, 2 left", s.tally())
	require.True(t, press(t, s, "a"), "the last that was not skipped")
	require.Equal(t, "4 accepted, 1 rejected, 1 left", s.tally())
	require.Len(t, strings.Split(strings.TrimSpace(gitStaged(t, top)), "\n"), 5)
	require.DirExists(t, filepath.Join(dir, ".pending"), "what was skipped stays")
}

func TestReviewAllKeys(t *testing.T) {
	t.Parallel()
	t.Run("accept", func(t *testing.T) {
		s := newTestScreen(t, newReviewed(t), 80, 24)
		require.True(t, press(t, s, "A"))
		require.Equal(t, "6 accepted, 0 rejected, 0 left", s.tally())
	})
	t.Run("reject", func(t *testing.T) {
		dir := newReviewed(t)
		s := newTestScreen(t, dir, 80, 24)
		require.False(t, press(t, s, "R"))
		require.Contains(t, s.keys(), "reject 6 tests? y/n: their files become what git has")
		require.True(t, press(t, s, "y"))
		require.Empty(t, gitIn(t, filepath.Dir(dir), "status", "--porcelain"))
	})
	t.Run("skip", func(t *testing.T) {
		s := newTestScreen(t, newReviewed(t), 80, 24)
		require.True(t, press(t, s, "S"))
		require.Equal(t, "0 accepted, 0 rejected, 6 left", s.tally())
	})
	t.Run("one_test", func(t *testing.T) {
		dir := newReviewed(t)
		s := newTestScreen(t, dir, 80, 24)
		require.False(t, press(t, s, "n", "tab", "enter", "a"))
		require.Equal(t, "1 accepted, 0 rejected, 5 left", s.tally())
		require.Equal(t, "M  .ai-snapshots/openai/"+documentOf("TestRefund")+".json\n", gitStaged(t, filepath.Dir(dir)))
		require.True(t, s.unfolded, "the next test is shown")
		require.Equal(t, "TestStock", s.test().Test.Name)
		require.False(t, press(t, s, "a"))
		require.Equal(t, "2 accepted, 0 rejected, 4 left", s.tally(), "all of it was seen, whatever else the test has")
	})
}

// TestReviewMoves presses the keys that show something else, each from where the one before it has led.
func TestReviewMoves(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 12)
	at := func() string {
		place := fmt.Sprintf("%d/%d@%d", s.at, s.row, s.top)
		if s.unfolded {
			place += " unfolded"
		}
		if s.helping {
			place += " help"
		}
		return place
	}
	for i, step := range []struct{ key, at string }{
		{"p", "4/0@0"}, {"left", "3/0@0"}, {"right", "4/0@0"}, {"n", "0/0@0"}, {"n", "1/0@0"},
		{"down", "1/0@1"}, {"j", "1/0@2"}, {"up", "1/0@1"}, {"k", "1/0@0"}, {"k", "1/0@0"}, {"space", "1/0@6"}, {"b", "1/0@0"}, {"f", "1/0@6"}, {"pgup", "1/0@0"}, {"pgdown", "1/0@6"}, {"home", "1/0@0"}, {"end", "1/0@7"}, {"g", "1/0@0"}, {"G", "1/0@7"},
		{"?", "1/0@0 help"}, {"down", "1/0@1 help"}, {"space", "1/0@7 help"}, {"n", "1/0@0"},
		{"esc", "1/0@0"}, {"shift+tab", "1/2@7"}, {"tab", "1/0@7"}, {"tab", "1/1@7"},
		{"enter", "1/1@0 unfolded"}, {"tab", "1/1@0 unfolded"}, {"p", "1/0@0 unfolded"}, {"p", "1/0@0 unfolded"}, {"n", "1/1@0 unfolded"}, {"s", "1/2@0 unfolded"}, {"esc", "1/2@0"},
		{"enter", "1/2@0 unfolded"}, {"n", "1/2@0 unfolded"}, {"s", "2/0@0"},
	} {
		require.False(t, press(t, s, step.key), step.key)
		require.Equal(t, step.at, at(), "step %d: %s", i, step.key)
	}
}

const gone = "is no longer what was shown, another process has changed it: run traceforge review again"

// TestReviewOfRulesThatAreStaged stages config.json while the screen shows it.
func TestReviewOfRulesThatAreStaged(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"max_age": {"warn_days": 30}}`), 0o666))
	s := newTestScreen(t, dir, 80, 24)
	rules := slices.IndexFunc(s.groups, func(g *group) bool { return g.key == "config" })
	require.GreaterOrEqual(t, rules, 0)
	gitIn(t, filepath.Dir(dir), "add", ".ai-snapshots/config.json")
	press(t, s, slices.Repeat([]string{"n"}, rules)...)
	press(t, s, "r", "y")
	require.Contains(t, s.note, gone)
}

// What another process changes while the screen is open is not decided.
func TestReviewOfAStoreThatChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		keys   []string
		tally  string
	}{
		{"recorded", func(t *testing.T, dir string) { recordCall(t, dir, "TestOrder", "Another.", "Where?") },
			[]string{"n", "a"}, "1 accepted, 0 rejected, 5 left"},
		{"recorded_reject", func(t *testing.T, dir string) { recordCall(t, dir, "TestOrder", "Another.", "Where?") },
			[]string{"n", "r", "y"}, "0 accepted, 2 rejected, 4 left"},
		{"staged", func(t *testing.T, dir string) { gitIn(t, filepath.Dir(dir), "add", "-A") },
			[]string{"n", "a"}, "0 accepted, 0 rejected, 6 left"},
		{"accepted", func(t *testing.T, dir string) {
			code, _, said := run("", "accept", "--dir", dir, "--all")
			require.Equal(t, exitClean, code, said)
		}, []string{"a"}, "0 accepted, 0 rejected, 6 left"},
		{"bought", func(t *testing.T, dir string) {
			recordCall(t, filepath.Join(dir, ".pending"), "TestBought", "", "How much in dollars?")
		}, []string{"r"}, "0 accepted, 0 rejected, 6 left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newReviewed(t)
			s := newTestScreen(t, dir, 80, 24)
			tt.change(t, dir)
			press(t, s, tt.keys...)
			require.Equal(t, tt.tally, s.tally())
			require.Contains(t, s.note, gone)
			require.NotEmpty(t, s.refused)
			require.Contains(t, s.refused[0], gone)
		})
	}
}

// An answer that was accepted is not lost by rejecting what was recorded before it.
func TestReviewKeepsWhatWasAccepted(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	recordCall(t, filepath.Join(dir, ".pending"), "TestRefund", systemAfter, "And in euros?")
	s := newTestScreen(t, dir, 80, 24)
	require.Equal(t, pendingKind, s.groups[1].kind)
	press(t, s, "a", "a") // both that are pending
	require.Equal(t, "2 accepted, 0 rejected, 5 left", s.tally())
	press(t, s, "r", "y")
	require.Equal(t, "2 accepted, 2 rejected, 3 left", s.tally(), "TestOrder and TestStock")
	require.Contains(t, s.refused[0], "TestRefund in example.com/shop/agents: has answers that were accepted just now, "+
		"which rejecting would lose: run traceforge review again")
	code, out, _ := run("", "show", "--dir", dir, "TestRefund")
	require.Equal(t, exitClean, code)
	require.Contains(t, out, "And in euros?")
}

// What a store says drives no terminal.
func TestReviewIsPlain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	evil := "Test\x1b]0;owned\x07\x1b[2J\u202e"
	recordCall(t, dir, evil, "", "plain")
	gitIn(t, filepath.Dir(dir), "init", "-q")
	gitIn(t, filepath.Dir(dir), "add", "-A")
	recordCall(t, dir, evil, "", evil+"\x1b[31m")
	require.NoError(t, pagetest.MakeStore(dir, "hostile"))
	s := newTestScreen(t, dir, 80, 200)
	for range 2 {
		for _, line := range s.shown() {
			requirePlain(t, line)
		}
		press(t, s, "enter")
		for _, line := range s.shown() {
			requirePlain(t, line)
		}
		press(t, s, "enter", "n")
	}
	_, out, said := run("", "review", "--dir", dir)
	requirePlain(t, out)
	requirePlain(t, said)
	_, out, _ = run("", "review", "--json", "--dir", dir)
	requirePlain(t, out)
}

// What is decided can still be looked at, also when it is gone.
func TestReviewShowsWhatIsDecided(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 24)
	press(t, s, "p", "p", "r", "y", "p") // the test that is new
	require.Equal(t, 3, s.at)
	require.Contains(t, strings.Join(s.shown(), "\n"), "all of it is decided")
	press(t, s, "enter", "a", "r", "e", "tab")
	require.Equal(t, "0 accepted, 1 rejected, 5 left", s.tally())
}

// A document that another process removes is said to be gone where it would be shown.
func TestReviewOfDocumentsThatGo(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 24)
	press(t, s, "p", "p")
	for _, file := range s.test().files {
		require.NoError(t, os.RemoveAll(filepath.Join(s.dir, file)))
	}
	press(t, s, "enter")
	require.Contains(t, strings.Join(s.shown(), "\n"), noLonger)
	press(t, s, "e")
	require.Contains(t, s.note, "TestNew in example.com/shop/agents: the document was removed")
}

// What is needed to open something is said.
func TestReviewWithoutPrograms(t *testing.T) {
	dir := newReviewed(t)
	s := newTestScreen(t, dir, 80, 24)
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	t.Setenv("BROWSER", "")
	t.Setenv("PATH", t.TempDir())
	press(t, s, "e")
	copied, ok := strings.CutPrefix(s.note, "set VISUAL or EDITOR to open ")
	require.True(t, ok && filepath.Base(copied) == documentOf("TestBought")+".json", s.note)
	text, err := os.ReadFile(copied)
	require.NoError(t, err)
	_, err = snapshot.Parse(text)
	require.NoError(t, err, "it is the document that the log makes")
	require.NoError(t, os.RemoveAll(filepath.Dir(copied)))
	press(t, s, "h")
	require.Regexp(t, `^the page is .*traceforge-review-\d+\.html, which nothing could open: `, s.note)
	_, page, _ := strings.Cut(s.note, "the page is ")
	page, _, _ = strings.Cut(page, ", which")
	require.NoError(t, os.Remove(page))
}

// A decision that was begun is finished, whenever the user leaves.
func TestReviewFinishesDecisions(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 24)
	_, decide := s.Update(tea.KeyPressMsg{Text: "a", Code: 'a'})
	require.True(t, s.busy)
	require.False(t, press(t, s, "q"), "it waits")
	require.False(t, press(t, s, "a"))
	_, cmd := s.Update(decide())
	require.Equal(t, tea.QuitMsg{}, cmd())
	require.Equal(t, "1 accepted, 0 rejected, 5 left", s.tally())
}

// A style goes on in the next line of the screen, which may be the first that is shown.
func TestStyledLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a \x1b[31mred\x1b[0m", "\x1b[31mstill\x1b[0m plain", "\x1b[1mbold\x1b[0m"},
		styledLines("a \x1b[31mred\nstill\x1b[0m plain\n\x1b[1mbold\x1b[0m"))
}

// A screen of any size has a first line.
func TestReviewOnSmallScreens(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 24)
	for _, size := range [][2]int{{1, 1}, {3, 2}, {0, 0}, {500, 5}, {20, 300}} {
		s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		require.LessOrEqual(t, len(s.shown()), max(1, size[1]))
		press(t, s, "tab", "space", "G", "enter", "G", "enter", "n")
		for _, line := range s.shown() {
			require.LessOrEqual(t, ansi.StringWidth(line), max(1, size[0]))
		}
	}
}

// A test of many causes names a few of the others.
func TestReviewOfManyCauses(t *testing.T) {
	t.Parallel()
	s := newTestScreen(t, newReviewed(t), 80, 24)
	press(t, s, "n")
	item := s.groups[s.at].tests[0]
	for i := range 1000 {
		item.groups = append(item.groups, &group{headline: fmt.Sprintf("cause %d changed", i)})
	}
	press(t, s, "end")
	shown := strings.Join(strings.Fields(strings.Join(s.shown(), "\n")), " ")
	require.Contains(t, shown, "; also: cause 0 changed; cause 1 changed; cause 2 changed; and 997 more causes")
	require.NotContains(t, shown, "cause 3 changed")
}
