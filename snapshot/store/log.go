package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/internal/filename"
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
	write := func(kind string, id any, data []byte) {
		const long = 1 << 20
		fmt.Fprintf(&small, "%s %v %d\n", kind, id, len(data))
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
		write(logAnswer, hash, raw)
	}
	for hash, data := range media {
		write(logMedium, hash, data)
	}
	write(logRecord, place, record)
	if err == nil {
		_, err = f.Write(small.Bytes())
	}
	if err != nil {
		return errors.Join(err, f.Truncate(l.size), f.Close())
	}
	info, err := f.Stat()
	if err == nil {
		l.info, l.size = info, info.Size()
	}
	return errors.Join(err, f.Close())
}

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
	return w.amend(t)
}

// logsOf returns the files of the logs of a test, in the order in which they were made; empty: of all.
func (s *Store) logsOf(name string) (files []string) {
	if !s.isPending() {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		if of, n := parseLogFile(e.Name()); n > 0 && (name == "" || of == name) {
			files = append(files, e.Name())
		}
	}
	inorder.By(files, func(a, b string) int {
		nameA, x := parseLogFile(a)
		nameB, y := parseLogFile(b)
		return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(x, y))
	})
	return files
}

// addLogs adds to the files of pending documents, which are sorted, those of which there are only logs: as if they were
// in the directory of the provider that these name.
func (s *Store) addLogs(files []string) []string {
	for _, file := range s.logsOf("") {
		name, _ := parseLogFile(file)
		if slices.ContainsFunc(files, func(other string) bool { return strings.HasSuffix(other, "/"+name+documentExt) }) {
			continue
		}
		f, err := os.Open(s.path(file))
		if err != nil {
			continue // it has just gone
		}
		head := make([]byte, len(logHead)+filename.Most+1)
		n, _ := f.Read(head)
		f.Close()
		provider, _, _ := strings.Cut(strings.TrimPrefix(string(head[:n]), logHead), "\n")
		if !filename.Legal(provider) {
			provider = unknownProvider
		}
		files = append(files, documentFile(provider, name))
	}
	sort.Strings(files)
	return files
}

// unknownProvider stands for the one that a log does not name, which cannot be read.
const unknownProvider = "unknown"

// parseLogFile returns the document and the number of a log; 0: it is none.
func parseLogFile(file string) (name string, n int64) {
	stem, isLog := strings.CutSuffix(file, logExt)
	name, number, _ := strings.Cut(stem, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if !isLog || err != nil || n < 1 || strconv.FormatInt(n, 10) != number || !filename.Legal(name) {
		return "", 0
	}
	return name, n
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

// loadPending is load of pending answers: the document, with what logs add to it.
func (s *Store) loadPending(name, provider string, logs []string) (*Doc, error) {
	doc, missing := s.loadFile(name, provider)
	if errors.Is(missing, fs.ErrNotExist) && len(logs) > 0 {
		providers, err := s.providers()
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(providers) && errors.Is(missing, fs.ErrNotExist); i++ {
			doc, missing = s.loadFile(name, providers[i])
		}
	}
	if len(logs) == 0 || missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		return doc, missing
	}
	if doc == nil {
		doc = &Doc{Name: name, store: s}
	}
	whole := &Doc{Name: name, store: s, whole: map[string][]byte{}}
	blobs := map[canon.Hash][]byte{}
	var records []snapshot.Snapshot
	if doc.Document != nil {
		records = doc.Records()
	}
	for _, file := range logs {
		more, err := s.readLog(name, file, blobs, &whole.Torn)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			at := slices.IndexFunc(records, func(other snapshot.Snapshot) bool { return other.ID == r.ID })
			if at < 0 {
				records = append(records, r)
			} else {
				records[at] = r
			}
		}
	}
	if len(records) == 0 {
		return nil, s.failure(logs[0], "", snapshot.RulePending, nil, "has no whole answer: reject %s", name)
	}
	put := PutOf(name, records)
	whole.Provider, whole.Document = put.Provider, put.Document
	if err := whole.Document.Seal(); err != nil {
		return nil, err
	}
	for _, n := range needs(whole.Document) {
		if data, ok := blobs[n.hash]; ok {
			whole.whole[n.own] = data
		}
	}
	if wrong := misnamed(name, whole.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{File: s.in(logs[0]), Violations: wrong}
	}
	return whole, nil
}

// readLog returns the records of a log, each with its provider, in the order of their calls. It adds what is beside
// them to blobs. What a kill cut short is left out, and torn set.
func (s *Store) readLog(name, file string, blobs map[canon.Hash][]byte, torn *bool) ([]snapshot.Snapshot, error) {
	wrong := func(rule, format string, args ...any) error { return s.failure(file, "", rule, nil, format, args...) }
	info, err := os.Lstat(s.path(file))
	if err == nil && !info.Mode().IsRegular() {
		return nil, wrong(snapshot.RuleStray, "%v", errIrregular)
	}
	if err == nil && s.tracked(file) {
		return nil, wrong(snapshot.RuleStray, "is tracked by git, so that it was not bought here: git rm -r -- %s", s.name)
	}
	data, err := os.ReadFile(s.path(file))
	if err != nil {
		return nil, fmt.Errorf("load pending answers: %w", err)
	}
	for closed := true; closed; {
		data, closed = bytes.CutSuffix(data, []byte(logClosed))
	}
	head, rest, whole := bytes.Cut(data, []byte("\n"))
	provider, isLog := strings.CutPrefix(string(head), logHead)
	if !whole {
		*torn = true
		return nil, nil
	}
	if !isLog || !filename.Legal(provider) {
		return nil, wrong(snapshot.RuleValue, "is no file of pending answers: remove it")
	}
	var lines [][]byte
	var places []int
	begun := false // the parts of an answer, which its record ends
	for len(rest) > 0 {
		head, body, whole := bytes.Cut(rest, []byte("\n"))
		if begun = true; !whole {
			break
		}
		kind, id, size, ok := parsePart(string(head))
		if !ok {
			return nil, wrong(snapshot.RuleValue, "has the line %q, which no traceforge writes: reject %s", jsontext.Excerpt(string(head)), name)
		}
		if int64(size) > s.maxBytes {
			return nil, s.unreadable(file, &tooLarge{int64(size), s.maxBytes})
		}
		if size >= len(body) {
			break
		}
		if kind == logRecord { // which has a seal
			place, _ := strconv.Atoi(id)
			lines, places, begun = append(lines, body[:size]), append(places, place), false
		} else if got := canon.Sum(body[:size]); string(got) != id {
			return nil, wrong(snapshot.RuleRaw, "has an answer of the hash %s where it says %s: reject %s", got, id, name)
		} else {
			blobs[got] = body[:size]
		}
		rest = body[size+1:]
	}
	if *torn = *torn || begun; len(lines) == 0 {
		return nil, nil
	}
	d, err := snapshot.ParseRecords(lines)
	var e *snapshot.Error
	if errors.As(err, &e) {
		e.File = s.in(file)
	}
	if err != nil {
		return nil, err
	}
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	inorder.By(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	records := make([]snapshot.Snapshot, len(order))
	for n, i := range order {
		records[n] = d.Snapshots[i]
		records[n].Provider = cmp.Or(records[n].Provider, provider)
		records[n].Continues = nil // Seal chooses it
	}
	return records, nil
}

// parsePart reads the line in front of a part of a log.
func parsePart(line string) (kind, id string, size int, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return "", "", 0, false
	}
	kind, id = fields[0], fields[1]
	size, err := strconv.Atoi(fields[2])
	_, place := strconv.Atoi(id)
	beside := (kind == logAnswer || kind == logMedium) && canon.Hash(id).Valid()
	return kind, id, size, err == nil && size >= 0 && (beside || kind == logRecord && place == nil)
}

// give adds to a put what is beside d, as the files of some of that are in logs.
func (d *Doc) give(p *Put) {
	if d == nil || len(d.whole) == 0 {
		return
	}
	raw, media := map[int][]byte{}, map[canon.Hash][]byte{}
	for _, n := range needs(d.Document) {
		data, ok := d.whole[n.own]
		switch {
		case !ok:
		case n.rule == snapshot.RuleRaw:
			raw[rawNumber(n.own)] = data
		default:
			media[n.hash] = data
		}
	}
	maps.Copy(raw, p.Raw)
	maps.Copy(media, p.Media)
	p.Raw, p.Media = raw, media
}
