package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

const manifestName = "manifest.json"

// The lines of a manifest (SF "Manifest File"). There is one spelling, so that a manifest
// can be searched without being parsed.
const (
	lineOpen      = `{`
	lineVersion   = `  "version": "` + Version + `",`
	lineSnapshots = `  "snapshots": [`
	lineEnd       = `  ],`
	lineClose     = `}`

	createdAtOpen = `  "created_at": "`
	updatedAtOpen = `  "updated_at": "`
	timeClose     = `",`

	manifestHashOpen  = `  "hash": "`
	manifestHashClose = `"`

	headLines = 5 // lines before the first entry
	tailSize  = len(lineEnd) + 1 + len(manifestHashOpen) + hashLen + len(manifestHashClose) + 1 + len(lineClose) + 1
)

// An entry's line is these and the values between them, then entryClose, and a comma where
// another one follows.
const (
	entryOpen     = `    {"id":"`
	entryProvider = `","provider":"`
	entryFile     = `","file":"`
	entryHash     = `","hash":"`
	entryClose    = `"}`
)

// entryLineMost is the length of the longest line of an entry, with its line break.
const entryLineMost = len(entryOpen+entryProvider+entryFile+entryHash+entryClose+",\n") + 4*idMost + len("/.json") + hashLen

func entryFileOf(provider, id string) string { return provider + "/" + id + ".json" }

func (e Entry) appendLine(b []byte) []byte {
	b = append(append(b, entryOpen...), e.ID...)
	b = append(append(b, entryProvider...), e.Provider...)
	b = append(append(b, entryFile...), e.File...)
	b = append(append(b, entryHash...), e.Hash...)
	return append(b, entryClose...)
}

// clone returns e without the text that it was read from.
func (e Entry) clone() Entry {
	file := strings.Clone(e.File)
	return Entry{
		ID:       file[len(e.Provider)+1 : len(file)-len(".json")],
		Provider: file[:len(e.Provider)],
		File:     file,
		Hash:     canon.Hash(strings.Clone(string(e.Hash))),
	}
}

// check says what is wrong with e, or nothing.
func (e Entry) check() string {
	if must := checkID(e.ID); must != "" {
		return fmt.Sprintf("id %q must be %s", e.ID, must)
	}
	if must := checkProvider(e.Provider); must != "" {
		return fmt.Sprintf("provider %q must be %s", e.Provider, must)
	}
	if !e.namesFile() {
		return fmt.Sprintf("file %q must be %s", e.File, entryFileOf(e.Provider, e.ID))
	}
	if !e.Hash.Valid() {
		return fmt.Sprintf("hash %q must be sha256: and 64 lower-case hexadecimal digits", e.Hash)
	}
	return ""
}

// namesFile reports whether the file is what provider and id ask for.
func (e Entry) namesFile() bool {
	rest, ok := strings.CutPrefix(e.File, e.Provider)
	if !ok {
		return false
	}
	if rest, ok = strings.CutPrefix(rest, "/"); !ok {
		return false
	}
	rest, ok = strings.CutPrefix(rest, e.ID)
	return ok && rest == ".json"
}

// parseEntry reads an entry's line, with or without its comma and line break.
func parseEntry(line string) (Entry, error) {
	var values [4]string
	rest := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), ",")
	ok := true
	for i, opening := range [...]string{entryOpen, entryProvider, entryFile, entryHash} {
		if rest, ok = strings.CutPrefix(rest, opening); !ok {
			break
		}
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			ok = false
			break
		}
		values[i], rest = rest[:end], rest[end:]
	}
	e := Entry{values[0], values[1], values[2], canon.Hash(values[3])}
	if !ok || rest != entryClose {
		return e, errors.New("is no entry as traceforge writes them")
	}
	if wrong := e.check(); wrong != "" {
		return e, errors.New(wrong)
	}
	return e, nil
}

func compareEntries(a, b Entry) int { return cmp.Compare(a.File, b.File) }

// encode returns the bytes of the manifest's file.
func (m *Manifest) encode() []byte {
	b := make([]byte, 0, 256+len(m.Snapshots)*entryLineMost*2/3)
	line := func(parts ...string) {
		for _, part := range parts {
			b = append(b, part...)
		}
		b = append(b, '\n')
	}
	line(lineOpen)
	line(lineVersion)
	line(createdAtOpen, formatTime(m.CreatedAt), timeClose)
	line(updatedAtOpen, formatTime(m.UpdatedAt), timeClose)
	line(lineSnapshots)
	for i, e := range m.Snapshots {
		b = e.appendLine(b)
		if i < len(m.Snapshots)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	line(lineEnd)
	line(manifestHashOpen, string(m.Hash), manifestHashClose)
	line(lineClose)
	return b
}

// combinedHash returns the hash that the manifest must have.
func (m *Manifest) combinedHash() canon.Hash {
	return combinedHash(m.Version, func(yield func(canon.Hash) bool) {
		for _, e := range m.Snapshots {
			if !yield(e.Hash) {
				return
			}
		}
	})
}

// parseManifest reads a manifest, strictly. An error is an [*Error] without File; the
// manifest returned beside it has what could be read.
func parseManifest(data []byte) (*Manifest, error) {
	m := &Manifest{}
	err := m.parse(string(data))
	if err == nil {
		return m, nil
	}
	if line := conflictLine(data); line > 0 {
		err = newError("", "", ruleConflict, "line %d is a conflict marker of a merge", line)
	}
	return m, err
}

func (m *Manifest) parse(text string) error {
	body, err := m.parseHead(text)
	if err != nil {
		return err
	}
	if body, err = m.parseTail(body); err != nil {
		return err
	}
	m.Snapshots = make([]Entry, 0, strings.Count(body, "\n"))
	var found []Violation
	n := headLines
	for line := range strings.Lines(body) {
		n++
		e, err := parseEntry(line)
		if last := len(m.Snapshots) - 1; err == nil && last >= 0 {
			err = inOrder(m.Snapshots[last], e)
		}
		if comma := strings.HasSuffix(line, ",\n"); err == nil && comma != (len(body) > len(line)) {
			err = errors.New("must end with a comma if and only if another entry follows")
		}
		body = body[len(line):]
		if err != nil {
			found = append(found, malformed(n, "%v", err))
			continue
		}
		m.Snapshots = append(m.Snapshots, e)
	}
	if n == headLines {
		found = append(found, malformed(n+1, "must be an entry: a store without records has no manifest"))
	}
	if len(found) > 0 {
		return &Error{Violations: found}
	}
	if want := m.combinedHash(); m.Hash != want {
		return newError("", "/hash", ruleManifest, "%s", disagreement(m.Hash, want))
	}
	return nil
}

// parseHead reads the lines before the entries, and returns what follows them.
func (m *Manifest) parseHead(text string) (rest string, err error) {
	var lines [headLines]string
	for n := range lines {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return "", &Error{Violations: []Violation{malformed(n+1, "is not complete")}}
		}
		lines[n], text = line, rest
	}
	if v, ok := cutAround(lines[1], `  "version": "`, `",`); ok && v != Version {
		return "", newError("", "/version", ruleVersion, "%s", rejection(v))
	}
	m.Version = Version
	var found []Violation
	for n, want := range []string{lineOpen, lineVersion, "", "", lineSnapshots} {
		if want != "" && lines[n] != want {
			found = append(found, malformed(n+1, "must be %s", want))
		}
	}
	for n, at := range []*time.Time{2: &m.CreatedAt, 3: &m.UpdatedAt} {
		if at == nil {
			continue
		}
		opening := createdAtOpen
		if n == 3 {
			opening = updatedAtOpen
		}
		value, ok := cutAround(lines[n], opening, timeClose)
		if *at, err = parseTime(value); err != nil || !ok {
			found = append(found, malformed(n+1, "must be %s, a time in UTC and %s", opening, timeClose))
		}
	}
	if len(found) > 0 {
		return "", &Error{Violations: found}
	}
	return text, nil
}

// parseTail reads the lines after the entries, and returns what precedes them.
func (m *Manifest) parseTail(text string) (rest string, err error) {
	rest, tail := text[:max(0, len(text)-tailSize)], text[max(0, len(text)-tailSize):]
	hash, ok := cutAround(tail, lineEnd+"\n"+manifestHashOpen, manifestHashClose+"\n"+lineClose+"\n")
	if m.Hash = canon.Hash(hash); !ok || !m.Hash.Valid() || rest != "" && rest[len(rest)-1] != '\n' {
		return "", newError("", "", ruleManifest, "must end with the lines %s, %s…%s and %s", lineEnd, manifestHashOpen, manifestHashClose, lineClose)
	}
	return rest, nil
}

func malformed(line int, format string, args ...any) Violation {
	return Violation{"", ruleManifest, "line " + strconv.Itoa(line) + " " + fmt.Sprintf(format, args...)}
}

// inOrder returns an error unless a stands before b.
func inOrder(a, b Entry) error {
	if a.File < b.File {
		return nil
	}
	return fmt.Errorf("has %s, which must not stand after %s", b.File, a.File)
}

// cutAround returns what is between opening and closing, which are all else of s.
func cutAround(s, opening, closing string) (string, bool) {
	s, ok := strings.CutPrefix(s, opening)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, closing)
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err == nil && formatTime(t) != s {
		err = fmt.Errorf("%q is another spelling of %s", s, formatTime(t))
	}
	return t, err
}
