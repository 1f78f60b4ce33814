package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/traceforge/traceforge-go/canon"
)

// A Log is the file of pending answers to which one run of a test appends what it buys, as it buys it (docs/format.md
// section 11). It belongs to that run: each run has another one. All that reads pending answers reads logs too, and
// what was begun when a process was killed is left out. A Log is not for several goroutines at once.
type Log struct {
	store          *Store
	name, provider string

	file string      // its name; empty: there is none yet
	info fs.FileInfo // of it, as it was made
	size int64       // that it has, unless somebody took it
}

// ErrTaken says that somebody has decided on the answers of a log, or moved them, since the last one was appended.
var ErrTaken = errors.New("was taken over meanwhile")

const (
	logExt    = ".log"
	logHead   = "traceforge pending "
	logRecord = "record"
	logAnswer = "answer"
	logMedium = "medium"
	logClosed = "closed\n" // what no record ends with
)

// NewLog returns the log of a run of a test, whose first answer is of the given provider. It makes no file before Append.
func (s *Store) NewLog(name, provider string) *Log {
	return &Log{store: s.Pending(), name: name, provider: provider}
}

// Append writes an answer: the record, as [snapshot.Writer.Append] encoded it, that of the place-th call of the run,
// with its raw answer, of the hash that the record names, and its media. When it returns, a kill loses none of it. After
// [ErrTaken] nothing is written, and the log is to be left for a new one; after any other error it is as it was.
func (l *Log) Append(place int, record, raw []byte, hash canon.Hash, media map[canon.Hash][]byte) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	var small bytes.Buffer // what is written at once
	write := func(kind string, id any, data []byte, mac string) {
		const long = 1 << 20
		fmt.Fprintf(&small, "%s %v %d%s\n", kind, id, len(data), mac)
		if len(data) >= long && err == nil {
			if _, err = f.Write(small.Bytes()); err == nil {
				_, err = f.Write(data)
			}
			small.Reset()
		} else {
			small.Write(data)
		}
		small.WriteByte('\n')
	}
	small.Grow(min(len(record), 1<<20) + min(len(raw), 1<<20) + 300) // with the lines between
	if l.size == 0 {
		small.WriteString(logHead + l.provider + "\n")
	}
	if raw != nil {
		write(logAnswer, hash, raw, "")
	}
	for hash, data := range media {
		write(logMedium, hash, data, "")
	}
	mac := l.store.mac(logRecord, l.provider, record)
	if mac != "" {
		mac = " " + mac
	}
	write(logRecord, place, record, mac)
	if err == nil {
		_, err = f.Write(small.Bytes())
	}
	switch {
	case err != nil && l.size == 0: // a disk that is full has room for empty files
		err = errors.Join(err, f.Close())
		_, gone := l.Remove()
		l.file = ""
		return errors.Join(err, gone)
	case err != nil:
		return errors.Join(err, f.Truncate(l.size), f.Close())
	}
	info, err := f.Stat()
	if err == nil {
		l.info, l.size = info, info.Size()
	}
	return errors.Join(err, f.Close())
}

// Full reports whether what comes next belongs in another log: one is read into memory as a whole.
func (l *Log) Full() bool { return l.size >= l.store.maxBytes }

// logMost is how long a log may be: it was not full before its last answer.
func (s *Store) logMost() int64 { return 3 * min(s.maxBytes, math.MaxInt64/3) }

// open opens the file for what comes next, or makes it.
func (l *Log) open() (*lockedfile.File, error) {
	s := l.store
	if err := s.checkPending(); err != nil {
		return nil, err
	}
	if l.file == "" {
		return l.create()
	}
	f, err := lockedfile.OpenFile(s.path(l.file), os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Size() != l.size || !os.SameFile(info, l.info)) {
		err = ErrTaken
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// create makes the file, under a name that none had before, in a directory that git leaves alone.
func (l *Log) create() (*lockedfile.File, error) {
	s := l.store
	for n := time.Now().UnixMicro(); ; n++ {
		file := l.name + "." + strconv.FormatInt(n, 10) + logExt
		f, err := lockedfile.OpenFile(s.path(file), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			l.file = file
			return f, nil
		case errors.Is(err, fs.ErrNotExist):
			n--
			if err := s.makeDir(); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
	}
}

// makeDir makes the directory of pending answers. Git ignores it also where the store around it is not there yet.
func (s *Store) makeDir() error {
	err := os.Mkdir(s.dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(s.dir, 0o777)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(s.dir), ignoreName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(s.path(ignoreName), []byte(s.ignored()), 0o666)
}

// Remove removes the log, and the directory around it unless it has more. It reports whether somebody has taken what
// was in it.
func (l *Log) Remove() (taken bool, err error) {
	if l.file == "" {
		return false, nil
	}
	err = os.Remove(l.store.path(l.file))
	if taken = errors.Is(err, fs.ErrNotExist); taken {
		err = nil
	}
	l.store.removeEmpty()
	return taken, err
}

// removeEmpty removes the directory of pending answers if it has none. It needs no lock, as it removes no log.
func (s *Store) removeEmpty() {
	if os.Remove(s.dir) == nil {
		return
	}
	if entries, err := os.ReadDir(s.dir); err == nil && len(entries) == 1 && entries[0].Name() == ignoreName {
		_ = os.Remove(s.path(ignoreName))
		_ = os.Remove(s.dir)
	}
}

// Settle puts what change makes of the pending document of a test, with what all logs add to it but those of the run
// that settles, in the place of all of them, under the lock; doc is nil where there is none that can be read. A document
// without records is removed. It writes no journal: answers are written before the document, and that before logs go.
func (s *Store) Settle(name, provider string, own []*Log, change func(doc *Doc) (Put, error)) error {
	return s.exclusively(func(w within) error {
		if err := s.closeLogs(name); err != nil {
			return err
		}
		logs := s.logsOf(name)
		others := slices.DeleteFunc(slices.Clone(logs), func(file string) bool {
			return slices.ContainsFunc(own, func(l *Log) bool { return l.file == file })
		})
		doc, _ := s.locking().loadPending(name, provider, others)
		put, err := change(doc)
		if err != nil {
			return err
		}
		if len(put.Document.Snapshots) == 0 {
			err = w.discard(put.Provider, name, nil)
		} else {
			err = s.amend(w, doc, put)
		}
		for _, file := range logs {
			if err == nil {
				err = w.remove(file)
			}
		}
		return err
	})
}

// Gather puts what logs of pending answers have into the documents, for who opens these. A log that cannot be read stays.
func (s *Store) Gather() error {
	logs := s.logsOf("")
	if len(logs) == 0 {
		return nil
	}
	return s.exclusively(func(w within) error {
		var puts []*target
		done := ""
		for _, file := range logs {
			name, _ := parseLogFile(file)
			if name == done {
				continue
			}
			if done = name; s.closeLogs(name) != nil {
				continue
			}
			doc, err := s.locking().load(name, unknownProvider)
			if err != nil {
				continue
			}
			put := PutOf(name, doc.Records())
			doc.give(&put)
			t, err := s.target(put)
			if err != nil {
				return err
			}
			puts = append(puts, t)
		}
		return s.commit(w, puts, nil)
	})
}

func (s *Store) amend(w within, doc *Doc, put Put) error {
	doc.give(&put)
	t, err := s.target(put)
	if err != nil {
		return err
	}
	return w.amend(s, t)
}

// closeLogs has those who append to the logs of a test begin others: what is in them is decided on.
func (s *Store) closeLogs(name string) error {
	if name == "" {
		return nil
	}
	for _, file := range s.logsOf(name) {
		if info, err := os.Lstat(s.path(file)); err != nil || !info.Mode().IsRegular() {
			continue // which is for who reads it to say
		}
		f, err := lockedfile.OpenFile(s.path(file), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(logClosed)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
