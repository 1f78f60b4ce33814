package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// logsOf returns the files of a test's logs in the order of their creation; of all logs if name is empty. That is the
// order of their numbers, not of their names: times in a bubble of testing/synctest have fewer digits.
func (d logDir) logsOf(name string) (files []string, err error) {
	entries, err := os.ReadDir(d.store.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list store: %w", err)
	}
	for _, e := range entries {
		of, n := parseLogFile(e.Name())
		switch {
		case n > 0 && (name == "" || of == name):
			files = append(files, e.Name())
		case filename.Legal(e.Name()) && !e.Type().IsRegular(): // a provider's directory, as in a store
			return nil, fmt.Errorf("%s is no log, and pending answers are in logs: delete it", d.store.Shown(e.Name()))
		}
	}
	inorder.By(files, func(a, b string) int {
		nameA, x := parseLogFile(a)
		nameB, y := parseLogFile(b)
		return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(x, y))
	})
	return files, nil
}

// listLogs returns the files of the documents in logs, each in the directory of the provider that the log names.
func (d logDir) listLogs() (files []string, err error) {
	logs, err := d.logsOf("")
	last := ""
	for _, file := range logs {
		name, _ := parseLogFile(file)
		if name == last {
			continue
		}
		f, err := d.store.toRead(file)
		if err != nil {
			continue // it was just removed
		}
		head := make([]byte, len(logHead)+filename.Most+1)
		n, _ := f.Read(head)
		f.Close()
		if n == 0 || bytes.HasPrefix(head[:n], []byte(logClosed)) {
			continue // it was always empty
		}
		provider, _, _ := strings.Cut(strings.TrimPrefix(string(head[:n]), logHead), "\n")
		if !filename.Legal(provider) {
			provider = UnknownProvider
		}
		files, last = append(files, DocumentFile(provider, name)), name
	}
	sort.Strings(files)
	return files, err
}

// UnknownProvider stands for the provider of a log that names none. Load looks for its document under all providers.
const UnknownProvider = "unknown"

// parseLogFile returns the document and the number in a log's name; 0 if it is not a log.
func parseLogFile(file string) (name string, n int64) {
	stem, isLog := strings.CutSuffix(file, logExt)
	name, number, _ := strings.Cut(stem, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if !isLog || err != nil || n < 1 || strconv.FormatInt(n, 10) != number || !filename.LegalDocument(name) {
		return "", 0
	}
	return name, n
}

func logFile(name string, n int64) string { return name + "." + strconv.FormatInt(n, 10) + logExt }

// loadLogs returns the document in the logs of a test.
func (d logDir) loadLogs(name string, logs []string) (*Doc, error) {
	if len(logs) == 0 {
		return nil, &fs.PathError{Op: "load document", Path: d.store.Shown(name), Err: fs.ErrNotExist}
	}
	r := &logReader{dir: d, name: name, beside: map[canon.Hash][]byte{}}
	for _, file := range logs {
		if err := r.read(file); err != nil {
			return nil, err
		}
	}
	if len(r.records) == 0 {
		return nil, d.store.failure(logs[0], "", snapshot.RulePending, nil, "has no whole answer: reject %s", name)
	}
	put := PutOf(name, r.records)
	if err := put.Document.Seal(); err != nil {
		return nil, err
	}
	doc := &Doc{Provider: put.Provider, Name: name, Document: put.Document, Torn: r.torn, Log: d.store.Shown(logs[0]),
		store: d.store, whole: r.beside}
	if wrong := Misnamed(name, doc.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{File: d.store.Shown(logs[0]), Violations: wrong}
	}
	return doc, nil
}

// A logReader reads the logs of a test.
type logReader struct {
	dir     logDir
	name    string
	records []snapshot.Snapshot   // each with its provider
	beside  map[canon.Hash][]byte // the answers and the media
	torn    bool                  // a truncated entry was left out
}

// A logPart is a part of a log: a record, or a file that belongs to one.
type logPart struct {
	kind, of string // of is the number of the record's call, or the hash of the file
	mac      string // of a record; empty if it has none
	data     []byte
	record   snapshot.Snapshot
}

// place returns the number of a record's call.
func (p *logPart) place() int { n, _ := strconv.Atoi(p.of); return n }

// read reads a log, in which the files of a record come before it.
func (r *logReader) read(file string) error {
	text, err := r.dir.text(file)
	if err != nil {
		return err
	}
	head, rest, ended := bytes.Cut(text, []byte("\n"))
	provider, isLog := strings.CutPrefix(string(head), logHead)
	if ended && (!isLog || !filename.Legal(provider)) {
		return r.dir.store.failure(file, "", snapshot.RuleValue, nil, "is no file of pending answers: remove it")
	}
	var records []logPart
	for len(rest) > 0 {
		var p *logPart
		if p, rest, err = r.cut(file, rest); err != nil {
			return err
		}
		if ended = p != nil && p.kind == logRecord; ended {
			records = append(records, *p)
		} else if p != nil {
			r.beside[canon.Hash(p.of)] = p.data
		}
	}
	r.torn = r.torn || !ended
	return r.add(file, provider, records)
}

// text returns the content of a log without the lines that close it.
func (d logDir) text(file string) ([]byte, error) {
	if info, err := os.Lstat(d.store.Path(file)); err == nil && !info.Mode().IsRegular() {
		return nil, d.store.unreadable(file, errIrregular)
	}
	f, err := d.store.toRead(file)
	if err != nil {
		return nil, fmt.Errorf("load pending answers: %w", err)
	}
	data, err := readAll(f, d.logMost())
	if err != nil {
		return nil, d.store.unreadable(file, err)
	}
	for closed := true; closed; {
		data, closed = bytes.CutSuffix(data, []byte(logClosed))
	}
	return data, nil
}

// cut returns the first part of a text, and the rest of the text; nil if the part is truncated.
func (r *logReader) cut(file string, text []byte) (p *logPart, rest []byte, err error) {
	line, body, whole := bytes.Cut(text, []byte("\n"))
	if !whole {
		return nil, nil, nil
	}
	p, size := parsePart(string(line))
	switch {
	case p == nil:
		return nil, nil, r.dir.store.failure(file, "", snapshot.RuleValue, nil,
			"has the line %q, which no traceforge writes: reject %s", jsontext.Excerpt(string(line)), r.name)
	case size >= len(body): // a part is followed by a newline
		return nil, nil, nil
	}
	if p.data = body[:size]; p.kind != logRecord { // a record has a seal
		if got := canon.Sum(p.data); string(got) != p.of {
			return nil, nil, r.dir.store.failure(file, "", snapshot.RuleRaw, nil,
				"has an answer of the hash %s where it says %s: reject %s", got, p.of, r.name)
		}
	}
	return p, body[size+1:], nil
}

// parsePart parses the line before a part; nil if no traceforge writes such a line.
func parsePart(line string) (p *logPart, size int) {
	fields := strings.Split(line, " ")
	if len(fields) == 3 {
		fields = append(fields, "")
	} else if len(fields) != 4 || fields[0] != logRecord {
		return nil, 0
	}
	p = &logPart{kind: fields[0], of: fields[1], mac: fields[3]}
	size, err := strconv.Atoi(fields[2])
	_, noPlace := strconv.Atoi(p.of)
	beside := (p.kind == logAnswer || p.kind == logMedium) && canon.Hash(p.of).Valid()
	if err != nil || size < 0 || !beside && (p.kind != logRecord || noPlace != nil) {
		return nil, 0
	}
	return p, size
}

// add adds the records of a log in the order of their calls. A record replaces an earlier one with its id.
func (r *logReader) add(file, provider string, parts []logPart) error {
	own, lines := true, make([][]byte, len(parts))
	for i, p := range parts {
		lines[i], own = p.data, own && r.dir.store.signer().signed(p.mac, logRecord, provider, p.data)
	}
	if !own {
		if err := r.dir.store.doubt(file, "holds answers that a test bought"); err != nil {
			return err
		}
	}
	read, err := snapshot.ParseRecords(lines)
	if err != nil {
		if e := (*snapshot.Error)(nil); errors.As(err, &e) {
			e.File = r.dir.store.Shown(file)
		}
		return err
	}
	for i := range parts {
		parts[i].record = read.Snapshots[i]
	}
	inorder.By(parts, func(a, b logPart) int { return cmp.Compare(a.place(), b.place()) })
	for _, p := range parts {
		p.record.Provider = cmp.Or(p.record.Provider, provider)
		p.record.Continues = nil // chosen by Seal
		at := slices.IndexFunc(r.records, func(other snapshot.Snapshot) bool { return other.ID == p.record.ID })
		if at < 0 {
			r.records = append(r.records, p.record)
		} else {
			r.records[at] = p.record
		}
	}
	return nil
}
