package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ReceiptEnv is the variable that asks tests for receipts and names their directory.
const ReceiptEnv = "TRACEFORGE_RECEIPT"

// ReceiptExtension is that of the files of receipts: one for each test process, with one line of
// JSON for each test that had a recorder.
const ReceiptExtension = ".receipt"

// ReceiptVersion is the version of the lines that this package writes, and package coverage reads.
const ReceiptVersion = 1

// A Receipt says what one test did, in one run of it.
type Receipt struct {
	Version int      `json:"receipt"`
	Package string   `json:"package"` // import path
	Test    string   `json:"test"`    // full name
	Outcome string   `json:"outcome"` // pass, fail or skip
	Mode    string   `json:"mode"`    // replay, update, all, new, tools, rekey, check or live
	Store   string   `json:"store"`   // the store's directory, below the module's root where it is there
	Filters []string `json:"filters,omitempty"`
	Tags    string   `json:"tags,omitempty"`    // build tags
	Command string   `json:"command,omitempty"` // of a program that is no test: what traceforge exec ran

	Document string `json:"document,omitempty"` // combined hash (SF) of the test's document when the test ended; empty means none is recorded

	// Ids of the test's records.
	Played   []string `json:"played,omitempty"`   // answered a call
	Recorded []string `json:"recorded,omitempty"` // recorded in this run, or confirmed
	Unplayed []string `json:"unplayed,omitempty"` // in the store, and not used

	Faults []string `json:"faults,omitempty"` // that the test injected into recorded answers, by call

	Missing int     `json:"missing,omitempty"` // calls that no record answered
	Drifts  []Drift `json:"drifts,omitempty"`  // what a test failed for, call by call

	Update *Update `json:"update,omitempty"` // what a test that recorded did; nil means it recorded nothing
	Checks []Check `json:"checks,omitempty"` // what a test found that was held against live answers
	Live   []Live  `json:"live,omitempty"`   // what answered in place of the tape

	Gone []string `json:"gone,omitempty"` // which models their providers no longer have, as sentences

	Sent []Sent `json:"sent,omitempty"` // what the calls sent, where the run was asked for it
}

// A ReceiptWriter adds tests to the receipt of this process. It is safe for concurrent use. The file
// is made with the first test. Each test is one line in one write, so that a process that dies
// leaves whole lines, except maybe its last.
type ReceiptWriter struct {
	mu   sync.Mutex
	file *os.File
}

// Add appends a test to the receipt in dir, which is made if it is not there.
func (w *ReceiptWriter) Add(dir string, t Receipt) error {
	t.Version = ReceiptVersion
	line, _ := json.Marshal(t) // of texts and numbers
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

// Leave adds a test to the receipt, where the run asks for one. A directory that is not absolute is below root.
func (w *ReceiptWriter) Leave(root string, receipt func() Receipt) error {
	dir := os.Getenv(ReceiptEnv)
	if dir == "" {
		return nil
	}
	if name, ok := strings.CutPrefix(dir, "$"); ok { // as in Bazel, where a directory has its name only in the test
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

// SentEnv is the variable that, set to 1, asks for what the replayed calls sent: for export.
const SentEnv = "TRACEFORGE_SENT"

// A Sent is a request over HTTP as its program sent it, without credentials.
type Sent struct {
	Record   string              `json:"record"` // id of the record that answered it
	Method   string              `json:"method"`
	URL      string              `json:"url"`
	Host     string              `json:"host"`
	Proto    string              `json:"proto"`
	Headers  []string            `json:"headers,omitempty"` // their names
	Values   map[string][]string `json:"values,omitempty"`  // of those that say what is asked for and sent
	Length   int64               `json:"length"`            // as the request has it; -1: it does not say
	Encoding []string            `json:"encoding,omitempty"`
	Body     []byte              `json:"body,omitempty"`
	Secret   bool                `json:"secret,omitempty"` // it had a credential in its URL, or what rules replace, which is left out
}
