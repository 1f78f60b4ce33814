package traceforgetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// keepsArtifacts reports whether the run keeps what tests leave in their directories of artifacts, as Go 1.26 and later
// can.
func keepsArtifacts() bool { return flagText("test.artifacts") == "true" }

// artifacts returns the directory that go test -artifacts keeps of the test; empty means that it has none.
func (r *Recorder) artifacts() (dir string) {
	defer func() { _ = recover() }() // a framework's testing.TB that is nil underneath
	if keeper, ok := r.t.(interface{ ArtifactDir() string }); ok && keepsArtifacts() {
		dir = keeper.ArtifactDir()
	}
	return dir
}

// keepMiss keeps a request that no record answers as request-N.json, with N from 1 on. The recorded request that it
// is held against is recorded-N.json, so that diff shows what changed.
func (r *Recorder) keepMiss(miss recorder.Miss) {
	dir := r.artifacts()
	if dir == "" {
		return
	}
	n := r.kept.Add(1)
	err := keepJSON(dir, fmt.Sprintf("request-%d.json", n), miss.Request)
	if miss.Recorded != "" {
		err = errors.Join(err, keepJSON(dir, fmt.Sprintf("recorded-%d.json", n), miss.Recorded))
	}
	if err != nil {
		r.t.Errorf("traceforge: %v", err)
	}
}

// keepJSON writes a JSON text, a member a line, into a new file. A secret that was masked may have taken a quotation
// mark with it: then the text is kept as it is.
func keepJSON(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), append(jsontext.Indented([]byte(text)), '\n'), 0o666)
}

// keepReceipt adds the receipt of a test that failed to its artifacts, of which traceforge report makes the page.
func (r *Recorder) keepReceipt() error {
	if r.t.Failed() {
		if dir := r.artifacts(); dir != "" {
			return new(usage.ReceiptWriter).Add(dir, r.receipt())
		}
	}
	return nil
}
