package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
)

// linksMost is how many links a walk follows.
const linksMost = 40

// A walk follows a path to where it led at a revision. Links that git knows are read as at the revision, others as they are.
type walk struct {
	ctx       context.Context
	revision  string
	links     int  // followed so far
	elsewhere bool // whether the path leads elsewhere now
}

// A spot is where a walk has come to.
type spot struct {
	dir  string // without links
	up   *spot  // nil for a root
	in   string // a directory of the repository around it; empty where there is none that knows the revision
	tree string // git's object of it; empty where the repository had none
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

// enter walks on to what has a name in the directory above.
func (w *walk) enter(above *spot, name string) (*spot, error) {
	at := &spot{dir: filepath.Join(above.dir, name), up: above, in: above.in}
	link, _ := os.Readlink(at.dir) // now; empty where it is none
	target := link
	kind, err := w.look(above, name)
	switch {
	case err != nil:
		return nil, err
	case kind[0] == "120000":
		target, err = git.Output(w.ctx, at.in, nil, "cat-file", "blob", kind[2])
	case kind[1] == "tree":
		target, at.tree = "", kind[2]
	case kind[1] == "commit": // of a submodule
		target, at.in, at.tree = "", at.dir, kind[2]
	case kind[1] == "blob":
		target = ""
	case link != "" && above.in != "":
		if staged, _ := list(w.ctx, above.dir, []string{name}, "ls-files"); len(staged) > 0 { // it was not there
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

// look returns the mode, the type and the object of what had a name in the directory above; empty where it was not there.
func (w *walk) look(above *spot, name string) (kind [3]string, err error) {
	if above.tree == "" {
		return kind, nil
	}
	listed, err := list(w.ctx, above.in, []string{name}, "ls-tree", "--full-tree", above.tree)
	copy(kind[:], strings.Fields(strings.Join(listed, "")))
	return kind, err
}

// open has a spot be the top of a repository if it is, as of one that the repository around it does not know.
func (w *walk) open(at *spot) {
	if _, err := os.Lstat(filepath.Join(at.dir, ".git")); err != nil {
		return
	}
	at.in = at.dir
	if at.tree, _ = commitOf(w.ctx, at.dir, w.revision); at.tree == "" {
		at.in = ""
	}
}
