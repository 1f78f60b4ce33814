package store

import (
	"errors"
	"io/fs"
	"os"
)

// Amend puts what change makes of a document of pending answers, under their lock, so that nothing is lost of what
// several processes add to one document. One without records is removed. It writes no journal: a document is written
// after its raw answers, and one that was cut short is bought again.
//
// It returns what the file is now. Who gives what the last Amend returned is spared reading what nobody has changed
// since: then doc is nil and known is true. doc is nil too where there is none that can be read.
func (s *Store) Amend(name, provider string, last fs.FileInfo, change func(doc *Doc, known bool) (Put, error)) (
	file fs.FileInfo, err error) {
	err = s.exclusively(func(w within) error {
		var doc *Doc
		is, err := w.lstat(documentFile(provider, name))
		known := err == nil && last != nil && isSame(is, last)
		if !known {
			doc, _ = s.locking().Load(name, provider)
		}
		put, err := change(doc, known)
		if err != nil {
			return err
		}
		if len(put.Document.Snapshots) == 0 {
			return w.discard(put.Provider, name, nil)
		}
		t, err := s.target(put)
		if err != nil {
			return err
		}
		if err := w.amend(t); err != nil {
			return err
		}
		file, err = w.lstat(documentFile(put.Provider, name))
		return err
	})
	return file, err
}

// isSame reports whether nobody wrote a file: who writes a store replaces its files.
func isSame(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (w within) amend(t *target) error {
	named := map[string]bool{}
	for _, n := range t.needs {
		data, given := t.given[n.own]
		if named[n.own] = true; !given || w.has(t.beside(n.own), data) {
			continue
		}
		if err := w.replace(t.beside(n.own), data); err != nil {
			return err
		}
	}
	return errors.Join(w.replace(documentFile(t.Provider, t.Name), t.data), w.discard(t.Provider, t.Name, named))
}

// replace writes a file, or a new one in its place.
func (w within) replace(file string, data []byte) error {
	if err := w.createIn(file+tempExt, data); err != nil {
		return err
	}
	return w.rename(file+tempExt, file)
}

// discard removes what is beside a document, and where nothing is named the document too.
func (w within) discard(provider, name string, named map[string]bool) error {
	dir := provider + "/" + name
	owns, err := w.names(dir)
	for _, own := range owns {
		if !named[own] {
			err = errors.Join(err, w.remove(dir+"/"+own))
		}
	}
	if named == nil {
		err = errors.Join(err, w.remove(documentFile(provider, name)))
		w.leave()
		_ = w.root.Remove(dir)
		_ = w.root.Remove(provider) // unless it has more
	}
	return err
}

// Discard removes a document of pending answers, and their store if it becomes empty.
func (s *Store) Discard(name string) error {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.exclusively(func(w within) error {
		providers, err := s.providers()
		for _, provider := range providers {
			err = errors.Join(err, w.discard(provider, name, nil))
		}
		if err == nil {
			w.vanish(s.dir)
		}
		return err
	})
}
