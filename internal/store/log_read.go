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

// logsOf returns the files of the logs of a test, in the order in which they were made; empty name means of all.
func (d logDir) logsOf(name string) (files []string, err error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list store: %w", err)
	}
	for _, e := range entries {
		of, n := parseLogFile(e.Name())
		switch {
		case n > 0 && (name == "" || of == name):
			files = append(files, e.Name())
		case filename.Legal(e.Name()) && !e.Type().IsRegular(): // of a provider, as in a store
			return nil, fmt.Errorf("%s is no log, and pending answers are in logs: delete it", d.In(e.Name()))
		}
	}
	inorder.By(files, func(a, b string) int {
		nameA, x := parseLogFile(a)
		nameB, y := parseLogFile(b)
		return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(x, y))
	})
	return files, nil
}

// listLogs returns the files of the documents that logs make, each in the directory of the provider that they name.
func (d logDir) listLogs() (files []string, err error) {
	logs, err := d.logsOf("")
	last := ""
	for _, file := range logs {
		name, _ := parseLogFile(file)
		if name == last {
			continue
		}
		f, err := d.toRead(file)
		if err != nil {
			continue // it has just gone
		}
		head := make([]byte, len(logHead)+filename.Most+1)
		n, _ := f.Read(head)
		f.Close()
		if n == 0 || bytes.HasPrefix(head[:n], []byte(logClosed)) {
			continue // nothing was ever in it
		}
		provider, _, _ := strings.Cut(strings.TrimPrefix(string(head[:n]), logHead), "\n")
		if !filename.Legal(provider) {
			provider = unknownProvider
		}
		files, last = append(files, DocumentFile(provider, name)), name
	}
	sort.Strings(files)
	return files, err
}

// unknownProvider stands for the one that a log does not name, which cannot be read.
const unknownProvider = "unknown"

// parseLogFile returns the document and the number of a log; 0 means it is none.
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

// loadLogs returns the document that logs of a test make.
func (d logDir) loadLogs(name string, logs []string) (*Doc, error) {
	if len(logs) == 0 {
		return nil, &fs.PathError{Op: "load document", Path: d.In(name), Err: fs.ErrNotExist}
	}
	doc := &Doc{Name: name, log: logs[0], store: d.Store, whole: map[string][]byte{}}
	blobs := map[canon.Hash][]byte{}
	var records []snapshot.Snapshot
	for _, file := range logs {
		more, err := d.readLog(name, file, blobs, &doc.Torn)
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
		return nil, d.failure(logs[0], "", snapshot.RulePending, nil, "has no whole answer: reject %s", name)
	}
	put := PutOf(name, records)
	doc.Provider, doc.Document = put.Provider, put.Document
	if err := doc.Document.Seal(); err != nil {
		return nil, err
	}
	for _, n := range Needs(doc.Document) {
		if data, ok := blobs[n.Hash]; ok {
			doc.whole[n.Own] = data
		}
	}
	if wrong := Misnamed(name, doc.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{File: d.In(logs[0]), Violations: wrong}
	}
	return doc, nil
}

// readLog returns the records of a log, each with its provider, in the order of their calls. It adds what is beside
// them to blobs. An entry that a kill cut short is left out, and sets torn.
func (d logDir) readLog(name, file string, blobs map[canon.Hash][]byte, torn *bool) ([]snapshot.Snapshot, error) {
	wrong := func(rule, format string, args ...any) error { return d.failure(file, "", rule, nil, format, args...) }
	info, err := os.Lstat(d.Path(file))
	if err == nil && !info.Mode().IsRegular() {
		return nil, wrong(snapshot.RuleStray, "%v", errIrregular)
	}
	f, err := d.toRead(file)
	if err != nil {
		return nil, fmt.Errorf("load pending answers: %w", err)
	}
	data, err := readAll(f, d.logMost())
	if err != nil {
		return nil, d.unreadable(file, err)
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
	own, begun := true, false // the parts of an answer, which its record ends
	for len(rest) > 0 {
		head, body, whole := bytes.Cut(rest, []byte("\n"))
		if begun = true; !whole {
			break
		}
		kind, id, size, mac, ok := parsePart(string(head))
		if !ok {
			return nil, wrong(snapshot.RuleValue, "has the line %q, which no traceforge writes: reject %s", jsontext.Excerpt(string(head)), name)
		}
		if int64(size) > d.maxBytes {
			return nil, d.unreadable(file, &tooLarge{int64(size), d.maxBytes})
		}
		if size >= len(body) {
			break
		}
		if kind == logRecord { // which has a seal
			place, _ := strconv.Atoi(id)
			lines, places, begun = append(lines, body[:size]), append(places, place), false
			own = own && mac != "" && d.signer().signed(mac, logRecord, provider, body[:size])
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
	if !own {
		if err := d.doubt(file, "holds answers that a test bought"); err != nil {
			return nil, err
		}
	}
	read, err := snapshot.ParseRecords(lines)
	var e *snapshot.Error
	if errors.As(err, &e) {
		e.File = d.In(file)
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
		records[n] = read.Snapshots[i]
		records[n].Provider = cmp.Or(records[n].Provider, provider)
		records[n].Continues = nil // Seal chooses it
	}
	return records, nil
}

// parsePart reads the line in front of a part of a log.
func parsePart(line string) (kind, id string, size int, mac string, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) == 4 && fields[0] == logRecord {
		mac, fields = fields[3], fields[:3]
	}
	if len(fields) != 3 {
		return "", "", 0, "", false
	}
	kind, id = fields[0], fields[1]
	size, err := strconv.Atoi(fields[2])
	_, place := strconv.Atoi(id)
	beside := (kind == logAnswer || kind == logMedium) && canon.Hash(id).Valid()
	return kind, id, size, mac, err == nil && size >= 0 && (beside || kind == logRecord && place == nil)
}
