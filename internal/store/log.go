package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Pending returns the store of answers that were bought by tests that did not pass and that wait for a decision (design
// R11). It is in the directory .pending of s. Its documents have the same names as those of s, and Commit writes them
// as logs, see [Log]. A record with the id of a record in s is meant to replace it.
func (s *Store) Pending() *Store {
	p := *s
	p.dir, p.name = filepath.Join(s.dir, PendingName), filepath.Join(s.name, PendingName)
	return &p
}

// isPending reports whether s is the store of another store's pending answers. It has no manifest.
func (s *Store) isPending() bool { return filepath.Base(s.dir) == PendingName }

// A Log is a file to which one run of a test appends its answers as it buys them (docs/format.md section 11). It goes
// on in another file if it is full, was taken over or could not be written. Each run has its own log. A reader of
// pending answers reads all files of a test, and skips an entry that was truncated because its process was killed. A
// Log is not safe for concurrent use.
type Log struct {
	dir            logDir
	name, provider string
	files          []string

	file   string          // file for the next record; empty if it needs a new one
	writer snapshot.Writer // of its records
	info   fs.FileInfo     // of file, when it was created
	size   int64           // size of the file, unless somebody took it
}

// errTaken means that somebody has decided about the answers in a file, or moved them, since the last one was appended.
var errTaken = errors.New("was taken over meanwhile")

const (
	logExt    = ".log"
	logHead   = "traceforge pending "
	logRecord = "record"
	logAnswer = "answer"
	logMedium = "medium"
	logClosed = "closed\n" // no record ends like this
)

// A logDir is the directory of a store of pending answers, which contains logs.
type logDir struct{ store *Store }

// NewLog returns the log for a run of a test whose first answer comes from the given provider. It creates no file
// before Append.
func (s *Store) NewLog(name, provider string) *Log {
	return &Log{dir: logDir{s.Pending()}, name: name, provider: provider}
}

// Append writes the record of the place-th call of the run, which contains the hashes of raw and of the media. When it
// returns, the record survives a kill. After an error the log is unchanged.
func (l *Log) Append(place int, record snapshot.Snapshot, raw []byte, media map[canon.Hash][]byte) error {
	if record.Provider == l.provider {
		record.Provider = ""
	}
	err := errTaken
	for tries := 0; tries < 2 && errors.Is(err, errTaken); tries++ {
		if l.file == "" {
			l.writer, l.size = snapshot.Writer{}, 0
		}
		var line []byte
		if line, err = l.writer.Append(record); err == nil {
			err = l.write(place, line, raw, record.Response.RawOutputRef, media)
		}
		if err != nil || l.size >= l.dir.store.maxBytes { // a file is read into memory as a whole
			l.file = ""
		}
	}
	return err
}

func (l *Log) write(place int, record, raw []byte, hash canon.Hash, media map[canon.Hash][]byte) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	out := l.dir.parts(f, l.provider, l.size == 0, len(record)+len(raw))
	if hash != "" {
		out.beside(logAnswer, hash, raw)
	}
	for hash, data := range media {
		out.beside(logMedium, hash, data)
	}
	out.record(place, record)
	if err := out.Flush(); err != nil {
		return errors.Join(err, f.Truncate(l.size), f.Close())
	}
	info, err := f.Stat()
	if err == nil {
		l.info, l.size = info, info.Size()
	}
	return errors.Join(err, f.Close())
}

// A logParts writes the parts of a log.
type logParts struct {
	*bufio.Writer // keeps an error until Flush
	store         *Store
	provider      string
}

// bufferMost limits the memory in which small parts are collected, in bytes.
const bufferMost = 16 << 10

// parts returns a writer for a log, which starts with the first line if the log is new. size is approximately the
// length of what follows.
func (d logDir) parts(file io.Writer, provider string, isNew bool, size int) *logParts {
	// including the lines between parts
	p := &logParts{bufio.NewWriterSize(file, min(size, bufferMost)+300), d.store, provider}
	if isNew {
		p.WriteString(logHead + provider + "\n")
	}
	return p
}

func (p *logParts) beside(kind string, hash canon.Hash, data []byte) {
	p.add(fmt.Sprintf("%s %s %d", kind, hash, len(data)), data)
}

func (p *logParts) record(place int, line []byte) {
	head := fmt.Sprintf("%s %d %d %s", logRecord, place, len(line), p.store.signer().mac(logRecord, p.provider, line))
	p.add(strings.TrimSuffix(head, " "), line)
}

func (p *logParts) add(head string, data []byte) {
	p.WriteString(head + "\n")
	p.Write(data)
	p.WriteByte('\n')
}

// logMost is the maximum length of a log, which was not full before its last answer.
func (d logDir) logMost() int64 { return 3 * min(d.store.maxBytes, math.MaxInt64/3) }

// open opens or creates the file for the next record.
func (l *Log) open() (*lockedfile.File, error) {
	d := l.dir
	if err := d.checkDir(); err != nil {
		return nil, err
	}
	if l.file == "" {
		return l.create()
	}
	f, err := lockedfile.OpenFile(d.store.Path(l.file), os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Size() != l.size || !os.SameFile(info, l.info)) {
		err = errTaken
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// create creates the file, with a name that was never used before, in a directory that git ignores.
func (l *Log) create() (*lockedfile.File, error) {
	d := l.dir
	for n := time.Now().UnixMicro(); ; n++ {
		file := logFile(l.name, n)
		f, err := lockedfile.OpenFile(d.store.Path(file), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|unpolled, 0o666)
		switch {
		case err == nil:
			l.file, l.files = file, append(l.files, file)
			return f, nil
		case errors.Is(err, fs.ErrNotExist):
			if err := d.makeDir(); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
	}
}

// makeDir creates the directory of pending answers. Git ignores it even if the store around it does not exist yet.
func (d logDir) makeDir() error {
	err := os.Mkdir(d.store.dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(d.store.dir, 0o777)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(d.store.dir), IgnoreName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(d.store.Path(IgnoreName), []byte(d.store.IgnoredText()), 0o666)
}

// Remove removes the log, and its directory if that is empty then. It reports whether somebody has taken the log's
// content.
func (l *Log) Remove() (taken bool, err error) {
	for _, file := range l.files {
		failed := os.Remove(l.dir.store.Path(file))
		if errors.Is(failed, fs.ErrNotExist) {
			taken, failed = true, nil
		}
		err = errors.Join(err, failed)
		l.dir.removeEmpty(IgnoreName)
	}
	return taken, err
}

// Join adds the files of another log of the run to this one.
func (l *Log) Join(former *Log) { l.files = append(former.files, l.files...) }

// removeEmpty removes the directory of pending answers if it contains no logs, with the given files. On a system that
// cannot remove open files, an empty store is left, which does no harm. Without the lock file among own, it needs no
// lock, because it removes no log.
func (d logDir) removeEmpty(own ...string) {
	if os.Remove(d.store.dir) == nil {
		return
	}
	entries, err := os.ReadDir(d.store.dir)
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(own, e.Name()) }) {
		return
	}
	for _, e := range entries {
		_ = os.Remove(d.store.Path(e.Name()))
	}
	_ = os.Remove(d.store.dir) // but not a log that was created in the meantime
}

// Settle replaces all logs of a test by one: the records of other runs, followed by those that this run bought. own is
// the log of this run. Records of other runs with a number in used are left out, as are logs that cannot be read.
func (s *Store) Settle(bought Put, own *Log, used map[int]bool) error {
	return s.Exclusively(func(w Writer) error {
		logs := logDir{s}
		if err := s.CloseLogs(bought.Name); err != nil {
			return err
		}
		others, err := logs.logsOf(bought.Name)
		if err != nil {
			return err
		}
		others = slices.DeleteFunc(others, func(file string) bool { return slices.Contains(own.files, file) })
		if doc, unread := logs.loadLogs(bought.Name, others); unread == nil {
			left, err := doc.Put(used)
			if err != nil {
				return err
			}
			bought = left.with(bought)
		}
		change := Change{Put: []Put{bought}}
		if len(bought.Document.Snapshots) == 0 {
			change = Change{Remove: []string{DocumentFile(bought.Provider, bought.Name)}}
		}
		return s.CommitLocked(w, change)
	})
}

// relog is commit for pending answers: a new document replaces all logs of its test.
func (d logDir) relog(w Writer, puts []*target, remove []string) error {
	t := &Transaction{Writer: w, store: d.store}
	var gone []string
	for _, put := range puts {
		gone = append(gone, put.Name)
		if err := t.log(put); err != nil {
			return err
		}
	}
	for _, file := range remove {
		_, name, _ := ParseDocumentFile(file)
		gone = append(gone, name)
	}
	for _, name := range gone {
		logs, err := d.logsOf(name)
		for _, file := range logs {
			err = errors.Join(err, t.Remove(file))
		}
		if err != nil {
			return err
		}
	}
	if err := t.Apply(); err != nil {
		return err
	}
	d.removeEmpty(AttributesName, IgnoreName, HolderName)
	return nil
}

// log adds the logs for a document, usually one.
func (t *Transaction) log(put *target) error {
	var data *bytes.Buffer
	var out *logParts
	var writer snapshot.Writer
	n := time.Now().UnixMicro()
	for i := range put.Document.Snapshots {
		if data == nil {
			data, writer = new(bytes.Buffer), snapshot.Writer{}
			out = logDir{t.store}.parts(data, put.Provider, true, 0)
		}
		record := &put.Document.Snapshots[i]
		for _, need := range needsOf(record, i) {
			given, ok := put.Beside[need.Hash]
			if !ok {
				return t.store.failure(DocumentFile(put.Provider, put.Name), need.Pointer(), need.Rule, fs.ErrNotExist,
					"names %s, which is not in the change", need.Hash)
			}
			kind := map[string]string{snapshot.RuleRaw: logAnswer, snapshot.RuleMedia: logMedium}[need.Rule]
			out.beside(kind, need.Hash, given)
		}
		line, err := writer.Append(*record)
		if err != nil {
			return err
		}
		out.record(i, line)
		_ = out.Flush() // to memory
		if int64(data.Len()) >= t.store.maxBytes || i == len(put.Document.Snapshots)-1 {
			data.WriteString(logClosed)
			t.Write(logFile(put.Name, n), data.Bytes())
			data, n = nil, n+1
		}
	}
	return nil
}

// CloseLogs makes processes that append to the pending answers of a test start new logs, because a decision is being
// made about the current ones.
func (s *Store) CloseLogs(name string) error {
	if name == "" {
		return nil
	}
	logs, err := logDir{s}.logsOf(name)
	for _, file := range logs {
		if info, err := os.Lstat(s.Path(file)); err != nil || !info.Mode().IsRegular() {
			continue // the reader reports it
		}
		f, err := lockedfile.OpenFile(s.Path(file), os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		end := make([]byte, len(logClosed))
		if info, failed := f.Stat(); failed == nil && info.Size() > int64(len(end)) {
			_, _ = f.ReadAt(end, info.Size()-int64(len(end)))
		}
		if string(end) != logClosed {
			_, err = f.WriteString(logClosed)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return err
}
