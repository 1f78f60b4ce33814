package traceforgetest

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// known reads, once, what traceforge update says of documents that may be of tests that have another name now.
var known = sync.OnceValues(func() ([]usage.Known, error) {
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
	dir = realPath(dir)
	return slices.DeleteFunc(slices.Clone(all), func(k usage.Known) bool { return realPath(k.Store) != dir }), nil
}

// realPath is the path of a directory without symbolic links, where it can be known.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
