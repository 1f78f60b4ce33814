package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// KnownEnv is the variable that names a file of [Known] documents, a line of JSON each. By it a test without a
// document finds the one that it had under another name (design R11). Only a run that updates reads it.
const KnownEnv = "TRACEFORGE_KNOWN"

// FlagEnv is the variable by which a test binary sets the flag -update that it has, where that is a toggle. Test files that look
// at it update what is theirs, too. On the command line of several packages it would be refused by one whose flag takes a value.
const FlagEnv = "TRACEFORGE_UPDATE_FLAG"

// A Known is a document of a store, of a test that may have another name now.
type Known struct {
	Store   string `json:"store"` // its directory, absolute
	Name    string `json:"name"`  // of the document
	Package string `json:"package"`
	Test    string `json:"test"`
	Gone    bool   `json:"gone,omitempty"` // the code has no such test
}

// RealPath is the path of a directory without symbolic links, where it can be known.
func RealPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// ReadKnown reads a file of known documents.
func ReadKnown(file string) (known []Known, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var k Known
		if err := json.Unmarshal(line, &k); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, len(known)+1, err)
		}
		known = append(known, k)
	}
	return known, nil
}
