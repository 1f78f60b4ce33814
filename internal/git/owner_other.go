//go:build !unix

package git

import (
	"context"
	"path/filepath"
	"strings"
)

// owned reports whether git finds the repository on its own, which it refuses if another user owns it. Git starts in
// the directory of .git, so that it finds no other repository.
func (r *Repository) owned(string) bool {
	c := command{dir: r.Top, args: []string{"rev-parse", "--absolute-git-dir"}}
	printed, err := c.run(context.Background())
	return err == nil && filepath.Clean(strings.TrimSpace(printed)) == filepath.Clean(r.dir)
}
