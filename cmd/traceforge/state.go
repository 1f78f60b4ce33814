package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A state is a store as it is, or was at a revision of git.
type state struct {
	store *snapshot.Store
	temp  string // the directory of a copy; empty: it is none
}

func (s *state) close() {
	s.store.Close()
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
}

// openState opens what name means: a directory, or a revision of the repository that the store in
// dir is in; empty: that store.
func openState(ctx context.Context, name, dir string) (*state, error) {
	if name == "" {
		name = dir
	}
	if info, err := os.Stat(name); name == dir || err == nil && info.IsDir() {
		store, _, err := openStore(name)
		return &state{store: store}, err
	}
	temp, err := os.MkdirTemp("", "traceforge-diff-")
	if err != nil {
		return nil, err
	}
	s := &state{temp: temp}
	if err = extract(ctx, name, dir, temp); err == nil {
		s.store, err = snapshot.Open(temp)
	}
	if err != nil {
		os.RemoveAll(temp)
		return nil, err
	}
	return s, nil
}

// extract copies the records and the manifest that the store in dir had at a revision.
func extract(ctx context.Context, revision, dir, to string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	above, name := filepath.Split(dir)
	if _, err := git(ctx, above, "rev-parse", "--quiet", "--verify", revision+"^{commit}"); err != nil {
		return unknownRevision(ctx, above, revision)
	}
	tree, err := git(ctx, above, "rev-parse", "--quiet", "--verify", revision+":./"+name)
	if err != nil {
		return nil // there was no store
	}
	top, err := git(ctx, above, "rev-parse", "--show-toplevel") // below it git looks for itself in the tree
	if err != nil {
		return err
	}
	cmd := osexec.CommandContext(ctx, "git", "archive", "--format=tar", tree, "--", ".", ":(exclude)blobs")
	cmd.Dir, cmd.Stderr = top, os.Stderr
	archive, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = untar(archive, to)
	if err != nil {
		io.Copy(io.Discard, archive) // so that git ends
	}
	return errors.Join(err, cmd.Wait())
}

// unknownRevision says why git in dir does not know a revision, and what to do.
func unknownRevision(ctx context.Context, dir, revision string) error {
	shallow, err := git(ctx, dir, "rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		return fmt.Errorf("%s is no directory, and git knows no revision: %s", revision, strings.Join(strings.Fields(err.Error()), " "))
	case revision == "HEAD":
		return errors.New("HEAD is not known: commit first, or name another state to compare with")
	case shallow == "true":
		return fmt.Errorf("%s is not known here, in a shallow clone: fetch it with git fetch --unshallow, or in CI fetch with depth 0", revision)
	}
	branch := strings.TrimPrefix(revision, "origin/")
	return fmt.Errorf("%s is neither a directory nor a revision that is known here: fetch it with git fetch origin %s, or in CI fetch with depth 0", revision, gotest.Quote(branch))
}

// untar writes the regular files of an archive into a directory.
func untar(archive io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o777); err != nil {
			return err
		}
		f, err := root.Create(header.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, files)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
