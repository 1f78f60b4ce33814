package session

import (
	"fmt"
	"regexp"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// violate adds a violation. Its wording is that of MIO's reference verifier, so that the two can be compared.
func (v *verifier) violate(rule, pointer, format string, args ...any) {
	v.violations = append(v.violations,
		modelio.Violation{Rule: rule, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// A place is the index of an interaction, or theSession.
type place int

const theSession place = -1

// pointer returns the pointer of a member at p.
func (p place) pointer(name string) string {
	if p == theSession {
		return "/" + name
	}
	return p.element() + "/" + name
}

// element returns the pointer of the interaction at p.
func (p place) element() string { return fmt.Sprintf("/interactions/%d", p) }

// judge adds problem, if there is one, as a violation of m. It adds another if m is repeated, because readers would
// take different values and so compute different hashes.
func (v *verifier) judge(rule string, p place, name string, m *member, problem string) {
	if m.repeated {
		v.violate(rule, p.pointer(name), "member %s appears twice", name)
	}
	if problem != "" {
		v.violate(rule, p.pointer(name), "%s", problem)
	}
}

func (v *verifier) judgeSession() {
	const version = "model_io_schema_version"
	v.judge("MI1", theSession, version, &v.version, versionProblem(version, &v.version))
	v.require("MI2", "adapter_id", &v.adapterID, v.adapterID.isFilled(), "must be non-empty string")
	v.require("MI2", "model_id", &v.modelID, v.modelID.isFilled(), "must be non-empty string")
	v.require("MI3", "mode", &v.mode, v.mode.IsString() && Mode(v.mode.chars()).valid(),
		"must be one of [record, replay], got "+v.mode.String())
	v.require("MI4", "interactions", &v.interactions, v.interactions.IsArray(), "must be an array")
	v.limit(checkCount(v.interactions.Len()))
	v.limit(checkTotal(v.totalBytes))
}

// limit adds a violation for an exceeded limit.
func (v *verifier) limit(exceeded error) {
	if e, ok := exceeded.(*LimitError); ok && !v.opts.NoSizeLimits {
		v.violations = append(v.violations, e.Violation)
	}
}

func (v *verifier) judgeInteraction(in *interaction) {
	v.judge("MI5", in.place, "i", &in.i, in.indexProblem())
	v.judge("MI6", in.place, "prompt_hash", &in.promptHash, hashProblem("prompt_hash", &in.promptHash))
	v.judge("MI7", in.place, "response_hash", &in.responseHash, hashProblem("response_hash", &in.responseHash))
	v.judge("MI7", in.place, "response_content", &in.content, in.contentProblem())
	v.mi7(in)
	v.mi8(in)
	v.mi9(in)
	v.previous = in.i
}

// versionProblem (MI1): the schema version exists and has the form X.Y.Z.
func versionProblem(name string, version *member) string {
	switch {
	case !version.Present() || version.IsNull():
		return name + " is missing"
	case !version.IsString():
		return name + " must be string, got " + version.typeName()
	case !version.isFilled():
		return name + " cannot be empty"
	case !versionForm.Match(version.chars()):
		return name + " must be semver format, got " + version.String()
	}
	return ""
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// require judges a member of the session that must exist and be right.
func (v *verifier) require(rule, name string, m *member, isRight bool, problem string) {
	switch {
	case !m.Present():
		problem = "required field " + name + " is missing"
	case isRight:
		problem = ""
	default:
		problem = name + " " + problem
	}
	v.judge(rule, theSession, name, m, problem)
}

// indexProblem (MI5): the index of each interaction is its position.
func (in *interaction) indexProblem() string {
	i, ok := in.i.number()
	switch {
	case in.i.typeName() != "number":
		return "index must be a number, got " + in.i.typeName()
	case !ok || i != float64(in.place):
		return fmt.Sprintf("index must be %d, got %s", in.place, &in.i)
	}
	return ""
}

// hashProblem (MI6, MI7): a hash has the form of one.
func hashProblem(name string, m *member) string {
	if m.isHash() {
		return ""
	}
	return name + " must be sha256:<64 hex chars>, got " + m.String()
}

// contentProblem (MI7): a response content is a string.
func (in *interaction) contentProblem() string {
	if in.content.IsString() || !in.isObject {
		return ""
	}
	return "response_content must be a string, got " + in.content.typeName()
}

// mi7: a response hash matches the response content, whose size is limited (MI11).
func (v *verifier) mi7(in *interaction) {
	if !in.content.IsString() {
		return
	}
	content := toUTF8(string(in.content.chars()))
	v.totalBytes += int64(len(content))
	v.limit(checkSize(in.place, int64(len(content))))
	if !in.responseHash.isHash() || v.opts.NoResponseHashes {
		return
	}
	if want := canon.Sum(content); want != canon.Hash(in.responseHash.chars()) {
		v.violate("MI7", in.place.pointer("response_hash"), "response_hash mismatch: expected %s, got %s", want,
			&in.responseHash)
	}
}

// mi8: no two interactions have the same prompt hash and index, whether these are valid or not.
func (v *verifier) mi8(in *interaction) {
	pair := string(in.promptHash.js()) + "|" + string(in.i.js())
	if v.pairs[pair] {
		v.violate("MI8", in.place.element(), "duplicate (prompt_hash, i) pair at index %d", in.place)
	}
	v.pairs[pair] = true
}

// mi9: the interactions are sorted by index.
func (v *verifier) mi9(in *interaction) {
	before, ok := v.previous.number()
	i, ok2 := in.i.number()
	if ok && ok2 && before >= i {
		v.violate("MI9", in.place.element(), "interactions not sorted by i: %s >= %s", &v.previous, &in.i)
	}
}
