package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Encode returns s as the bytes of a model_io.json file. The same session has the same
// bytes: members are sorted by name, which puts first what the hash needs first, and each
// interaction has a line of its own. Unlike [Session.MarshalJSON] it ends with a line feed.
// Errors are of type [*modelio.FormatError]: a string of the core is not UTF-8, or an unknown member
// is not JSON.
func (s *Session) Encode() ([]byte, error) {
	data, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// MarshalJSON returns s as JSON. Errors are those of [Session.Encode].
func (s Session) MarshalJSON() ([]byte, error) {
	if err := s.checkStrings(); err != nil {
		return nil, err
	}
	interactions := []byte{'['}
	for i := range s.Interactions {
		if i > 0 {
			interactions = append(interactions, ',')
		}
		text, err := s.Interactions[i].MarshalJSON()
		if err != nil {
			return nil, sessionError(fmt.Sprintf("/interactions/%d", i), err)
		}
		interactions = append(append(interactions, '\n'), text...)
	}

	o := modelio.Object{"interactions": append(interactions, "\n]"...)}
	putText(o, "adapter_id", s.AdapterID)
	putText(o, "mode", s.Mode)
	putText(o, "model_id", s.ModelID)
	putText(o, "model_io_schema_version", s.SchemaVersion)
	if s.CreatedAt != "" {
		putText(o, "created_at_utc", s.CreatedAt)
	}
	if s.EndedAt != "" {
		putText(o, "ended_at_utc", s.EndedAt)
	}
	if s.Stats != nil {
		o["stats"], _ = json.Marshal(s.Stats) // integers alone
	}
	text, err := encode(o, s.Unknown)
	if err != nil {
		return nil, sessionError("", err)
	}
	return text, nil
}

// MarshalJSON returns in as JSON with its members sorted by name. Errors are of type [*modelio.FormatError].
func (in Interaction) MarshalJSON() ([]byte, error) {
	if err := in.checkStrings(); err != nil {
		return nil, err
	}
	o := modelio.Object{"i": strconv.AppendInt(nil, int64(in.I), 10)}
	putText(o, "prompt_hash", in.PromptHash)
	putText(o, "response_content", in.ResponseContent)
	putText(o, "response_hash", in.ResponseHash)
	putCount(o, "tokens_input", in.TokensInput)
	putCount(o, "tokens_output", in.TokensOutput)
	putCount(o, "latency_ms", in.LatencyMS)
	return encode(o, in.Unknown)
}

// sessionError returns err, which is a *FormatError, with its place in the session.
func sessionError(pointer string, err error) error {
	invalid := err.(*modelio.FormatError)
	return &modelio.FormatError{Type: "session", Pointer: pointer + invalid.Pointer, Problem: invalid.Problem}
}

func memberError(name, problem string) error {
	return &modelio.FormatError{Type: "interaction", Pointer: jsontext.PointerTo(name), Problem: problem}
}

func putText[T ~string](o modelio.Object, name string, s T) { o[name] = appendQuoted(nil, string(s)) }

func putCount(o modelio.Object, name string, n *int64) {
	if n != nil {
		o[name] = strconv.AppendInt(nil, *n, 10)
	}
}

// encode returns o with those unknown members whose names it does not have.
func encode(o, unknown modelio.Object) ([]byte, error) {
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

// UnmarshalJSON reads a session. It fails if a member of the core is missing or of the wrong
// type, but does not verify more; [Verify] does. Errors are of type [*modelio.FormatError].
func (s *Session) UnmarshalJSON(data []byte) error {
	root, err := parse(data)
	if err != nil {
		return sessionError("", err)
	}
	var read Session
	interactions, err := required(root, "interactions", "a list")
	if err := cmp.Or(
		requiredText(root, "model_io_schema_version", &read.SchemaVersion),
		requiredText(root, "adapter_id", &read.AdapterID),
		requiredText(root, "model_id", &read.ModelID),
		requiredText(root, "mode", &read.Mode),
		err,
	); err != nil {
		return sessionError("", err)
	}
	read.Interactions = []Interaction{}
	for i, element := range interactions.Elements() {
		var in Interaction
		if err := in.read(element); err != nil {
			return sessionError(fmt.Sprintf("/interactions/%d", i), err)
		}
		read.Interactions = append(read.Interactions, in)
	}
	known := []string{"model_io_schema_version", "adapter_id", "model_id", "mode", "interactions"}
	known = optional(known, root, "created_at_utc", &read.CreatedAt)
	known = optional(known, root, "ended_at_utc", &read.EndedAt)
	known = optional(known, root, "stats", &read.Stats)
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
	if !v.IsObject() {
		return &modelio.FormatError{Type: "interaction", Problem: "not a JSON object"}
	}
	if err := cmp.Or(
		index(v, &read.I),
		requiredText(v, "prompt_hash", &read.PromptHash),
		requiredText(v, "response_hash", &read.ResponseHash),
		requiredText(v, "response_content", &read.ResponseContent),
	); err != nil {
		return err
	}
	known := []string{"i", "prompt_hash", "response_hash", "response_content"}
	known = optional(known, v, "tokens_input", &read.TokensInput)
	known = optional(known, v, "tokens_output", &read.TokensOutput)
	known = optional(known, v, "latency_ms", &read.LatencyMS)
	read.Unknown = v.Rest(known...)
	*in = read
	return nil
}

// parse returns the object that data is. It is read as JavaScript does: its names may be repeated.
func parse(data []byte) (jsontext.Value, error) {
	doc, err := jsontext.ParseLenient(data)
	if err, ok := err.(*jsontext.Error); ok {
		return jsontext.Value{}, &modelio.FormatError{Type: "interaction", Pointer: err.Pointer, Problem: err.Err.Error()}
	}
	if err != nil || !doc.Root().IsObject() {
		return jsontext.Value{}, &modelio.FormatError{Type: "interaction", Problem: "not a JSON object"}
	}
	return doc.Root(), nil
}

// required returns the member name, which must be of a kind.
func required(v jsontext.Value, name, kind string) (jsontext.Value, error) {
	m := v.Member(name)
	switch {
	case !m.Present():
		return m, memberError(name, "required member is missing")
	case m.Kind() != kind:
		return m, memberError(name, "want "+kind)
	}
	return m, nil
}

// requiredText reads the member name, a string, into dst.
func requiredText[T ~string](v jsontext.Value, name string, dst *T) error {
	m, err := required(v, name, "a string")
	if err == nil {
		*dst = T(unquote(m.Raw()))
	}
	return err
}

// index reads the member i, an integer however it is spelled.
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

// optional reads the member name into dst and adds its name to known, if it is of the type of dst;
// else it stays unknown.
func optional[T any](known []string, v jsontext.Value, name string, dst *T) []string {
	m := v.Member(name)
	if !m.Present() || m.IsNull() {
		return known
	}
	var decoded T
	decoder := json.NewDecoder(bytes.NewReader(m.Raw()))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&decoded) != nil {
		return known
	}
	*dst = decoded
	return append(known, name)
}
