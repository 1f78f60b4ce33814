package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
)

// Changes are what a branch touched of a store.
type changes struct {
	Since string   `json:"since"` // the commit where the branch left the revision that was named
	Files []string `json:"files"` // paths in the store

	Removed []string `json:"removed,omitempty"` // those of the files that are documents and not there any more
}

// changesSince returns what differs in a store, which is in dir, from where the branch left a revision, and what of that
// is in config.json.
func changesSince(c *call, s *store.Store, dir, revision string) (*changes, []*page.Setting, error) {
	revision, err := worktree.OfSubmodule(c.ctx, ".", dir, revision)
	if err != nil {
		return nil, nil, err
	}
	since, files, err := worktree.Changed(c.ctx, dir, revision)
	if err != nil {
		return nil, nil, err
	}
	ch := &changes{Since: since, Files: orEmpty(files)}
	for _, file := range files {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) && strings.Count(file, "/") == 1 && path.Ext(file) == ".json" {
			ch.Removed = append(ch.Removed, file)
		}
	}
	if !ch.all() {
		return ch, nil, nil
	}
	base, err := openState(c.ctx, since, dir)
	if err != nil {
		return nil, nil, err
	}
	defer base.close()
	config, err := settings(c, base.Store, s)
	return ch, config, err
}

// all reports whether everything is looked at: the rules of config.json are of all documents.
func (ch *changes) all() bool { return slices.Contains(ch.Files, "config.json") }

// say says what was looked at, and what could not be seen so.
func (ch *changes) say(c *call) {
	if ch.all() {
		c.say("config.json differs from %.12s: everything was looked at, as its rules are of all documents", ch.Since)
	} else {
		c.say("only what differs from %.12s was looked at: %s; the manifest and other documents were not read",
			ch.Since, page.Count(len(ch.Files), "file", "files"))
	}
	if len(ch.Removed) > 0 {
		c.say("%s removed: %s", page.Count(len(ch.Removed), "document", "documents"), strings.Join(page.Most(filesShown, ch.Removed, "more"), ", "))
	}
}
