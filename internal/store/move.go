package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A Move gives a document to a test with another name, usually the test's new name.
type Move struct {
	Name    string // current name of the document
	Package string // import path
	Test    string // full name
}

// A MovedDocument is a document that [Store.Move] moved.
type MovedDocument struct {
	From, To string // files
}

// Move renames documents with the files next to them in one commit, after their pending documents. It changes ids and
// sources, and nothing else in the calls. A target that exists is an error that is [fs.ErrExist], a document that does
// not exist is one that is [fs.ErrNotExist]; then nothing is moved.
func (s *Store) Move(moves ...Move) (moved []MovedDocument, err error) {
	if _, err := os.Stat(s.dir); err != nil {
		return nil, fmt.Errorf("move: %w", err)
	}
	err = s.Exclusively(func(w Writer) error {
		pending := s.Pending()
		waiting := slices.DeleteFunc(slices.Clone(moves), func(m Move) bool {
			logs, err := logDir{pending}.logsOf(m.Name)
			return err == nil && len(logs) == 0
		})
		change, from, err := s.Held().planMoves(moves, waiting)
		if err != nil {
			return err
		}
		if len(waiting) > 0 {
			err = pending.Exclusively(func(w Writer) error {
				for _, m := range waiting {
					if err := pending.CloseLogs(m.Name); err != nil {
						return err
					}
				}
				change, _, err := pending.Held().planMoves(waiting, moves)
				if err != nil {
					return err
				}
				return pending.CommitLocked(w, change)
			})
			if err != nil {
				return err
			}
		}
		moved = from
		return s.CommitLocked(w, change)
	})
	if err != nil {
		return nil, fmt.Errorf("move: %w", err)
	}
	return moved, nil
}

// Copy gives a copy of a document to a test with another name. Otherwise it is like Move for documents that are not
// pending.
func (s *Store) Copy(m Move) error {
	change, _, err := s.planMoves([]Move{m}, nil)
	if err == nil {
		change.Remove = nil
		err = s.Commit(change)
	}
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}

// planMoves returns the change that moves documents. A document that is not in this store must be in the other one.
func (s *Store) planMoves(moves, elsewhere []Move) (c Change, moved []MovedDocument, err error) {
	for _, m := range moves {
		doc, err := s.Load(m.Name, UnknownProvider)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(elsewhere, m) {
			continue
		}
		if err != nil {
			return c, nil, err
		}
		put, err := doc.Moved(m.Package, m.Test)
		if err != nil {
			return c, nil, err
		}
		if there, err := s.Load(put.Name, put.Provider); err == nil {
			return c, nil, fmt.Errorf("%s of %s in %s: %w", s.Shown(there.File()), m.Test, m.Package, fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return c, nil, err
		}
		c.Put, c.Remove = append(c.Put, put), append(c.Remove, doc.File())
		moved = append(moved, MovedDocument{doc.File(), DocumentFile(put.Provider, put.Name)})
	}
	return c, moved, nil
}

// Moved returns the document for a test, under its new name, with all files next to it.
func (d *Doc) Moved(pkg, test string) (put Put, err error) {
	if put, err = d.Put(nil); err == nil {
		put.Name = Rename(put.Document, pkg, test)
	}
	return put, err
}

// Rename changes a document's test, and returns the document's new name.
func Rename(d *snapshot.Document, pkg, test string) string {
	name := snapshot.DocumentName(pkg, test)
	for i := range d.Snapshots {
		s := &d.Snapshots[i]
		s.ID = snapshot.ID(name, s.Number())
		s.Source = movedSource(s.Source, pkg, test)
	}
	return name
}

// movedSource returns a source for another test: file and function change if they are the test's own.
func movedSource(s snapshot.Source, pkg, test string) snapshot.Source {
	was, _, _ := strings.Cut(s.Test, "/")
	now, _, _ := strings.Cut(test, "/")
	if rest, ok := strings.CutPrefix(s.Function, was); ok && (rest == "" || rest[0] == '.') {
		s.Function = now + rest
	}
	if module, ok := strings.CutSuffix(s.Package, "/"+path.Dir(s.File)); ok {
		if dir, ok := strings.CutPrefix(pkg, module+"/"); ok {
			s.File = path.Join(dir, path.Base(s.File))
		}
	}
	s.Package, s.Test = pkg, test
	return s
}
