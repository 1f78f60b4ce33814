package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Sentinel errors for callers that branch on the kind of error with [errors.Is].
var (
	// ErrMissing means that something required is missing or blank.
	ErrMissing = errors.New("missing")
	// ErrUnknown means that a provider, a model or a member of an object is not known.
	ErrUnknown = errors.New("unknown")
	// ErrLiteralKey means that there is an API key where a reference to one belongs.
	ErrLiteralKey = errors.New("literal API key")
	// ErrUnsupported means that the provider's API cannot express what the params ask for.
	ErrUnsupported = errors.New("not supported by the API")
	// ErrConflict means that the provider options contradict the params.
	ErrConflict = errors.New("conflict")
	// ErrIncomplete means that an answer ended too early.
	ErrIncomplete = errors.New("incomplete answer")
	// ErrBlob means that a blob is missing, which is also [fs.ErrNotExist], or altered.
	ErrBlob = errors.New("missing or altered blob")
	// ErrKeyEchoed means that a provider's answer contains the API key, so that none of it was stored.
	ErrKeyEchoed = errors.New("the answer holds the API key")
)

// The rules that a [modelio.Violation] names.
const (
	ruleBlank       = "blank"
	ruleChoice      = "choice"
	ruleConflict    = "conflict"
	ruleDecimal     = "decimal"
	ruleHash        = "hash"
	ruleJSON        = "json"
	ruleLiteral     = "literal"
	ruleMissing     = "missing"
	ruleType        = "type"
	ruleUnicode     = "unicode"
	ruleUnknown     = "unknown"
	ruleUnsupported = "unsupported"
)

// sentinels maps rules to the errors that callers branch on.
var sentinels = map[string]error{
	ruleConflict:    ErrConflict,
	ruleLiteral:     ErrLiteralKey,
	ruleMissing:     ErrMissing,
	ruleUnknown:     ErrUnknown,
	ruleUnsupported: ErrUnsupported,
}

// An Error lists everything that is wrong with a value of this package's types, in memory or as JSON. [errors.Is] finds
// the sentinel error of each violation. The same value always gives the same error.
type Error struct {
	What       string              // the kind of value: "generate params"
	Violations []modelio.Violation // at least one, sorted by pointer
}

func (e *Error) Error() string {
	var lines []string
	for _, v := range e.Violations {
		lines = append(lines, e.What+": "+v.String())
	}
	return strings.Join(lines, "\n")
}

// Is reports whether target is the sentinel error of one of e's violations.
func (e *Error) Is(target error) bool {
	return slices.ContainsFunc(e.Violations, func(v modelio.Violation) bool {
		return target != nil && sentinels[v.Rule] == target
	})
}

// violations is a list of what is wrong with a value.
type violations []modelio.Violation

func (v *violations) add(pointer, rule, format string, args ...any) {
	*v = append(*v, modelio.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// wrong returns an error with one violation.
func wrong(what, pointer, rule, format string, args ...any) error {
	return newError(what, modelio.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// newError returns an error with these violations, or nil if there are none.
func newError(what string, violations ...modelio.Violation) error {
	if len(violations) == 0 {
		return nil
	}
	slices.SortFunc(violations, modelio.Violation.Compare)
	return &Error{What: what, Violations: violations}
}

// A ProviderError is what a provider reported instead of an answer, or after a part of one.
type ProviderError struct {
	Provider     string
	Status       int    // HTTP status
	Type         string // the provider's own words, here and below; empty if it has none
	Code         string
	Message      string
	RawOutputRef canon.Hash // blob: the bytes of the report
}

func (e *ProviderError) Error() string {
	said := []string{fmt.Sprintf("%s answered with status %d", e.Provider, e.Status), e.Type, e.Code, e.Message}
	return strings.Join(slices.DeleteFunc(said, func(part string) bool { return part == "" }), ": ")
}
