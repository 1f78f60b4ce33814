package session

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// violate notes a violation. Its words are those of the reference verifier of MIO, so that the two can
// be compared.
func (v *verifier) violate(rule, pointer, format string, args ...any) {
	v.violations = append(v.violations, modelio.Violation{Rule: rule, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// A place is the place of an interaction, or theSession.
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

// unrepeated notes a violation if m appears twice: readers differ in which one they take, so
// they would differ in the hash.
func (v *verifier) unrepeated(rule string, p place, name string, m *member) {
	if m.repeated {
		v.violate(rule, p.pointer(name), "member %s appears twice", name)
	}
}

func (v *verifier) judgeSession() {
	v.mi1(&v.version)
	v.mi2("adapter_id", &v.adapterID)
	v.mi2("model_id", &v.modelID)
	v.mi3(&v.mode)
	v.mi4(&v.interactions, v.length)
	v.mi11Total(v.totalBytes)
}

func (v *verifier) judgeInteraction(in *interaction) {
	v.mi5(in)
	v.mi6(in)
	v.mi7(in)
	v.mi8(in)
	v.mi9(in)
	v.mi11(in)
	v.previous, in.i = in.i, v.previous
}

// mi1: the schema version is present and of the form X.Y.Z.
func (v *verifier) mi1(version *member) {
	const name, pointer = "model_io_schema_version", "/model_io_schema_version"
	v.unrepeated("MI1", theSession, name, version)
	switch {
	case version.kind == kindAbsent || version.kind == kindNull:
		v.violate("MI1", pointer, "%s is missing", name)
	case version.kind != kindString:
		v.violate("MI1", pointer, "%s must be string, got %s", name, version.typeName())
	case len(version.text) == 0:
		v.violate("MI1", pointer, "%s cannot be empty", name)
	case !isVersion(version.text):
		v.violate("MI1", pointer, "%s must be semver format, got %s", name, version)
	}
}

// isVersion reports whether s is three numbers with dots between them.
func isVersion(s []byte) bool {
	dots, digits := 0, 0
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c == '.' && digits > 0:
			dots, digits = dots+1, 0
		default:
			return false
		}
	}
	return dots == 2 && digits > 0
}

// mi2: adapter and model id are non-empty strings.
func (v *verifier) mi2(name string, id *member) {
	pointer := "/" + name
	v.unrepeated("MI2", theSession, name, id)
	switch {
	case id.kind == kindAbsent:
		v.violate("MI2", pointer, "required field %s is missing", name)
	case id.kind != kindString || len(id.text) == 0:
		v.violate("MI2", pointer, "%s must be non-empty string", name)
	}
}

// mi3: the mode is record or replay.
func (v *verifier) mi3(mode *member) {
	const pointer = "/mode"
	v.unrepeated("MI3", theSession, "mode", mode)
	switch {
	case mode.kind == kindAbsent:
		v.violate("MI3", pointer, "required field mode is missing")
	case mode.kind != kindString || !Mode(mode.text).valid():
		v.violate("MI3", pointer, "mode must be one of [record, replay], got %s", mode)
	}
}

// mi4: the interactions are an array of at most MaxInteractions.
func (v *verifier) mi4(interactions *member, length int) {
	const pointer = "/interactions"
	v.unrepeated("MI4", theSession, "interactions", interactions)
	switch {
	case interactions.kind == kindAbsent:
		v.violate("MI4", pointer, "required field interactions is missing")
	case interactions.kind != kindArray:
		v.violate("MI4", pointer, "interactions must be an array")
	case length > MaxInteractions && !v.opts.NoSizeLimits:
		v.violate("MI4", pointer, "interactions length (%d) exceeds limit (%d)", length, MaxInteractions)
	}
}

// mi5: the index of each interaction is its place.
func (v *verifier) mi5(in *interaction) {
	v.unrepeated("MI5", in.place, "i", &in.i)
	i, ok := in.i.number()
	switch {
	case in.i.kind != kindNumber:
		v.violate("MI5", in.place.pointer("i"), "index must be a number, got %s", in.i.typeName())
	case !ok || i != float64(in.place):
		v.violate("MI5", in.place.pointer("i"), "index must be %d, got %s", in.place, &in.i)
	}
}

// mi6: a prompt hash is spelled as a hash.
func (v *verifier) mi6(in *interaction) {
	v.unrepeated("MI6", in.place, "prompt_hash", &in.promptHash)
	if !in.promptHash.isHash() {
		v.violate("MI6", in.place.pointer("prompt_hash"), "prompt_hash must be sha256:<64 hex chars>, got %s", &in.promptHash)
	}
}

func (m *member) isHash() bool { return m.kind == kindString && canon.Hash(m.text).Valid() }

// mi7: a response hash is spelled as a hash, and is that of the response content.
func (v *verifier) mi7(in *interaction) {
	v.unrepeated("MI7", in.place, "response_hash", &in.responseHash)
	v.unrepeated("MI7", in.place, "response_content", &in.content.member)
	isHash := in.responseHash.isHash()
	if !isHash {
		v.violate("MI7", in.place.pointer("response_hash"), "response_hash must be sha256:<64 hex chars>, got %s", &in.responseHash)
	}
	if in.content.kind != kindString && in.isObject {
		v.violate("MI7", in.place.pointer("response_content"), "response_content must be a string, got %s", in.content.typeName())
	}
	if !isHash || in.content.kind != kindString || v.opts.NoResponseHashes {
		return
	}
	if want := in.content.sum(); !bytes.Equal(want, in.responseHash.text) {
		v.violate("MI7", in.place.pointer("response_hash"), "response_hash mismatch: expected %s, got %s", want, &in.responseHash)
	}
}

// mi8: no two interactions have both prompt hash and index in common, be these well-formed or not.
func (v *verifier) mi8(in *interaction) {
	if in.promptHash.cut || in.i.cut {
		return
	}
	v.pair = in.i.append(append(in.promptHash.append(v.pair[:0]), '|'))
	pair := sha256.Sum256(v.pair) // of one size, whatever was read
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

// mi11: a response is not too large.
func (v *verifier) mi11(in *interaction) {
	v.totalBytes += in.content.size
	if in.content.size > MaxResponseBytes && !v.opts.NoSizeLimits {
		v.violate("MI11", in.place.pointer("response_content"), "response_content size (%d bytes) exceeds limit (%d)", in.content.size, MaxResponseBytes)
	}
}

// mi11Total: the responses are not too large together.
func (v *verifier) mi11Total(bytes int64) {
	if bytes > MaxTotalBytes && !v.opts.NoSizeLimits {
		v.violate("MI11", "/interactions", "total response bytes (%d) exceeds limit (%d)", bytes, MaxTotalBytes)
	}
}
