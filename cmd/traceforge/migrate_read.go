package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A reading is what migrate reads of the files that are named.
type reading struct {
	*call
	store   string // the directory of the store that it is brought into
	scratch string // a directory that is removed when migrate ends

	files   int
	calls   []foreign.Call
	found   []snapshot.Finding
	inStore map[string]string // files of that store, by how they are named
}

// readAll reads all files that the arguments mean: themselves, and those of stores. No argument means the module's
// store, or its cassettes.
func (r *reading) readAll() error {
	r.inStore = map[string]string{}
	if err := r.copyConfig(r.cassettes()); err != nil {
		return err
	}
	names := r.args
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			if err := r.read(name, ""); err != nil {
				return err
			}
			continue
		}
		dir, err := r.directory(name)
		if err != nil {
			return err
		}
		if err := r.readDirectory(dir); err != nil {
			return err
		}
	}
	return nil
}

// directory returns the directory that a name means.
func (r *reading) directory(name string) (string, error) {
	if r.value("from") != fromCassettes {
		_, dir, err := place.OpenStore(name)
		return dir, err
	}
	if name == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if name, err = gotest.Module(wd); err != nil {
			return "", err
		}
	}
	inner := filepath.Join(name, ".ai-tests", "cassettes")
	if _, err := os.Stat(inner); err == nil {
		return shown(inner), nil
	}
	return name, nil
}

// shown returns a path relative to the working directory where it is below that.
func shown(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// readDirectory reads the files of all providers, <provider>/<name>.json, and those beside the providers.
func (r *reading) readDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."), name == "manifest.json", name == "config.json":
		case e.IsDir():
			files, err := filepath.Glob(filepath.Join(dir, name, "*.json"))
			if err != nil {
				return err
			}
			for _, file := range files {
				if err := r.read(file, name); err != nil {
					return err
				}
			}
		case filepath.Ext(name) == ".json":
			if err := r.read(filepath.Join(dir, name), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads a file; what is wrong with it is found, and no error. provider is that of its directory in a store;
// empty: the file was named by itself.
func (r *reading) read(file, provider string) error {
	s, err := store.Open(r.store)
	if err != nil {
		return err
	}
	data, err := readBounded(file, s.MaxBytes())
	if err != nil {
		return err
	}
	r.files++
	named := filepath.ToSlash(file)
	from := recorder.Named(file)
	if in, err := filepath.Rel(r.store, file); err == nil && filepath.IsLocal(in) {
		r.inStore[from] = filepath.ToSlash(in)
	}
	calls, err := r.callsOf(from, r.providerOf(file, provider), data)
	var wrong *snapshot.Error
	switch {
	case errors.As(err, &wrong):
		for _, v := range wrong.Violations {
			r.found = append(r.found, snapshot.Finding{File: named, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
		}
	case err != nil:
		r.found = append(r.found, snapshot.Finding{File: named, Rule: snapshot.RuleValue, Message: err.Error()})
	}
	for _, c := range calls {
		if test := r.value("test"); test != "" {
			c.Snapshot.Source.Package, c.Snapshot.Source.Test = r.value("package"), test
		}
		r.calls = append(r.calls, c)
	}
	return nil
}

// providerOf returns whose answers a file has: as --provider says, or the directory of a store; empty: nothing says it.
func (r *reading) providerOf(file, provider string) string {
	if said := r.value("provider"); said != "" {
		return said
	}
	parent := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(parent, "..", "manifest.json")); provider == "" && err == nil {
		provider = filepath.Base(parent)
	}
	return provider
}

// callsOf returns the calls of a file; none of one that a store has so.
func (r *reading) callsOf(from, provider string, data []byte) ([]foreign.Call, error) {
	if r.value("from") == fromCassettes {
		cassette, err := foreign.ReadCassette(data)
		if _, other := foreign.ReadSF(data); err != nil && other == nil {
			return nil, errors.New("is a document of the Snapshot Format Specification: migrate it with --from " +
				snapshot.VersionSF)
		}
		if err != nil {
			return nil, err
		}
		call, err := cassette.Call(from, r.cassettes())
		if err != nil {
			return nil, err
		}
		return []foreign.Call{call}, nil
	}
	doc, err := foreign.ReadSF(data)
	if _, other := foreign.ReadCassette(data); err != nil && other == nil {
		return nil, errors.New("is a cassette of TraceForge: migrate it with --from " + fromCassettes)
	}
	if err != nil || foreign.IsOurs(strings.TrimSuffix(path.Base(from), ".json"), doc) {
		return nil, err
	}
	if provider == "" {
		return nil, errors.New("does not say whose answers it has: name the provider, such as --provider openai")
	}
	return foreign.CallsOf(from, provider, doc)
}

// cassettes is the directory in which cassettes are recorded.
func (r *reading) cassettes() string { return filepath.Join(r.scratch, "cassettes") }

// copyConfig gives a store of its own the configuration of the store.
func (r *reading) copyConfig(to string) error {
	data, err := store.ReadFile(filepath.Join(r.store, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(to, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "config.json"), data, 0o666)
	}
	return err
}

// readBounded reads a file of at most so many bytes.
func readBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes: TRACEFORGE_MAX_BYTES allows more", file, most)
	}
	return data, err
}
