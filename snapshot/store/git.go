package store

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A runner runs git in a directory and returns what it prints.
type runner func(dir string, args ...string) ([]byte, error)

// runGit runs the git that the user would run.
func runGit(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			err = errors.New(said)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// tracked reports whether git tracks a file of the store. Without git, or outside of a repository, it
// does not.
func (s *Store) tracked(file string) bool {
	out, err := s.git(s.dir, "ls-files", "-z", "--", file)
	return err == nil && len(out) > 0
}

// A stage is what one side of a merge has of a file: 1 is their common ancestor, 2 ours, 3 theirs.
type stage struct {
	file   string // path in the store
	number int
	object string
}

// unmerged returns the stages of the files of the store that a merge left in conflict.
func (s *Store) unmerged() ([]stage, error) {
	out, err := s.git(s.dir, "ls-files", "-u", "-z", "--", ".")
	if err != nil {
		return nil, err
	}
	var stages []stage
	for line := range strings.SplitSeq(string(out), "\x00") {
		info, file, ok := strings.Cut(line, "\t")
		fields := strings.Fields(info)
		if !ok || len(fields) != 3 || len(fields[2]) != 1 {
			continue // behind the last
		}
		stages = append(stages, stage{file, int(fields[2][0] - '0'), fields[1]})
	}
	return stages, nil
}

// object returns the content of an object of git.
func (s *Store) object(name string) ([]byte, error) {
	return s.git(s.dir, "cat-file", "blob", name)
}

// objectOf returns the object that a file of the store is in a commit; empty if there is none.
func (s *Store) objectOf(commit, file string) string {
	out, err := s.git(s.dir, "rev-parse", "-q", "--verify", commit+":./"+file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// topOf returns the names of what a commit has in the store's directory.
func (s *Store) topOf(commit string) []string {
	out, err := s.git(s.dir, "ls-tree", "--name-only", "-z", commit, "./")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
