package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
)

// linksMost is the maximum number of links that a walk follows.
const linksMost = 40

// A walk follows a path to where it led at a revision. Tracked links have their target at the revision, other links
// their current target.
type walk struct {
	ctx       context.Context
	revision  string
	links     int  // followed so far
	elsewhere bool // the path leads to another place now
}

// A spot is a position of a walk.
type spot struct {
	dir  string // with links resolved
	up   *spot  // nil for a root
	in   string // a directory of the repository that contains it; empty if none knows the revision
	tree string // its tree object; empty if the repository had none
}

// to walks to a directory.
func (w *walk) to(dir string) (*spot, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return w.follow(nil, dir)
}

// follow walks along a path, which starts at a spot if it is relative.
func (w *walk) follow(at *spot, path string) (*spot, error) {
	if filepath.IsAbs(path) {
		volume := filepath.VolumeName(path)
		at, path = &spot{dir: volume + string(filepath.Separator)}, path[len(volume):]
		w.open(at)
	}
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		switch {
		case name == ".." && at.up != nil:
			at = at.up
		case name != "" && name != "." && name != "..":
			var err error
			if at, err = w.enter(at, name); err != nil {
				return nil, err
			}
		}
	}
	return at, nil
}

// enter walks on to the entry of a directory.
func (w *walk) enter(above *spot, name string) (*spot, error) {
	at := &spot{dir: filepath.Join(above.dir, name), up: above, in: above.in}
	link, _ := os.Readlink(at.dir) // the current target; empty if it is no link
	target := link
	kind, err := w.look(above, name)
	switch {
	case err != nil:
		return nil, err
	case kind[0] == "120000":
		target, err = git.Output(w.ctx, at.in, nil, "cat-file", "blob", kind[2])
	case kind[1] == "tree":
		target, at.tree = "", kind[2]
	case kind[1] == "commit": // a submodule
		target, at.in, at.tree = "", at.dir, kind[2]
	case kind[1] == "blob":
		target = ""
	case link != "" && above.in != "":
		// it did not exist at the revision
		if staged, _ := list(w.ctx, above.dir, []string{name}, "ls-files"); len(staged) > 0 {
			target = ""
		}
	}
	w.elsewhere = w.elsewhere || filepath.ToSlash(target) != filepath.ToSlash(link)
	switch {
	case err != nil:
		return nil, err
	case target == "" && at.tree == "":
		w.open(at)
		return at, nil
	case target == "":
		return at, nil
	}
	if w.links++; w.links > linksMost {
		return nil, fmt.Errorf("%s: too many links lead to it", at.dir)
	}
	return w.follow(above, target)
}

// look returns the mode, type and object of a directory's entry at the revision; empty if it did not exist.
func (w *walk) look(above *spot, name string) (kind [3]string, err error) {
	if above.tree == "" {
		return kind, nil
	}
	listed, err := ask(w.ctx, above.in, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", above.tree, "--", name)
	copy(kind[:], strings.Fields(listed))
	return kind, err
}

// open marks a spot as the top of a repository if it contains .git, such as an untracked nested repository.
func (w *walk) open(at *spot) {
	if _, err := os.Lstat(filepath.Join(at.dir, ".git")); err != nil {
		return
	}
	at.in = at.dir
	if at.tree, _ = commitOf(w.ctx, at.dir, w.revision); at.tree == "" {
		at.in = ""
	}
}
