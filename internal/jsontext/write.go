package jsontext

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// Marshal is [json.Marshal] without escaping for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	coder := json.NewEncoder(&b)
	coder.SetEscapeHTML(false)
	err := coder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Time formats a time as in documents: in UTC, with milliseconds unless they are zero.
func Time(t time.Time) string {
	layout := "2006-01-02T15:04:05.000Z"
	if t.Nanosecond() < int(time.Millisecond) {
		layout = "2006-01-02T15:04:05Z"
	}
	return t.UTC().Format(layout)
}

// Text returns s as a JSON string in canonical form.
func Text[T ~string](s T) json.RawMessage {
	return AppendText(make([]byte, 0, len(s)+2), string(s))
}

// AppendText appends s as a JSON string in canonical form (RFC 8785 section 3.2.2.2). Bytes that are not UTF-8 become
// U+FFFD, because no JSON text can contain them.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	begin := len(dst)
	dst = append(dst, s...)
	end, _ := Plain(dst[begin:])
	dst, s = dst[:begin+end], s[end:] // nothing is left of most texts
	plain := 0
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = AppendRune(append(dst, s[plain:i]...), rune(s[i]))
		plain = i + 1
	}
	return append(append(dst, s[plain:]...), '"')
}

// AppendComma appends the comma before the i-th element or member, counted from 0. The first one has none.
func AppendComma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// Texts returns an array of strings.
func Texts(all []string) json.RawMessage {
	list := make([]json.RawMessage, len(all))
	for i, s := range all {
		list[i] = Text(s)
	}
	return List(list)
}

// List returns an array of values, as they are spelled.
func List(values []json.RawMessage) json.RawMessage {
	list := []byte{'['}
	for i, v := range values {
		list = append(AppendComma(list, i), v...)
	}
	return append(list, ']')
}

// ObjectText returns an object with its members sorted by name, and values as they are spelled.
func ObjectText(o map[string]json.RawMessage) json.RawMessage {
	names := slices.Collect(maps.Keys(o))
	sort.Strings(names)
	text := []byte{'{'}
	for i, name := range names {
		text = append(AppendText(AppendComma(text, i), name), ':')
		text = append(text, o[name]...)
	}
	return append(text, '}')
}

// Keep adds a member to an object, which may be nil, unless v is nil, as of a missing member.
func Keep[M ~map[string]json.RawMessage](o *M, name string, v json.RawMessage) {
	if v == nil {
		return
	}
	if *o == nil {
		*o = M{}
	}
	(*o)[name] = v
}

// KeepRest adds v without some of its members, if there are others.
func KeepRest[M ~map[string]json.RawMessage](o *M, name string, v Value, without ...string) {
	KeepObject(o, name, v.Rest(without...))
}

// KeepObject adds an object if it has members.
func KeepObject[M ~map[string]json.RawMessage](o *M, name string, inner map[string]json.RawMessage) {
	if len(inner) > 0 {
		Keep(o, name, ObjectText(inner))
	}
}

// KeepText adds a text if it is not empty.
func KeepText[M ~map[string]json.RawMessage](o *M, name, text string) {
	if text != "" {
		Keep(o, name, Text(text))
	}
}

// KeepList adds a list if it has values.
func KeepList[M ~map[string]json.RawMessage](o *M, name string, values []json.RawMessage) {
	if len(values) > 0 {
		Keep(o, name, List(values))
	}
}

// MembersOf returns the members of a JSON object. It reports false for any other text.
func MembersOf(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	v := ValueOf(raw)
	return v.Object(), v.IsObject()
}

// Compact returns JSON without white space, and any other text unchanged.
func Compact(text json.RawMessage) json.RawMessage { return spelled(text, json.Compact) }

// Indented returns JSON with one value per line, and any other text unchanged.
func Indented(text json.RawMessage) json.RawMessage {
	return spelled(text, func(b *bytes.Buffer, text []byte) error { return json.Indent(b, text, "", "  ") })
}

func spelled(text json.RawMessage, spell func(*bytes.Buffer, []byte) error) json.RawMessage {
	var b bytes.Buffer
	if spell(&b, text) != nil {
		return text
	}
	return b.Bytes()
}
