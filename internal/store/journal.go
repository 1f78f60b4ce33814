package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Transaction is a set of files to write and to remove, all or none, even if the process is killed. All new files are
// written next to the ones they replace, and the journal lists them. Once the journal says that they are complete, they
// are renamed. A process that finds the journal of a killed process renames the remaining files, or removes them all.
//
// The journal contains the hash of each new file, and of each file to remove. So an interrupted commit does not touch
// files that have changed since, and a journal from a stranger, for example in a pull request, removes only files that
// its author knows. A commit that may be a stranger's is not finished.
type Transaction struct {
	Writer
	store   *Store
	writes  []write  // in the order of the renames
	dirs    []string // directories to be made for some of them
	removes []step

	text, mac string // of a journal that was read: the lines before its MAC, and the MAC
}

// A step is a line of the journal about a file.
type step struct {
	file string
	hash canon.Hash // of a new file, or of a file to remove
}

// A write is a new file, or new content for one.
type write struct {
	step
	data []byte
}

const (
	journalHead   = "traceforge commit"
	journalWrite  = "write"
	journalRemove = "remove"
	journalMAC    = "mac"
	journalReady  = "ready"
)

func (t *Transaction) Write(file string, data []byte) { t.writeSummed(file, data, canon.Sum(data)) }

// Begin returns an empty transaction, for a caller that holds the lock.
func (s *Store) Begin(w Writer) *Transaction { return &Transaction{Writer: w, store: s} }

// writeSummed is Write for data with a known hash.
func (t *Transaction) writeSummed(file string, data []byte, hash canon.Hash) {
	t.writes = append(t.writes, write{step{file, hash}, data})
}

// Remove adds the removal of an existing file.
func (t *Transaction) Remove(file string) error {
	hash, err := t.sum(file)
	if errors.Is(err, fs.ErrNotExist) { // a link, whose content does not matter
		hash, err = canon.Sum(nil), nil
	}
	t.removes = append(t.removes, step{file, hash})
	return err
}

// PutManifest adds a manifest that replaces another text. A manifest without entries is removed. A directory in its
// place is an error, because a commit could not be finished.
func (t *Transaction) PutManifest(m *Manifest, was []byte) error {
	if info, err := t.Lstat(ManifestName); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: remove it", t.store.Shown(ManifestName))
	}
	if len(m.Entries) == 0 {
		if _, err := t.Lstat(ManifestName); err != nil {
			return nil
		}
		return t.Remove(ManifestName)
	}
	if next := m.Encode(); string(next) != string(was) {
		t.Write(ManifestName, next)
	}
	return nil
}

// Apply makes the changes. After an error either nothing has changed, or there is a journal with which the next writer
// finishes the work.
func (t *Transaction) Apply() error {
	if len(t.writes) == 0 && len(t.removes) == 0 {
		return nil
	}
	journal, err := t.openFile(JournalName, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	err = t.prepare(journal)
	if err = errors.Join(err, journal.Close()); err != nil {
		return errors.Join(err, t.undo())
	}
	return t.finish()
}

// prepare writes the journal, and then all new files.
func (t *Transaction) prepare(journal *os.File) error {
	if _, err := journal.WriteString(t.journal()); err != nil {
		return err
	}
	for _, dir := range t.dirs {
		parent, name, err := t.in(dir)
		if err != nil || parent.Mkdir(name, 0o777) != nil {
			err = t.Root.MkdirAll(dir, 0o777)
		}
		if err != nil {
			return err
		}
	}
	for _, w := range t.writes { // undo knows about these files
		if err := t.createIn(w.file+TempExt, w.data); err != nil {
			return err
		}
	}
	_, err := journal.WriteString(journalReady + "\n")
	return err
}

// journal returns the lines that are written before any new file.
func (t *Transaction) journal() string {
	lines := []string{journalHead}
	for _, w := range t.writes {
		lines = append(lines, journalWrite+" "+string(w.hash)+" "+w.file)
	}
	for _, r := range t.removes {
		lines = append(lines, journalRemove+" "+string(r.hash)+" "+r.file)
	}
	text := strings.Join(lines, "\n") + "\n"
	if mac := t.store.signer().mac(journalHead, "", []byte(text)); mac != "" {
		text += journalMAC + " " + mac + "\n"
	}
	return text
}

// undo removes the new files and the journal.
func (t *Transaction) undo() error {
	for _, w := range t.writes {
		if err := t.Writer.Remove(w.file + TempExt); err != nil {
			return err
		}
		t.removeEmpty(path.Dir(w.file))
	}
	return t.Writer.Remove(JournalName)
}

// finish renames the new files, and removes the others and the journal. Some file systems flush a file that replaces
// another, so only documents do: whoever misses another file waits for the lock and looks again.
func (t *Transaction) finish() error {
	for _, w := range t.writes {
		if DocumentOf(w.file) != w.file && !slices.Contains(t.dirs, path.Dir(w.file)) {
			if err := t.Writer.Remove(w.file); err != nil {
				return err
			}
		}
		if err := t.rename(w.file+TempExt, w.file); err != nil {
			return err
		}
	}
	for _, r := range t.removes {
		if err := t.Writer.Remove(r.file); err != nil {
			return err
		}
		t.removeEmpty(path.Dir(r.file))
	}
	return t.Writer.Remove(JournalName)
}

// removeEmpty removes a directory and its parents as long as they are empty.
func (w Writer) removeEmpty(dir string) {
	w.leave()
	for dir != "." && w.Root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// The fate of an interrupted commit.
const (
	finished = "finished"
	undone   = "undone"
)

// Recover finishes or undoes the commit of a killed process, if there is one, and says which. It refuses to finish a
// journal that may be a stranger's, or whose files have changed since. Undoing one removes only temporary files, which
// are not files of a store.
func (s *Store) Recover(w Writer) (became string, err error) {
	data, err := w.Read(JournalName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	t, ready, err := parseJournal(w, string(data))
	if err != nil {
		return "", s.pending("%v", err)
	}
	if !ready {
		return undone, t.undo()
	}
	if !s.signer().signed(t.mac, journalHead, "", []byte(t.text)) {
		if err := s.doubt(JournalName, "is a commit that was cut short, which "+t.String()); err != nil {
			return "", err
		}
	}
	wrong, err := t.rest()
	if err != nil {
		return "", err
	}
	if len(wrong) > 0 {
		return "", s.pending("%s", strings.Join(wrong, "\n"))
	}
	return finished, t.finish()
}

// String describes what finishing the commit does.
func (t *Transaction) String() string {
	var written, removed []string
	for _, w := range t.writes {
		written = append(written, w.file)
	}
	for _, r := range t.removes {
		removed = append(removed, r.file)
	}
	return fmt.Sprintf("writes %s and removes %s", some(written), some(removed))
}

// some joins the first files.
func some(files []string) string {
	const most = 3
	if more := len(files) - most; more > 0 {
		files = append(files[:most:most], fmt.Sprint(more, " more"))
	}
	return cmp.Or(strings.Join(files, ", "), "nothing")
}

func (s *Store) pending(format string, args ...any) error {
	return s.failure(JournalName, "", snapshot.RulePending, nil, format, args...)
}

// parseJournal reads a journal and reports whether all new files were complete. A truncated journal is read as far as
// it goes: no file was written before its last line.
func parseJournal(w Writer, data string) (t *Transaction, ready bool, err error) {
	t = &Transaction{Writer: w}
	read := 0
	for line := range strings.Lines(data) {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break
		}
		verb, rest, _ := strings.Cut(line, " ")
		if verb == journalMAC && t.mac == "" {
			t.text, t.mac = data[:read], rest
			continue
		}
		read += len(line) + 1
		hash, file, _ := strings.Cut(rest, " ")
		next := step{file, canon.Hash(hash)}
		switch ok := next.hash.Valid() && IsStoreFile(file); {
		case line == journalReady:
			return t, true, nil
		case t.mac != "":
			return nil, false, fmt.Errorf("has the line %q behind its MAC", line)
		case line == journalHead:
		case verb == journalWrite && ok:
			t.writes = append(t.writes, write{step: next})
		case verb == journalRemove && ok:
			t.removes = append(t.removes, next)
		default:
			return nil, false, fmt.Errorf("has the line %q, which no commit writes", line)
		}
	}
	return t, false, nil
}

// rest removes the steps that are already done from t. It returns the files that are neither in their state before the
// commit nor in the one after it. failed means that a file could not be read, which may be temporary.
func (t *Transaction) rest() (wrong []string, failed error) {
	// isThere reports whether a file exists, and notes a file with a hash other than want.
	isThere := func(file string, want canon.Hash) (bool, error) {
		got, err := t.sum(file)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case err != nil && !missing:
			failed = errors.Join(failed, err)
		case !missing && got != want:
			changed := fmt.Sprintf("%s is %s, must be %s: it has changed since the commit was cut short", file, got, want)
			wrong = append(wrong, changed)
		}
		return !missing, err
	}
	t.writes = slices.DeleteFunc(t.writes, func(w write) bool {
		if there, _ := isThere(w.file+TempExt, w.hash); there {
			return false
		}
		if there, err := isThere(w.file, w.hash); !there {
			wrong = append(wrong, err.Error())
		}
		return true // it was renamed already
	})
	t.removes = slices.DeleteFunc(t.removes, func(r step) bool {
		there, _ := isThere(r.file, r.hash)
		return !there
	})
	return wrong, failed
}
