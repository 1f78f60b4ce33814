package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

func repair(c *call, s *store.Store, dir string) error {
	switch {
	case c.is("manifest") && len(c.values("theirs")) > 0:
		return usagef("--manifest merges nothing: it goes without --theirs")
	case c.is("manifest"):
		return writeManifest(c, s, dir)
	case c.is("take"):
		s.Trusting = true
	case c.is("discard"):
		if err := audit.DiscardDoubted(s); err != nil {
			return err
		}
	}
	report, err := audit.Repair(s, c.values("theirs")...)
	if report != nil {
		c.text(c.spelled(report.String()))
	}
	if err != nil {
		return err
	}
	if brought, err := c.renew(s, dir); err != nil || brought || report.String() != "" {
		return cmp.Or(err, withFindings(len(report.Left) > 0))
	}
	c.say("%s: nothing to merge", dir)
	if found, err := audit.Verify(s); err == nil && len(found.Findings) > 0 {
		c.say("traceforge verify has %s", page.Count(len(found.Findings), "finding", "findings"))
	}
	return nil
}

// writeManifest writes the manifest of a store.
func writeManifest(c *call, s *store.Store, dir string) error {
	if err := audit.WriteManifest(s); err != nil {
		return err
	}
	documents, err := s.List()
	if err != nil {
		return err
	}
	c.say("%s: written of %s", path.Join(filepath.ToSlash(dir), store.ManifestName),
		page.Count(len(documents), "document", "documents"))
	return nil
}

// renewManifest rewrites the manifest of a store, if there is one.
func renewManifest(s *store.Store) error {
	if _, err := os.Stat(s.Path(store.ManifestName)); err != nil {
		return nil
	}
	return audit.WriteManifest(s)
}

// renew upgrades the documents of an earlier version, and reports whether there were any.
func (c *call) renew(s *store.Store, dir string) (brought bool, err error) {
	change, broken, err := renewed(s)
	if err == nil && len(change.Put) > 0 { // Repair has said what it left of an interrupted commit
		err = s.Commit(change)
	}
	if err != nil {
		return false, err
	}
	for i, put := range change.Put {
		c.line(path.Join(dir, put.Provider, put.Name+".json") + "  brought over from " + change.Remove[i])
	}
	if err := errors.Join(broken...); err != nil {
		return true, exit{exitFindings, err}
	}
	if brought = len(change.Put) > 0; brought {
		_, err = audit.Repair(s) // writes the manifest, unless a document is broken
	}
	return brought, err
}

// renewed returns the change that upgrades documents of an earlier version, and why some cannot be upgraded. Files that
// cannot be read are left to verify.
func renewed(s *store.Store) (change store.Change, broken []error, err error) {
	files, err := s.List()
	for _, file := range files {
		provider, name, _ := store.ParseDocumentFile(file)
		doc, err := s.ParseFile(name, provider)
		var unread *snapshot.Error
		switch {
		case errors.As(err, &unread), errors.Is(err, fs.ErrNotExist): // it was just removed
			continue
		case err != nil:
			return store.Change{}, nil, err
		case doc.Document.Version != snapshot.VersionSF || len(doc.Document.Snapshots) == 0:
			continue
		}
		put, err := recorder.Renewed(doc)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		if there, err := s.Load(put.Name, put.Provider); err == nil {
			broken = append(broken, fmt.Errorf("%s and %s are documents of one test, of two versions: delete the older one, %s",
				there.File(), file, file))
			continue
		}
		change.Put, change.Remove = append(change.Put, put), append(change.Remove, file)
	}
	return change, broken, err
}
