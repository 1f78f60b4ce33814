package modelio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Encode returns s as the bytes of a model_io.json file. The same session has the same
// bytes: members are sorted by name, which puts first what the hash needs first, and each
// interaction has a line of its own. Unlike [Session.MarshalJSON] it ends with a line feed.
// Errors are of type [*FormatError]: a string of the core is not UTF-8, or an unknown member is not JSON.
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
	interactions = append(interactions, "\n]"...)

	o := objectEncoder{}
	o.text("adapter_id", s.AdapterID)
	o["interactions"] = interactions
	o.text("mode", string(s.Mode))
	o.text("model_id", s.ModelID)
	o.text("model_io_schema_version", s.SchemaVersion)
	if s.CreatedAt != "" {
		o.text("created_at_utc", s.CreatedAt)
	}
	if s.EndedAt != "" {
		o.text("ended_at_utc", s.EndedAt)
	}
	if s.Stats != nil {
		o["stats"], _ = json.Marshal(s.Stats) // integers alone
	}
	text, err := o.encode(s.Unknown)
	if err != nil {
		return nil, sessionError("", err)
	}
	return text, nil
}

// MarshalJSON returns in as JSON with its members sorted by name. Errors are of type [*FormatError].
func (in Interaction) MarshalJSON() ([]byte, error) {
	if err := in.checkStrings(); err != nil {
		return nil, err
	}
	o := objectEncoder{}
	o.integer("i", int64(in.I))
	o.text("prompt_hash", string(in.PromptHash))
	o.text("response_content", in.ResponseContent)
	o.text("response_hash", string(in.ResponseHash))
	o.optional("tokens_input", in.TokensInput)
	o.optional("tokens_output", in.TokensOutput)
	o.optional("latency_ms", in.LatencyMS)
	return o.encode(in.Unknown)
}

// sessionError returns err, which is a *FormatError, with its place in the session.
func sessionError(pointer string, err error) error {
	invalid := err.(*FormatError)
	return &FormatError{Type: "session", Pointer: pointer + invalid.Pointer, Problem: invalid.Problem}
}

// An objectEncoder collects the members of an object.
type objectEncoder Object

func (o objectEncoder) text(name, s string) { o[name] = appendQuoted(nil, s) }

func (o objectEncoder) integer(name string, n int64) { o[name] = strconv.AppendInt(nil, n, 10) }

func (o objectEncoder) optional(name string, n *int64) {
	if n != nil {
		o.integer(name, *n)
	}
}

// encode returns the object with those unknown members whose names it does not have. Those of
// the object itself are JSON already.
func (o objectEncoder) encode(unknown Object) ([]byte, error) {
	for name, value := range unknown {
		if _, ok := o[name]; ok {
			continue
		}
		if !json.Valid(value) || !utf8.Valid(value) || !utf8.ValidString(name) {
			return nil, &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: "not JSON"}
		}
		o[name] = value
	}
	text := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(appendQuoted(text, name), ':')
		text = append(text, o[name]...)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads a session. It fails if a member of the core is missing or of the wrong
// type, but does not verify more; [Verify] does. Errors are of type [*FormatError].
func (s *Session) UnmarshalJSON(data []byte) error {
	o, err := newObjectDecoder(data)
	if err != nil {
		return sessionError("", err)
	}
	var read Session
	var elements []json.RawMessage
	for _, err := range []error{
		requiredText(o, "model_io_schema_version", &read.SchemaVersion),
		requiredText(o, "adapter_id", &read.AdapterID),
		requiredText(o, "model_id", &read.ModelID),
		requiredText(o, "mode", &read.Mode),
		o.list("interactions", &elements),
	} {
		if err != nil {
			return sessionError("", err)
		}
	}
	read.Interactions = make([]Interaction, len(elements))
	for i, element := range elements {
		if err := read.Interactions[i].UnmarshalJSON(element); err != nil {
			return sessionError(fmt.Sprintf("/interactions/%d", i), err)
		}
	}
	optional(o, "created_at_utc", &read.CreatedAt)
	optional(o, "ended_at_utc", &read.EndedAt)
	optional(o, "stats", &read.Stats)
	read.Unknown = o.rest()
	*s = read
	return nil
}

// UnmarshalJSON reads an interaction as [Session.UnmarshalJSON] does.
func (in *Interaction) UnmarshalJSON(data []byte) error {
	o, err := newObjectDecoder(data)
	if err != nil {
		return err
	}
	var read Interaction
	for _, err := range []error{
		o.index("i", &read.I),
		requiredText(o, "prompt_hash", &read.PromptHash),
		requiredText(o, "response_hash", &read.ResponseHash),
		requiredText(o, "response_content", &read.ResponseContent),
	} {
		if err != nil {
			return err
		}
	}
	optional(o, "tokens_input", &read.TokensInput)
	optional(o, "tokens_output", &read.TokensOutput)
	optional(o, "latency_ms", &read.LatencyMS)
	read.Unknown = o.rest()
	*in = read
	return nil
}

// An objectDecoder hands out the members of an object, each once. It does without decoding into
// structs, which takes Adapter_ID for adapter_id, as JavaScript does not.
type objectDecoder Object

func newObjectDecoder(data []byte) (objectDecoder, error) {
	var o objectDecoder
	if err := json.Unmarshal(data, &o); err != nil || o == nil {
		return nil, &FormatError{Type: "interaction", Problem: "not a JSON object"}
	}
	return o, nil
}

// take hands out the member name, which must be of a type.
func (o objectDecoder) take(name string, kind valueKind, kindName string) (json.RawMessage, error) {
	value, ok := o[name]
	if !ok {
		return nil, &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: "required member is missing"}
	}
	if kindOf(value[0]) != kind {
		return nil, &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: "want " + kindName}
	}
	delete(o, name)
	return value, nil
}

// requiredText takes the member name, a string, into dst.
func requiredText[T ~string](o objectDecoder, name string, dst *T) error {
	value, err := o.take(name, kindString, "a string")
	if err != nil {
		return err
	}
	chars, err := unquote(value)
	if err != nil {
		return &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: err.Error()}
	}
	*dst = T(chars)
	return nil
}

func (o objectDecoder) list(name string, dst *[]json.RawMessage) error {
	value, err := o.take(name, kindArray, "a list")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(value, dst); err != nil {
		return &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: err.Error()} // unreachable: it is a list, and JSON
	}
	return nil
}

// index hands out an integer, however it is spelled.
func (o objectDecoder) index(name string, dst *int) error {
	value, err := o.take(name, kindNumber, "a number")
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return &FormatError{Type: "interaction", Pointer: pointer([]string{name}), Problem: "want an index, got " + string(value)}
	}
	*dst = int(f)
	return nil
}

// optional hands out the member name if it is of the type of dst; else it stays unknown.
func optional[T any](o objectDecoder, name string, dst *T) {
	value, ok := o[name]
	if !ok || kindOf(value[0]) == kindNull {
		return
	}
	var decoded T
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&decoded) == nil {
		*dst = decoded
		delete(o, name)
	}
}

func (o objectDecoder) rest() Object {
	if len(o) == 0 {
		return nil
	}
	return Object(o)
}

// unquote returns the characters that a string stands for which json.Valid has accepted. Unlike
// encoding/json it keeps lone surrogates.
func unquote(quoted []byte) (chars []byte, err error) {
	if !utf8.Valid(quoted) {
		return nil, errors.New("string is not UTF-8")
	}
	rest := quoted[1 : len(quoted)-1]
	for i := bytes.IndexByte(rest, '\\'); i >= 0; i = bytes.IndexByte(rest, '\\') {
		chars = append(chars, rest[:i]...)
		r, n := jsontext.Unescape(rest[i:])
		if utf16.IsSurrogate(r) {
			chars = appendSurrogate(chars, r)
		} else {
			chars = utf8.AppendRune(chars, r)
		}
		rest = rest[i+n:]
	}
	return append(chars, rest...), nil
}
