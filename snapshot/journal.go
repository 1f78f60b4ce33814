package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A transaction is a set of files to write and to remove, all or none, even if the process
// is killed on the way. All new files are written beside the ones they replace; the journal
// says which. Once the journal says that they are complete, they are renamed; whoever finds
// a journal of a process that died renames the rest, or removes them all.
type transaction struct {
	root    *os.Root
	writes  []write // in the order of the renames
	removes []string
}

// A write is a new file, or new content of one.
type write struct {
	file string
	data []byte
}

const (
	journalName = "commit.pending"
	tempSuffix  = ".tmp"

	journalHead   = "traceforge commit"
	journalWrite  = "write "
	journalRemove = "remove "
	journalReady  = "ready"
)

func (t *transaction) write(file string, data []byte) {
	t.writes = append(t.writes, write{file, data})
}

func (t *transaction) remove(file string) { t.removes = append(t.removes, file) }

// apply makes the changes. After an error nothing has changed, or the journal is there
// and the next process to write finishes the work.
func (t *transaction) apply() error {
	if len(t.writes) == 0 && len(t.removes) == 0 {
		return nil
	}
	for _, w := range t.writes {
		if err := t.root.MkdirAll(path.Dir(w.file), 0o777); err != nil {
			return err
		}
	}
	journal, err := t.root.OpenFile(journalName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer journal.Close()
	if err := t.prepare(journal); err != nil {
		return errors.Join(err, t.undo())
	}
	return t.finish()
}

// prepare writes the journal and all new files.
func (t *transaction) prepare(journal *os.File) error {
	lines := []string{journalHead}
	for _, w := range t.writes {
		lines = append(lines, journalWrite+w.file)
	}
	for _, file := range t.removes {
		lines = append(lines, journalRemove+file)
	}
	if _, err := journal.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		return err
	}
	for _, w := range t.writes {
		if err := t.root.WriteFile(w.file+tempSuffix, w.data, 0o666); err != nil {
			return err
		}
	}
	_, err := journal.WriteString(journalReady + "\n")
	return err
}

// undo removes the new files and the journal.
func (t *transaction) undo() error {
	for _, w := range t.writes {
		if err := removeIfAny(t.root, w.file+tempSuffix); err != nil {
			return err
		}
		removeIfEmpty(t.root, path.Dir(w.file))
	}
	return removeIfAny(t.root, journalName)
}

// finish puts the new files in place, and removes the others and the journal.
func (t *transaction) finish() error {
	if err := t.place(); err != nil {
		return err
	}
	return removeIfAny(t.root, journalName)
}

func (t *transaction) place() error {
	for _, w := range t.writes {
		if err := t.root.Rename(w.file+tempSuffix, w.file); err != nil {
			return err
		}
	}
	for _, file := range t.removes {
		if err := removeIfAny(t.root, file); err != nil {
			return err
		}
		removeIfEmpty(t.root, path.Dir(file))
	}
	return nil
}

func removeIfAny(root *os.Root, file string) error {
	if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeIfEmpty removes the directory and its parents as long as they are empty.
func removeIfEmpty(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// recover finishes or undoes the commit of a process that died in it, and derives the manifest
// from the files, as they may have been touched since.
func (s *Store) recover(root *os.Root) error {
	data, err := root.ReadFile(journalName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t, ready := parseJournal(root, string(data))
	if !ready {
		return t.undo()
	}
	t.writes = slices.DeleteFunc(t.writes, func(w write) bool {
		_, err := root.Lstat(w.file + tempSuffix)
		return errors.Is(err, fs.ErrNotExist) // it is in place already
	})
	if err := t.place(); err != nil {
		return err
	}
	if err := s.rebuildManifest(root); err != nil {
		return err
	}
	return removeIfAny(root, journalName)
}

// parseJournal reads a journal and reports whether all new files were complete. A journal that
// was cut short is read as far as it goes: no file was written before its last line was.
func parseJournal(root *os.Root, data string) (t *transaction, ready bool) {
	t = &transaction{root: root}
	for line := range strings.Lines(data) {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break
		}
		if file, ok := strings.CutPrefix(line, journalWrite); ok && isStoreFile(file) {
			t.write(file, nil)
		} else if file, ok := strings.CutPrefix(line, journalRemove); ok && isStoreFile(file) {
			t.remove(file)
		}
		ready = line == journalReady
	}
	return t, ready
}

// isStoreFile reports whether file is the path of a record, a blob or the manifest.
func isStoreFile(file string) bool {
	if file == manifestName {
		return true
	}
	if _, ok := blobOf(file); ok {
		return true
	}
	_, ok := entryOf(file)
	return ok
}

// entryOf returns the entry that a record's file has, without its hash.
func entryOf(file string) (Entry, bool) {
	provider, name, _ := strings.Cut(file, "/")
	id, ok := strings.CutSuffix(name, ".json")
	return Entry{ID: id, Provider: provider, File: file}, ok && checkID(id) == "" && checkProvider(provider) == ""
}
