package snapshot_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// committerDir and committerNumber tell this test binary, run again, to be a committer.
const (
	committerDir    = "SNAPSHOT_TEST_COMMITTER_DIR"
	committerNumber = "SNAPSHOT_TEST_COMMITTER_NUMBER"
	replacer        = "replacer" // the number of one that replaces the same records again and again
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(committerDir); dir != "" {
		commit := committer
		if os.Getenv(committerNumber) == replacer {
			commit = replaceAgain
		}
		if err := commit(os.Stdout, dir, os.Getenv(committerNumber)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const commitsEach = 20

// committer commits records of its own test, replaces some and removes some, and says after
// each commit that it is done.
func committer(out io.Writer, dir, number string) error {
	store, err := snapshot.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	for n := 1; n <= commitsEach; n++ {
		var c snapshot.Change
		for _, ordinal := range []int{n, max(1, n-3)} { // a new one, and one replaced
			snap := record("TestCommitter"+number, ordinal)
			snap.Timestamp = snap.Timestamp.Add(time.Duration(n) * time.Second)
			body := []byte(fmt.Sprintf("body %d of %s", n, snap.ID))
			snap.Response.RawOutputRef, snap.Response.OutputRef = canon.Sum(body), canon.Sum([]byte("shared"))
			c.Put = append(c.Put, snapshot.Record{Provider: "p" + number, Snapshot: snap})
			c.Blobs = append(c.Blobs, body, []byte("shared"))
			if ordinal == n && n == max(1, n-3) {
				break
			}
		}
		if n%5 == 0 {
			removed, err := store.Test(testPackage, "TestCommitter"+number)
			if err != nil {
				return err
			}
			c.Remove = removed[:1]
		}
		if err := store.Commit(c); err != nil {
			return err
		}
		fmt.Fprintln(out, n)
	}
	return nil
}

func startCommitter(t *testing.T, dir, number string) (*exec.Cmd, io.ReadCloser, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), committerDir+"="+dir, committerNumber+"="+number)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, stdout, stderr
}

// TestManyProcessesCommit: 16 processes commit to one store at once, while others verify and
// replay it.
func TestManyProcessesCommit(t *testing.T) {
	const processes = 16
	store, dir := newStore(t)
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
		found, err := store.Verify()
		require.NoError(t, err)
		require.Empty(t, found, "Verify never sees a commit under way")
		_, err = store.Test(testPackage, "TestCommitter3")
		require.NoError(t, err, "the manifest is whole at any time")
	}
	requireWhole(t, store)
	entries := all(t, store)
	require.Len(t, entries, processes*(commitsEach-commitsEach/5))
	for _, e := range entries {
		_, err := store.Get(e.ID)
		require.NoError(t, err)
	}
	before := readFile(t, dir, "manifest.json")
	require.NoError(t, store.RebuildManifest())
	require.Equal(t, string(before), string(readFile(t, dir, "manifest.json")))
}

// replaceAgain replaces the two records of a test, and their blobs, many times.
func replaceAgain(_ io.Writer, dir, number string) error {
	store, err := snapshot.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	for n := range 10 * commitsEach {
		if err := store.Commit(replacement(number, n)); err != nil {
			return err
		}
	}
	return nil
}

// replacement is the n-th content of the two records of a test.
func replacement(test string, n int) snapshot.Change {
	var c snapshot.Change
	for ordinal := 1; ordinal <= 2; ordinal++ {
		snap := record(test, ordinal)
		body := []byte(fmt.Sprintf("body %d of %s", n, snap.ID))
		snap.Response.Content, snap.Response.RawOutputRef = string(body), canon.Sum(body)
		c.Put = append(c.Put, snapshot.Record{Provider: "openai", Snapshot: snap})
		c.Blobs = append(c.Blobs, body)
	}
	return c
}

// TestLoadWhileReplaced loads records that another process replaces all the time, by entries of
// any age: each is found, as it was at some time, with the blob that goes with it.
func TestLoadWhileReplaced(t *testing.T) {
	store, dir := newStore(t)
	require.NoError(t, store.Commit(replacement(replacer, 0)))
	entries, err := store.Test(testPackage, replacer)
	require.NoError(t, err)
	require.Len(t, entries, 2)

	cmd, stdout, stderr := startCommitter(t, dir, replacer)
	done := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, stdout)
		done <- errors.Join(err, cmd.Wait())
	}()
	loads, newer := 0, 0
	for writing := true; writing; {
		select {
		case err := <-done:
			require.NoError(t, err, stderr)
			writing = false
		default:
		}
		for _, e := range entries {
			sealed, err := store.Load(e)
			require.NoError(t, err)
			snap, err := sealed.Snapshot()
			require.NoError(t, err)
			require.Equal(t, e.ID, snap.ID)
			require.Equal(t, snap.Hash, sealed.Entry.Hash)
			require.Equal(t, snap.Response.RawOutputRef, sealed.RawOutputRef)
			loads++
			if sealed.Entry != e {
				newer++
			}
		}
	}
	t.Logf("%d loads, %d of records that had been replaced", loads, newer)
	sealed, err := store.Load(entries[0])
	require.NoError(t, err)
	require.NotEqual(t, entries[0], sealed.Entry)
	requireWhole(t, store)
}

// TestLoadBroken: what is broken is reported, whether or not a commit was cut short.
func TestLoadBroken(t *testing.T) {
	store, dir := newStore(t)
	require.NoError(t, store.Commit(replacement("TestIt", 0)))
	entries, err := store.Test(testPackage, "TestIt")
	require.NoError(t, err)
	old := readFile(t, dir, entries[0].File)
	require.NoError(t, store.Commit(replacement("TestIt", 1)))
	writeFile(t, old, dir, entries[0].File) // as a git checkout of one file does

	entries, err = store.Test(testPackage, "TestIt")
	require.NoError(t, err)
	_, err = store.Load(entries[0])
	require.ErrorIs(t, err, snapshot.ErrManifest)
	require.NotContains(t, err.Error(), "cut short")

	writeFile(t, []byte("traceforge commit\n"), dir, "commit.pending")
	_, err = store.Load(entries[0])
	require.ErrorIs(t, err, snapshot.ErrManifest)
	require.ErrorContains(t, err, "a commit was cut short")
	var e *snapshot.Error
	require.ErrorAs(t, err, &e)

	require.NoError(t, store.Remove(entries[1].ID))
	_, err = store.Load(entries[1])
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, err, snapshot.ErrManifest)
}

// TestKilledProcess kills a process at any moment of its commits: what it said was done is
// there, and the next commit leaves a store that verifies.
func TestKilledProcess(t *testing.T) {
	const kills = 25
	rng := rand.New(rand.NewPCG(3, 4))
	store, dir := newStore(t)
	pending := 0
	for number := range kills {
		cmd, stdout, _ := startCommitter(t, dir, strconv.Itoa(number))
		lines := bufio.NewScanner(stdout)
		done := 0
		for range rng.IntN(commitsEach) {
			if lines.Scan() {
				done++
			}
		}
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			require.ErrorIs(t, err, os.ErrProcessDone)
		}
		for lines.Scan() {
			done++
		}
		_ = cmd.Wait() // killed

		if _, err := os.Stat(dir + "/commit.pending"); err == nil {
			pending++
		}
		require.NoError(t, store.Put("openai", record("TestAfter", number+1)))
		requireWhole(t, store)
		entries, err := store.Test(testPackage, "TestCommitter"+strconv.Itoa(number))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(entries), done-done/5-1)
	}
	t.Logf("%d of %d kills cut a commit short", pending, kills)
	for number := range 3 {
		require.NoError(t, committer(io.Discard, dir, strconv.Itoa(number)))
	}
	requireWhole(t, store)
}

// TestManyGoroutinesCommit: the lock excludes goroutines of one process too.
func TestManyGoroutinesCommit(t *testing.T) {
	store, _ := newStore(t)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 5 {
				if err := store.Put("openai", record(fmt.Sprintf("Test%d", n), i+1)); err != nil {
					t.Error(err)
				}
				if _, err := store.Test(testPackage, fmt.Sprintf("Test%d", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	requireWhole(t, store)
	require.Len(t, all(t, store), 40)
}
