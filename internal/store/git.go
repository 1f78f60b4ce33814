package store

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
)

// A runner runs git in a directory and returns what it prints.
type runner func(dir string, args ...string) (string, error)

// runGit runs git on the repository that a directory is in.
func runGit(dir string, args ...string) (string, error) {
	return git.Output(context.Background(), dir, args...)
}

// tracked reports whether git tracks a file of the store, or cannot say so. Outside of a repository it does not.
func (s *Store) tracked(file string) bool {
	out, err := s.git(s.dir, "ls-files", "-z", "--", file)
	return len(out) > 0 || err != nil && !errors.Is(err, git.ErrNoRepository)
}

// inHead reports whether the last commit has a file of the store.
func (s *Store) inHead(file string) bool {
	_, err := s.git(s.dir, "cat-file", "-e", "HEAD:./"+file)
	return err == nil
}

// A version is what a side of a merge, or a commit, has of a file.
type version struct {
	file   string // path in the store
	object string // its content
}

// unmerged returns the versions of the files of the store that a merge left in conflict: 1 are those of the
// common ancestor, 2 ours, 3 theirs.
func (s *Store) unmerged() (sides [4][]version, err error) {
	out, err := s.git(s.dir, "ls-files", "-u", "-z", "--", ".")
	for line := range strings.SplitSeq(out, "\x00") {
		info, file, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(info); len(fields) == 3 { // mode, object, stage
			n, _ := strconv.Atoi(fields[2])
			sides[n&3] = append(sides[n&3], version{file, fields[1]})
		}
	}
	return sides, err
}

// committed returns the files of the store in a commit; none if there is no such commit.
func (s *Store) committed(commit string) (all []version) {
	out, _ := s.git(s.dir, "ls-tree", "-r", "-z", commit, "./")
	for line := range strings.SplitSeq(out, "\x00") {
		info, file, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(info); len(fields) == 3 { // mode, type, object
			all = append(all, version{file, fields[2]})
		}
	}
	return all
}

// merging returns what the commits that are being merged have, numbered as by unmerged. It is empty in
// other merges than those of branches and single commits, as of a stash.
func (s *Store) merging() (commits [4][]version) {
	for _, theirs := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		if commits[3] = s.committed(theirs); commits[3] != nil {
			base, _ := s.git(s.dir, "merge-base", "HEAD", theirs)
			commits[1], commits[2] = s.committed(strings.TrimSpace(base)), s.committed("HEAD")
			break
		}
	}
	return commits
}

// object returns the content of an object of git.
func (s *Store) object(name string) ([]byte, error) {
	data, err := s.git(s.dir, "cat-file", "blob", name)
	return []byte(data), err
}
