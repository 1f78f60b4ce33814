package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Encode returns s as the content of a model_io.json file. The same session has the same bytes: members are sorted by
// name, which also puts first what the hash needs first, and each interaction is on a line of its own. Unlike
// [Session.MarshalJSON], the result ends with a newline. Errors are of type [*modelio.FormatError]: a string of the
// core is not UTF-8, or an unknown member is not JSON.
func (s *Session) Encode() ([]byte, error) {
	data, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// A text is a string member. An optional text is left out if it is empty.
type text struct {
	name     string
	value    *string
	optional bool
}

func (s *Session) texts() []text {
	return []text{
		{"model_io_schema_version", &s.SchemaVersion, false},
		{"adapter_id", &s.AdapterID, false},
		{"model_id", &s.ModelID, false},
		{"mode", (*string)(&s.Mode), false},
		{"created_at_utc", &s.CreatedAt, true},
		{"ended_at_utc", &s.EndedAt, true},
	}
}

func (in *Interaction) texts() []text {
	return []text{
		{"prompt_hash", (*string)(&in.PromptHash), false},
		{"response_hash", (*string)(&in.ResponseHash), false},
		{"response_content", &in.ResponseContent, false},
	}
}

// counts returns the members that are counts; nil if absent.
func (in *Interaction) counts() map[string]**int64 {
	return map[string]**int64{
		"latency_ms": &in.LatencyMS, "tokens_input": &in.TokensInput, "tokens_output": &in.TokensOutput,
	}
}

// MarshalJSON returns s as JSON. Errors are those of [Session.Encode].
func (s Session) MarshalJSON() ([]byte, error) {
	if err := s.checkStrings(); err != nil {
		return nil, err
	}
	interactions := []byte{'['}
	for i := range s.Interactions {
		text, err := s.Interactions[i].MarshalJSON()
		if err != nil {
			return nil, sessionError(fmt.Sprintf("/interactions/%d", i), err)
		}
		interactions = append(append(jsontext.AppendComma(interactions, i), '\n'), text...)
	}
	o := modelio.Object{"interactions": append(interactions, "\n]"...)}
	if s.Stats != nil {
		o["stats"], _ = json.Marshal(s.Stats) // only integers
	}
	text, err := encode(o, s.texts(), s.Unknown)
	if err != nil {
		return nil, sessionError("", err)
	}
	return text, nil
}

// MarshalJSON returns in as JSON with its members sorted by name. Errors are of type [*modelio.FormatError].
func (in Interaction) MarshalJSON() ([]byte, error) {
	if err := checkTexts("interaction", in.texts()); err != nil {
		return nil, err
	}
	o := modelio.Object{"i": strconv.AppendInt(nil, int64(in.I), 10)}
	for name, n := range in.counts() {
		if *n != nil {
			o[name] = strconv.AppendInt(nil, **n, 10)
		}
	}
	return encode(o, in.texts(), in.Unknown)
}

// sessionError returns err, which is a *FormatError, with its place in the session.
func sessionError(pointer string, err error) error {
	invalid := err.(*modelio.FormatError)
	return &modelio.FormatError{Type: "session", Pointer: pointer + invalid.Pointer, Problem: invalid.Problem}
}

func memberError(name, problem string) error {
	return &modelio.FormatError{Type: "interaction", Pointer: jsontext.PointerTo(name), Problem: problem}
}

// encode returns o with these texts, and with the unknown members whose names o does not contain.
func encode(o modelio.Object, texts []text, unknown modelio.Object) ([]byte, error) {
	for _, t := range texts {
		if !t.optional || *t.value != "" {
			o[t.name] = canonicalString(*t.value)
		}
	}
	for name, value := range unknown {
		if _, ok := o[name]; ok {
			continue
		}
		if _, err := jsontext.ParseLenient(value); err != nil || !utf8.ValidString(name) {
			return nil, memberError(name, "not JSON")
		}
		o[name] = value
	}
	return jsontext.ObjectText(o), nil
}

// UnmarshalJSON reads a session. It fails if a member of the core is missing or has the wrong type, but does not check
// more than that; [Verify] does. Errors are of type [*modelio.FormatError].
func (s *Session) UnmarshalJSON(data []byte) error {
	root, err := parse(data)
	if err != nil {
		return sessionError("", err)
	}
	return s.read(root)
}

func (s *Session) read(root jsontext.Value) error {
	var read Session
	known, err := readTexts(root, read.texts())
	interactions, missing := required(root, "interactions", "a list")
	if err := cmp.Or(err, missing); err != nil {
		return sessionError("", err)
	}
	read.Interactions = make([]Interaction, interactions.Len())
	for i, element := range interactions.Elements() {
		if err := read.Interactions[i].read(element); err != nil {
			return sessionError(fmt.Sprintf("/interactions/%d", i), err)
		}
	}
	known = optional(append(known, "interactions"), root, "stats", &read.Stats)
	read.Unknown = root.Rest(known...)
	*s = read
	return nil
}

// UnmarshalJSON reads an interaction as [Session.UnmarshalJSON] does.
func (in *Interaction) UnmarshalJSON(data []byte) error {
	root, err := parse(data)
	if err != nil {
		return err
	}
	return in.read(root)
}

func (in *Interaction) read(v jsontext.Value) error {
	var read Interaction
	known, err := readTexts(v, read.texts())
	if err := cmp.Or(index(v, &read.I), err); err != nil {
		return err
	}
	known = append(known, "i")
	for name, n := range read.counts() {
		known = optional(known, v, name, n)
	}
	read.Unknown = v.Rest(known...)
	*in = read
	return nil
}

// parse returns the value in data. It is read as in JavaScript, with repeated names permitted.
func parse(data []byte) (jsontext.Value, error) {
	doc, err := jsontext.ParseLenient(bytes.Clone(data)) // data belongs to encoding/json, see [json.Unmarshaler]
	if err != nil {
		at := err.(*jsontext.Error) // the only type of error
		return jsontext.Value{}, &modelio.FormatError{Type: "interaction", Pointer: at.Pointer, Problem: at.Err.Error()}
	}
	return doc.Root(), nil
}

// required returns the member name of v, an object, which must exist and be of a kind.
func required(v jsontext.Value, name, kind string) (jsontext.Value, error) {
	m := v.Member(name)
	switch {
	case !v.IsObject():
		return m, &modelio.FormatError{Type: "interaction", Problem: "not a JSON object"}
	case !m.Present():
		return m, memberError(name, "required member is missing")
	case m.Kind() != kind:
		return m, memberError(name, "want "+kind)
	}
	return m, nil
}

// readTexts reads texts, and returns the names of those that exist.
func readTexts(v jsontext.Value, texts []text) (known []string, err error) {
	for _, t := range texts {
		if t.optional {
			known = optional(known, v, t.name, t.value)
			continue
		}
		m, err := required(v, t.name, "a string")
		if err != nil {
			return nil, err
		}
		*t.value = string(unquote(m.Raw()))
		known = append(known, t.name)
	}
	return known, nil
}

// index reads the member i, an integer in any spelling.
func index(v jsontext.Value, dst *int) error {
	m, err := required(v, "i", "a number")
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(string(m.Raw()), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return memberError("i", "want an index, got "+string(m.Raw()))
	}
	*dst = int(f)
	return nil
}

// optional reads the member name into dst and adds its name to known, if dst can hold all of it; otherwise it remains
// unknown.
func optional[T comparable](known []string, v jsontext.Value, name string, dst *T) []string {
	var decoded, none T
	raw := v.Member(name).Raw()
	if json.Unmarshal(raw, &decoded) != nil || decoded == none {
		return known
	}
	text, _ := json.Marshal(decoded) // a string, or only integers
	written, _ := canon.KeepNumbers(text)
	if read, err := canon.KeepNumbers(raw); err != nil || !bytes.Equal(read, written) {
		return known
	}
	*dst = decoded
	return append(known, name)
}
