//go:build unix

package store

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// irregular create things with a file's name that are not regular files. Opening a pipe would wait for ever.
var irregular = map[string]func(t *testing.T, file string){
	"pipe": func(t *testing.T, file string) { require.NoError(t, syscall.Mkfifo(file, 0o666)) },
	"socket": func(t *testing.T, file string) {
		t.Chdir(filepath.Dir(file)) // the path of a socket must be short
		l, err := net.Listen("unix", filepath.Base(file))
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
	},
	"device": func(t *testing.T, file string) { require.NoError(t, os.Symlink("/dev/zero", file)) },
	"loop":   func(t *testing.T, file string) { require.NoError(t, os.Symlink(filepath.Base(file), file)) },
	"directory": func(t *testing.T, file string) {
		require.NoError(t, os.MkdirAll(filepath.Join(file, "a"), 0o777))
	},
	"hole": func(t *testing.T, file string) {
		require.NoError(t, os.WriteFile(file, nil, 0o666))
		require.NoError(t, os.Truncate(file, 1<<30))
	},
}

// TestFilesThatAreNone replaces files of a store by things that are not regular files, and by a file that is far too
// long. Every reader must report them, and must neither wait for them nor read them.
func TestFilesThatAreNone(t *testing.T) {
	document, raw, log := fileOf("TestX"), rawOf("TestX", 1), PendingName+"/"+nameOf("TestX")+".1"+logExt
	for kind, make := range irregular {
		for _, file := range []string{ConfigName, AttributesName, IgnoreName, ManifestName, JournalName, HolderName, document, raw, log} {
			t.Run(kind+"/"+filepath.Base(file), func(t *testing.T) {
				s, dir := newStore(t)
				require.NoError(t, s.Commit(Change{Put: []Put{putOf("TestX", call{1, "x?", "x"})}}))
				require.NoError(t, Audit.WriteManifest(s))
				require.NoError(t, os.MkdirAll(filepath.Join(dir, PendingName), 0o777))
				path := filepath.Join(dir, filepath.FromSlash(file))
				require.NoError(t, os.RemoveAll(path))
				make(t, path)

				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				wrong := map[string]error{}
				_, wrong[ConfigName] = s.Config()
				doc, err := s.Load(nameOf("TestX"), "openai")
				if wrong[document] = err; err == nil {
					_, wrong[raw] = doc.Raw(0)
				}
				_, wrong[log] = s.Pending().Load(nameOf("TestX"), "openai")
				_, _ = s.Pending().List()
				if err := s.CheckTexts(); kind == "pipe" && (file == AttributesName || file == IgnoreName) { // git would wait for it
					wrong[file] = err
				}
				_, err = ReadFile(path)
				require.Error(t, err)
				result, err := Audit.Verify(s, func(*Doc) []snapshot.Violation { return nil })
				require.NoError(t, err)
				if file != log && (kind != "hole" || file != HolderName) { // HolderName is only for people
					require.NotEmpty(t, result.Findings)
				}
				_ = s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}}) // it may replace the file
				_, _ = Audit.Repair(s)
				if err, asked := wrong[file]; asked {
					require.Error(t, err)
					require.Contains(t, err.Error(), filepath.Base(file))
				}
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
			})
		}
	}
}

// TestLogThatIsFull begins a new log when one reaches the limit for reading a file. So every log can be read with a
// bound.
func TestLogThatIsFull(t *testing.T) {
	s, _ := newStore(t)
	s.maxBytes = 4000
	b := newBuyer(s, "TestX")
	put := putOf("TestX", call{1, "x?", "x"})
	answered(put, make([]byte, s.maxBytes))
	require.NoError(t, b.buy(put))
	require.Empty(t, b.log.file)
	doc, err := s.Pending().Load(nameOf("TestX"), "openai")
	require.NoError(t, err)
	require.Len(t, doc.Document.Snapshots, 1)

	two := putOf("TestX", call{1, "x?", "x"}, call{2, "y?", "y"})
	answered(two, make([]byte, s.maxBytes))
	commit(t, s.Pending(), two)
	require.Len(t, logsIn(t, s), 2)
	doc, err = s.Pending().Load(nameOf("TestX"), "openai")
	require.NoError(t, err)
	require.Len(t, doc.Document.Snapshots, 2)
	require.NoError(t, Audit.Reject(s, nameOf("TestX")))
	b = newBuyer(s, "TestX")
	require.NoError(t, b.buy(put))

	require.NoError(t, os.Truncate(b.log.dir.store.Path(b.log.files[0]), logDir{s}.logMost()+1))
	_, err = s.Pending().Load(nameOf("TestX"), "openai")
	require.ErrorContains(t, err, b.log.files[0]+": value: has 12001 bytes, and at most 12000 are read: TRACEFORGE_MAX_BYTES raises the limit")
}
