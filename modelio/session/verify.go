package session

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/stream"
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
	NoSizeLimits     bool // ignore the limits of MI4 and MI11; memory grows with the largest response and the number of interactions
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

// VerifyReader checks a model_io.json file against MI1 to MI12. It reads r once, in memory that does not grow with it,
// unless adapter_id, with which the hashed text starts, comes after the interactions, which must then be kept.
//
// A [*canon.Error] means that the file is not JSON, or is nested deeper than [canon.MaxDepth]. Any other error comes
// from r. Violations are not errors.
func VerifyReader(r io.Reader, opts VerifyOptions) (Report, error) {
	return newVerifier(r, opts).verify()
}

// A verifier checks one session while reading it.
type verifier struct {
	*stream.Reader
	opts       VerifyOptions
	violations []modelio.Violation

	version, adapterID, modelID, mode, interactions member

	in         *interaction               // the current interaction
	length     int                        // number of interactions so far
	previous   member                     // index of the previous interaction
	pair       []byte                     // reused for each key of pairs
	pairs      map[[sha256.Size]byte]bool // hashes of prompt_hash and i of each interaction
	totalBytes int64                      // of all responses

	core    coreHash
	content []byte // canonical response_content of the current interaction, for core
}

func newVerifier(r io.Reader, opts VerifyOptions) *verifier {
	return &verifier{Reader: stream.NewReader(r), opts: opts, pairs: map[[sha256.Size]byte]bool{}}
}

func (v *verifier) verify() (Report, error) {
	err := v.text()
	if broken := v.Err(); broken != nil {
		return Report{}, fmt.Errorf("read model_io session at byte %d: %w", v.Offset(), broken)
	}
	if err != nil {
		return Report{}, err
	}
	if len(v.violations) > 0 {
		sortViolations(v.violations)
		return Report{Violations: v.violations}, nil
	}
	if v.core.hash == nil {
		v.core.begin(v.adapterID.canonical)
	}
	hash := v.core.sum(v.mode.canonical, v.modelID.canonical, v.version.canonical)
	return Report{Interactions: v.length, Hash: hash}, nil
}

// text reads and checks the complete text.
func (v *verifier) text() error {
	if v.Peek() == '{' {
		if err := v.Object(v.sessionMember); err != nil {
			return err
		}
		v.judgeSession()
	} else {
		var root member
		if err := v.member(&root, lookahead); err != nil {
			return err
		}
		got := root.typeName()
		if root.kind == kindNull {
			got = "null"
		}
		v.violate(RuleSchema, "", "session must be object, got %s", got)
	}
	return v.End()
}

func (v *verifier) sessionMember(name []byte) error {
	switch string(name) {
	case "model_io_schema_version":
		return v.member(&v.version, unlimited)
	case "adapter_id":
		return v.member(&v.adapterID, unlimited)
	case "model_id":
		return v.member(&v.modelID, unlimited)
	case "mode":
		return v.member(&v.mode, lookahead)
	case "interactions":
		if v.interactions.kind == kindAbsent && v.Peek() == '[' {
			return v.readInteractions()
		}
		return v.member(&v.interactions, lookahead)
	}
	return v.Skip()
}

func (v *verifier) readInteractions() error {
	v.interactions.kind = kindArray
	if v.adapterID.kind == kindString {
		v.core.begin(v.adapterID.canonical)
		defer v.core.enqueue()()
	}
	return v.Array(func(n int) error {
		v.length++
		if n >= MaxInteractions && !v.opts.NoSizeLimits {
			return v.Skip() // MI4; so that nobody can make us list millions of violations
		}
		return v.readInteraction(n)
	})
}

func (v *verifier) readInteraction(n int) error {
	in := &interaction{place: place(n), isObject: v.Peek() == '{', content: content{hash: sha256.New()}}
	v.in, v.content = in, v.content[:0]
	read := v.Skip
	if in.isObject {
		read = v.interactionMembers
	}
	if err := read(); err != nil {
		return err
	}
	v.judgeInteraction(in)
	if v.hashing() {
		v.core.interaction(n, in.promptHash.canonical, v.content, in.responseHash.canonical)
	}
	return nil
}

// hashing reports whether the session's hash is still needed: a session with violations has none.
func (v *verifier) hashing() bool {
	return len(v.violations) == 0 && (v.totalBytes <= MaxTotalBytes || v.opts.NoSizeLimits)
}

func (v *verifier) interactionMembers() error {
	return v.Object(func(name []byte) error {
		switch string(name) {
		case "i":
			return v.member(&v.in.i, lookahead)
		case "prompt_hash":
			return v.member(&v.in.promptHash, lookahead)
		case "response_hash":
			return v.member(&v.in.responseHash, lookahead)
		case "response_content":
			return v.readContent(&v.in.content)
		}
		return v.Skip()
	})
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
