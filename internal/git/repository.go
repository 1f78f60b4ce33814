package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// ErrNoRepository means that a directory is in no usable repository: there is none, it belongs to another user, or git
// is not installed.
var ErrNoRepository = errors.New("is in no repository of git")

// ErrForeign means, in addition to [ErrNoRepository], that there is a repository of another user.
var ErrForeign = errors.New("belongs to somebody else")

// A Repository is a work tree with its git directory.
type Repository struct {
	Top string // the directory that contains .git, with links resolved
	dir string // the git directory: .git, or the one that it names
}

// Find returns the repository that contains a directory. It looks for .git itself, which no commit can contain, because
// git takes any directory with HEAD, config, objects and refs for a repository and obeys its config. The error is
// [ErrNoRepository] if there is no repository, or if it belongs to another user and is not in safe.directory.
func Find(dir string) (*Repository, error) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return nil, err
	}
	for {
		entry := filepath.Join(at, ".git")
		_, err := os.Lstat(entry)
		switch {
		case err == nil:
			return open(at, entry)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case filepath.Dir(at) == at:
			return nil, fmt.Errorf("%s %w", dir, ErrNoRepository)
		}
		at = filepath.Dir(at)
	}
}

// open returns the repository of a .git entry, which is a file in linked work trees and submodules.
func open(top, entry string) (*Repository, error) {
	r := &Repository{top, entry}
	info, err := os.Stat(entry)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(entry)
		if err != nil {
			return nil, err
		}
		named, isLink := strings.CutPrefix(string(data), "gitdir: ")
		if !isLink {
			return nil, fmt.Errorf("%s names no directory of git", entry)
		}
		if r.dir = strings.TrimRight(named, "\r\n"); !filepath.IsAbs(r.dir) {
			r.dir = filepath.Join(top, r.dir)
		}
	}
	if r.dir, err = filepath.EvalSymlinks(r.dir); err != nil {
		return nil, err
	}
	if !r.owned(entry) && !r.allowed() {
		return nil, fmt.Errorf("%s %w of this user: %s %w; if you trust it: git config --global --add safe.directory %s",
			top, ErrNoRepository, entry, ErrForeign, gotest.Quote(filepath.ToSlash(top)))
	}
	return r, nil
}

// Rel returns the path of a directory relative to the top of the work tree, with slashes; "." for the top itself.
func (r *Repository) Rel(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.Top, dir)
	return filepath.ToSlash(rel), err
}

// At returns the beginning of a command line for files of a directory, and the name of the directory in it. The command
// works wherever it is typed in the repository, and in a workspace of Go around it.
func At(dir string) (program, named string) {
	program = "git"
	r, err := Find(dir)
	if err != nil {
		return program, filepath.ToSlash(dir)
	}
	here, unknown := Find(".")
	work, _ := gotest.Above(filepath.Dir(r.Top), "go.work", fs.FileMode.IsRegular) // empty if unknown
	if unknown != nil || here.Top != r.Top || work != "" {
		program += " -C " + gotest.Quote(filepath.ToSlash(r.Top))
	}
	below, _ := r.Rel(dir) // Find has resolved it too
	return program, path.Join(":/", below)
}

// Outside reports whether a file is not below the directory top, or is inside its .git. Both paths have their links
// resolved.
func Outside(top, file string) bool {
	rel, err := filepath.Rel(top, file)
	return err != nil || !filepath.IsLocal(rel) || slices.Contains(strings.Split(rel, string(filepath.Separator)), ".git")
}

// allowed reports whether safe.directory in the user's or the system's config allows the repository. With --git-dir git
// itself does not check.
func (r *Repository) allowed() (safe bool) {
	for _, of := range []string{"--system", "--global"} {
		printed, _ := outside(context.Background(), // fails if there is none
			"config", of, "--includes", "--type=path", "-z", "--get-all", "safe.directory")
		for value := range strings.SplitSeq(strings.TrimSuffix(printed, "\x00"), "\x00") {
			switch below, isPrefix := strings.CutSuffix(value, "/*"); {
			case value == "" && printed != "":
				safe = false // an empty value resets the list
			case value == "*", filepath.Clean(value) == r.Top, isPrefix && strings.HasPrefix(filepath.ToSlash(r.Top), below+"/"):
				safe = true
			}
		}
	}
	return safe
}

// outside runs git outside of any repository, because git obeys the config of the one it is started in.
func outside(ctx context.Context, args ...string) (string, error) {
	dir, err := os.MkdirTemp("", "traceforge-git-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	c := command{dir: dir, args: args}
	return c.run(ctx)
}
