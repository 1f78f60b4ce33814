package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ReceiptEnv is the variable that names a directory in which tests leave receipts.
const ReceiptEnv = "TRACEFORGE_RECEIPT"

// ReceiptExtension is the extension of receipt files: one file for each test process, with one JSON line for each test
// with a recorder.
const ReceiptExtension = ".receipt"

// ReceiptVersion is the version of the lines that this package writes and package coverage reads.
const ReceiptVersion = 1

// A Receipt describes one run of one test.
type Receipt struct {
	Version int      `json:"receipt"`
	Package string   `json:"package"` // import path
	Test    string   `json:"test"`    // full name
	Outcome string   `json:"outcome"` // pass, fail or skip
	Mode    string   `json:"mode"`    // replay, update, all, new, tools, rekey, check or live
	Store   string   `json:"store"`   // the store's directory, relative to the module's root if it is inside
	Filters []string `json:"filters,omitempty"`
	Tags    string   `json:"tags,omitempty"`    // build tags
	Command string   `json:"command,omitempty"` // command of a program that traceforge exec ran

	// combined hash (SF) of the test's document at the end of the test; empty without one
	Document string `json:"document,omitempty"`

	// Ids of the test's records.
	Played   []string `json:"played,omitempty"`   // answered a call
	Recorded []string `json:"recorded,omitempty"` // recorded or confirmed in this run
	Unplayed []string `json:"unplayed,omitempty"` // in the store but not used

	Faults []string `json:"faults,omitempty"` // faults that the test injected into recorded answers, by call

	Missing int     `json:"missing,omitempty"` // number of calls that no record answers, of drifts too
	Drifts  []Drift `json:"drifts,omitempty"`  // the causes of a test's failure, call by call

	Update *Update `json:"update,omitempty"` // what a recording test did; nil if it recorded nothing
	Checks []Check `json:"checks,omitempty"` // results of a check
	Live   []Live  `json:"live,omitempty"`   // models that answered in place of the recording

	Gone []string `json:"gone,omitempty"` // models that their providers have retired, as sentences

	Sent []Sent `json:"sent,omitempty"` // what the calls sent, if the run asked for it
}

// A ReceiptWriter appends tests to the receipt of this process. It is safe for concurrent use. The file is created with
// the first test. Each test is written as one line in one write, so that after a crash all lines except possibly the
// last are complete.
type ReceiptWriter struct {
	mu   sync.Mutex
	file *os.File
}

// Add appends a test to the receipt in dir, which is created if necessary.
func (w *ReceiptWriter) Add(dir string, t Receipt) error {
	t.Version = ReceiptVersion
	line, _ := json.Marshal(t) // contains only texts and numbers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		name := t.Package[strings.LastIndexByte(t.Package, '/')+1:]
		file, err := os.CreateTemp(dir, name+"-*"+ReceiptExtension)
		if err != nil {
			return err
		}
		w.file = file
	}
	_, err := w.file.Write(append(line, '\n'))
	return err
}

// Leave appends a test to the receipt if the run asks for one. A relative directory is relative to root.
func (w *ReceiptWriter) Leave(root string, receipt func() Receipt) error {
	dir := os.Getenv(ReceiptEnv)
	if dir == "" {
		return nil
	}
	if name, ok := strings.CutPrefix(dir, "$"); ok { // as in Bazel, where only the test knows the directory
		if dir = os.Getenv(name); dir == "" {
			return fmt.Errorf("leaving a receipt: %s is $%s, which is not set", ReceiptEnv, name)
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	if err := w.Add(dir, receipt()); err != nil {
		return fmt.Errorf("leaving a receipt in %s: %w", dir, err)
	}
	return nil
}

// SentEnv is the variable that, set to 1, requests what the replayed calls sent, for export.
const SentEnv = "TRACEFORGE_SENT"

// A Sent is an HTTP request as its program sent it, without credentials.
type Sent struct {
	Record   string              `json:"record"` // id of the record that answered it
	Method   string              `json:"method"`
	URL      string              `json:"url"`
	Host     string              `json:"host"`
	Proto    string              `json:"proto"`
	Headers  []string            `json:"headers,omitempty"` // names of the headers
	Values   map[string][]string `json:"values,omitempty"`  // values of headers that describe the content
	Length   int64               `json:"length"`            // as stated in the request; -1 if it is not
	Encoding []string            `json:"encoding,omitempty"`
	Body     []byte              `json:"body,omitempty"`
	// a credential in its URL, or a value that rules replace, was left out
	Secret bool `json:"secret,omitempty"`
}

// The kinds of drift: [Drift.Kind].
const (
	Drifted  = "drifted"  // the call differs from the closest record
	Missing  = "missing"  // the call has no record
	Uncalled = "uncalled" // a record without a call
)

// A Drift is a call that a test's records do not answer, or a record without a call. Its texts contain no secrets, but
// may contain control characters, which whoever prints them must escape.
type Drift struct {
	Kind     string `json:"kind"`
	Record   string `json:"record,omitempty"` // id of the record; empty without one
	Call     int    `json:"call,omitempty"`   // number of the record in its document
	Provider string `json:"provider"`
	// file of the call, relative to the module's root; for a record, as it was recorded
	File     string        `json:"file,omitempty"`
	Line     int           `json:"line,omitempty"`
	Changes  []DriftChange `json:"changes,omitempty"`  // changes of a drifted call; empty if only ignored pointers changed
	Summary  []string      `json:"summary,omitempty"`  // for the other kinds, the request in a few lines
	Tokens   int64         `json:"tokens,omitempty"`   // input and output tokens of the record's answer; 0 if unknown
	Scripted bool          `json:"scripted,omitempty"` // a script answers the call, so accepting costs nothing
}

// A DriftChange is a changed component. Changes with the same key have one cause, in all calls, tests and processes.
type DriftChange struct {
	Key       string `json:"key"`
	Component string `json:"component"` // in words: "system", "message 2 (user) added"
	Kind      string `json:"kind"`      // without the parts that differ between calls: "user message"
	Removed   int    `json:"removed"`   // number of lines
	Added     int    `json:"added"`
	// Before and After are the two sides of the change. Large texts are reduced to the changed lines and their
	// surroundings. Only the first change with a key in a process has them. A side without the component is nil.
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// An Update describes how a recording test changed its document, by the ids of its records (design R11).
type Update struct {
	Kept    []string        `json:"kept,omitempty"`    // served from the store, unchanged
	Changed []ChangedRecord `json:"changed,omitempty"` // bought again, in place of a record
	New     []string        `json:"new,omitempty"`     // bought for calls without a record
	Removed []string        `json:"removed,omitempty"` // no longer called
	Rekeyed []ChangedRecord `json:"rekeyed,omitempty"` // answers that were adopted for a changed request or changed rules
	Pending []string        `json:"pending,omitempty"` // bought by a test that failed, and waiting for a decision
	// bought earlier for calls that the passing test does not make, and waiting for a decision
	Unasked []string `json:"unasked,omitempty"`

	// TokensIn and TokensOut are the tokens of the live calls in this run, as reported by their answers.
	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`

	// Adopted is the name of the document that the test's records come from, if the test was renamed; empty otherwise.
	Adopted string `json:"adopted,omitempty"`
}

// A ChangedRecord is a record whose request or answer has changed.
type ChangedRecord struct {
	ID         string   `json:"id"`
	Components []string `json:"components,omitempty"` // what changed, in words: "system", "answer", "scrub rules"
}

// Unasked says that n answers are waiting that no call asks for.
func Unasked(n int) string {
	if n == 1 {
		return "1 answer waits that no call asks for: traceforge reject"
	}
	return fmt.Sprintf("%d answers wait that no call asks for: traceforge reject", n)
}
