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

// At returns the files of the directory dir at a revision; none if the directory did not exist. in is a directory of
// the repository that contains them, which is another one than dir's if the path led through a submodule or a link.
func At(ctx context.Context, revision, dir string) (in string, files []File, err error) {
	w := walk{ctx: ctx, revision: revision}
	at, err := w.to(dir)
	switch {
	case err != nil:
		return "", nil, err
	case at.in == "":
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Dir(dir)
		}
		return "", nil, unknownRevision(ctx, dir, revision)
	case at.tree == "":
		return at.in, nil, nil
	}
	listed, err := git.Output(ctx, at.in, nil, "ls-tree", "--full-tree", "-r", "-z", at.tree)
	if err != nil {
		return "", nil, err
	}
	return at.in, Listed(listed), nil
}

// Listed returns the files that git ls-tree -z lists, without links and submodules.
func Listed(tree string) (files []File) {
	for _, line := range split(tree) {
		about, file, _ := strings.Cut(line, "\t") // <mode> <type> <hash>
		kind := strings.Fields(about)
		if len(kind) == 3 && kind[1] == "blob" && kind[0] != "120000" {
			files = append(files, File{file, kind[2]})
		}
	}
	return files
}

// Copy writes files of the repository that contains dir to a directory, exactly as git stores them: filters do not run.
// It does not use git archive, which leaves out files with the attribute export-ignore.
func Copy(ctx context.Context, dir, to string, files []File) error {
	contents, err := Contents(ctx, dir, files)
	if err != nil {
		return err
	}
	for _, f := range files {
		content, ok := contents[f.Object]
		if !ok {
			return fmt.Errorf("git cat-file: %s: %s missing", f.Name, f.Object)
		}
		name := filepath.Join(to, filepath.FromSlash(f.Name))
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Contents returns the contents of files by their objects, which git names in any way without line ends. It leaves out
// objects that git does not have.
func Contents(ctx context.Context, dir string, files []File) (map[string]string, error) {
	var objects strings.Builder
	for _, f := range files {
		objects.WriteString(f.Object + "\n")
	}
	printed, err := git.Output(ctx, dir, strings.NewReader(objects.String()), "cat-file", "--batch")
	contents := map[string]string{}
	for _, f := range files {
		about, rest, _ := strings.Cut(printed, "\n") // <hash> <type> <size>, then the content and a line end
		size, missing := strconv.Atoi(about[strings.LastIndexByte(about, ' ')+1:])
		if printed = rest; missing == nil && size <= len(rest) {
			contents[f.Object], printed = rest[:size], strings.TrimPrefix(rest[size:], "\n")
		}
	}
	return contents, err
}
