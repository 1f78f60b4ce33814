package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// documents are complete files of another layout: SF's, and TraceForge's cassettes. Every file must be valid.
type documents struct {
	*importer
	calls   []foreign.Call
	inStore map[string]string // files of the store itself, by the name in the arguments

	recorded string // directory where cassettes are recorded
}

func (r *documents) open() (string, error) { return place.StoreDir(r.value("dir")) }

// read reads all files that the arguments name, directly or as part of a store. Without arguments it reads the module's
// store, or its cassettes. The planned change must pass all checks of verify.
func (r *documents) read() (err error) {
	r.inStore = map[string]string{}
	if r.recorded, err = r.rules.StoreDir(); err != nil {
		return err
	}
	for _, name := range orOne(r.args, "") {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			r.readFile(name, "")
			continue
		}
		dir, err := r.directory(name)
		if err != nil {
			return err
		}
		r.readDirectory(dir)
	}
	if r.failed != nil { // main reports it
		return exitWith(exitTrouble)
	}
	if err := r.renew(); err != nil {
		return err
	}
	if err := r.plan(); err != nil {
		return err
	}
	return r.prove()
}

// renew plans to upgrade the documents of SF's version in the store itself.
func (r *documents) renew() error {
	if from := r.value("from"); from != fromSF && from != snapshot.VersionSF {
		return nil
	}
	change, broken, err := renewed(r.into)
	if err != nil {
		return err
	}
	for _, err := range broken {
		r.Findings = append(r.Findings,
			snapshot.Finding{File: filepath.ToSlash(r.into.Dir()), Rule: snapshot.RuleVersion, Message: err.Error()})
	}
	for i, put := range change.Put {
		d := r.importedOf(path.Join(put.Provider, put.Name+".json"), put.Document, change.Remove[i])
		d.Raw = true
		r.Imported = append(r.Imported, d)
	}
	r.change = change
	return nil
}

func (r *documents) importedOf(file string, doc *snapshot.Document, from ...string) importedDocument {
	return importedDocument{
		File: file, Test: page.TestOf(doc), Tool: r.kind, From: from, Calls: len(doc.Snapshots), Unkept: []foreign.Unkept{},
	}
}

// plan makes documents from the files that were read. They replace documents of the store itself.
func (r *documents) plan() error {
	for _, d := range foreign.Documents(r.calls) {
		_, err := r.into.Load(d.Name, d.Provider)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		made := r.importedOf(d.File(), d.Document, d.Files...)
		made.Raw, made.There = len(d.Beside) > 0, err == nil
		r.Imported = append(r.Imported, made)
		if made.There { // it stays unchanged
			continue
		}
		r.change.Put = append(r.change.Put, d.Put)
		for _, file := range d.Files {
			if in, ok := r.inStore[file]; ok && !slices.Contains(r.Removed, in) {
				r.Removed = append(r.Removed, in)
			}
		}
	}
	slices.Sort(r.Removed)
	r.change.Remove = append(r.change.Remove, r.Removed...)
	return nil
}

// prove commits the change to a temporary store, and verifies that store.
func (r *documents) prove() error {
	dir, err := r.rules.StoreDir()
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	if err := s.Commit(store.Change{Put: r.change.Put}); err != nil {
		return err
	}
	result, err := proven(s, nil)
	if err != nil {
		return err
	}
	r.Findings = append(append(r.Findings, result.Findings...), leaked(r.call, s)...)
	return nil
}

// directory returns the directory that a name refers to; "" for the store into which is imported, or for the module.
func (r *documents) directory(name string) (dir string, err error) {
	if r.kind != fromCassettes {
		_, dir, err = place.OpenStore(cmp.Or(name, r.call.value("dir")))
		return dir, err
	}
	in := name
	if name == "" {
		if _, in, err = gotest.Here(); err != nil {
			return "", err
		}
	}
	inner := filepath.Join(in, ".ai-tests", "cassettes")
	if _, err := os.Stat(inner); err == nil {
		return shown(inner), nil
	}
	return name, nil
}

// shown returns a path relative to the working directory if it is below that directory.
func shown(name string) string {
	if rel := place.Rel(name); filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// readDirectory reads the files of all providers, <provider>/<name>.json, and those next to the provider directories.
func (r *documents) readDirectory(dir string) {
	entries, err := os.ReadDir(dir)
	if len(r.args) > 0 || !errors.Is(err, fs.ErrNotExist) { // a module need not have cassettes
		r.fail(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."), name == store.ManifestName, name == store.ConfigName:
		case e.IsDir():
			files, _ := fs.Glob(os.DirFS(filepath.Join(dir, name)), "*.json") // the pattern is valid
			for _, file := range files {
				r.readFile(filepath.Join(dir, name, file), name)
			}
		case filepath.Ext(name) == ".json":
			r.readFile(filepath.Join(dir, name), "")
		}
	}
}

// readFile reads a file; problems become findings instead of errors. provider is the provider of its directory in a
// store; empty if the user named the file itself.
func (r *documents) readFile(file, provider string) {
	data, err := store.ReadFile(file)
	if err != nil {
		r.fail(err)
		return
	}
	r.Files++
	named := filepath.ToSlash(file)
	from := cassette.Named(file)
	if in, _ := filepath.Rel(place.Rel(r.into.Dir()), place.Rel(file)); filepath.IsLocal(in) { // "" if they share no root
		r.inStore[from] = filepath.ToSlash(in)
	}
	calls, err := r.callsOf(from, cmp.Or(r.value("provider"), provider, providerOf(file)), data)
	var wrong *snapshot.Error
	switch {
	case errors.As(err, &wrong):
		for _, v := range wrong.Violations {
			r.Findings = append(r.Findings, snapshot.Finding{File: named, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
		}
	case err != nil:
		r.Findings = append(r.Findings, snapshot.Finding{File: named, Rule: snapshot.RuleValue, Message: err.Error()})
	}
	for _, c := range calls {
		if test := r.value("test"); test != "" {
			c.Snapshot.Source.Package, c.Snapshot.Source.Test = r.value("package"), test
		}
		r.calls = append(r.calls, c)
	}
}

// callsOf returns the calls of a file; none if the store already has the file in this form.
func (r *documents) callsOf(from, provider string, data []byte) ([]foreign.Call, error) {
	cassette, noCassette := foreign.ReadCassette(data)
	doc, noSF := foreign.ReadSF(data)
	switch wanted := r.kind == fromCassettes; {
	case wanted && noCassette != nil && noSF == nil:
		return nil, errors.New("is a document of the Snapshot Format Specification: import it with --from " + fromSF)
	case wanted && noCassette != nil:
		return nil, noCassette
	case wanted:
		call, err := cassette.Call(from, r.recorded)
		if err != nil {
			return nil, err
		}
		return []foreign.Call{call}, nil
	case noSF != nil && noCassette == nil:
		return nil, errors.New("is a cassette of TraceForge: import it with --from " + fromCassettes)
	case noSF != nil || foreign.IsOurs(strings.TrimSuffix(path.Base(from), ".json"), doc):
		return nil, noSF
	case provider == "":
		return nil, errors.New("does not say whose answers it has: name the provider, such as --provider openai")
	}
	return foreign.CallsOf(from, provider, doc)
}
