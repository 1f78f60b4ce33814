package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A buyer appends answers to a log, like a run of a test.
type buyer struct {
	store  *Store
	log    *Log
	bought int
}

func newBuyer(s *Store, test string) *buyer {
	return &buyer{store: s, log: s.NewLog(nameOf(test), "openai")}
}

// buy appends calls to the log. Each continues the conversation of the call before.
func (b *buyer) buy(put Put) error {
	for i := range put.Document.Snapshots {
		s := put.Document.Snapshots[i]
		s.Timestamp = recordedAt.Add(time.Hour)
		media := map[canon.Hash][]byte{}
		for _, m := range s.Media() {
			media[m.Hash] = put.Beside[m.Hash]
		}
		if err := b.log.Append(b.bought, s, rawIn(put, i), media); err != nil {
			return err
		}
		b.bought++
	}
	return nil
}

// talk returns the calls of a conversation. Each sends the whole conversation so far.
func talk(test string, calls ...call) Put {
	put := putOf(test, calls...)
	all := put.Document.Snapshots
	for i := 1; i < len(all); i++ {
		said := append(all[i-1].Request.Messages[:len(all[i-1].Request.Messages):len(all[i-1].Request.Messages)],
			all[i-1].Response.Candidates[0].Message)
		all[i].Request.Messages = append(said, text(modelio.RoleUser, calls[i].ask))
	}
	return put
}

// logOf returns the path of the only log.
func logOf(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, ".pending", nameOf("TestX")+".*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	return logs[0]
}

func logsIn(t *testing.T, s *Store) []string {
	t.Helper()
	logs, err := logDir{s.Pending()}.logsOf("")
	require.NoError(t, err)
	return logs
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

var bought = []call{{1, "one?", "changed"}, {3, "two?", "second"}, {4, "three?", "third"}}

// TestLog checks that answers in a log are pending. They are listed, read, accepted and rejected like answers in a
// document.
func TestLog(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	before := tree(t, dir)
	require.NoError(t, newBuyer(s, "TestX").buy(talk("TestX", bought...)))
	log := readFile(t, logOf(t, dir))
	require.Equal(t, 1, strings.Count(log, "Never guess."), "what was said before is not written again")
	require.Equal(t, len(before)+1, len(tree(t, dir)))

	files, err := s.Pending().List()
	require.NoError(t, err)
	require.Equal(t, []string{fileOf("TestX")}, files)
	requireCalls(t, s.Pending(), "TestX", bought...)
	require.NoError(t, Audit.Reject(s, idsOf("TestX", 4)...))
	requireCalls(t, s.Pending(), "TestX", bought[:2]...)
	requireWhole(t, s.Pending())
	require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", call{3, "again?", "again"}, call{5, "five?", "five"})))
	requireCalls(t, s.Pending(), "TestX", bought[0], call{3, "again?", "again"}, call{5, "five?", "five"})
	_, err = Audit.Accept(s, idsOf("TestX", 1))
	require.NoError(t, err)
	requireCalls(t, s, "TestX", call{1, "one?", "changed"}, call{2, "two?", "two"})
	_, err = Audit.Accept(s, idsOf("TestX", 3, 5))
	require.NoError(t, err)
	requireCalls(t, s, "TestX", call{1, "one?", "changed"}, call{2, "two?", "two"}, call{3, "again?", "again"}, call{5, "five?", "five"})
	tbtest.NoPending(t, dir)
	requireWhole(t, s)
}

// TestLogEmptyAnswer accepts an answer without a body, like one with status 204.
func TestLogEmptyAnswer(t *testing.T) {
	s, _ := newStore(t)
	put := putOf("TestX", bought[0])
	answered(put, nil)
	require.NoError(t, newBuyer(s, "TestX").buy(put))
	requireWhole(t, s.Pending())
	_, err := Audit.Accept(s, idsOf("TestX", 1))
	require.NoError(t, err)
	requireWhole(t, s)
}

// TestLogMedia accepts an answer to a call that sent an image.
func TestLogMedia(t *testing.T) {
	s, _ := newStore(t)
	put := mediaPut([]byte("\x89PNG"))
	require.NoError(t, newBuyer(s, "TestX").buy(put))
	_, err := Audit.Accept(s, []string{put.Name})
	require.NoError(t, err)
	requireWhole(t, s)
}

// TestLogList lists a test with two logs once, and a test whose log has no answer not at all.
func TestLogList(t *testing.T) {
	s, dir := newStore(t)
	for range 2 {
		require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", bought[0])))
	}
	writeFile(t, dir, PendingName+"/"+logFile(nameOf("TestY"), 1), "")
	writeFile(t, dir, PendingName+"/"+logFile(nameOf("TestZ"), 1), logClosed)
	files, err := s.Pending().List()
	require.NoError(t, err)
	require.Equal(t, []string{fileOf("TestX")}, files)
}

// TestSettleNothing checks that no log is left if no pending answers remain, from this run or from others.
func TestSettleNothing(t *testing.T) {
	s, dir := newStore(t)
	require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", bought[0])))
	none := PutOf(nameOf("TestX"), nil)
	none.Provider = "openai"
	require.NoError(t, s.Pending().Settle(none, s.NewLog(nameOf("TestX"), "openai"), map[int]bool{bought[0].n: true}))
	tbtest.NoPending(t, dir)
}

// TestLogOrder checks that records are in the order of their calls, not of their answers.
func TestLogOrder(t *testing.T) {
	s, _ := newStore(t)
	b, put := newBuyer(s, "TestX"), putOf("TestX", bought...)
	for _, place := range []int{2, 0, 1} {
		record := put
		record.Document = &snapshot.Document{Snapshots: put.Document.Snapshots[place : place+1]}
		b.bought = place
		require.NoError(t, b.buy(record))
	}
	requireCalls(t, s.Pending(), "TestX", bought...)
}

// TestLogTorn cuts a log at many places, like a kill. The complete answers must remain, and the log can always be
// rejected.
func TestLogTorn(t *testing.T) {
	s, dir := newStore(t)
	b := newBuyer(s, "TestX")
	var ends []int
	put := talk("TestX", bought...)
	for i := range bought {
		one := put
		one.Document = &snapshot.Document{Snapshots: put.Document.Snapshots[i : i+1]}
		require.NoError(t, b.buy(one))
		ends = append(ends, len(readFile(t, logOf(t, dir))))
	}
	file := logOf(t, dir)
	whole := readFile(t, file)
	step := max(1, len(whole)/sampled(100, len(whole)))
	for size := 0; size < len(whole); size += step {
		end := ""
		if size%2 == 0 {
			end = logClosed // closed by a process that was killed
		}
		require.NoError(t, os.WriteFile(file, []byte(whole[:size]+end), 0o666))
		n := 0
		for n < len(ends) && ends[n] <= size {
			n++
		}
		if n > 0 {
			requireCalls(t, s.Pending(), "TestX", bought[:n]...)
			continue
		}
		_, err := s.Pending().Load(nameOf("TestX"), "openai")
		require.ErrorContains(t, err, ".log: pending: has no whole answer", "%d bytes", size)
	}
	require.NoError(t, os.WriteFile(file, []byte(whole[:10]), 0o666))
	require.NoError(t, Audit.Reject(s, nameOf("TestX")))
	tbtest.NoPending(t, dir)
}

// TestLogAltered checks that an altered or foreign log gives no answers, and that it can be rejected.
func TestLogAltered(t *testing.T) {
	for _, x := range []struct {
		name, want string
		alter      func(t *testing.T, file string)
	}{
		{"answer", "has an answer of the hash ", replacing(`{"answer":"second"}`, `{"answer":"sEcond"}`)},
		{"record", "it has no mark of this user", replacing(`"two?"`, `"tWo?"`)},
		{"line", "which no traceforge writes", replacing("\nrecord 0 ", "\nRecord 0 ")},
		{"provider", "it has no mark of this user", replacing("traceforge pending openai", "traceforge pending anthropic")},
		{"place", "which no traceforge writes", replacing("\nrecord 0 ", "\nrecord zero ")},
		{"hash", "which no traceforge writes", replacing("\nanswer sha256:", "\nanswer sha1:")},
		{"size", "which no traceforge writes", replacing("\nrecord 0 ", "\nrecord 0 -")},
		{"mark", "which no traceforge writes", func(t *testing.T, file string) {
			line, _, _ := strings.Cut(strings.TrimPrefix(readFile(t, file), logHead+"openai\n"), "\n")
			replacing(line, line+" 0")(t, file)
		}},
		{"head", "is no file of pending answers", replacing("traceforge pending openai", "traceforge pending ../..")},
		{"link", "is no regular file", func(t *testing.T, file string) {
			require.NoError(t, os.Rename(file, file+".moved"))
			require.NoError(t, os.Symlink(filepath.Base(file)+".moved", file))
		}},
		{"tracked", "git tracks it or does not ignore it", func(t *testing.T, file string) {
			dir := filepath.Dir(file)
			for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}} {
				_, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
				require.NoError(t, err)
			}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, dir := newStore(t)
			require.NoError(t, newBuyer(s, "TestX").buy(talk("TestX", bought...)))
			commit(t, s.Pending(), putOf("TestOther", call{1, "a", "b"}))
			x.alter(t, logOf(t, dir))
			if x.name == "tracked" {
				s.keys = func() keyFile { return keyFile{} }
			}
			_, err := s.Pending().Load(nameOf("TestX"), "openai")
			require.ErrorContains(t, err, x.want)
			_, err = Audit.Accept(s, []string{nameOf("TestX")})
			require.ErrorContains(t, err, x.want)
			if x.name == "tracked" {
				return // the other log is tracked too
			}
			_, err = Audit.Accept(s, []string{nameOf("TestOther")})
			require.NoError(t, err)
			require.NoError(t, Audit.Reject(s, nameOf("TestX")))
			require.Empty(t, logsIn(t, s))
		})
	}
}

func replacing(old, now string) func(t *testing.T, file string) {
	return func(t *testing.T, file string) {
		data := readFile(t, file)
		require.Contains(t, data, old)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(data, old, now, 1)), 0o666))
	}
}

// TestLogTaken accepts answers while the test still buys more. The later answers go to another log.
func TestLogTaken(t *testing.T) {
	s, dir := newStore(t)
	b := newBuyer(s, "TestX")
	require.NoError(t, b.buy(putOf("TestX", bought[0])))
	require.NoError(t, s.Pending().CloseLogs(nameOf("TestX")))
	require.NoError(t, b.buy(putOf("TestX", bought[1])), "it is being decided on")
	require.Len(t, logsIn(t, s), 2)
	_, err := Audit.Accept(s, []string{nameOf("TestX")})
	require.NoError(t, err)
	tbtest.NoPending(t, dir)
	require.NoError(t, b.buy(putOf("TestX", bought[2])), "it is gone")
	requireCalls(t, s, "TestX", bought[:2]...)
	requireCalls(t, s.Pending(), "TestX", bought[2])
	taken, err := b.log.Remove()
	require.True(t, taken && err == nil, "what was taken is for others to remove, here: %v", err)
	again := newBuyer(s, "TestX")
	require.NoError(t, again.buy(putOf("TestX", bought[2])))
	taken, err = again.log.Remove()
	require.True(t, !taken && err == nil)
	tbtest.NoPending(t, dir)
}

// TestLogMove renames a test with answers in a log.
func TestLogMove(t *testing.T) {
	s, _ := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	pend(t, s, recordedAt, "TestX", call{1, "one?", "before"}, call{2, "two?", "kept"})
	require.NoError(t, newBuyer(s, "TestX").buy(talk("TestX", bought...)))
	_, err := s.Move(Move{nameOf("TestX"), testPackage, "TestY"})
	require.NoError(t, err)
	requireCalls(t, s.Pending(), "TestY", bought[0], call{2, "two?", "kept"}, bought[1], bought[2])
	requireWhole(t, s.Pending())
	require.Len(t, logsIn(t, s), 1)
}

// logScene buys three answers, and prints each answer that it has.
var logScene = crashScene{crashing + "log", recorded, func(s *Store) error {
	b := newBuyer(s, "TestX")
	put := talk("TestX", bought...)
	for i := range bought {
		one := put
		one.Document = &snapshot.Document{Snapshots: put.Document.Snapshots[i : i+1]}
		err := b.buy(one)
		if err != nil { // like the recorder
			err = b.buy(one)
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(filepath.Dir(s.Dir()), fmt.Sprint("has-", i)), 0o777)
		}
		if err != nil {
			return err
		}
	}
	return nil
}}

// TestCrashLog interrupts a process that buys answers at every system call about files, and lets each call that writes
// fail. Every answer that it printed must be pending.
func TestCrashLog(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil || runtime.GOOS != "linux" {
		t.Skip("strace is not here: the Debian package of that name has it")
	}
	before, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	logScene.before(t, filepath.Join(before, ".ai-snapshots"))
	once := t.TempDir()
	require.NoError(t, os.CopyFS(once, os.DirFS(before)))
	said, err := strace(t, logScene, filepath.Join(once, ".ai-snapshots"), "-o", trace, "-e", "trace=%file,%desc")
	if err != nil {
		t.Skipf("strace cannot trace here: %v: %s", err, said)
	}
	log, err := os.ReadFile(trace)
	require.NoError(t, err)
	points := crashPoints(logScene, string(log))
	step := max(1, len(points)/sampled(20, len(points)))
	t.Logf("every %d. of %d points", step, len(points))
	for i := step / 2; i < len(points); i += step {
		p := points[i]
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
			s := openAt(t, filepath.Join(dir, ".ai-snapshots"))
			said, _ := strace(t, logScene, s.Dir(), append([]string{"-o", os.DevNull, "-e", "trace=%file,%desc"}, p.inject...)...)
			has := 0
			for has < len(bought) && exists(filepath.Join(dir, fmt.Sprint("has-", has))) {
				has++
			}
			doc, err := s.Pending().Load(nameOf("TestX"), "openai")
			if has == 0 && err != nil {
				return
			}
			if errors.Is(err, ErrDoubt) { // the key could not be read, and there is no git
				require.Regexp(t, `: E[A-Z]+ at \d+, openat$`, p.name)
				s = trusting(s)
				doc, err = s.Pending().Load(nameOf("TestX"), "openai")
			}
			require.NoError(t, err, said)
			require.GreaterOrEqual(t, len(doc.Document.Snapshots), has, said)
			requireCalls(t, s.Pending(), "TestX", bought[:len(doc.Document.Snapshots)]...)
			_, err = Audit.Accept(s, []string{nameOf("TestX")})
			require.NoError(t, err, said)
			tbtest.NoPending(t, s.Dir())
			requireWhole(t, s)
		})
	}
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// TestLogOfBubble reads the log of a run in a bubble, whose time is of the year 2000, before that of a later run outside.
func TestLogOfBubble(t *testing.T) {
	s, _ := newStore(t)
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", call{1, "a?", "old"})))
	})
	require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", call{1, "a?", "new"})))
	doc, err := s.Pending().Load(nameOf("TestX"), "openai")
	require.NoError(t, err)
	require.Equal(t, "new", *doc.Document.Snapshots[0].Response.Candidates[0].Message.Content[0].Text)
}
