package store

import (
	"context"

	"github.com/traceforge/traceforge-go/internal/git"
)

// runGit runs git in the repository that contains a directory.
func runGit(dir string, args ...string) (string, error) {
	return git.Output(context.Background(), dir, nil, args...)
}

// Git runs git in the store, in the repository that contains it.
func (s *Store) Git(args ...string) (string, error) { return s.git(s.dir, args...) }
