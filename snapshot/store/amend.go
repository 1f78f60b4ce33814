package store

// Amend puts what change makes of the document with the given name, under the store's lock, so that of what
// several processes add to one document nothing is lost. doc is nil where there is none that can be read. A
// document without records is removed. Amend makes all of the change, or after an error none of it.
func (s *Store) Amend(name, provider string, change func(doc *Doc) (Put, error)) error {
	return s.exclusively(func(w within) error {
		doc, err := s.locking().Load(name, provider)
		if err != nil {
			doc = nil
		}
		put, err := change(doc)
		if err != nil {
			return err
		}
		if len(put.Document.Snapshots) == 0 {
			if doc == nil {
				return nil
			}
			return s.commit(w, nil, []string{doc.File()})
		}
		t, err := s.target(put)
		if err != nil {
			return err
		}
		return s.commit(w, []*target{t}, nil)
	})
}
