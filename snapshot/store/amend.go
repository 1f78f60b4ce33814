package store

import "github.com/traceforge/traceforge-go/canon"

// Amend puts what change makes of the document with the given name, under the store's lock, so that nothing is lost of
// what several processes add to one document. A document without records is removed. Amend makes all of the change,
// or after an error none of it.
//
// It returns the hash of the file as it is now. Who gives the hash that the last Amend returned is spared reading
// what nobody has changed since: then doc is nil and known is true. doc is nil too where there is none that can be read.
func (s *Store) Amend(name, provider string, last canon.Hash, change func(doc *Doc, known bool) (Put, error)) (
	file canon.Hash, err error) {
	err = s.exclusively(func(w within) error {
		var doc *Doc
		is, err := w.sum(documentFile(provider, name))
		known := err == nil && is == last
		if !known {
			doc, _ = s.locking().Load(name, provider)
		}
		put, err := change(doc, known)
		if err != nil {
			return err
		}
		if len(put.Document.Snapshots) == 0 {
			return s.removed(w, name, provider)
		}
		t, err := s.target(put)
		if err != nil {
			return err
		}
		file = canon.Sum(t.data)
		return s.commit(w, []*target{t}, nil)
	})
	return file, err
}

// removed removes a document, if it is there.
func (s *Store) removed(w within, name, provider string) error {
	doc, err := s.locking().Load(name, provider)
	if err != nil {
		return nil
	}
	return s.commit(w, nil, []string{doc.File()})
}
