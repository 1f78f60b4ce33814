package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// KnownEnv is the variable that names a file with lists of [Known] documents in JSON, by the real path of their store.
// With it, a test without a document finds the one that it had under another name (design R11). Only runs that update
// read it.
const KnownEnv = "TRACEFORGE_KNOWN"

// FlagEnv is the variable that makes a test binary set its -update flag if that is a boolean. Test files that read the
// flag then update their own goldens. On the command line of several packages, -update would be refused by a
// package whose flag takes a value.
const FlagEnv = "TRACEFORGE_UPDATE_FLAG"

// A Known is a document of a test that may have another name now.
type Known struct {
	Name    string `json:"name"` // name of the document
	Package string `json:"package"`
	Test    string `json:"test"`
	Gone    bool   `json:"gone,omitempty"` // the test does not exist in the source
}

// RealPath returns a directory's path with symbolic links resolved, if possible.
func RealPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// ReadKnown reads a file of known documents.
func ReadKnown(file string) (known map[string][]Known, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}
