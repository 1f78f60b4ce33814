// Package worktree lists files below a directory as git knows them: at a revision, staged, or changed since.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// batch is the maximum number of names on a command line.
const batch = 200

// A File is a file below a directory, as it is committed or staged.
type File struct {
	Name   string // path below the directory, with slashes
	Object string // hash of its content
}

// Unstaged returns the files below dir that differ from the index: changed, removed, or neither tracked nor ignored.
func Unstaged(ctx context.Context, dir string) ([]string, error) {
	return list(ctx, dir, []string{"."}, "ls-files", "--modified", "--deleted", "--others", "--exclude-standard")
}

// Deleted returns the files below dir that are in the index but not in the work tree.
func Deleted(ctx context.Context, dir string) ([]string, error) {
	return list(ctx, dir, []string{"."}, "ls-files", "--deleted")
}

// Staged returns the index entries of files and directories below dir. It fails if one of the files has a merge
// conflict.
func Staged(ctx context.Context, dir string, names []string) (files []File, err error) {
	empty, err := announced(ctx, dir, names)
	if err != nil {
		return nil, err
	}
	lines, err := list(ctx, dir, names, "ls-files", "--stage")
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		info, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(info) // mode, object, stage
		if len(fields) != 3 || fields[2] != "0" {
			return nil, fmt.Errorf("%s is in conflict after a merge: run traceforge repair first", name)
		}
		if !slices.Contains(empty, name) {
			files = append(files, File{name, fields[1]})
		}
	}
	return files, nil
}

// Stage stages files and directories below dir, including their removal.
func Stage(ctx context.Context, dir string, names []string) error {
	files, err := list(ctx, dir, names, "ls-files", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	return feed(ctx, dir, files, "--literal-pathspecs", "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul")
}

// Restore restores files and directories below dir from the index. It removes files that the index does not contain.
func Restore(ctx context.Context, dir string, names []string) error {
	empty, err := announced(ctx, dir, names)
	if err == nil {
		err = feed(ctx, dir, empty, "update-index", "--force-remove", "-z", "--stdin")
	}
	if err != nil {
		return err
	}
	files, err := list(ctx, dir, names, "ls-files", "--cached")
	if err == nil {
		err = feed(ctx, dir, files, "--literal-pathspecs", "restore", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	if err != nil {
		return err
	}
	others, err := list(ctx, dir, names, "ls-files", "--others")
	for _, name := range others {
		err = errors.Join(err, os.Remove(filepath.Join(dir, filepath.FromSlash(name))))
		os.Remove(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))) // removes it if it is empty now
	}
	return err
}

// announced returns the files that are in the index without content (git add --intent-to-add).
func announced(ctx context.Context, dir string, names []string) ([]string, error) {
	return list(ctx, dir, names, "diff-files", "--name-only", "--relative", "--diff-filter=A")
}

// list returns the output of a git command that lists files and directories below dir.
func list(ctx context.Context, dir string, names []string, command string, options ...string) ([]string, error) {
	ctx = Remember(ctx)
	var listed []string
	args := slices.Concat([]string{"--literal-pathspecs", command, "-z"}, options, []string{"--"})
	for some := range slices.Chunk(names, batch) {
		printed, err := Output(ctx, dir, nil, slices.Concat(args, some)...)
		if err != nil {
			return nil, err
		}
		listed = append(listed, split(printed)...)
	}
	return listed, nil
}

// feed runs git with names on its standard input, each terminated by a zero byte. It does nothing without names.
func feed(ctx context.Context, dir string, names []string, args ...string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := Output(ctx, dir, strings.NewReader(strings.Join(names, "\x00")+"\x00"), args...)
	return err
}

func split(printed string) []string {
	return strings.FieldsFunc(printed, func(r rune) bool { return r == 0 })
}
