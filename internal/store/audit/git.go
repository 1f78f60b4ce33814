package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/store"
)

// filtered runs a command of git in the store that may run filters.
func filtered(s *store.Store, args ...string) (string, error) {
	return worktree.Output(context.Background(), s.Path("."), nil, args...)
}

// tracked reports whether git tracks a file of the store, or cannot tell. It is false outside of a repository.
func tracked(s *store.Store, file string) bool {
	out, err := s.Git("ls-files", "-z", "--", file)
	return len(out) > 0 || err != nil && !errors.Is(err, git.ErrNoRepository)
}

// A version is the version of a file on one side of a merge, or in a commit. Its name is the path in the store.
type version = worktree.File

// unmerged returns the versions of the store's files with a merge conflict: 1 is the common ancestor's, 2 is ours, 3 is
// theirs.
func unmerged(s *store.Store) (sides [4][]version, err error) {
	out, err := s.Git("ls-files", "-u", "-z", "--", ".")
	for line := range strings.SplitSeq(out, "\x00") {
		info, file, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(info); len(fields) == 3 { // mode, object, stage
			n, _ := strconv.Atoi(fields[2])
			sides[n&3] = append(sides[n&3], version{Name: file, Object: fields[1]})
		}
	}
	return sides, err
}

// sidesOf says where the sides of a document are that has conflict markers and is not in conflict for git. The last
// commit that changed it may be the merge.
func sidesOf(s *store.Store, file string, noGit error) string {
	if noGit != nil {
		return fmt.Sprintf("git does not tell the sides (%v): take one of them", noGit)
	}
	out, _ := filtered(s, "log", "-1", "--format=%p", "--", file)
	if parents := strings.Fields(out); len(parents) == 2 {
		return fmt.Sprintf("a merge was committed with them: take one side with git checkout %s -- %s or %s, "+
			"then traceforge repair", parents[0], leftFile, parents[1])
	}
	return "git has no sides of it: take one from the commits that were merged, with git checkout COMMIT -- " + leftFile
}

// committed returns the files of the store in a commit; none if the commit does not exist. The commit is one of the
// repository that contains the store, which may be a submodule: [worktree.At] would take that of the repository around
// it.
func committed(s *store.Store, commit string) []version {
	tree, _ := s.Git("ls-tree", "-r", "-z", commit, "./")
	return worktree.Listed(tree)
}

// merging returns the commit that is being merged, and the files in it, in HEAD and in their ancestor, numbered as in
// unmerged. It is empty for merges other than those of branches and single commits, such as that of a stash.
func merging(s *store.Store) (theirs string, commits [4][]version) {
	for _, theirs := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		if commits[3] = committed(s, theirs); commits[3] != nil {
			base, _ := s.Git("merge-base", "HEAD", theirs)
			commits[1], commits[2] = committed(s, strings.TrimSpace(base)), committed(s, "HEAD")
			return theirs, commits
		}
	}
	return "", commits
}

// history returns all versions of the store's files in any commit that git knows. They are the only source for a merge
// that does not name their commit, such as a squash or a stash.
func history(s *store.Store) (all []version) {
	out, _ := filtered(s, "log", "--all", "--reflog", "--raw", "--no-abbrev", "--no-renames", "--diff-merges=first-parent",
		"--relative", "--format=",
		"-z", "--", ".")
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if info := strings.Fields(fields[i]); len(info) == 5 { // modes, objects, status
			all = append(all, version{Name: fields[i+1], Object: info[2]}, version{Name: fields[i+1], Object: info[3]})
		}
	}
	return all
}

// object returns the content of a git object.
func (r *repair) object(name string) ([]byte, error) {
	if text, known := r.texts[name]; known {
		return []byte(text), nil
	}
	data, err := r.store.Git("cat-file", "blob", name)
	return []byte(data), err
}

// smudged returns the content of a git object in the form of the work tree, in which Git LFS has replaced pointers.
func (r *repair) smudged(v version) ([]byte, error) {
	data, err := r.object(v.Object)
	if err != nil || store.Pointed(data) == "" {
		return data, err
	}
	prefix, err := r.store.Git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	content, err := filtered(r.store, "cat-file", "--filters", "--path="+strings.TrimSuffix(prefix, "\n")+v.Name, v.Object)
	return []byte(content), err
}
