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

// A repository is the one of git that a store is in, if it is in one.
type repository struct {
	dir string // of the store
	run runner
}

func (s *Store) repository() repository { return repository{s.dir, s.git} }

// git runs git in the store.
func (r repository) git(args ...string) (string, error) { return r.run(r.dir, args...) }

// tracked reports whether git tracks a file of the store, or cannot say so. Outside of a repository it does not.
func (r repository) tracked(file string) bool {
	out, err := r.git("ls-files", "-z", "--", file)
	return len(out) > 0 || err != nil && !errors.Is(err, git.ErrNoRepository)
}

// ignored reports whether git ignores a file of the store, and does not track it.
func (r repository) ignored(file string) (bool, error) {
	out, err := r.git("--literal-pathspecs", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", file)
	return out != "", err
}

// ignores reports whether the rules of git ignore a file of the store, tracked or not.
func (r repository) ignores(file string) bool {
	_, err := r.git("check-ignore", "--quiet", file)
	return err == nil
}

// inHead reports whether the last commit has a file of the store.
func (r repository) inHead(file string) bool {
	_, err := r.git("cat-file", "-e", "HEAD:./"+file)
	return err == nil
}

// A version is what a side of a merge, or a commit, has of a file.
type version struct {
	file   string // path in the store
	object string // its content
}

// unmerged returns the versions of the files of the store that a merge left in conflict: 1 are those of the
// common ancestor, 2 ours, 3 theirs.
func (r repository) unmerged() (sides [4][]version, err error) {
	out, err := r.git("ls-files", "-u", "-z", "--", ".")
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
func (r repository) committed(commit string) (all []version) {
	out, _ := r.git("ls-tree", "-r", "-z", commit, "./")
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
func (r repository) merging() (commits [4][]version) {
	for _, theirs := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		if commits[3] = r.committed(theirs); commits[3] != nil {
			base, _ := r.git("merge-base", "HEAD", theirs)
			commits[1], commits[2] = r.committed(strings.TrimSpace(base)), r.committed("HEAD")
			break
		}
	}
	return commits
}

// object returns the content of an object of git.
func (r repository) object(name string) ([]byte, error) {
	data, err := r.git("cat-file", "blob", name)
	return []byte(data), err
}

// smudged returns the content of an object of git as it is in the working tree, where file is its path in the store:
// of a pointer what Git LFS has for it.
func (r repository) smudged(v version) ([]byte, error) {
	data, err := r.object(v.object)
	if err != nil || pointed(data) == "" {
		return data, err
	}
	prefix, err := r.git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	content, err := r.git("cat-file", "--filters", "--path="+strings.TrimSuffix(prefix, "\n")+v.file, v.object)
	return []byte(content), err
}
