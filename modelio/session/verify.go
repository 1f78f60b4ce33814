package session

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The limits of MI4 and MI11.
const (
	MaxInteractions  = 10_000
	MaxResponseBytes = 1_000_000   // UTF-8 bytes of one response
	MaxTotalBytes    = 100_000_000 // UTF-8 bytes of all responses in a session
)

// Rules other than MI1 to MI12.
const (
	RuleParse  = "PARSE"  // the file is not JSON
	RuleSchema = "SCHEMA" // the file is JSON, but not an object
)

// VerifyOptions turn off checks of [VerifyReader]. The zero value checks all of MI1 to MI12.
type VerifyOptions struct {
	NoResponseHashes bool // do not compare response_hash with response_content (MI7)
	NoSizeLimits     bool // ignore the limits of MI4 and MI11
}

// A Report is the result of [VerifyReader]. A session without violations is valid.
type Report struct {
	Interactions int                 // number of interactions; 0 if there are violations
	Hash         canon.Hash          // the ModelIOHash (MIO §4.4); empty if there are violations
	Violations   []modelio.Violation // sorted (MI10)
}

// OK reports whether the session is valid.
func (r Report) OK() bool { return len(r.Violations) == 0 }

// String returns the report as one line of canonical JSON (design R14), with places in MIO's form: $.interactions[0].i.
func (r Report) String() string {
	line := map[string]any{"ok": true, "interactions_count": r.Interactions, "model_io_hash": r.Hash}
	if !r.OK() {
		violations := make([]map[string]string, len(r.Violations))
		for i, v := range r.Violations {
			violations[i] = map[string]string{"rule_id": v.Rule, "path": Path(v), "message": v.Message}
		}
		line = map[string]any{"ok": false, "violations": violations}
	}
	text, _ := canon.Marshal(line) // strings and counts always have a canonical form
	return string(text)
}

// Path returns the place of a violation in MIO's form: $.interactions[0].i.
func Path(v modelio.Violation) string {
	var path strings.Builder
	path.WriteString("$")
	tokens, _ := jsontext.ParsePointer(v.Pointer) // pointers made by the rules are valid
	for _, token := range tokens {
		if strings.Trim(token, "0123456789") == "" {
			path.WriteString("[" + token + "]")
		} else {
			path.WriteString("." + token)
		}
	}
	return path.String()
}

// Verify checks a model_io.json file against MI1 to MI12 and returns all violations, sorted by rule, path and message
// as plain strings (MI10). A file that is not JSON has one violation, of [RuleParse].
func Verify(data []byte) []modelio.Violation {
	report, err := VerifyReader(bytes.NewReader(data), VerifyOptions{})
	if err != nil {
		return []modelio.Violation{{Rule: RuleParse, Message: "Invalid JSON: " + err.Error()}}
	}
	return report.Violations
}

// VerifyReader checks a model_io.json file against MI1 to MI12. It reads all of r into memory.
//
// A [*canon.Error] means that the file is not JSON, or is nested deeper than [canon.MaxDepth]. Any other error comes
// from r. Violations are not errors.
func VerifyReader(r io.Reader, opts VerifyOptions) (Report, error) {
	var data bytes.Buffer
	// The reader is not given to the buffer, which would wait forever for one that returns neither bytes nor an error.
	if _, err := io.Copy(io.MultiWriter(&data), bufio.NewReader(r)); err != nil {
		return Report{}, fmt.Errorf("read model_io session at byte %d: %w", data.Len(), err)
	}
	doc, err := jsontext.ParseLenient(data.Bytes())
	if err != nil {
		return Report{}, err
	}
	return newVerifier(opts).verify(doc.Root()), nil
}

// A verifier checks one session.
type verifier struct {
	opts       VerifyOptions
	violations []modelio.Violation

	version, adapterID, modelID, mode, interactions member

	previous   member          // index of the previous interaction
	pairs      map[string]bool // prompt_hash and i of each interaction
	totalBytes int64           // of all responses
}

func newVerifier(opts VerifyOptions) *verifier {
	return &verifier{opts: opts, pairs: map[string]bool{}}
}

func (v *verifier) verify(root jsontext.Value) Report {
	v.judgeText(root)
	if len(v.violations) > 0 {
		sortViolations(v.violations)
		return Report{Violations: v.violations}
	}
	var s Session
	_ = s.read(root) // of a valid session there is no error, here and in the next line
	hash, _ := s.Hash()
	return Report{Interactions: len(s.Interactions), Hash: hash}
}

func (v *verifier) judgeText(root jsontext.Value) {
	if m := (&member{Value: root}); !m.IsObject() {
		got := m.typeName()
		if m.IsNull() {
			got = "null"
		}
		v.violate(RuleSchema, "", "session must be object, got %s", got)
		return
	}
	readMembers(root, map[string]*member{
		"model_io_schema_version": &v.version, "adapter_id": &v.adapterID, "model_id": &v.modelID, "mode": &v.mode,
		"interactions": &v.interactions,
	})
	for n, element := range v.interactions.Elements() {
		if n == MaxInteractions && !v.opts.NoSizeLimits {
			break // MI4; so that nobody can make us list millions of violations
		}
		v.judgeInteraction(interactionAt(n, element))
	}
	v.judgeSession()
}

// sortViolations sorts violations in the order of MI10: by rule, path and message, all as strings, so that [10] comes
// before [2].
func sortViolations(violations []modelio.Violation) {
	paths := map[string]string{}
	for _, v := range violations {
		paths[v.Pointer] = Path(v)
	}
	inorder.By(violations, func(a, b modelio.Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(paths[a.Pointer], paths[b.Pointer]),
			cmp.Compare(a.Message, b.Message))
	})
}
