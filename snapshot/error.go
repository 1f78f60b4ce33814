package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Sentinel errors of [*Error], for callers that branch on the kind of error.
var (
	// ErrVersion means that a text has another version of the format (SF "Migration Path").
	ErrVersion = errors.New("snapshot version is not supported")
	// ErrNewer means that a text was written by a newer traceforge. It is [ErrVersion] too.
	ErrNewer = errors.New("written by a newer traceforge")
	// ErrConflict means that a text contains the conflict markers of a merge.
	ErrConflict = errors.New("merge conflict")
	// ErrSeal means that a text is not what was recorded: a hash does not match.
	ErrSeal = errors.New("broken seal")
	// ErrManifest means that the manifest is malformed or contradicts a record.
	ErrManifest = errors.New("manifest disagrees")
	// ErrRaw means that a raw answer or a medium is missing, which is also [fs.ErrNotExist], or altered.
	ErrRaw = errors.New("missing or altered answer")
)

// The rules that a [Violation] or a [Finding] names; docs/format.md specifies them.
const (
	RuleAnswer        = "answer"
	RuleAttributes    = "attributes"
	RuleBehind        = "behind"
	RuleCanonical     = "canonical"
	RuleConflict      = "conflict"
	RuleContinues     = "continues"
	RuleDepth         = "depth"
	RuleDeterministic = "deterministic"
	RuleDuplicate     = "duplicate"
	RuleEmpty         = "empty"
	RuleHash          = "hash"
	RuleJSON          = "json"
	RuleManifest      = "manifest"
	RuleMedia         = "media"
	RuleMissing       = "missing"
	RuleName          = "name"
	RuleNewer         = "newer"
	RuleNumber        = "number"
	RuleParts         = "parts"
	RulePending       = "pending"
	RulePieces        = "pieces"
	RulePointer       = "pointer"
	RuleRaw           = "raw"
	RuleReadings      = "readings"
	RuleRules         = "rules"
	RuleSeal          = "seal"
	RuleStray         = "stray"
	RuleText          = "text"
	RuleType          = "type"
	RuleUnicode       = "unicode"
	RuleUnknown       = "unknown"
	RuleValue         = "value"
	RuleVersion       = "version"
)

// sentinels maps rules to the errors that callers branch on.
var sentinels = map[string]error{
	RuleVersion:  ErrVersion,
	RuleNewer:    ErrNewer,
	RuleConflict: ErrConflict,
	RuleSeal:     ErrSeal,
	RuleHash:     ErrSeal,
	RuleManifest: ErrManifest,
	RuleRaw:      ErrRaw,
	RuleMedia:    ErrRaw,
}

// A Violation is one thing that is wrong with a text; its Rule is one of the rules above.
type Violation = modelio.Violation

// A Finding is one thing that is wrong with a store.
type Finding struct {
	File    string `json:"file"`    // path in the store, with forward slashes; empty for the store itself
	Pointer string `json:"pointer"` // RFC 6901 pointer into the file; empty for the complete file
	Rule    string `json:"rule"`    // one of the rules above
	Message string `json:"message"`
}

func (f Finding) String() string {
	parts := []string{f.File, jsontext.ShortPointer(f.Pointer), f.Rule, f.Message}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Compare orders findings by file, pointer, rule and message.
func (f Finding) Compare(g Finding) int {
	return cmp.Or(cmp.Compare(f.File, g.File), cmp.Compare(f.Pointer, g.Pointer),
		cmp.Compare(f.Rule, g.Rule), cmp.Compare(f.Message, g.Message))
}

// sorted returns violations in order, without duplicates.
func sorted(all []Violation) []Violation {
	inorder.By(all, Violation.Compare)
	return slices.Compact(all)
}

// An Error lists everything that is wrong with a text, or with a file of a store. [errors.Is] reports it as
// [ErrVersion], [ErrNewer], [ErrConflict], [ErrSeal], [ErrManifest] or [ErrRaw] if one of its violations is.
type Error struct {
	File       string      // path of the file; empty if the text did not come from a file
	Violations []Violation // at least one, sorted by pointer, rule and message
	Err        error       // the error that caused the violations, or nil
}

// violationsShown is how many violations Error prints: a text from anywhere may have millions, and errors end up in
// logs.
const violationsShown = 20

func (e *Error) Error() string {
	var lines []string
	for i, v := range e.Violations {
		if i == violationsShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Violations)-i))
			break
		}
		lines = append(lines, Finding{e.File, v.Pointer, v.Rule, v.Message}.String())
	}
	if out := e.wayOut(); out != "" {
		lines = append(lines, "way out: "+out)
	}
	return strings.Join(lines, "\n")
}

// wayOut says what to do about e. This package knows no way out for a text that is not in a file.
func (e *Error) wayOut() string {
	switch {
	case e.File == "":
		return ""
	case strings.HasSuffix(e.File, "config.json"):
		return `correct it, as docs/format.md has it under "Configuration"`
	}
	for _, v := range e.Violations {
		if strings.Contains(v.Message, "traceforge repair") {
			return "" // included in the message
		}
		switch v.Rule {
		case RuleVersion, RuleNewer, RulePointer:
			return "" // included in the message
		case RuleManifest, RuleBehind:
			return "run traceforge repair --manifest"
		case RuleConflict:
			return "run traceforge repair, which merges the records of both sides"
		case RulePending:
			return "run traceforge repair"
		}
	}
	return "restore it with git, or record it again"
}

// Is reports whether target is the sentinel error of one of e's violations.
func (e *Error) Is(target error) bool {
	return slices.ContainsFunc(e.Violations, func(v Violation) bool {
		return target != nil && (sentinels[v.Rule] == target || v.Rule == RuleNewer && target == ErrVersion)
	})
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// textViolation describes why a text with the pointer base cannot be parsed.
func textViolation(base string, err error) Violation {
	var at *jsontext.Error
	errors.As(err, &at) // all parse errors have this type
	v := Violation{Pointer: base + at.Pointer, Rule: RuleJSON, Message: fmt.Sprintf("offset %d: %v", at.Offset, at.Err)}
	switch {
	case errors.Is(at.Err, jsontext.ErrDepth):
		v.Rule, v.Pointer = RuleDepth, base // of a thousand levels, none is more helpful than the others
	case errors.Is(at.Err, jsontext.ErrEncoding):
		v.Rule = RuleUnicode
	case errors.Is(at.Err, jsontext.ErrDuplicate):
		v.Rule = RuleDuplicate
	}
	return v
}
