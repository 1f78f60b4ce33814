package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestRecovery interrupts a commit after each of its steps. Repair must leave the store as before the commit or as
// after it. The same commit must leave it as after the commit.
func TestRecovery(t *testing.T) {
	t.Parallel()
	before, after := t.TempDir(), t.TempDir()
	s := openAt(t, before)
	moved := putOf("TestMoved", call{1, "m?", "m"})
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestGone", call{1, "g?", "g"}), moved)
	require.NoError(t, os.CopyFS(after, os.DirFS(before)))
	change := func() Change {
		moves := putOf("TestMoved", call{1, "m?", "m"})
		moves.Provider = "anthropic"
		return Change{
			Put:    []Put{putOf("TestX", call{1, "one?", "changed"}), putOf("TestNew", call{1, "n?", "n"}), moves},
			Remove: []string{fileOf("TestGone")},
		}
	}
	require.NoError(t, openAt(t, after).Commit(change()))

	for n := 1; ; n++ {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
		steps, ready := stepsOf(t, dir, change())
		if n > len(steps) {
			break
		}
		for _, step := range steps[:n] {
			require.NoError(t, step())
		}
		again := t.TempDir()
		require.NoError(t, os.CopyFS(again, os.DirFS(dir)))

		s := openAt(t, dir)
		result, err := Audit.Verify(s)
		require.NoError(t, err)
		require.Contains(t, result.Findings, snapshot.Finding{File: JournalName, Rule: "pending",
			Message: "a commit was cut short: traceforge repair finishes it or undoes it"}, "step %d", n)
		want, became := before, undone
		if n >= ready {
			want, became = after, finished
		}
		report, err := Audit.Repair(s)
		require.NoError(t, err)
		require.Equal(t, became, report.Commit)
		require.Equal(t, "commit.pending: a commit was cut short: "+became+"\n", report.Text)
		require.Equal(t, tree(t, want), tree(t, dir), "step %d", n)
		requireWhole(t, s)
		report, err = Audit.Repair(s)
		require.NoError(t, err)
		require.Empty(t, report.Text)

		same := change()
		if n >= ready {
			same.Remove = nil
		}
		s = openAt(t, again)
		require.NoError(t, s.Commit(same), "step %d", n)
		require.Equal(t, tree(t, after), tree(t, again), "step %d", n)
		requireWhole(t, s)
	}
}

// TestEmptyCommitRecovers checks that a process without changes finishes another one's commit.
func TestEmptyCommitRecovers(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	steps, ready := stepsOf(t, dir, Change{Put: []Put{putOf("TestX", call{1, "one?", "changed"})}})
	for _, step := range steps[:ready+1] {
		require.NoError(t, step())
	}
	require.NoError(t, s.Commit(Change{}))
	requireWhole(t, s)
	requireCalls(t, s, "TestX", call{1, "one?", "changed"})
}

// stepsOf returns the steps of a commit as apply makes them, and the number of steps until it is ready.
func stepsOf(t *testing.T, dir string, c Change) (steps []func() error, ready int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	s := openAt(t, dir)
	puts, err := s.targets(c)
	require.NoError(t, err)
	p := &plan{Transaction: Transaction{Writer: Writer{Root: root, limit: s.maxBytes}, store: s}, gone: map[string]bool{}}
	require.NoError(t, p.plan(puts, c.Remove))
	require.Contains(t, p.writes[len(p.writes)-1].file, ManifestName, "the manifest comes last")
	require.Contains(t, p.writes[0].file, DocumentExt, "and documents come first")

	file := func(name, data string) func() error {
		return func() error {
			if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				return err
			}
			return root.WriteFile(name, []byte(data), 0o666)
		}
	}
	journal := p.journal()
	steps = append(steps, file(JournalName, ""), file(JournalName, journal[:30]), file(JournalName, journal))
	for _, w := range p.writes {
		steps = append(steps, file(w.file+TempExt, string(w.data[:1])), file(w.file+TempExt, string(w.data)))
	}
	steps = append(steps, file(JournalName, journal+journalReady), file(JournalName, journal+journalReady+"\n"))
	ready = len(steps)
	for _, w := range p.writes {
		steps = append(steps, func() error { return root.Rename(w.file+TempExt, w.file) })
	}
	for _, r := range p.removes {
		steps = append(steps, func() error { return root.Remove(r.file) })
	}
	return steps, ready
}

// TestJournalOfAStranger checks that a journal that no commit wrote is ignored and reported.
func TestJournalOfAStranger(t *testing.T) {
	t.Parallel()
	hash := string(canon.Sum([]byte("x")))
	for _, c := range []struct{ name, reason, line, says string }{
		{"above", "no path leads out", "write " + hash + " ../outside.json", "which no commit writes"},
		{"absolute", "no path leads out", "remove " + hash + " /outside.json", "which no commit writes"},
		{"other-file", "only what a store holds", "remove " + hash + " README", "which no commit writes"},
		{"attributes", "the lock is never replaced", "write " + hash + " .gitattributes", "which no commit writes"},
		{"config", "it is the user's", "remove " + hash + " config.json", "which no commit writes"},
		{"verb", "there are two", "chmod " + hash + " " + fileOf("TestX"), "which no commit writes"},
		{"no-hash", "a commit says what it removes", "remove " + fileOf("TestX"), "which no commit writes"},
		{"other-content", "what has changed since stays", "remove " + hash + " " + fileOf("TestX"), "it has changed since the commit was cut short"},
		{"no-file", "a new file must be there", "write " + hash + " " + fileOf("TestY"), syscall.ENOENT.Error()},
		{"other-temp", "a new file must be what was written", "write " + hash + " " + fileOf("TestZ"), fileOf("TestZ") + ".tmp is "},
		{"escape", "a message has no control characters", "\x1b[2J", `"\x1b[2J"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}))
			writeFile(t, dir, "../outside.json", "x")
			writeFile(t, dir, "README", "x")
			writeFile(t, dir, ConfigName, "x")
			writeFile(t, dir, fileOf("TestZ")+TempExt, "not x")
			text := journalHead + "\n" + c.line + "\n" // like a signed one
			writeFile(t, dir, JournalName, text+journalMAC+" "+s.signer().mac(journalHead, "", []byte(text))+"\n"+journalReady+"\n")
			before := tree(t, filepath.Dir(dir))
			err := s.Commit(Change{Put: []Put{putOf("TestX", call{1, "one?", "changed"})}})
			require.ErrorContains(t, err, c.says, c.reason)
			require.ErrorContains(t, err, "commit.pending: pending: ")
			require.ErrorContains(t, err, "way out: run traceforge repair")
			require.Equal(t, before, tree(t, filepath.Dir(dir)))

			report, err := Audit.Repair(s)
			require.NoError(t, err)
			require.Contains(t, report.Text, "commit.pending: a commit was cut short: discarded, as it ")
			require.Contains(t, report.Text, fileOf("TestZ")+".tmp: left of a commit that was cut short: removed\n")
			delete(before, ".ai-snapshots/"+JournalName)
			delete(before, ".ai-snapshots/"+fileOf("TestZ")+TempExt)
			require.Equal(t, before, tree(t, filepath.Dir(dir)))
		})
	}
}

// TestJournalThatGitTracks checks that a journal from a pull request removes nothing.
func TestJournalThatGitTracks(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	document := tree(t, dir)[fileOf("TestX")]
	writeFile(t, dir, JournalName, journalHead+"\nremove "+string(canon.Sum([]byte(document)))+" "+fileOf("TestX")+"\nready\n")
	s.git = func(_ string, args ...string) (string, error) { return "", nil }
	before := tree(t, dir)
	err := s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}})
	require.ErrorIs(t, err, ErrDoubt)
	require.ErrorContains(t, err, "commit.pending: pending: is a commit that was cut short, which writes nothing and removes "+fileOf("TestX")+", and is not used")
	require.ErrorContains(t, err, "git tracks it or does not ignore it; traceforge repair --take uses it as your own, and --discard removes it")
	require.Equal(t, before, tree(t, dir))
	report, err := Audit.Repair(s)
	require.NoError(t, err)
	require.Contains(t, report.Text, "commit.pending: pending: is a commit that was cut short, which writes nothing and removes "+fileOf("TestX"))
	require.Equal(t, before, tree(t, dir))
	require.NoError(t, Audit.DiscardDoubted(s))
	delete(before, JournalName)
	require.Equal(t, before, tree(t, dir))
}

// TestCommitAfterAnError checks that a failed commit leaves the store unchanged.
func TestCommitAfterAnError(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	before := tree(t, dir)
	inTheWay := filepath.Join(dir, "openai", nameOf("TestY"), "1.json"+TempExt, "x")
	require.NoError(t, os.MkdirAll(inTheWay, 0o777))
	require.Error(t, s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}}))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "openai", nameOf("TestY"))))
	_, err := Audit.Repair(s)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, dir))
}
