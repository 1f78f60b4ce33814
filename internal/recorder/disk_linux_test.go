package recorder

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
)

// TestFullDisk records onto a disk that gets full: the test fails and says what is lost, what is left can be read, and the
// next run, on a disk with room, needs to buy no more than that.
func TestFullDisk(t *testing.T) {
	const calls = 12
	answer := strings.Replace(honest, "four", strings.Repeat("four ", 4000), 1)
	for _, size := range []string{"16k", "32k", "48k", "64k", "100k", "200k", "400k"} {
		t.Run(size, func(t *testing.T) {
			s := newScene(t)
			if err := syscall.Mount("tmpfs", s.dir, "tmpfs", 0, "size="+size); err != nil {
				t.Skipf("no file system can be mounted here: %v", err)
			}
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(s.dir, 0)) })
			var got string
			ask := func(r *Recorder) {
				for i := range calls {
					posts(&got, chatURL, strings.Replace(askedBody, `"a"`, fmt.Sprintf(`"%d"`, i), 1))(r)
				}
			}
			failures, _ := s.run(Update, ask, func(o *Options) { o.Upstream = &upstream{body: answer} })
			require.NotEmpty(t, failures)
			require.Equal(t, strings.Repeat(answer, calls), got, "the program gets its answers")
			said := failures[len(failures)-1].Text

			opened, err := store.Open(s.dir)
			require.NoError(t, err)
			files, err := opened.Pending().List()
			require.NoError(t, err)
			kept := 0
			for _, file := range files {
				doc, err := opened.Pending().Load(strings.TrimSuffix(path.Base(file), ".json"), path.Dir(file))
				require.NoError(t, err, said)
				kept += len(doc.Document.Snapshots)
			}
			switch kept {
			case 0:
				require.Contains(t, said, "it is lost: the next run buys it again")
			case calls:
				require.Contains(t, said, "it waits in STORE/.pending: traceforge accept")
			default:
				require.Contains(t, said, fmt.Sprintf("%d of 12 answers are lost, and the next run buys them again; the others wait in STORE/.pending", calls-kept))
			}

			require.NoError(t, syscall.Mount("", s.dir, "", syscall.MS_REMOUNT, "size=10m"))
			again := &upstream{body: answer}
			failures, _ = s.run(Update, ask, func(o *Options) { o.Upstream = again })
			require.Empty(t, failures)
			require.Len(t, again.asked, calls-kept)
			require.Empty(t, s.findings())
		})
	}
}

// TestFullDiskKeepsEarlierAnswers records onto a disk that is full, where an earlier run that failed has left an answer:
// that one is not lost.
func TestFullDiskKeepsEarlierAnswers(t *testing.T) {
	s := newScene(t)
	if err := syscall.Mount("tmpfs", s.dir, "tmpfs", 0, "size=100k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(s.dir, 0)) })
	var got string
	long := strings.Replace(honest, "four", strings.Repeat("four ", 40000), 1)
	first, second := posts(&got, chatURL, askedBody), posts(&got, chatURL, strings.Replace(askedBody, `"a"`, `"b"`, 1))
	undetermined := posts(&got, chatURL, strings.Replace(askedBody, `"seed"`, `"other"`, 1))
	failures, _ := s.run(Update, func(r *Recorder) { first(r); undetermined(r) }, func(o *Options) { o.Upstream = &upstream{body: honest} })
	require.Len(t, failures, 1)

	failures, _ = s.run(Update, func(r *Recorder) { first(r); second(r) }, func(o *Options) { o.Upstream = &upstream{body: long} })
	require.NotEmpty(t, failures)
	require.Contains(t, failures[len(failures)-1].Text, "1 of 2 answers are lost, and the next run buys them again; the others wait in STORE/.pending")
}

// TestReadOnlyStore records into a store that cannot be written: no call is made whose answer would be lost.
func TestReadOnlyStore(t *testing.T) {
	for _, made := range []bool{false, true} {
		t.Run(fmt.Sprint("made=", made), func(t *testing.T) {
			s := newScene(t)
			if err := syscall.Mount("tmpfs", s.dir, "tmpfs", 0, ""); err != nil {
				t.Skipf("no file system can be mounted here: %v", err)
			}
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(s.dir, 0)) })
			var got string
			ask := posts(&got, chatURL, askedBody)
			if made {
				failures, _ := s.run(Update, ask, func(o *Options) { o.Upstream = &upstream{body: honest} })
				require.Empty(t, failures)
				writables.Delete(s.dir) // as in another process
			}
			require.NoError(t, syscall.Mount("", s.dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			live := &upstream{body: honest}
			if made {
				failures, _ := s.run(Update, ask, func(o *Options) { o.Upstream = live })
				require.Empty(t, failures, "nothing has changed, and nothing is written")
			}
			failures, _ := s.run(UpdateAll, ask, func(o *Options) { o.Upstream = live })
			require.Len(t, failures, 1)
			require.Regexp(t, "^openai request was not made, as what it brings could not be kept: open STORE/.*: read-only file system$", failures[0].Text)
			require.Empty(t, live.asked)
		})
	}
}

// TestStoreInNoDirectory is like TestReadOnlyStore for a store that cannot be made.
func TestStoreInNoDirectory(t *testing.T) {
	s := newScene(t)
	file := filepath.Join(s.dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	live, got := &upstream{body: honest}, ""
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) { o.Upstream, o.Dir = live, filepath.Join(file, "store") })
	require.NotEmpty(t, failures)
	require.Empty(t, live.asked)
}
