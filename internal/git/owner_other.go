//go:build !unix

package git

import (
	"context"
	"path/filepath"
	"strings"
)

// owned reports whether git finds the repository by itself, which it does not where that belongs to another user. It
// is started where .git is, so that it finds no other.
func (r *Repository) owned(string) bool {
	c := command{dir: r.Top, args: []string{"rev-parse", "--absolute-git-dir"}}
	printed, err := c.run(context.Background())
	return err == nil && filepath.Clean(strings.TrimSpace(printed)) == filepath.Clean(r.dir)
}
