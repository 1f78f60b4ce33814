package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The rules of a pack that can be broken.
const (
	ruleRequired  = "PK1"  // both files are there
	ruleUnknown   = "PK2"  // there are no other files
	ruleRun       = "PK3"  // run.json is as Run says
	ruleReference = "PK5"  // what run.json refers to is what the session has
	ruleLink      = "PK6"  // there are no symbolic links
	ruleSession   = "PK8"  // model_io.json is valid (MI1 to MI12)
	ruleRegular   = "PK12" // there are regular files only
)

// maxRunBytes limits what of a run.json is read: ten times what it takes to name
// session.MaxInteractions snapshots.
const maxRunBytes = 16 << 20

// A Check is a reference from one file of a pack to another.
type Check struct {
	Computed canon.Hash `json:"computed"`
	Expected canon.Hash `json:"expected"`
	Field    string     `json:"field"`
	Match    bool       `json:"match"`
	Source   string     `json:"source"`
	Target   string     `json:"target"`
}

// A Report is what a pack was found to be. It is valid if it has no violations.
type Report struct {
	Path     string
	Files    []string           // sorted
	Checks   []Check            // the references, where both sides could be read
	Findings []snapshot.Finding // violations, sorted by rule, file and message, as plain strings (PK10)
}

// OK reports whether the pack is valid.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// String returns the report as one line of canonical JSON, as the reference verifier of packs does.
func (r Report) String() string {
	line := map[string]any{"ok": r.OK(), "pack_path": r.Path}
	if r.OK() {
		line["files_verified"], line["reference_checks"] = r.Files, r.Checks
	} else {
		var violations []map[string]string
		for _, f := range r.Findings {
			violations = append(violations, map[string]string{"rule_id": f.Rule, "path": f.File, "message": f.Message})
		}
		line["violations"] = violations
	}
	text, err := canon.Marshal(line)
	if err != nil {
		return err.Error() // unreachable: strings have a canonical form
	}
	return string(text)
}

// Verify checks the pack in dir. An error is one of reading it; violations are none.
func Verify(dir string) (Report, error) {
	v := verifier{report: Report{Path: dir, Checks: []Check{}}}
	if err := v.verify(dir); err != nil {
		return Report{}, fmt.Errorf("verify pack: %w", err)
	}
	slices.SortFunc(v.report.Findings, func(a, b snapshot.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File), cmp.Compare(a.Message, b.Message))
	})
	return v.report, nil
}

type verifier struct {
	root   *os.Root
	report Report
}

func (v *verifier) violate(rule, path, format string, args ...any) {
	found := snapshot.Finding{File: path, Rule: rule, Message: fmt.Sprintf(format, args...)}
	v.report.Findings = append(v.report.Findings, found)
}

func (v *verifier) verify(dir string) error {
	if info, err := os.Lstat(filepath.Clean(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		v.violate(ruleLink, dir, "pack path is a symbolic link")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	v.root = root
	if err := v.files(); err != nil {
		return err
	}
	var run Run
	if v.has(RunFile) {
		if run, err = v.run(); err != nil {
			return err
		}
	}
	if !v.has(SessionFile) {
		return nil
	}
	report, err := v.session()
	if err != nil {
		return err
	}
	v.references(run, report)
	return nil
}

func (v *verifier) has(name string) bool { return slices.Contains(v.report.Files, name) }

// files checks what the directory holds, whatever is in it.
func (v *verifier) files() error {
	entries, err := fs.ReadDir(v.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := strings.ToValidUTF8(entry.Name(), "\uFFFD")
		if !isPackFile(name) {
			v.violate(ruleUnknown, name, "unknown file in pack: %s", name)
		}
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			v.violate(ruleLink, name, "file is a symbolic link: %s", name)
		case !entry.Type().IsRegular():
			v.violate(ruleRegular, name, "not a regular file: %s", name)
		default:
			v.report.Files = append(v.report.Files, name)
		}
	}
	for _, name := range []string{RunFile, SessionFile} {
		if !v.has(name) {
			v.violate(ruleRequired, name, "required file missing: %s", name)
		}
	}
	return nil
}

// session checks model_io.json.
func (v *verifier) session() (session.Report, error) {
	f, err := v.root.Open(SessionFile)
	if err != nil {
		return session.Report{}, err
	}
	defer f.Close()
	report, err := session.VerifyReader(f, session.VerifyOptions{})
	var invalid *canon.Error
	if errors.As(err, &invalid) {
		v.violate(ruleSession, SessionFile, "failed to parse: %v", err)
		return report, nil
	}
	for _, violation := range report.Violations {
		v.violate(ruleSession, SessionFile, "%s: %s: %s", violation.Rule, session.Path(violation), violation.Message)
	}
	return report, err
}

// references checks what run.json says of the session, as far as both could be read.
func (v *verifier) references(run Run, is session.Report) {
	if is.Hash == "" {
		return
	}
	if run.ModelIOHash != "" {
		match := run.ModelIOHash == is.Hash
		v.report.Checks = append(v.report.Checks, Check{
			Computed: is.Hash, Expected: run.ModelIOHash, Match: match,
			Field: "model_io_hash", Source: RunFile, Target: SessionFile,
		})
		if !match {
			v.violate(ruleReference, SessionFile, "hash mismatch: %s references %s, but %s computes to %s",
				RunFile, run.ModelIOHash, SessionFile, is.Hash)
		}
	}
	if run.Snapshots != nil && len(run.Snapshots) != is.Interactions {
		v.violate(ruleReference, RunFile, "%d snapshots, but %s has %d interactions",
			len(run.Snapshots), SessionFile, is.Interactions)
	}
}

// run checks run.json. The fields of the result that are no good are zero.
func (v *verifier) run() (Run, error) {
	info, err := v.root.Stat(RunFile)
	if err != nil {
		return Run{}, err
	}
	if info.Size() > maxRunBytes {
		v.violate(ruleRun, RunFile, "file size (%d bytes) exceeds limit (%d)", info.Size(), maxRunBytes)
		return Run{}, nil
	}
	data, err := v.root.ReadFile(RunFile)
	if err != nil {
		return Run{}, err
	}
	if _, err := canon.JSON(data); err != nil {
		v.violate(ruleRun, RunFile, "failed to parse: %v", err)
		return Run{}, nil
	}
	doc, err := jsontext.Parse(data)
	if err != nil {
		return Run{}, err // unreachable: canon has read it
	}
	var run Run
	o := v.object("", doc.Root())
	if o == nil {
		return run, nil
	}
	run.Package = o.text("package")
	run.Test = o.text("test")
	run.ModelIOHash = o.hash("model_io_hash")
	if run.Version = o.text("run_schema_version"); run.Version != "" && run.Version != RunVersion {
		v.violate(ruleRun, RunFile, "/run_schema_version: version %s is not supported: want %s", run.Version, RunVersion)
	}
	if list, ok := o.take("snapshots"); ok {
		run.Snapshots = v.snapshots(list)
	}
	o.close()
	return run, nil
}

func (v *verifier) snapshots(list jsontext.Value) []Reference {
	if !list.IsArray() {
		v.violate(ruleRun, RunFile, "/snapshots: want a list")
		return nil
	}
	references := []Reference{}
	seen := map[string]bool{}
	for i, element := range list.Elements() {
		o := v.object(fmt.Sprintf("/snapshots/%d", i), element)
		if o == nil {
			continue
		}
		reference := Reference{Hash: o.hash("hash"), ID: o.text("id")}
		o.close()
		if seen[reference.ID] {
			v.violate(ruleRun, RunFile, "/snapshots/%d/id: snapshot %s is named twice", i, reference.ID)
		}
		seen[reference.ID] = reference.ID != ""
		references = append(references, reference)
	}
	return references
}

// A runObject is an object of run.json whose members are being checked.
type runObject struct {
	v       *verifier
	pointer string
	members map[string]jsontext.Value // not yet checked
}

// object returns the object that value is, or nil, a violation, if it is none.
func (v *verifier) object(pointer string, value jsontext.Value) *runObject {
	o := &runObject{v, pointer, maps.Collect(value.Members())}
	if !value.IsObject() {
		o.violate("", "want an object")
		return nil
	}
	return o
}

func (o *runObject) violate(name, problem string) {
	pointer := o.pointer
	if name != "" {
		pointer += jsontext.PointerTo(name)
	}
	o.v.violate(ruleRun, RunFile, "%s: %s", cmp.Or(pointer, "top level"), problem)
}

func (o *runObject) take(name string) (jsontext.Value, bool) {
	value, ok := o.members[name]
	if !ok {
		o.violate(name, "required member is missing")
	}
	delete(o.members, name)
	return value, ok
}

func (o *runObject) text(name string) string {
	value, ok := o.take(name)
	if ok && !value.IsWord() {
		o.violate(name, "want a non-empty string")
	}
	return value.Word()
}

func (o *runObject) hash(name string) canon.Hash {
	text := o.text(name)
	if text != "" && !canon.Hash(text).Valid() {
		o.violate(name, "want sha256:<64 hex chars>, got "+text)
		return ""
	}
	return canon.Hash(text)
}

// close checks that there are no other members.
func (o *runObject) close() {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		o.violate(name, "unknown member")
	}
}
