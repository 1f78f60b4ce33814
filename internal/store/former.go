package store

import (
	"errors"
	"io/fs"

	"github.com/traceforge/traceforge-go/snapshot"
)

// LoadFormer reads the document that a test has under the given provider in a store of [snapshot.VersionSF], where the
// names of documents were others. The error is [fs.ErrNotExist] if there is no such document.
func (s *Store) LoadFormer(pkg, test, provider string) (*Doc, error) {
	return s.parseFile(snapshot.FormerName(pkg, test), provider)
}

// Former returns the documents of [snapshot.VersionSF] that are laid out as in a store. Files that cannot be read are
// left to [audit.Verify].
func (s *Store) Former() (docs []*Doc, err error) {
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		provider, name, _ := ParseDocumentFile(file)
		doc, err := s.parseFile(name, provider)
		var broken *snapshot.Error
		switch {
		case errors.As(err, &broken), errors.Is(err, fs.ErrNotExist): // a log
		case err != nil:
			return nil, err
		case doc.Document.Version == snapshot.VersionSF && len(doc.Document.Snapshots) > 0:
			docs = append(docs, doc)
		}
	}
	return docs, nil
}
