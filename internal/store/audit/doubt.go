package audit

import (
	"errors"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// doubtedIn returns the faults of pending answers that may be a stranger's, by document name.
func doubtedIn(pending *store.Store) (all map[string]*snapshot.Error, err error) {
	files, err := pending.List()
	all = map[string]*snapshot.Error{}
	for _, file := range files {
		provider, name, _ := store.ParseDocumentFile(file)
		var wrong *snapshot.Error
		if _, err := pending.Load(name, provider); errors.Is(err, store.ErrDoubt) && errors.As(err, &wrong) {
			all[name] = wrong
		}
	}
	return all, err
}

// DiscardDoubted removes the journal and the pending answers that may be a stranger's. The rest of the journal's commit
// is not executed.
func DiscardDoubted(s *store.Store) error {
	err := s.Locked(func(w store.Writer) error {
		_, err := s.Recover(w)
		if errors.Is(err, store.ErrDoubt) {
			err = w.Remove(store.JournalName)
		}
		return err
	})
	doubted, listed := doubtedIn(s.Pending())
	for name := range doubted {
		err = errors.Join(err, Reject(s, name))
	}
	return errors.Join(err, listed)
}

// adopt marks pending answers that may be a stranger's as the user's own.
func adopt(pending *store.Store, doubted map[string]*snapshot.Error) error {
	return pending.Exclusively(func(w store.Writer) error {
		var c store.Change
		for name := range doubted {
			doc, err := pending.Held().Load(name, store.UnknownProvider)
			if err != nil {
				return err
			}
			put, err := doc.Put(nil)
			if err != nil {
				return err
			}
			c.Put = append(c.Put, put)
		}
		return pending.CommitLocked(w, c)
	})
}
