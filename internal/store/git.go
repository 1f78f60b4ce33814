package store

import (
	"context"

	"github.com/traceforge/traceforge-go/internal/git"
)

// runGit runs git on the repository that a directory is in.
func runGit(dir string, args ...string) (string, error) {
	return git.Output(context.Background(), dir, nil, args...)
}

// Git runs git in the store, on the repository that it is in.
func (s *Store) Git(args ...string) (string, error) { return s.git(s.dir, args...) }
