package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
)

func anotherUser() keyFile { return keyFile{key: []byte("the key of somebody else, at all")} }

// gits are kinds of repositories around a store, and whether git vouches for its ignored files.
var gits = map[string]struct {
	vouches bool
	make    func(t *testing.T, s *Store)
}{
	"git":    {true, func(t *testing.T, s *Store) { gittest.Run(t, filepath.Dir(s.Dir()), "init", "-q") }},
	"no git": {false, func(*testing.T, *Store) {}},
	"broken": {false, func(t *testing.T, s *Store) {
		require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(s.Dir()), ".git"), 0o777))
	}},
	"failing": {false, func(t *testing.T, s *Store) {
		gittest.Run(t, filepath.Dir(s.Dir()), "init", "-q")
		s.git = func(string, ...string) (string, error) { return "", errors.New("exit status 128") }
	}},
	"tracked": {false, func(t *testing.T, s *Store) {
		gittest.Run(t, filepath.Dir(s.Dir()), "init", "-q")
		gittest.Run(t, filepath.Dir(s.Dir()), "add", "-f", ".")
	}},
	"no git program": {false, func(t *testing.T, s *Store) {
		s.git = func(string, ...string) (string, error) { return "", git.ErrNoRepository }
	}},
}

// trusting returns a store of a user who declares all its files their own.
func trusting(s *Store) *Store {
	trusting := *s
	trusting.Trusting = true
	return &trusting
}

// TestJournalsOfOthers checks that an interrupted commit is finished if this user made it or git vouches for it.
// Otherwise it changes nothing until the user confirms it.
func TestJournalsOfOthers(t *testing.T) {
	for name, in := range gits {
		for _, own := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " own", false: ""}[own], func(t *testing.T) {
				s, dir := newStore(t)
				commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestGone", call{1, "one?", "one"}))
				if !own {
					s.keys = anotherUser
				}
				text := journalHead + "\nremove " + sumOf(t, dir, fileOf("TestGone")) + " " + fileOf("TestGone") + "\n"
				mac := openAt(t, dir).signer().mac(journalHead, "", []byte(text))
				writeFile(t, dir, JournalName, text+"mac "+mac+"\nready\n")
				in.make(t, s)
				before := tree(t, dir)
				err := s.Commit(Change{Put: []Put{putOf("TestX", call{1, "one?", "changed"})}})
				if own || in.vouches {
					require.NoError(t, err)
					require.NoFileExists(t, filepath.Join(dir, fileOf("TestGone")))
					return
				}
				require.ErrorIs(t, err, ErrDoubt)
				require.ErrorContains(t, err, "which writes nothing and removes "+fileOf("TestGone")+", and is not used: it has no mark of this user, and ")
				report, err := Audit.Repair(s)
				require.NoError(t, err)
				require.Contains(t, report.Text, "commit.pending: pending: is a commit that was cut short, which writes nothing and removes "+fileOf("TestGone"))
				require.Equal(t, before, tree(t, dir))
				if name == "no git" {
					_, err := Audit.Repair(trusting(s))
					require.NoError(t, err)
					require.NoFileExists(t, filepath.Join(dir, fileOf("TestGone")))
					return
				}
				require.NoError(t, Audit.DiscardDoubted(s))
				delete(before, JournalName)
				require.Equal(t, before, tree(t, dir))
			})
		}
	}
}

// TestJournalInOtherLetters checks that a file counts as tracked if git tracks it in other letter case on a
// case-insensitive file system.
func TestJournalInOtherLetters(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	writeFile(t, dir, JournalName, journalHead+"\nremove "+sumOf(t, dir, fileOf("TestX"))+" "+fileOf("TestX")+"\nready\n")
	top := filepath.Dir(dir)
	gittest.Run(t, top, "init", "-q")
	gittest.Run(t, top, "config", "core.ignoreCase", "true")
	gittest.Run(t, top, "update-index", "--add", "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.ai-snapshots/Commit.pending")
	require.ErrorIs(t, s.Commit(Change{}), ErrDoubt)
}

// TestJournalSigned checks that the MAC covers every action of a journal.
func TestJournalSigned(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestGone", call{1, "one?", "one"}))
	step := "remove " + sumOf(t, dir, fileOf("TestGone")) + " " + fileOf("TestGone") + "\n"
	mac := "mac " + s.signer().mac(journalHead, "", []byte(journalHead+"\n")) + "\n"
	for _, journal := range []string{
		journalHead + "\n" + step + mac + "ready\n", journalHead + "\n" + mac + step + "ready\n",
		journalHead + "\n" + mac + step + mac + "ready\n", journalHead + "\n" + step + "mac \nready\n", journalHead + "\n" + step + "ready\n",
	} {
		writeFile(t, dir, JournalName, journal)
		before := tree(t, dir)
		require.Error(t, s.Commit(Change{}))
		require.Equal(t, before, tree(t, dir))
	}
}

// TestPendingOfOthers checks the same for pending answers, in a log and in a document.
func TestPendingOfOthers(t *testing.T) {
	for name, in := range gits {
		for _, own := range []bool{true, false} {
			for _, log := range []bool{true, false} {
				t.Run(name+map[bool]string{true: " own", false: ""}[own]+map[bool]string{true: " log", false: ""}[log], func(t *testing.T) {
					s, dir := newStore(t)
					commit(t, s, putOf("TestX", call{1, "one?", "one"}))
					if log {
						require.NoError(t, newBuyer(s, "TestX").buy(talk("TestX", bought...)))
					} else {
						commit(t, s.Pending(), talk("TestX", bought...))
					}
					writeFile(t, dir, JournalName, journalHead+"\n")
					if !own {
						s.keys = anotherUser
					}
					in.make(t, s)
					before := tree(t, dir)
					_, err := s.Pending().Load(nameOf("TestX"), "openai")
					if own || in.vouches {
						require.NoError(t, err)
						_, err = Audit.Accept(s, []string{nameOf("TestX")})
						require.NoError(t, err)
						requireCalls(t, s, "TestX", bought...)
						tbtest.NoPending(t, s.Dir())
						return
					}
					require.ErrorIs(t, err, ErrDoubt)
					_, err = Audit.Accept(s, []string{nameOf("TestX")})
					require.ErrorIs(t, err, ErrDoubt)
					report, err := Audit.Repair(s)
					require.NoError(t, err)
					require.Contains(t, report.Text, "pending: holds ")
					delete(before, JournalName)
					now := tree(t, dir)
					for _, file := range []string{JournalName, PendingName + "/" + AttributesName, PendingName + "/" + IgnoreName} {
						delete(before, file)
						delete(now, file)
					}
					if !log { // a log is closed meanwhile
						require.Equal(t, before, now)
					}
					if name == "no git" {
						_, err := Audit.Repair(trusting(s))
						require.NoError(t, err)
						_, err = Audit.Accept(s, []string{nameOf("TestX")})
						require.NoError(t, err, "it is signed now")
						return
					}
					require.NoError(t, Audit.DiscardDoubted(s))
					tbtest.NoPending(t, s.Dir())
					requireCalls(t, s, "TestX", call{1, "one?", "one"})
				})
			}
		}
	}
}

// TestKeyInTheTree checks that a key that a commit could bring is ignored.
func TestKeyInTheTree(t *testing.T) {
	for _, marker := range []string{".git", "go.mod", "go.work"} {
		s, dir := newStore(t)
		top := filepath.Dir(dir)
		require.NoError(t, os.MkdirAll(dir, 0o777))
		s.keys = func() keyFile { return keyFile{filepath.Join(top, ".cache", "traceforge"), []byte("x")} }
		require.NoError(t, os.WriteFile(filepath.Join(top, marker), nil, 0o666))
		require.Empty(t, s.signer().mac("x", "", nil), marker)
		s.keys = func() keyFile { return keyFile{t.TempDir(), []byte("x")} }
		require.NotEmpty(t, s.signer().mac("x", "", nil))
	}
}

// TestKeyFile checks that the key is readable by this user only, and is kept.
func TestKeyFile(t *testing.T) {
	k := userKey()
	require.Len(t, k.key, keySize)
	info, err := os.Stat(filepath.Join(k.dir, "key"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which keeps the profile of a user from others
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	data, err := os.ReadFile(filepath.Join(k.dir, "key"))
	require.NoError(t, err)
	require.Equal(t, k.key, data)
}

func sumOf(t *testing.T, dir, file string) string {
	t.Helper()
	s := openAt(t, dir)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	sum, err := Writer{Root: root, limit: s.maxBytes}.sum(file)
	require.NoError(t, err)
	return string(sum)
}
