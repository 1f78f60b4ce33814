// Package git is what the command asks of git.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// Run runs git in dir and returns what it prints, without the last line end.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	return run(ctx, dir, nil, args...)
}

func run(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, in
	var said bytes.Buffer
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil {
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		return "", fmt.Errorf("git %s: %w\n%s", args[i], err, &said)
	}
	return strings.TrimSuffix(string(printed), "\n"), nil
}

// Extract copies the documents that the store in dir had at a revision to a directory.
func Extract(ctx context.Context, revision, dir, to string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	above, name := filepath.Split(dir)
	if _, err := Run(ctx, above, "rev-parse", "--quiet", "--verify", revision+"^{commit}"); err != nil {
		return unknownRevision(ctx, above, revision)
	}
	tree, err := Run(ctx, above, "rev-parse", "--quiet", "--verify", revision+":./"+name)
	if err != nil {
		return nil // there was no store
	}
	top, err := Run(ctx, above, "rev-parse", "--show-toplevel") // below it git looks for itself in the tree
	if err != nil {
		return err
	}
	listed, err := Run(ctx, top, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return err
	}
	return extract(ctx, top, listed, to)
}

// extract writes the documents that git lists, and what is at the top of a store, to a directory. git archive would leave out
// what has the attribute export-ignore.
func extract(ctx context.Context, top, listed, to string) error {
	var hashes strings.Builder
	var files []string
	for line := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		about, file, _ := strings.Cut(line, "\t") // <mode> <type> <hash>
		kind := strings.Fields(about)
		if len(kind) != 3 || kind[1] != "blob" || kind[0] == "120000" || strings.Count(file, "/") > 1 || !filepath.IsLocal(file) {
			continue
		}
		hashes.WriteString(kind[2] + "\n")
		files = append(files, file)
	}
	blobs, err := run(ctx, top, strings.NewReader(hashes.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, file := range files {
		about, rest, _ := strings.Cut(blobs, "\n") // <hash> <type> <size>, then the content and a line end
		size, err := strconv.Atoi(about[strings.LastIndexByte(about, ' ')+1:])
		if err != nil || size > len(rest) {
			return fmt.Errorf("git cat-file: %s: %s", file, about)
		}
		name := filepath.Join(to, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(rest[:size]), 0o666); err != nil {
			return err
		}
		blobs = strings.TrimPrefix(rest[size:], "\n")
	}
	return nil
}

// unknownRevision says why git in dir does not know a revision, and what to do.
func unknownRevision(ctx context.Context, dir, revision string) error {
	shallow, err := Run(ctx, dir, "rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		said := strings.Join(strings.Fields(err.Error()), " ")
		return fmt.Errorf("%s is no directory, and git knows no revision: %s", revision, said)
	case revision == "HEAD":
		return errors.New("HEAD is not known: commit first, or name another state to compare with")
	case shallow == "true":
		return fmt.Errorf("%s is not known here, in a shallow clone: %s", revision, deepen)
	}
	way := ""
	const most = "--count=5"
	if branches, err := Run(ctx, dir, "for-each-ref", "--sort=-committerdate", most, "--format=%(refname:short)", "refs/heads"); err == nil && branches != "" {
		way = ": the branches here are " + strings.Join(strings.Fields(branches), ", ")
	}
	if remotes, err := Run(ctx, dir, "remote"); err == nil && remotes != "" {
		remote := strings.Fields(remotes)[0]
		way += fmt.Sprintf(": fetch it with git fetch %s %s, %s", remote, gotest.Quote(strings.TrimPrefix(revision, remote+"/")), inCI)
	}
	return fmt.Errorf("%s is neither a directory nor a revision that is known here%s", revision, way)
}

// How to fetch what a clone lacks.
const (
	inCI   = "or in CI with fetch-depth: 0 of actions/checkout"
	deepen = "fetch it with git fetch --unshallow, " + inCI
)
