package pack

import (
	"io/fs"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A pack of another system has a run.json of its own kernel, and at most one session, model_io.json (MIO §7). It has no
// documents, so there is no store in it.

// otherFiles are the files that such a pack may contain.
var otherFiles = []string{
	RunFile, bundleFile, sessionFile, "evidence.json", "ledger.jsonl", "meta.json", "patch.json", "policy.json",
}

const (
	sessionFile = "model_io.json"
	sessionHash = "model_io_hash" // a member of run.json
	bundleFile  = "bundle.json"
)

// isOther reports whether the pack comes from another system.
func (v *verifier) isOther() bool {
	has := func(file string) bool {
		_, err := fs.Stat(v.root.FS(), file)
		return err == nil
	}
	data, err := v.root.ReadFile(RunFile)
	return has(sessionFile) || err != nil && has(bundleFile) ||
		jsontext.ValueOf(data).Member("kernel_result_kind").Present()
}

// other verifies a pack of another system in the same way as its reference verifier.
func (v *verifier) other() {
	v.report.Other = true
	entries, err := fs.ReadDir(v.root.FS(), ".")
	v.failed = err
	for _, e := range entries {
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			v.violate(ruleLink, e.Name(), "", "is a symbolic link, which could lead anywhere: put the file in its place")
		case !slices.Contains(otherFiles, e.Name()):
			v.violate(ruleUnknown, e.Name(), "", "unknown file in pack: %s: remove it", e.Name())
		case !e.Type().IsRegular():
			v.violate(ruleRegular, e.Name(), "", "is no regular file: remove it")
		default:
			v.report.Files = append(v.report.Files, e.Name())
		}
	}
	if !v.has(RunFile) {
		v.violate(ruleRequired, RunFile, "", "required file missing: %s: %s", RunFile, otherAgain)
		return
	}
	text, err := jsontext.Parse(v.read(RunFile))
	if err != nil {
		v.violate(ruleRun, RunFile, "", "%v: %s", err, otherAgain)
		return
	}
	v.bundle(text.Root())
	hash, isNamed := text.Root().Member(sessionHash).Text()
	switch {
	case v.has(sessionFile):
		v.session(sessionFile, "/"+sessionHash, canon.Hash(hash), otherAgain)
	case isNamed:
		v.violate(ruleReference, RunFile, "/"+sessionHash, "names %s, but there is no %s: %s", jsontext.Excerpt(hash),
			sessionFile, otherAgain)
	}
}

const otherAgain = "have the system that wrote the pack write it again"

// bundle requires the bundle that run.json names. Its hash is computed from a core that only the kernel's own
// specification defines, and not MIO, so only its form is checked.
func (v *verifier) bundle(run jsontext.Value) {
	kind, stated := run.Member("kernel_result_kind").Word(), run.Member("bundle", "sha256").Word()
	switch {
	case !v.has(bundleFile) && (kind == "BUNDLE" || kind == "CLARIFY"):
		v.violate(ruleRequired, bundleFile, "", "required file missing: %s (required for BUNDLE/CLARIFY outcomes): %s",
			bundleFile, otherAgain)
	case v.has(bundleFile) && !canon.Hash(stated).Valid():
		v.violate(ruleReference, bundleFile, "",
			"hash mismatch: run.json references %s, which is no sha256:<64 hex chars>: %s", stated, otherAgain)
	}
}
