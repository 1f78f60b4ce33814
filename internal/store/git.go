package store

import (
	"context"

	"github.com/traceforge/traceforge-go/internal/git"
)

// A runner runs git in a directory and returns what it prints.
type runner func(dir string, args ...string) (string, error)

// runGit runs git on the repository that a directory is in.
func runGit(dir string, args ...string) (string, error) {
	return git.Output(context.Background(), dir, args...)
}

// A Repository is the one of git that a store is in, if it is in one.
type Repository struct {
	dir string // of the store
	run runner
}

// Repository returns the repository of git that the store is in.
func (s *Store) Repository() Repository { return Repository{s.dir, s.git} }

// Git runs git in the store.
func (r Repository) Git(args ...string) (string, error) { return r.run(r.dir, args...) }

// ignored reports whether git ignores a file of the store, and does not track it.
func (r Repository) ignored(file string) (bool, error) {
	out, err := r.Git("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", file)
	return out != "", err
}
