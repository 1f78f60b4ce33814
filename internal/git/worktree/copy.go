package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
)

// At returns the files that the directory dir had at a revision; none where there was no such directory. The directory in is of
// the repository that has them: the one that dir is in, or where dir is a submodule or a link, that of the files.
func At(ctx context.Context, revision, dir string) (in string, files []File, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	in, tree, err := treeOf(ctx, revision, dir, linksMost)
	if err != nil || tree == "" {
		return in, nil, err
	}
	listed, err := git.Output(ctx, in, nil, "ls-tree", "--full-tree", "-r", "-z", tree)
	if err != nil {
		return "", nil, err
	}
	for _, line := range split(listed) {
		about, file, _ := strings.Cut(line, "\t") // <mode> <type> <hash>
		kind := strings.Fields(about)
		if len(kind) == 3 && kind[1] == "blob" && kind[0] != "120000" {
			files = append(files, File{file, kind[2]})
		}
	}
	return in, files, nil
}

// linksMost is how many links are followed one after another.
const linksMost = 40

// treeOf returns what a directory was at a revision of the repository around it, and where that is kept; an empty tree is none. It
// follows so many links, as they were at the revision.
func treeOf(ctx context.Context, revision, dir string, links int) (in, tree string, err error) {
	if links == 0 {
		return "", "", fmt.Errorf("%s: too many links lead to it", dir)
	}
	above, name := filepath.Split(dir)
	_, unknown := commitOf(ctx, above, revision)
	if unknown == nil {
		listed, err := list(ctx, above, []string{name}, "ls-tree", revision)
		if err != nil {
			return "", "", err
		}
		switch kind := strings.Fields(strings.Join(listed, "")); { // <mode> <type> <hash> <name>
		case len(kind) > 2 && kind[1] == "tree":
			return above, kind[2], nil
		case len(kind) > 2 && kind[1] == "commit": // of a submodule
			return dir, kind[2], nil
		case len(kind) > 2 && kind[0] == "120000":
			target, err := git.Output(ctx, above, nil, "cat-file", "blob", kind[2])
			if !filepath.IsAbs(target) {
				target = filepath.Join(above, target)
			}
			if err != nil || target == dir {
				return "", "", err
			}
			return treeOf(ctx, revision, filepath.Clean(target), links-1)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil && real != dir {
		return treeOf(ctx, revision, real, links-1)
	}
	if own, err := git.Find(dir); err == nil && own.Top == dir { // which the one around it does not know
		commit, err := commitOf(ctx, dir, revision)
		if err != nil {
			return "", "", unknownRevision(ctx, dir, revision)
		}
		return dir, commit, nil
	}
	if unknown != nil {
		return "", "", unknownRevision(ctx, above, revision)
	}
	return above, "", nil
}

// Copy writes files of the repository that dir is in to a directory, as git has them: filters do not run. git archive would leave
// out what has the attribute export-ignore.
func Copy(ctx context.Context, dir, to string, files []File) error {
	var hashes strings.Builder
	for _, f := range files {
		hashes.WriteString(f.Object + "\n")
	}
	blobs, err := git.Output(ctx, dir, strings.NewReader(hashes.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, f := range files {
		about, rest, _ := strings.Cut(blobs, "\n") // <hash> <type> <size>, then the content and a line end
		size, err := strconv.Atoi(about[strings.LastIndexByte(about, ' ')+1:])
		if err != nil || size > len(rest) {
			return fmt.Errorf("git cat-file: %s: %s", f.Name, about)
		}
		blobs = strings.TrimPrefix(rest[size:], "\n")
		name := filepath.Join(to, filepath.FromSlash(f.Name))
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(rest[:size]), 0o666); err != nil {
			return err
		}
	}
	return nil
}
