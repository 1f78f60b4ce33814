package store

import (
	"context"

	"github.com/traceforge/traceforge-go/internal/git"
)

// runGit runs git in the repository that contains a directory.
func runGit(dir string, args ...string) (string, error) {
	return git.Output(context.Background(), dir, nil, args...)
}

// GitAt returns the beginning of a command line of git for the store's files, and the store's name in it: see [git.At].
func (s *Store) GitAt() (program, named string) { return git.At(s.dir) }

// Git runs git in the store, in the repository that contains it.
func (s *Store) Git(args ...string) (string, error) { return s.git(s.dir, args...) }
