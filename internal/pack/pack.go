// Package pack writes and verifies run export packs (MIO §7): directories with all calls of a run's tests and their
// answers. Others can verify and replay a pack without the repository.
//
//	run.json                                     what ran, how it ended, and the hash of every other file
//	tests.receipt                                what each test used, a line each, as tests leave it
//	config.json                                  of the store, if it has one: rules that replay needs too
//	sessions/<document>/model_io.json            the session of a test's calls (MIO)
//	documents/<provider>/<document>.json         the documents of the tests (SF)
//	refs/<64 hexadecimal digits>                 all that is named by its hash: raw answers, media, envelopes (LC)
//
// A pack contains only data from receipts and the store, and no time of its own, so that equal runs give equal bytes.
//
// The rules of a pack, PK1 to PK12, have the names of the pack specification that MIO refers to, as far as they apply
// here. A fault of a document is reported under the document's rule.
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

// A Run is the content of run.json.
type Run struct {
	Files map[string]canon.Hash `json:"files"` // all files except run.json, by their paths in the pack
	// packages with a test process that died while writing its receipt
	Killed  []string `json:"killed,omitempty"`
	Outcome string   `json:"outcome"` // pass or fail; fail if a test failed or a process was killed
	Version string   `json:"run_schema_version"`
	Tests   []Test   `json:"tests"` // by package and name
}

// A Test is a test with a recorder.
type Test struct {
	Document *Document `json:"document,omitempty"` // absent if no call is recorded
	Missing  int       `json:"missing,omitempty"`  // calls without a record
	// why its calls do not form a session: the rule of MIO, and what breaks it
	NoSession string   `json:"no_session,omitempty"`
	Outcome   string   `json:"outcome"`           // pass, fail or skip; the worst if the test ran several times
	Package   string   `json:"package"`           // import path
	Session   *Session `json:"session,omitempty"` // absent if no call was answered, and with no_session
	Test      string   `json:"test"`              // full name
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

// A Call is the record of an interaction.
type Call struct {
	Hash canon.Hash `json:"hash"` // its seal
	ID   string     `json:"id"`
	// ref: the normalized envelope of its answer (LC); absent if it is not a generation
	OutputRef canon.Hash `json:"output_ref,omitempty"`
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

// places are the directories of a pack, with the names of their files.
var places = map[string]*regexp.Regexp{
	"sessions":  regexp.MustCompile(`^sessions/[a-z0-9][a-z0-9-]*/model_io\.json$`),
	"documents": regexp.MustCompile(`^documents/[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.json$`),
	"refs":      regexp.MustCompile(`^refs/[0-9a-f]{64}$`),
}

// isFile reports whether a pack may contain a file with this path.
func isFile(path string) bool {
	top, _, nested := strings.Cut(path, "/")
	if !nested {
		return path == RunFile || path == ReceiptsFile || path == ConfigFile
	}
	return places[top] != nil && places[top].MatchString(path)
}

// isDir reports whether a pack may contain a directory with this path.
func isDir(path string) bool {
	top, rest, nested := strings.Cut(path, "/")
	return places[top] != nil && (!nested || top != "refs" && !strings.Contains(rest, "/"))
}

func refFile(h canon.Hash) string { return "refs/" + h.Hex() }

// Write makes dir a directory with only the pack of a run. dir may exist if it is empty or contains a pack, which is
// replaced as a whole: after an error it is unchanged.
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
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp lets no other user in
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

// encode returns r as the content of run.json: canonical, with one line for each file and test.
func (r *Run) encode() []byte {
	text, _ := canon.Marshal(r) // texts and counts always have a canonical form
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", " ")
	b.WriteByte('\n')
	return b.Bytes()
}

// vacant returns an error if dir contains anything that does not belong to a pack.
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

// A Source is the input for a pack.
type Source struct {
	// returns the store that a test used; called for tests with a document
	Store    func(usage.Receipt) (*store.Store, error)
	Receipts []usage.Receipt
	Killed   []string // packages with a receipt that ends in the middle of a line
}

// In returns the Store function of a [Source] whose tests all use s.
func In(s *store.Store) func(usage.Receipt) (*store.Store, error) {
	return func(usage.Receipt) (*store.Store, error) { return s, nil }
}
