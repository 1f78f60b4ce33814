package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// What an [*Error] of this package is, for callers that branch.
var (
	// ErrVersion says that a text is of another version of the format (SF "Migration Path").
	ErrVersion = errors.New("snapshot version is not supported")
	// ErrConflict says that a text holds the conflict markers of a merge.
	ErrConflict = errors.New("merge conflict")
	// ErrSeal says that a text is not what was recorded: a hash does not match.
	ErrSeal = errors.New("broken seal")
	// ErrManifest says that the manifest is malformed, or that it and a record disagree.
	ErrManifest = errors.New("manifest disagrees")
	// ErrBlob says that a blob is missing, which is [fs.ErrNotExist] too, or altered.
	ErrBlob = errors.New("missing or altered blob")
)

// The rules that a [Violation] or a [Finding] names; docs/format.md says what each asks for.
const (
	ruleAttributes = "attributes"
	ruleBlob       = "blob"
	ruleCanonical  = "canonical"
	ruleConflict   = "conflict"
	ruleDepth      = "depth"
	ruleDuplicate  = "duplicate"
	ruleEmpty      = "empty"
	ruleExtra      = "extra"
	ruleHash       = "hash"
	ruleJSON       = "json"
	ruleManifest   = "manifest"
	ruleMissing    = "missing"
	ruleName       = "name"
	ruleNumber     = "number"
	ruleOrphan     = "orphan"
	rulePending    = "pending"
	ruleSeal       = "seal"
	ruleStray      = "stray"
	ruleType       = "type"
	ruleUnicode    = "unicode"
	ruleUnknown    = "unknown"
	ruleValue      = "value"
	ruleVersion    = "version"
)

// sentinels maps rules to the errors that callers branch on.
var sentinels = map[string]error{
	ruleVersion:  ErrVersion,
	ruleConflict: ErrConflict,
	ruleSeal:     ErrSeal,
	ruleHash:     ErrSeal,
	ruleManifest: ErrManifest,
	ruleBlob:     ErrBlob,
}

// A Violation is one thing that is wrong with a text.
type Violation struct {
	Pointer string // RFC 6901 pointer of the place; empty: the whole text
	Rule    string // a word that docs/format.md explains
	Message string
}

func (v Violation) String() string {
	return joinNonEmpty(v.Pointer, v.Rule, v.Message)
}

// A Finding is one thing that is wrong with a store.
type Finding struct {
	File    string // path in the store, with forward slashes; empty: the store itself
	Pointer string // RFC 6901 pointer into the file; empty: the whole file
	Rule    string // a word that docs/format.md explains
	Message string
}

func (f Finding) String() string {
	return joinNonEmpty(f.File, f.Pointer, f.Rule, f.Message)
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

func compareViolations(a, b Violation) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
}

func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File),
		compareViolations(Violation{a.Pointer, a.Rule, a.Message}, Violation{b.Pointer, b.Rule, b.Message}))
}

// An Error is everything that is wrong with a text, or with a file of a store. It is one of
// [ErrVersion], [ErrConflict], [ErrSeal], [ErrManifest] and [ErrBlob], as [errors.Is] tells,
// where one of its violations is.
type Error struct {
	File       string      // path of the file; empty: the text came from no file
	Violations []Violation // one at least, sorted by pointer, rule and message
	Err        error       // the error that the violations tell of, if they do; else nil
}

// violationsShown is how many violations Error prints: a text from anywhere may have
// millions, and errors end in logs.
const violationsShown = 20

func (e *Error) Error() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i == violationsShown {
			fmt.Fprintf(&b, "\nand %d more", len(e.Violations)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(joinNonEmpty(e.File, excerpt(v.Pointer), v.Rule, v.Message))
	}
	if out := e.wayOut(); out != "" {
		b.WriteString("\nway out: " + out)
	}
	return b.String()
}

// excerpt returns s cut to a length that does no harm in a message.
func excerpt(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// wayOut says what to do about e. A text that is in no file has no way out that this
// package could know.
func (e *Error) wayOut() string {
	if e.File == "" {
		return ""
	}
	for _, v := range e.Violations {
		switch v.Rule {
		case ruleVersion:
			return "" // SF's wording says it
		case ruleManifest:
			return "run traceforge manifest"
		case ruleConflict:
			if strings.HasSuffix(e.File, manifestName) {
				return "run traceforge manifest"
			}
			return "take one side of the merge with git checkout --ours or --theirs, or record it again"
		}
	}
	return "restore it with git, or record it again"
}

// Is reports whether target is the sentinel error of one of e's violations.
func (e *Error) Is(target error) bool {
	return slices.ContainsFunc(e.Violations, func(v Violation) bool {
		return target != nil && sentinels[v.Rule] == target
	})
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// newError returns an error with one violation.
func newError(file, pointer, rule, format string, args ...any) *Error {
	return &Error{File: file, Violations: []Violation{{pointer, rule, fmt.Sprintf(format, args...)}}}
}

// textRules maps what canon finds to rules.
var textRules = []struct {
	err  error
	rule string
}{
	{canon.ErrEncoding, ruleUnicode},
	{canon.ErrDuplicate, ruleDuplicate},
	{canon.ErrDepth, ruleDepth},
	{canon.ErrNumber, ruleNumber},
	{canon.ErrKept, ruleNumber},
	{canon.ErrSyntax, ruleJSON},
}

// textViolation tells what canon found in a text whose pointer is base.
func textViolation(base string, err error) Violation {
	var at *canon.Error
	if !errors.As(err, &at) {
		return Violation{base, ruleJSON, err.Error()}
	}
	v := Violation{base + at.Pointer, ruleJSON, fmt.Sprintf("offset %d: %v", at.Offset, at.Err)}
	if errors.Is(at.Err, canon.ErrDepth) {
		v.Pointer = base // of a thousand levels, none says more than the others
	}
	for _, known := range textRules {
		if errors.Is(at.Err, known.err) {
			v.Rule = known.rule
			break
		}
	}
	return v
}
