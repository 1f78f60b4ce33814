// Package pack writes and verifies run export packs (MIO §7): directories with all calls of a run's tests and their
// answers. Others can verify and replay them without the repository.
//
//	run.json                                     what ran, how it ended, and the hash of every other file
//	tests.receipt                                what each test used, a line each, as tests leave it
//	config.json                                  of the store, if it has one: rules that replay needs too
//	sessions/<document>/model_io.json            the session of a test's calls (MIO)
//	documents/<provider>/<document>.json         the documents of the tests (SF)
//	refs/<64 hexadecimal digits>                 all that is named by its hash: raw answers, media, envelopes (LC)
//
// It holds only what is in receipts and store, and no time of its own, so equal runs make equal bytes.
//
// The rules of a pack, PK1 to PK12, are named as in the pack specification that MIO refers to, as far as they speak
// of what is here. A fault of a document has the name of the document's rule.
package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// The files at the top of a pack.
const (
	RunFile      = "run.json"
	ReceiptsFile = "tests" + usage.ReceiptExtension
	ConfigFile   = "config.json"
)

// RunVersion is the version of run.json that this package writes and reads.
const RunVersion = "1.0.0"

// A Run is what run.json says.
type Run struct {
	Files   map[string]canon.Hash `json:"files"`            // all files but run.json, by their paths in the pack
	Killed  []string              `json:"killed,omitempty"` // packages with a test process that died in the middle of its receipt
	Outcome string                `json:"outcome"`          // pass, or fail: a test failed, or a process was killed
	Version string                `json:"run_schema_version"`
	Tests   []Test                `json:"tests"` // by package and name
}

// A Test is a test of a run that had a recorder.
type Test struct {
	Document  *Document `json:"document,omitempty"`   // of its calls; absent: none is recorded
	Missing   int       `json:"missing,omitempty"`    // calls that no record answered
	NoSession string    `json:"no_session,omitempty"` // why its calls are no session: the rule of MIO, and what breaks it
	Outcome   string    `json:"outcome"`              // pass, fail or skip; of a test that ran several times the worst
	Package   string    `json:"package"`              // import path
	Session   *Session  `json:"session,omitempty"`    // absent: no call was answered, or see no_session
	Test      string    `json:"test"`                 // full name
}

// A Document is the document of a test.
type Document struct {
	File string     `json:"file"`
	Hash canon.Hash `json:"hash"` // its combined hash (SF "Combined Hash")
}

// A Session is the session of a test's calls.
type Session struct {
	Calls       []Call     `json:"calls"` // one for each interaction, in their order
	File        string     `json:"file"`
	ModelIOHash canon.Hash `json:"model_io_hash"` // MIO §4.4
}

// A Call is the record that an interaction comes from.
type Call struct {
	Hash      canon.Hash `json:"hash"` // its seal
	ID        string     `json:"id"`
	OutputRef canon.Hash `json:"output_ref,omitempty"` // ref: the normalized envelope of its answer (LC); absent: it is no generation
}

// Failed returns the tests that failed.
func (r *Run) Failed() (tests []Test) {
	for _, t := range r.Tests {
		if t.Outcome == "fail" {
			tests = append(tests, t)
		}
	}
	return tests
}

// places are the directories of a pack, and what their files are called.
var places = map[string]*regexp.Regexp{
	"sessions":  regexp.MustCompile(`^sessions/[a-z0-9][a-z0-9-]*/model_io\.json$`),
	"documents": regexp.MustCompile(`^documents/[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.json$`),
	"refs":      regexp.MustCompile(`^refs/[0-9a-f]{64}$`),
}

// isFile reports whether a pack can have a file of this path.
func isFile(path string) bool {
	top, _, nested := strings.Cut(path, "/")
	if !nested {
		return path == RunFile || path == ReceiptsFile || path == ConfigFile
	}
	return places[top] != nil && places[top].MatchString(path)
}

// isDir reports whether a pack can have a directory of this path.
func isDir(path string) bool {
	top, rest, nested := strings.Cut(path, "/")
	return places[top] != nil && (!nested || top != "refs" && !strings.Contains(rest, "/"))
}

func refFile(h canon.Hash) string { return "refs/" + h.Hex() }

// Write makes dir a directory that holds the pack of a run and nothing else. It may exist if it is empty or holds a
// pack, which is replaced as a whole: after an error it is as it was.
func Write(dir string, from Source) (*Run, error) {
	dir = filepath.Clean(dir)
	if err := vacant(dir); err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	defer os.RemoveAll(temp)
	run, err := fill(temp, from)
	if err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return nil, fmt.Errorf("write pack: %w", err)
	}
	return run, nil
}

// fill writes a pack into an empty directory.
func fill(dir string, from Source) (*Run, error) {
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp keeps others out
		return nil, err
	}
	run, err := build(from, func(file string, data []byte) error { return write(dir, file, data) })
	if err != nil {
		return nil, err
	}
	return run, write(dir, RunFile, run.encode())
}

func write(dir, file string, data []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// encode returns r as the bytes of run.json: canonical, with a line for each file and test.
func (r *Run) encode() []byte {
	text, _ := canon.Marshal(r) // texts and counts have a canonical form
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", " ")
	b.WriteByte('\n')
	return b.Bytes()
}

// vacant returns an error if dir holds what belongs to no pack.
func vacant(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	run := len(entries) == 0
	for _, entry := range entries {
		if entry.IsDir() && !isDir(entry.Name()) || !entry.IsDir() && !isFile(entry.Name()) {
			return fmt.Errorf("%s holds %s, which is of no pack: choose another directory", dir, entry.Name())
		}
		run = run || entry.Name() == RunFile
	}
	if !run {
		return fmt.Errorf("%s holds files and no %s, so it is no pack: choose another directory", dir, RunFile)
	}
	return nil
}

// A Source is what a pack is made of.
type Source struct {
	Store    func(usage.Receipt) (*store.Store, error) // the one that a test used; asked of those that have a document
	Receipts []usage.Receipt
	Killed   []string // packages with a receipt that ends in the middle of a line
}

// In returns the Store of a [Source] whose tests all use s.
func In(s *store.Store) func(usage.Receipt) (*store.Store, error) {
	return func(usage.Receipt) (*store.Store, error) { return s, nil }
}
