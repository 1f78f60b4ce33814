package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// recordings are files with the calls of tests. Each one whose test can be determined becomes the document of that
// test.
type recordings struct {
	*importer
	root   string // directory of the module
	module string // path of the module
	files  []candidate
}

// open finds the module that contains the directory, and its store.
func (im *recordings) open() (string, error) {
	im.args = orOne(im.args, ".")
	if len(im.args) != 1 || im.value("test")+im.value("provider") != "" {
		return "", usagef(
			"name one directory of the module whose tests recorded: --test and --provider are for --from sf and cassettes")
	}
	// all below a directory is read anyway
	im.args[0] = cmp.Or(strings.TrimSuffix(filepath.ToSlash(im.args[0]), "/..."), "/")
	dir, err := filepath.Abs(im.args[0])
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", err
	case im.is("run") && !info.IsDir():
		return "", usagef("--run runs the tests of a directory: name one in place of %s", im.args[0])
	}
	switch im.root, err = gotest.Module(dir); {
	case err != nil:
		return "", err
	case im.root == "":
		return "", fmt.Errorf("%s is in no module: name a directory of the module whose tests recorded it", im.args[0])
	}
	im.module = gotest.ModulePath(im.root)
	if named := im.value("dir"); named != "" {
		return place.StoreDir(named)
	}
	return place.StoreOfModule(im.root), nil
}

// A candidate is a file that may be a recording of another tool.
type candidate struct {
	file   string // path from the working directory
	folder string // directory of the package whose test recorded it, below the module; empty if why gives a reason
	inside string // path of the file from there, as the test names it
	place  *foreign.Place
	why    string
}

// read reads the recordings below the directory and makes their documents.
func (im *recordings) read() error {
	if err := im.walk(); err != nil {
		return err
	}
	of := map[string][]string{} // files, by test
	for _, r := range im.files {
		if r.place != nil {
			of[r.test()] = append(of[r.test()], r.file)
		}
	}
	im.each(func(r candidate, rec *cassette.Recording) {
		switch {
		case r.place == nil:
			im.leaveOut(r, r.why)
		case len(of[r.test()]) > 1:
			im.leaveOut(r, fmt.Sprintf("%s has several recordings, of which nothing tells the order: %s", r.place.Test,
				strings.Join(of[r.test()], ", ")))
		default:
			im.make(r, rec)
		}
	})
	return nil
}

// each calls do with each recording.
func (im *recordings) each(do func(candidate, *cassette.Recording)) {
	for _, r := range im.files {
		if rec := im.recording(r); rec != nil {
			do(r, rec)
		}
	}
}

// walk finds the files that can be recordings, by name, and their tests. It follows no link, except for the argument.
func (im *recordings) walk() error {
	packages := map[string]*foreign.Tests{}
	root := im.args[0]
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += "/" // follows a link
	}
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "vendor" || name == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !isRecording(name):
			return nil
		}
		r := candidate{file: filepath.ToSlash(file)}
		if err := im.placed(&r, packages); err != nil {
			return err
		}
		switch {
		case d.Type().IsRegular() || file == root:
			im.files = append(im.files, r)
		case r.place != nil: // otherwise it belongs to no test
			im.leaveOut(r, "is no file of its own, and links are not followed")
		}
		return nil
	})
}

// isRecording reports whether a file can be a recording, by its name.
func isRecording(name string) bool {
	extensions := []string{".httprr", ".httprr.gz", ".yaml", ".yml", ".json"}
	return slices.ContainsFunc(extensions, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// placed finds the test that recorded a file, in the nearest package above the file.
func (im *recordings) placed(r *candidate, packages map[string]*foreign.Tests) error {
	whole, err := filepath.Abs(r.file)
	if err != nil {
		return err
	}
	root, err := gotest.Module(filepath.Dir(whole))
	if err != nil {
		return err
	}
	if root != im.root {
		r.why = "is of the module at " + root + ": import it from there"
		return nil
	}
	for dir := filepath.Dir(whole); ; dir = filepath.Dir(dir) {
		tests, known := packages[dir]
		if !known {
			if tests, err = foreign.ReadTests(dir); err != nil {
				return err
			}
			packages[dir] = tests
		}
		if !tests.Empty() {
			folder, _ := filepath.Rel(im.root, dir) // each is below the previous one
			inside, _ := filepath.Rel(dir, whole)
			r.folder, r.inside = filepath.ToSlash(folder), inside
			if r.place, err = tests.Place(filepath.ToSlash(inside)); err != nil {
				r.why = err.Error()
			}
			return nil
		}
		if dir == im.root {
			r.why = "no directory above it has tests"
			return nil
		}
	}
}

func (r *candidate) test() string { return r.folder + " " + r.place.Test }

func (im *recordings) leaveOut(r candidate, why string) {
	im.Unplaced = append(im.Unplaced, unplacedRecording{r.file, why})
}

// hasCalls matches the member that recordings have. It does not match YAML or JSON that only has the word in a text.
var hasCalls = regexp.MustCompile(`(?m)^[ \t]*interactions\s*:|"(?:interactions|fixtures)"\s*:`)

// recording reads a file; nil if it is not a recording, belongs to another tool, or is left out.
func (im *recordings) recording(r candidate) *cassette.Recording {
	data, err := store.ReadFile(r.file)
	if err != nil {
		im.leaveOut(r, err.Error())
		return nil
	}
	if !strings.Contains(path.Base(r.file), ".httprr") && !hasCalls.Match(data) {
		return nil
	}
	named := cmp.Or(r.inside, r.file)
	rec, err := cassette.ReadCalls(named, data)
	if err == nil && im.kind != "" && rec.Tool != im.kind {
		return nil
	}
	im.Files++
	if err != nil {
		im.leaveOut(r, unnamed(err, named))
	}
	return rec
}

// unnamed returns an error of reading a file without the file's name.
func unnamed(err error, named string) string {
	why := strings.TrimPrefix(err.Error(), named+":")
	if trimmed := strings.TrimLeft(why, " "); trimmed != why {
		return trimmed
	}
	return "line " + why
}

func (im *recordings) make(r candidate, rec *cassette.Recording) {
	source := r.place.Source(path.Join(im.module, r.folder), r.folder)
	doc := importedDocument{Test: page.Test{Package: source.Package, Name: source.Test}, Tool: rec.Tool,
		From: []string{r.file}}
	name := snapshot.DocumentName(source.Package, source.Test)
	switch there, err := im.into.Load(name, "openai"); {
	case err == nil:
		doc.File, doc.There, doc.Unkept = there.File(), true, []foreign.Unkept{}
		im.Imported = append(im.Imported, doc)
		return
	case !errors.Is(err, fs.ErrNotExist):
		im.leaveOut(r, "the store has its document, which cannot be read: "+err.Error())
		return
	}
	made, err := im.rules.Test(rec, source)
	if err != nil {
		im.leaveOut(r, err.Error())
		return
	}
	im.unknown += made.Unknown
	doc.Calls, doc.Retried, doc.Unkept, doc.Raw = made.Calls, made.Retried, orEmpty(made.Unkept), made.Calls > 0
	if made.Calls > 0 {
		doc.File = path.Join(made.Provider, made.Name+".json")
		im.change.Put = append(im.change.Put, made.Put)
	}
	im.Imported = append(im.Imported, doc)
}

// runTests runs the tests below the directory. A call without a record gets its answer from the recordings, so that no
// file needs to name its test.
func (im *recordings) runTests() error {
	if err := im.walk(); err != nil {
		return err
	}
	var library cassette.Library
	im.each(func(r candidate, rec *cassette.Recording) {
		library.Add(r.file, path.Join(im.module, r.folder), rec)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go http.Serve(listener, &library)
	os.Setenv(recorder.RecordingsEnv, "http://"+listener.Addr().String())
	below := filepath.ToSlash(im.args[0]) + "/..."
	if filepath.IsLocal(im.args[0]) {
		below = "./" + path.Clean(below)
	}
	err = record(im.call, "new", []string{below}, "")
	taken := map[string][]string{}
	for doc := range place.Readable(im.into, nil) {
		for i := range doc.Document.Snapshots {
			source := &doc.Document.Snapshots[i].Source
			taken[source.Package] = append(taken[source.Package], source.Origin)
		}
	}
	left := library.Unasked(taken)
	for _, u := range im.Unplaced {
		left = append(left, u.From+": "+u.Why)
	}
	im.sayAll(left)
	im.say("of %s %d are left over", page.Count(im.Files, "recording", "recordings"), len(left))
	return cmp.Or(err, withFindings(len(left) > 0))
}
