package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

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
