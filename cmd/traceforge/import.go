package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The values of --from: the tools that record calls of tests, and the layouts of complete documents. SF's own version,
// which is also the name of a layout, is accepted by snapshot migrate.
const (
	fromSF        = "sf"
	fromCassettes = "cassettes"
)

var kindNames = []string{"go-vcr", "httprr", "vcrpy", fromSF, fromCassettes}

// An importedDocument is a document that import writes, or would write.
type importedDocument struct {
	File string `json:"file"` // path of the document in the store
	page.Test
	Tool    string           `json:"tool"`    // tool that recorded it
	From    []string         `json:"from"`    // files from which it was imported
	Calls   int              `json:"calls"`   // number of records in the document
	Retried int              `json:"retried"` // number of calls that were left out because a later try succeeded
	Unkept  []foreign.Unkept `json:"unkept"`  // calls that are left out
	Raw     bool             `json:"raw"`     // whether it has the raw bytes of the answers, so that replay can serve them
	There   bool             `json:"there"`   // whether the store already has it
}

// An unplacedRecording is a recording that does not become a document.
type unplacedRecording struct {
	From string `json:"from"` // file of the recording
	Why  string `json:"why"`  // why it does not become a document
}

// imports are the output of import --json.
type imports struct {
	OK       bool                `json:"ok"`       // nothing is left out, and there are no findings
	Files    int                 `json:"files"`    // number of files that were read
	Imported []importedDocument  `json:"imported"` // documents that are written
	Unplaced []unplacedRecording `json:"unplaced"` // recordings that do not become documents
	Findings []snapshot.Finding  `json:"findings"` // problems of files that are not imported
	Removed  []string            `json:"removed"`  // files of the store that the documents replace
	Written  bool                `json:"written"`  // whether the store was changed
}

// An importer imports the recordings of other tools into a store.
type importer struct {
	*call
	kind  string // value of --from; empty for the recordings of any tool
	rules foreign.Import
	into  *store.Store

	imports
	change  store.Change
	unknown int // calls whose recordings lack headers that their API requires
}

// importForeign implements the command import.
func importForeign(c *call) error {
	kind := c.value("from")
	if kind != "" && !slices.Contains(kindNames, kind) {
		return usagef("--from %s: want one of %s", kind, strings.Join(kindNames, ", "))
	}
	return bring(c, kind)
}

// migrate implements the command snapshot migrate, with the versions that SF names.
func migrate(c *call) error {
	from, to := c.value("from"), c.value("to")
	switch {
	case from == "" || to == "":
		return usagef("--from and --to must name versions, such as %s", snapshot.Version)
	case to != snapshot.Version:
		return fmt.Errorf("migrate to %s: %w: the current version is %s", to, snapshot.ErrVersion, snapshot.Version)
	case from != fromCassettes:
		from = fromSF
	}
	return bring(c, from)
}

// bring reads the files of a layout, and writes their documents if requested.
func bring(c *call, kind string) (err error) {
	hasDocuments := kind == fromSF || kind == fromCassettes
	_, _, err = c.namedTest()
	switch {
	case err != nil:
		return err
	case c.is("run") && hasDocuments:
		return usagef("--run is for recordings of tests: --from %s has documents", kind)
	case c.is("run") && c.is("json"):
		return usagef("--json lists what import writes, and --run lets the tests record instead: name one of them")
	}
	im := &importer{call: c, kind: kind}
	if im.rules.Scratch, err = os.MkdirTemp("", "traceforge-import-"); err != nil {
		return err
	}
	defer os.RemoveAll(im.rules.Scratch)
	ofTests, whole := &recordings{importer: im}, &documents{importer: im}
	open, read := ofTests.open, ofTests.read // open finds the store; read reads the files and plans the changes
	if hasDocuments {
		open, read = whole.open, whole.read
	}
	dir, err := open()
	if err != nil {
		return err
	}
	if im.rules.Config, err = store.ReadFile(filepath.Join(dir, store.ConfigName)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if im.into, err = store.Open(dir); err != nil {
		return err
	}
	im.into.Waiting, im.rules.Shown = c.waits, filepath.ToSlash(im.into.Dir())
	if c.is("run") {
		return ofTests.runTests()
	}
	if err := read(); err != nil {
		return err
	}
	im.Written = c.is("write") && len(im.change.Put) > 0 && len(im.Findings) == 0
	if im.Written {
		if err := im.write(); err != nil {
			return err
		}
	}
	return im.tell()
}

// write commits the change. A manifest that lists replaced files is regenerated.
func (im *importer) write() error {
	if err := im.into.Commit(im.change); err != nil {
		return err
	}
	if len(im.change.Remove) > 0 {
		return renewManifest(im.into)
	}
	return nil
}

// tell reports what was written, or would be, and what is left out.
func (im *importer) tell() error {
	unkept := 0
	for _, d := range im.Imported {
		unkept += len(d.Unkept)
	}
	left := len(im.Unplaced)+unkept > 0
	im.OK = !left && len(im.Findings) == 0
	im.Imported, im.Unplaced, im.Findings, im.Removed = orEmpty(im.Imported), orEmpty(im.Unplaced), orEmpty(im.Findings),
		orEmpty(im.Removed)
	im.answer(im.imports, im.list)
	if len(im.Findings) > 0 {
		return exit{exitFindings,
			fmt.Errorf("%d of %s cannot be brought: nothing was changed: correct or leave out what is listed, or "+
				"record its calls again", filesOf(im.Findings), page.Count(im.Files, "file", "files"))}
	}
	if left {
		im.say("left out: %s and %s. A test of theirs takes the recording as its upstream, with the option that is named "+
			"(docs/migrating.md), or records again", page.Count(len(im.Unplaced), "recording", "recordings"),
			page.Count(unkept, "call", "calls"))
	}
	if im.unknown > 0 {
		im.say("anthropic-version is not in the recordings of %s: it matches any until it is bought",
			page.Count(im.unknown, "call", "calls"))
	}
	im.sayWhatReplays()
	documents := page.Count(len(im.change.Put), "document", "documents")
	switch {
	case im.Written:
		im.say("%s: wrote %s", im.into.Dir(), documents)
	case len(im.change.Put) > 0:
		im.say("%s: %s to write with --write", im.into.Dir(), documents)
		return exit{code: exitFindings}
	case len(im.Imported)+len(im.Unplaced) == 0 && im.Files > 0:
		im.say("nothing to do: %s, as a store has them", page.Count(im.Files, "file", "files"))
	case len(im.Imported)+len(im.Unplaced) == 0:
		im.say("%s has nothing to bring: import reads the layouts %s", cmp.Or(strings.Join(im.args, " "), "the module"),
			strings.Join(kindNames, ", "))
	}
	return withFindings(left)
}

// list writes a line for each finding, document, omitted call and omitted recording.
func (im *importer) list() {
	for _, f := range im.Findings {
		im.finding(f)
	}
	for _, d := range im.Imported {
		switch {
		case d.Calls > 0 || d.There:
			im.line(d.line(im.into.Dir()))
		case len(d.Unkept) == 0:
			im.line(fmt.Sprintf("%s: holds no call: %s takes traceforgetest.New(t, traceforgetest.Allow(traceforgetest.NoCalls))", d.From[0], d.Test.Name))
		}
		for _, u := range d.Unkept {
			im.line(d.unkept(u))
			for _, way := range u.WaysOut {
				im.line("  " + way)
			}
		}
	}
	for _, file := range im.Removed {
		im.line(path.Join(filepath.ToSlash(im.into.Dir()), file) + "  is replaced")
	}
	for _, u := range im.Unplaced {
		im.line(u.From + ": " + u.Why)
	}
}

// line describes a document in one line.
func (d *importedDocument) line(dir string) string {
	line, from := path.Join(filepath.ToSlash(dir), d.File)+"  ", d.From[0]
	if more := len(d.From) - 1; more > 0 {
		from += fmt.Sprintf(" and %d more", more)
	}
	if d.There {
		return line + fmt.Sprintf("is there already and stays as it is: remove it first to import %s in its place", from)
	}
	line += page.Count(d.Calls, "call", "calls")
	if d.Test.Name != "" {
		line += " of " + d.Test.Name
	}
	line += fmt.Sprintf(" from %s %s", d.Tool, from)
	if d.Retried > 0 {
		line += fmt.Sprintf(", without %d that a later try did better than", d.Retried)
	}
	return line
}

// unkept describes a call that cannot be stored as a record.
func (d *importedDocument) unkept(u foreign.Unkept) string {
	what := fmt.Sprintf("interaction %d", u.Number)
	if u.Method != "" {
		what = u.Method + " " + u.URL
	}
	return fmt.Sprintf("%s:%d: %s: %s", d.From[0], u.Line, what, u.Why)
}

// sayWhatReplays explains how replay uses the imported records, or why it cannot.
func (im *importer) sayWhatReplays() {
	isNew := func(d importedDocument) bool { return !d.There && d.Calls > 0 }
	switch {
	case slices.ContainsFunc(im.Imported, func(d importedDocument) bool { return isNew(d) && !d.Raw }):
		im.say("SF keeps no provider's own bytes, so replay has nothing to serve of these records: " +
			"they are for verify, show and diff, and an update of their test buys the answers")
	case slices.ContainsFunc(im.Imported, func(d importedDocument) bool { return isNew(d) && d.Test.Name == "" }):
		im.say("no test replays a document that is of none: say whose calls they are with --package PATH --test NAME")
	case slices.ContainsFunc(im.Imported, isNew) && im.kind != fromSF:
		im.say("go test replays them once the tests take traceforgetest.New(t).Client()")
	}
}

// filesOf counts the files that have findings.
func filesOf(found []snapshot.Finding) int {
	var files []string
	for _, f := range found {
		files = inorder.With(files, f.File)
	}
	return len(files)
}
