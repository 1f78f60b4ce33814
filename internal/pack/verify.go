package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	v.object("", doc.Root(), map[string]reading{
		"model_io_hash":      hash(&run.ModelIOHash),
		"package":            word(&run.Package),
		"run_schema_version": word(&run.Version),
		"snapshots":          v.snapshots(&run.Snapshots),
		"test":               word(&run.Test),
	})
	if run.Version != "" && run.Version != RunVersion {
		v.violateRun("/run_schema_version", "version %s is not supported: want %s", run.Version, RunVersion)
	}
	return run, nil
}

// A reading reads a member of run.json, and returns what is wrong with it.
type reading func(jsontext.Value) (problem string)

// object reads an object of run.json, which has these members and no others.
func (v *verifier) object(pointer string, value jsontext.Value, members map[string]reading) {
	if !value.IsObject() {
		v.violateRun(pointer, "want an object")
		return
	}
	for name, read := range members {
		problem := "required member is missing"
		if m := value.Member(name); m.Present() {
			problem = read(m)
		}
		if problem != "" {
			v.violateRun(pointer+jsontext.PointerTo(name), "%s", problem)
		}
	}
	for name := range value.Members() {
		if members[name] == nil {
			v.violateRun(pointer+jsontext.PointerTo(name), "unknown member")
		}
	}
}

func (v *verifier) violateRun(pointer, format string, args ...any) {
	v.violate(ruleRun, RunFile, "%s: %s", cmp.Or(pointer, "top level"), fmt.Sprintf(format, args...))
}

func word(dst *string) reading {
	return func(v jsontext.Value) string {
		if *dst = v.Word(); *dst == "" {
			return "want a non-empty string"
		}
		return ""
	}
}

func hash(dst *canon.Hash) reading {
	return func(v jsontext.Value) string {
		switch text := v.Word(); {
		case text == "":
			return "want a non-empty string"
		case !canon.Hash(text).Valid():
			return "want sha256:<64 hex chars>, got " + text
		default:
			*dst = canon.Hash(text)
			return ""
		}
	}
}

func (v *verifier) snapshots(dst *[]Reference) reading {
	return func(list jsontext.Value) string {
		if !list.IsArray() {
			return "want a list"
		}
		*dst = []Reference{}
		seen := map[string]bool{}
		for i, element := range list.Elements() {
			var r Reference
			pointer := fmt.Sprintf("/snapshots/%d", i)
			v.object(pointer, element, map[string]reading{"hash": hash(&r.Hash), "id": word(&r.ID)})
			if seen[r.ID] {
				v.violateRun(pointer+"/id", "snapshot %s is named twice", r.ID)
			}
			seen[r.ID] = r.ID != ""
			if element.IsObject() {
				*dst = append(*dst, r)
			}
		}
		return ""
	}
}
