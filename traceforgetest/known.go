package traceforgetest

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// known reads, once, what traceforge update says of documents that may be of tests that have another name now.
var known = sync.OnceValues(func() (map[string][]usage.Known, error) {
	file := os.Getenv(usage.KnownEnv)
	if file == "" {
		return nil, nil
	}
	return usage.ReadKnown(file)
})

// knownTo returns those of a store.
func knownTo(dir string) ([]usage.Known, error) {
	all, err := known()
	if len(all) == 0 || err != nil {
		return nil, err
	}
	return all[usage.RealPath(dir)], nil
}

// sources returns the test files of the package, as far as they are here.
func (p place) sources() (files [][]byte) {
	names, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(p.dir), "*_test.go"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		files = append(files, text)
	}
	return files
}
