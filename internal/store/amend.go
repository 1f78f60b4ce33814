package store

import (
	"errors"
	"io/fs"
	"os"
)

func (w within) amend(s *Store, t *target) error {
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
	file := documentFile(t.Provider, t.Name)
	if macs := s.marked(file, t.Name, t.data); macs != nil {
		if err := w.replace(macFile(t.Name), macs); err != nil {
			return err
		}
	}
	return errors.Join(w.replace(file, t.data), w.discard(t.Provider, t.Name, named))
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
		err = errors.Join(err, w.remove(documentFile(provider, name)), w.remove(macFile(name)))
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
		for _, file := range s.logsOf(name) {
			err = errors.Join(err, w.remove(file))
		}
		if err == nil {
			w.vanish(s.dir)
		}
		return err
	})
}
