package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The rules of a pack that can be violated.
const (
	ruleRequired  = "PK1"  // run.json and the receipts exist
	ruleUnknown   = "PK2"  // there are no files that run.json does not name
	ruleRun       = "PK3"  // run.json has the form of Run
	ruleReference = "PK5"  // references between files are correct
	ruleLink      = "PK6"  // there are no symbolic links
	ruleSession   = "PK8"  // each model_io.json is valid (MI1 to MI12)
	ruleRegular   = "PK12" // there are only regular files
	ruleReceipts  = "receipts"
	ruleSize      = "size"
)

// Limits on the size of a pack, so that nobody can make the verifier read without end.
const (
	maxFiles = 100_000
	maxBytes = 4 << 30 // of all files together
)

// again is the way out for most faults.
const again = "get the pack again from where it was made, or make it again with traceforge pack"

// A Check is a reference from one file of a pack to another.
type Check struct {
	Computed canon.Hash `json:"computed"`
	Expected canon.Hash `json:"expected"`
	Field    string     `json:"field"`
	Match    bool       `json:"match"`
	Source   string     `json:"source"`
	Target   string     `json:"target"`
}

// A Report is the result of verifying a pack. The pack is valid if there are no findings.
type Report struct {
	Path     string
	Run      *Run               // nil if it cannot be read or belongs to another system
	Other    bool               // the pack comes from another system
	Files    []string           // sorted
	Checks   []Check            // the references to sessions for which both sides could be read
	Findings []snapshot.Finding // sorted by rule, file, pointer and message, as plain strings (PK10)
}

// OK reports whether the pack is valid.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// An Answer is a report for programs, in the format of the reference verifier of packs.
type Answer struct {
	Files      []string `json:"files_verified,omitempty"`   // for a valid pack
	OK         bool     `json:"ok"`                         // nothing is wrong
	Outcome    string   `json:"outcome,omitempty"`          // for a valid pack: pass or fail
	Path       string   `json:"pack_path"`                  // as given by the caller
	Checks     []Check  `json:"reference_checks,omitempty"` // for a valid pack
	Violations []Breach `json:"violations,omitempty"`       // for an invalid pack
}

// A Breach is a violated rule, in the format of the reference verifiers of packs and sessions.
type Breach struct {
	Message string `json:"message"`
	Path    string `json:"path"` // the file, or a place in it
	Rule    string `json:"rule_id"`
}

// Answer returns the report for programs.
func (r Report) Answer() Answer {
	a := Answer{OK: r.OK(), Path: strings.ToValidUTF8(r.Path, "\uFFFD")}
	if a.OK {
		a.Files, a.Checks = r.Files, r.Checks
	}
	if a.OK && r.Run != nil {
		a.Outcome = r.Run.Outcome
	}
	for _, f := range r.Findings {
		a.Violations = append(a.Violations, Breach{strings.TrimPrefix(f.Pointer+": "+f.Message, ": "), f.File, f.Rule})
	}
	return a
}

// Judge returns what is wrong with a store that was made from a pack: with its documents, and with the answers that
// they serve.
type Judge func(*store.Store) (*audit.Result, error)

// Verify checks the pack in dir without its repository. It writes only to scratch, an empty directory, in which a valid
// pack leaves [StoreIn]. It returns an error if reading or writing fails; findings are not errors.
func Verify(dir, scratch string, judge Judge) (Report, error) {
	v := verifier{report: Report{Path: dir, Checks: []Check{}}, scratch: scratch}
	if v.verify(dir, judge); v.failed != nil {
		return Report{}, fmt.Errorf("verify pack: %w", v.failed)
	}
	slices.SortFunc(v.report.Findings, func(a, b snapshot.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), a.Compare(b))
	})
	return v.report, nil
}

type verifier struct {
	root    *os.Root
	scratch string
	store   *store.Store // see StoreIn
	report  Report
	failed  error // the first error of reading or writing, which ends the verification
}

// read returns a file of the pack.
func (v *verifier) read(file string) []byte {
	data, err := v.root.ReadFile(file)
	v.failed = cmp.Or(v.failed, err)
	return data
}

// has reports whether the pack has a file.
func (v *verifier) has(file string) bool {
	_, there := slices.BinarySearch(v.report.Files, file)
	return there
}

func (v *verifier) violate(rule, file, pointer, format string, args ...any) {
	found := snapshot.Finding{File: strings.ToValidUTF8(file, "\uFFFD"), Rule: rule, Pointer: pointer,
		Message: fmt.Sprintf(format, args...)}
	v.report.Findings = append(v.report.Findings, found)
}

// verify starts with checks that depend on no others, and stops when further checks would only repeat findings.
func (v *verifier) verify(dir string, judge Judge) {
	if info, err := os.Lstat(filepath.Clean(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		v.violate(ruleLink, dir, "", "pack path is a symbolic link: name the directory that it leads to")
		return
	}
	if v.root, v.failed = os.OpenRoot(dir); v.failed != nil {
		return
	}
	defer v.root.Close()
	if v.isOther() {
		v.other()
		return
	}
	judged := func() { v.documents(judge) }
	for _, step := range []func(){v.files, v.readRun, v.hashes, v.sessions, v.unpack, judged, v.rebuild} {
		if step(); v.failed != nil || !v.report.OK() {
			return
		}
	}
}

// files checks which files the directory contains, regardless of their content.
func (v *verifier) files() {
	if v.store, v.failed = StoreIn(v.scratch); v.failed != nil {
		return
	}
	limit, seen, total := v.store.MaxBytes(), 0, int64(0)
	v.failed = fs.WalkDir(v.root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == "." {
			return err
		}
		if seen++; seen > maxFiles {
			v.violate(ruleSize, ".", "",
				"holds more than %d files, the most that a pack can have: make packs of fewer tests", maxFiles)
			return fs.SkipAll
		}
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			v.violate(ruleLink, file, "", "is a symbolic link, which could lead anywhere: put the file in its place")
		case entry.IsDir() && isDir(file):
		case entry.IsDir():
			v.violate(ruleUnknown, file, "", "a pack has no such directory: remove it")
			return fs.SkipDir
		case !entry.Type().IsRegular():
			v.violate(ruleRegular, file, "", "is no regular file: remove it")
		case !isFile(file):
			v.violate(ruleUnknown, file, "", "a pack has no such file: remove it")
		default:
			info, err := entry.Info()
			if err != nil {
				return err
			}
			v.report.Files, total = append(v.report.Files, file), total+info.Size()
			if size := info.Size(); size > limit {
				v.violate(ruleSize, file, "",
					"has %d bytes, more than %d: a larger TRACEFORGE_MAX_BYTES allows it", size, limit)
			}
		}
		return nil
	})
	if total > maxBytes {
		v.violate(ruleSize, ".", "", "holds %d bytes, more than the %d that a pack can have: make packs of fewer tests",
			total, int64(maxBytes))
	}
	slices.Sort(v.report.Files)
	for _, file := range []string{RunFile, ReceiptsFile} {
		if !v.has(file) {
			v.violate(ruleRequired, file, "", "is missing: %s", again)
		}
	}
}

// readRun reads run.json, and its version first, because another version may have another format.
func (v *verifier) readRun() {
	data := v.read(RunFile)
	doc, err := jsontext.Parse(data)
	if broken, ok := err.(*jsontext.Error); ok {
		v.violate(ruleRun, RunFile, broken.Pointer, "offset %d: %v: %s", broken.Offset, broken.Err, again)
		return
	}
	if version := doc.Root().Member("run_schema_version").Word(); version != RunVersion {
		v.violate(ruleRun, RunFile, "/run_schema_version",
			"is %q, and this command reads %s: a newer traceforge reads what a newer one wrote "+
				"(go get -u github.com/traceforge/traceforge-go/cmd/traceforge)", version, RunVersion)
		return
	}
	var run Run
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&run); err != nil {
		pointer := ""
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			pointer = "/" + strings.ReplaceAll(wrong.Field, ".", "/")
		}
		v.violate(ruleRun, RunFile, pointer, "%v: %s", strings.TrimPrefix(err.Error(), "json: "), again)
		return
	}
	for file := range run.Files {
		if !isFile(file) || file == RunFile {
			v.violate(ruleRun, RunFile, jsontext.PointerTo("files", file), "a pack has no such file: %s", again)
		}
	}
	v.report.Run = &run
}

// hashes checks that all files have the hashes in run.json.
func (v *verifier) hashes() {
	for _, file := range v.report.Files {
		if _, named := v.report.Run.Files[file]; !named && file != RunFile {
			v.violate(ruleUnknown, file, "", "is not named by %s: remove it", RunFile)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(v.report.Run.Files)) {
		want := v.report.Run.Files[file]
		if !v.has(file) {
			v.violate(ruleRequired, file, "", "is missing, and %s names it: %s", RunFile, again)
			continue
		}
		switch got := canon.Sum(v.read(file)); {
		case got != want:
			v.violate(ruleReference, file, "", "has the hash %s, but %s names %s: it was altered: %s", got, RunFile, want, again)
		case strings.HasPrefix(file, "refs/") && refFile(got) != file:
			v.violate(ruleReference, file, "", "has the hash %s, which is not its name: %s", got, again)
		}
	}
}

// sessions checks each session and its hash in run.json.
func (v *verifier) sessions() {
	for i, t := range v.report.Run.Tests {
		if t.Session == nil {
			continue
		}
		pointer := jsontext.PointerTo("tests", fmt.Sprint(i), "session")
		if !v.has(t.Session.File) {
			v.violate(ruleReference, RunFile, pointer+"/file", "names %q, which is not there: %s", t.Session.File, again)
			continue
		}
		v.session(t.Session.File, pointer+"/model_io_hash", t.Session.ModelIOHash, again)
	}
}

// session checks a session and its hash in run.json; want is empty if run.json has none.
func (v *verifier) session(file, pointer string, want canon.Hash, remedy string) {
	f, err := v.root.Open(file)
	if v.failed = cmp.Or(v.failed, err); err != nil {
		return
	}
	defer f.Close()
	is, err := session.VerifyReader(f, session.VerifyOptions{})
	var invalid *canon.Error
	if errors.As(err, &invalid) {
		v.violate(ruleSession, file, "", "is no JSON: %v: %s", err, remedy)
		return
	}
	for _, wrong := range is.Violations {
		v.violate(ruleSession, file, wrong.Pointer, "%s: %s", wrong.Rule, wrong.Message)
	}
	if v.failed = cmp.Or(v.failed, err); is.Hash == "" || want == "" {
		return
	}
	check := Check{Computed: is.Hash, Expected: want, Match: is.Hash == want, Field: "model_io_hash", Source: RunFile,
		Target: file}
	v.report.Checks = append(v.report.Checks, check)
	if !check.Match {
		v.violate(ruleReference, RunFile, pointer, "names %s, but %s computes to %s: %s", want, file, is.Hash, remedy)
	}
}

// storeDir is the store of a pack within the directory that it was unpacked to.
const storeDir = ".ai-snapshots"

// StoreIn returns the store that [Verify] made from a pack's documents.
func StoreIn(scratch string) (*store.Store, error) {
	return store.Open(filepath.Join(scratch, storeDir))
}

// unpack makes a store from the pack's documents and the refs that they name.
func (v *verifier) unpack() {
	v.copy(ReceiptsFile, ReceiptsFile)
	for file := range v.report.Run.Files {
		inStore, isDocument := strings.CutPrefix(file, "documents/")
		if isDocument || file == ConfigFile {
			v.copy(file, storeDir+"/"+inStore)
		}
		if isDocument {
			v.unpackRefs(file, strings.TrimSuffix(inStore, ".json"))
		}
	}
}

// unpackRefs copies the refs of a document to their places in its store. The check of the store reports missing files.
func (v *verifier) unpackRefs(file, beside string) {
	doc, err := snapshot.Parse(v.read(file))
	if err != nil {
		return // left to the check of the store
	}
	for _, n := range store.Needs(doc) {
		if ref := refFile(n.Hash); v.has(ref) {
			v.copy(ref, storeDir+"/"+beside+"/"+n.Own)
		}
	}
}

// copy copies a file of the pack into the scratch directory.
func (v *verifier) copy(file, to string) {
	v.failed = cmp.Or(v.failed, write(v.scratch, to, v.read(file)))
}

// documents checks the documents and the answers that they serve, as in any store.
func (v *verifier) documents(judge Judge) {
	if _, err := os.Stat(filepath.Join(v.scratch, storeDir)); errors.Is(err, fs.ErrNotExist) {
		return // no test has a document
	}
	result, err := judge(v.store)
	if v.failed = err; err != nil {
		return
	}
	for _, found := range result.Findings {
		if found.Rule == snapshot.RuleAttributes { // a pack does not contain a store's files for git
			continue
		}
		if found.File != ConfigFile {
			found.File = path.Join("documents", found.File)
		}
		v.report.Findings = append(v.report.Findings, found)
	}
}

// rebuild makes the pack again from its documents and receipts: everything else in it must be the result of that.
func (v *verifier) rebuild() {
	receipts, cut, err := coverage.ReadReceipts(v.scratch)
	if err != nil || len(cut) > 0 {
		v.violate(ruleReceipts, ReceiptsFile, "", "cannot be read: %v: %s",
			cmp.Or(err, errors.New("it ends in the middle of a line")), again)
		return
	}
	run := v.report.Run
	made, err := build(Source{In(v.store), receipts, run.Killed}, func(string, []byte) error { return nil })
	if err != nil {
		v.violate(ruleReceipts, ReceiptsFile, "", "does not agree with the documents: %v: %s", err, again)
		return
	}
	for _, file := range slices.Sorted(maps.Keys(run.Files)) {
		if run.Files[file] != made.Files[file] {
			v.violate(ruleReference, file, "", "is not what the documents and the receipts of the pack make: %s", again)
		}
	}
	// run.json names all files, also those that are missing
	if v.report.OK() && !bytes.Equal(v.read(RunFile), made.encode()) {
		v.violate(ruleReference, RunFile, "", "is not what the documents and the receipts of the pack make: %s", again)
	}
}
