package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
)

// toolNames are what --from takes.
var toolNames = []string{"go-vcr", "httprr", "vcrpy", "aimock"}

// An imported is a document that import writes, or would write.
type imported struct {
	File string `json:"file"` // in the store
	page.Test
	Tool    string           `json:"tool"`
	From    string           `json:"from"` // the recording, from the working directory on
	Calls   int              `json:"calls"`
	Retried int              `json:"retried"` // calls that a later try did better than
	Unkept  []foreign.Unkept `json:"unkept"`
	There   bool             `json:"there"` // the store has it already
}

// An unplaced is a recording of which there is no document.
type unplaced struct {
	From string `json:"from"`
	Why  string `json:"why"`
}

// Imports are what import prints for a program.
type imports struct {
	OK       bool       `json:"ok"` // nothing is left out
	Imported []imported `json:"imported"`
	Unplaced []unplaced `json:"unplaced"`
	Written  bool       `json:"written"`
}

// importRecordings is the command import.
func importRecordings(c *call) error {
	if from := c.value("from"); from != "" && !slices.Contains(toolNames, from) {
		return usagef("--from %s: want one of %s", from, strings.Join(toolNames, ", "))
	}
	scratch, err := os.MkdirTemp("", "traceforge-import-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	im := &importing{call: c, rules: foreign.Import{Scratch: scratch}}
	if err := im.find(); err != nil {
		return err
	}
	if err := im.readAll(); err != nil {
		return err
	}
	written := c.is("write") && len(im.change.Put) > 0
	if written {
		if err := im.into.Commit(im.change); err != nil {
			return err
		}
	}
	return im.tell(written)
}

// An importing brings the recordings below a directory into the store of its module.
type importing struct {
	*call
	rules  foreign.Import
	root   string // the module's directory
	module string // its path
	store  string // its directory, as messages name it
	into   *store.Store

	files    []candidate
	made     []imported
	unplaced []unplaced
	change   store.Change
}

// find finds the module that the directory is in, and its store.
func (im *importing) find() error {
	dir, err := filepath.Abs(im.args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	switch im.root, err = gotest.Module(dir); {
	case err != nil:
		return err
	case im.root == "":
		return fmt.Errorf("%s is in no module: name a directory of the module whose tests recorded it", im.args[0])
	}
	im.module = gotest.ModulePath(im.root)
	if im.store, err = place.StoreOfModule(im.root); err != nil {
		return err
	}
	if im.into, err = store.Open(im.store); err != nil {
		return err
	}
	im.into.Waiting = func(holder string) { im.say("waiting for the store, which %s holds", holder) }
	im.rules.Shown = filepath.ToSlash(im.store)
	im.rules.Config, err = store.ReadFile(filepath.Join(im.store, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// tell says what was written, or would be, and what is left out.
func (im *importing) tell(written bool) error {
	unkept := 0
	for _, d := range im.made {
		unkept += len(d.Unkept)
	}
	err := im.answer(imports{len(im.unplaced)+unkept == 0, orEmpty(im.made), orEmpty(im.unplaced), written}, im.list)
	if err != nil {
		return err
	}
	left := len(im.unplaced)+unkept > 0
	if left {
		im.say("left out: %s and %s. A test of theirs takes the recording as its upstream, with the option that is named "+
			"(docs/migrating.md), or records again", page.Count(len(im.unplaced), "recording", "recordings"),
			page.Count(unkept, "call", "calls"))
	}
	documents := page.Count(len(im.change.Put), "document", "documents")
	switch {
	case written:
		im.say("%s: wrote %s: go test replays them once the tests take traceforgetest.New(t).Client()", im.store, documents)
	case len(im.change.Put) > 0:
		im.say("%s: %s to write with --write", im.store, documents)
		return exit{code: exitFindings}
	case len(im.made)+len(im.unplaced) == 0:
		im.say("%s has no recordings: import reads those of %s", im.args[0], strings.Join(toolNames, ", "))
	}
	if left {
		return exit{code: exitFindings}
	}
	return nil
}

// list writes a line of each document, of each call that is left out, and of each recording that is.
func (im *importing) list() {
	for _, d := range im.made {
		if d.Calls > 0 || d.There {
			im.line(d.line(im.store))
		}
		for _, u := range d.Unkept {
			im.line(d.unkept(u))
			for _, way := range u.WaysOut {
				im.line("  " + way)
			}
		}
	}
	for _, u := range im.unplaced {
		im.line(u.From + ": " + u.Why)
	}
}

// line tells of a document in a line.
func (d *imported) line(dir string) string {
	line := path.Join(filepath.ToSlash(dir), d.File) + "  "
	if d.There {
		return line + fmt.Sprintf("is there already and stays as it is: remove it first to import %s in its place", d.From)
	}
	line += fmt.Sprintf("%s of %s from %s %s", page.Count(d.Calls, "call", "calls"), d.Test.Test, d.Tool, d.From)
	if d.Retried > 0 {
		line += fmt.Sprintf(", without %d that a later try did better than", d.Retried)
	}
	return line
}

// unkept tells of a call that cannot be a record.
func (d *imported) unkept(u foreign.Unkept) string {
	what := fmt.Sprintf("interaction %d", u.Number)
	if u.Method != "" {
		what = u.Method + " " + u.URL
	}
	return fmt.Sprintf("%s:%d: %s: %s", d.From, u.Line, what, u.Why)
}
