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
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A journal or pending answers left by an earlier process may have come with a pull request; in that case they are not
// used. They are the user's own if they have a MAC with a key from the user's cache directory, or if git ignores the
// file and does not track it.

// ErrDoubt means that a journal or pending answers may be a stranger's.
var ErrDoubt = errors.New("may be a stranger's")

// A keyFile contains this user's key, which is nil if there is no writable cache directory.
type keyFile struct {
	dir string
	key []byte
}

const keySize = 32

// userKey reads or creates the key, once per process.
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
		_, _ = rand.Read(key) // never fails
		_, err = f.WriteAt(key, 0)
	}
	if err == nil {
		k.key = key
	}
	return k
})

// inTrees says of directories that contain both a cache directory and a store whether they are in a repository or a
// module.
var inTrees locked.Map[string, bool]

// A signer is the key of this user, which makes MACs; nil if there is none.
type signer []byte

// signer returns the key of this user; nil if there is none. A cache directory inside the repository or the module is
// not used, because a commit could bring it.
func (s *Store) signer() signer {
	of, shared := s.keys(), s.dir
	isBelow := func() bool {
		rel, err := filepath.Rel(shared, of.dir)
		return err == nil && filepath.IsLocal(rel)
	}
	for !isBelow() {
		if shared == filepath.Dir(shared) {
			return of.key // on another volume
		}
		shared = filepath.Dir(shared)
	}
	inTree, known := inTrees.Get(shared)
	if !known {
		inTree = slices.ContainsFunc([]string{".git", "go.mod", "go.work"},
			func(name string) bool { return isAbove(shared, name) })
		inTrees.Add(shared, inTree)
	}
	if inTree {
		return nil
	}
	return of.key
}

// isAbove reports whether a directory or one of its parents contains a file.
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

// mac returns the MAC for data in a kind of file; empty without a key.
func (key signer) mac(kind, of string, data []byte) string {
	if key == nil {
		return ""
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s\n%s\n", kind, of)
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// signed reports whether mac is the MAC for data.
func (key signer) signed(mac, kind, of string, data []byte) bool {
	return mac != "" && hmac.Equal([]byte(mac), []byte(key.mac(kind, of, data)))
}

// doubt returns nil if git shows that a file without a MAC was made here; what describes what the file would do.
func (s *Store) doubt(file, what string) error {
	if s.Trusting {
		return nil
	}
	why := "git tracks it or does not ignore it"
	ignored, err := s.Git("--literal-pathspecs", "ls-files", "-z",
		"--others", "--ignored", "--exclude-standard", "--", file)
	switch {
	case err == nil && ignored != "":
		return nil
	case errors.Is(err, git.ErrNoRepository):
		why = "there is no git to say that it does not come with the repository"
	case err != nil:
		why = "git cannot say that it does not come with the repository (" +
			strings.Join(strings.Fields(err.Error()), " ") + ")"
	}
	return s.failure(file, "", snapshot.RulePending, ErrDoubt,
		"%s, and is not used: it has no mark of this user, and %s; "+
			"traceforge repair --take uses it as your own, and --discard removes it", what, why)
}
