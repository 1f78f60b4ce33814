package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A journal or pending answers that an earlier process left may have come with a pull request, and then are not used.
// They are one's own if they have a MAC by a key of this user's cache directory, or if git ignores the file and does
// not track it.

// ErrDoubt is the error of a journal or of pending answers that may be a stranger's.
var ErrDoubt = errors.New("may be a stranger's")

// A keyFile has the key of this user; the key is nil where there is no cache directory, or none that can be written.
type keyFile struct {
	dir string
	key []byte
}

const keySize = 32

// userKey reads the key once a process, or makes it.
var userKey = sync.OnceValue(func() (k keyFile) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return k
	}
	k.dir = filepath.Join(cache, "traceforge")
	if os.MkdirAll(k.dir, 0o700) != nil {
		return k
	}
	f, err := lockedfile.OpenFile(filepath.Join(k.dir, "key"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return k
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, keySize))
	if err == nil && len(key) < keySize {
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // which does not fail
		_, err = f.WriteAt(key, 0)
	}
	if err == nil {
		k.key = key
	}
	return k
})

// inTrees are directories that a cache directory shares with a store, and whether they are in a repository or a module.
var inTrees sync.Map

// A signer is the key of this user, which makes MACs; nil means that there is none.
type signer []byte

// signer returns the key of this user; nil means that there is none. A cache directory inside the repository or the module has none,
// as a commit could bring it.
func (s *Store) signer() signer {
	of, shared := s.keys(), s.dir
	for rel, err := filepath.Rel(shared, of.dir); err != nil || !filepath.IsLocal(rel); rel, err = filepath.Rel(shared, of.dir) {
		if shared == filepath.Dir(shared) {
			return of.key // of another volume
		}
		shared = filepath.Dir(shared)
	}
	inTree, known := inTrees.Load(shared)
	if !known {
		inTree = slices.ContainsFunc([]string{".git", "go.mod", "go.work"}, func(name string) bool { return isAbove(shared, name) })
		inTrees.Store(shared, inTree)
	}
	if inTree.(bool) {
		return nil
	}
	return of.key
}

// isAbove reports whether a directory or one above it has a file.
func isAbove(dir, name string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// mac returns the MAC of a kind of file that says data; empty means that there is no key.
func (key signer) mac(kind, of string, data []byte) string {
	if key == nil {
		return ""
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s\n%s\n", kind, of)
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// signed reports whether mac is the MAC of data.
func (key signer) signed(mac, kind, of string, data []byte) bool {
	return mac != "" && hmac.Equal([]byte(mac), []byte(key.mac(kind, of, data)))
}

// doubt returns nil where git says that a file without a MAC was made here; what says what the file would do.
func (s *Store) doubt(file, what string) error {
	if s.Trusting {
		return nil
	}
	why := "git tracks it or does not ignore it"
	ignored, err := s.Git("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", file)
	switch {
	case err == nil && ignored != "":
		return nil
	case errors.Is(err, git.ErrNoRepository):
		why = "there is no git to say that it does not come with the repository"
	case err != nil:
		why = "git cannot say that it does not come with the repository (" + strings.Join(strings.Fields(err.Error()), " ") + ")"
	}
	return s.failure(file, "", snapshot.RulePending, ErrDoubt, "%s, and is not used: it has no mark of this user, and %s; "+
		"traceforge repair --take uses it as your own, and --discard removes it", what, why)
}
