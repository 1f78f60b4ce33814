package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// committerDir and committerNumber are the variables that make this test binary a committer.
const (
	committerDir    = "STORE_TEST_COMMITTER_DIR"
	committerNumber = "STORE_TEST_COMMITTER_NUMBER"
	replacer        = "replacer" // the number of a committer that replaces the same document repeatedly
	holds           = "holds"    // the number of one that holds the lock until its input ends
	verifies        = "verifies" // the number of one that holds the lock like Verify
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(committerDir); dir != "" {
		commits := committer
		switch number := os.Getenv(committerNumber); {
		case number == replacer:
			commits = replaceAgain
		case number == holds, number == verifies:
			commits = hold
		case strings.HasPrefix(number, crashing):
			commits = crash
		}
		if err := commits(os.Stdout, dir, os.Getenv(committerNumber)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	for name, value := range map[string]string{ // a git user without a configuration
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		os.Setenv(name, value)
	}
	home, err := os.MkdirTemp("", "traceforge-store-test-")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} { // the places of the key
		os.Setenv(name, home)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

const commitsEach = 20

// committer commits, replaces and removes documents of its own tests, and prints each commit that is done.
func committer(out io.Writer, dir, number string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	test := func(n int) string { return fmt.Sprintf("TestCommitter%s/%d", number, n) }
	for n := 1; n <= commitsEach; n++ {
		c := Change{Put: []Put{putOf(test(n), call{1, "new?", "new"}, call{2, "two?", "two"})}}
		if old := n - 3; old > 0 && old%5 != 0 {
			c.Put = append(c.Put, putOf(test(old), call{2, "two?", fmt.Sprint("replaced by ", n)}))
		}
		if n%5 == 0 && n > 5 {
			c.Remove = []string{fileOf(test(n - 5))}
		}
		if err := s.Commit(c); err != nil {
			return err
		}
		fmt.Fprintln(out, n)
	}
	return nil
}

// prepareCommitter returns a command that runs this test binary as a committer.
func prepareCommitter(t *testing.T, dir, number string) (cmd *exec.Cmd, stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), committerDir+"="+dir, committerNumber+"="+number)
	cmd.Stderr = new(bytes.Buffer)
	stdin, err = cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err = cmd.StdoutPipe()
	require.NoError(t, err)
	return cmd, stdin, stdout
}

func startCommitter(t *testing.T, dir, number string) (*exec.Cmd, io.ReadCloser, *bytes.Buffer) {
	t.Helper()
	cmd, _, stdout := prepareCommitter(t, dir, number)
	require.NoError(t, cmd.Start())
	return cmd, stdout, cmd.Stderr.(*bytes.Buffer)
}

// TestManyProcessesCommit has processes commit to one store at once, while others verify and read it.
func TestManyProcessesCommit(t *testing.T) {
	t.Parallel()
	processes := sampled(4, 5) // with more, commits would not keep the manifest up to date
	s, dir := newStore(t)
	var wg sync.WaitGroup
	for number := range processes {
		cmd, stdout, stderr := startCommitter(t, dir, strconv.Itoa(number))
		wg.Go(func() {
			if _, err := io.Copy(io.Discard, stdout); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v: %s", number, err, stderr)
			}
		})
	}
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		result, err := Audit.Verify(s)
		require.NoError(t, err)
		require.Empty(t, result.Findings, "Verify never sees a commit under way")
	}
	requireWhole(t, s)
	files, err := s.List()
	require.NoError(t, err)
	require.Len(t, files, processes*(commitsEach-commitsEach/5+1))
	before := tree(t, dir)
	require.NoError(t, Audit.WriteManifest(s))
	require.Equal(t, before, tree(t, dir))
}

// replaceAgain replaces a test's two records many times.
func replaceAgain(_ io.Writer, dir, number string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	for n := range 3 * commitsEach {
		if err := s.Commit(replacement(number, n)); err != nil {
			return err
		}
	}
	return nil
}

// replacement returns the n-th version of a test's two records.
func replacement(test string, n int) Change {
	return Change{Put: []Put{putOf(test, call{1, "one?", fmt.Sprint("one ", n)}, call{2, "two?", fmt.Sprint("two ", n)})}}
}

// TestLoadWhileReplaced loads a document that another process replaces repeatedly. It must find a complete version with
// its raw answers, or report that they were replaced meanwhile.
func TestLoadWhileReplaced(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	require.NoError(t, s.Commit(replacement(replacer, 0)))
	cmd, stdout, stderr := startCommitter(t, dir, replacer)
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, stdout)
		done <- errors.Join(err, cmd.Wait())
	}()
	reads, replaced := 0, 0
	for writing := true; writing; {
		select {
		case err := <-done:
			require.NoError(t, err, stderr)
			writing = false
		default:
		}
		doc, err := s.Load(nameOf(replacer), "openai")
		require.NoError(t, err)
		for i := range doc.Document.Snapshots {
			_, err := doc.Raw(i)
			reads++
			if errors.Is(err, ErrReplaced) {
				replaced++
				continue
			}
			require.NoError(t, err)
		}
	}
	t.Logf("%d reads, %d of answers that had been replaced", reads, replaced)
	requireWhole(t, s)
}

// TestKilledProcess kills a process at random moments of its commits. Every commit that it printed must be there, and
// the next commit must leave a store that verifies.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	kills := sampled(6, 25)
	rng := rand.New(rand.NewPCG(3, 4))
	s, dir := newStore(t)
	pending := 0
	for number := range kills {
		cmd, stdout, _ := startCommitter(t, dir, strconv.Itoa(number))
		said := bufio.NewScanner(stdout)
		done := 0
		for range rng.IntN(commitsEach) {
			if said.Scan() {
				done++
			}
		}
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			require.ErrorIs(t, err, os.ErrProcessDone)
		}
		for said.Scan() {
			done++
		}
		_ = cmd.Wait() // it was killed

		if _, err := os.Stat(s.Path(JournalName)); err == nil {
			pending++
		}
		commit(t, s, putOf(fmt.Sprint("TestAfter", number), call{1, "x?", "x"}))
		requireWhole(t, s)
		for n := 1; n <= done; n++ {
			if n%5 != 0 {
				_, err := s.Load(nameOf(fmt.Sprintf("TestCommitter%d/%d", number, n)), "openai")
				require.NoError(t, err)
			}
		}
	}
	t.Logf("%d of %d kills cut a commit short", pending, kills)
}

// TestManyGoroutinesCommit checks that the lock also excludes goroutines of one process.
func TestManyGoroutinesCommit(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 5 {
				if err := s.Commit(Change{Put: []Put{putOf(fmt.Sprintf("Test%d/%d", n, i), call{1, "x?", "x"})}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	requireWhole(t, s)
	files, err := s.List()
	require.NoError(t, err)
	require.Len(t, files, 40)
}

// hold locks the store until the standard input ends.
func hold(out io.Writer, dir, number string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	waits := func() error {
		fmt.Fprintln(out, "held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	if number == holds {
		return s.Locked(func(Writer) error { return waits() })
	}
	unlock, err := s.ReadLock()
	if err != nil {
		return err
	}
	defer unlock()
	return waits()
}

// TestWaiting checks that a process that waits two seconds for a lock reports the lock's holder.
func TestWaiting(t *testing.T) {
	t.Parallel()
	program := filepath.Base(os.Args[0])
	for _, c := range []struct {
		name, reason, says string
		wait               func(*Store) error
	}{
		{holds, "a commit waits for a commit", "^process %d, " + regexp.QuoteMeta(strconv.Quote(program)) + "$",
			func(s *Store) error { return s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}}) }},
		{holds, "so does Verify", "^process %d, " + regexp.QuoteMeta(strconv.Quote(program)) + "$", func(s *Store) error { _, err := Audit.Verify(s); return err }},
		{holds, "so does Reject", "^process %d, " + regexp.QuoteMeta(strconv.Quote(program)) + "$",
			func(s *Store) error { return Audit.Reject(s, nameOf("TestX")) }},
		{verifies, "a commit waits for Verify", `^a process that verifies it, or several in turn$`,
			func(s *Store) error { return s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}}) }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "x?", "x"}))
			commit(t, s.Pending(), putOf("TestX", call{1, "x?", "y"}))
			cmd, stdin, stdout := prepareCommitter(t, dir, c.name)
			require.NoError(t, cmd.Start())
			require.True(t, bufio.NewScanner(stdout).Scan())
			var told []string
			s.Waiting = func(holder string) {
				told = append(told, holder)
				stdin.Close()
			}
			require.NoError(t, c.wait(s))
			require.Len(t, told, 1)
			says := c.says
			if c.name == holds {
				says = fmt.Sprintf(says, cmd.Process.Pid)
			}
			require.Regexp(t, says, told[0])
			require.NoError(t, cmd.Wait())
			requireWhole(t, s)
			require.NotContains(t, tree(t, dir), HolderName)
		})
	}
}

// TestHolderOfAStranger checks that a holder file from a pull request is escaped before printing, and never followed as
// a link.
func TestHolderOfAStranger(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "x?", "x"}))
	for content, says := range map[string]string{
		"":                                       "a process that verifies it, or several in turn",
		"1 x":                                    "a process that verifies it, or several in turn",
		"1 \"\\x1b[2J\"":                         `process 1, "\x1b[2J"`,
		"1 \"" + strings.Repeat("x", 999) + "\"": `process 1, "` + strings.Repeat("x", 199),
	} {
		writeFile(t, dir, HolderName, content)
		require.Equal(t, says, lockFile{s}.holder(), content)
	}
	commit(t, s, putOf("TestY", call{1, "y?", "y"}))
	require.NotContains(t, tree(t, dir), HolderName)
	document := tree(t, dir)[fileOf("TestX")]
	require.NoError(t, os.Symlink(filepath.FromSlash(fileOf("TestX")), filepath.Join(dir, HolderName)))
	require.Equal(t, "a process that verifies it, or several in turn", lockFile{s}.holder())
	commit(t, s, putOf("TestZ", call{1, "z?", "z"}))
	require.Equal(t, document, tree(t, dir)[fileOf("TestX")])
}
