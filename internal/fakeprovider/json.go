package fakeprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An object is a JSON object whose members keep their order, as providers write them.
type object []member

type member struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(marshal(m.key))
		b.WriteByte(':')
		b.Write(marshal(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal returns v as compact JSON without HTML escapes. It panics with a scriptError if a script has a value that
// JSON cannot represent, such as a vector with NaN.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(scriptError(err.Error()))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// indented returns v as JSON, indented by two spaces per level.
func indented(v any) []byte {
	var b bytes.Buffer
	json.Indent(&b, marshal(v), "", "  ") // marshal returns JSON
	b.WriteByte('\n')
	return b.Bytes()
}

// null returns s, or nil if it is empty.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// arguments returns the arguments of a tool call as JSON, or an empty object if there are none. It panics with a
// scriptError if they are not JSON.
func arguments(s string) json.RawMessage {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}")
	}
	if !json.Valid([]byte(s)) {
		panic(scriptError(fmt.Sprintf("ToolCall.Arguments %q are no JSON, which this format needs", s)))
	}
	return json.RawMessage(s)
}

// members are the members of a request's body.
type members map[string]json.RawMessage

// has reports whether a member exists and is not null.
func (m members) has(key string) bool {
	v, ok := m[key]
	return ok && string(v) != "null"
}

// str returns a member that is a string, or else "".
func (m members) str(key string) string {
	var s string
	json.Unmarshal(m[key], &s) // stays empty if it is not a string
	return s
}

// flag reports whether a member is true.
func (m members) flag(key string) bool { return string(m[key]) == "true" }

// into decodes a member and reports whether it exists and has the right type.
func (m members) into(key string, v any) bool {
	return m.has(key) && json.Unmarshal(m[key], v) == nil
}

// or returns a member as it was sent, or else def.
func (m members) or(key string, def any) any {
	if m.has(key) {
		return m[key]
	}
	return def
}

// errNoObject has its own text, since the texts of encoding/json differ between releases of Go.
var errNoObject = errors.New("the body is no JSON object")

// parse returns the members of a JSON object.
func parse(data []byte) (members, error) {
	var m members
	if json.Unmarshal(data, &m) != nil || m == nil {
		return nil, errNoObject
	}
	return m, nil
}

// kind names the JSON type of a value like OpenAI's errors do.
func kind(v json.RawMessage) string {
	s := strings.TrimSpace(string(v))
	switch {
	case s == "" || s == "null":
		return "null"
	case s[0] == '"':
		return "a string"
	case s[0] == '{':
		return "an object"
	case s[0] == '[':
		return "an array"
	case s == "true" || s == "false":
		return "a boolean"
	case strings.ContainsAny(s, ".eE"):
		return "a decimal"
	default:
		return "an integer"
	}
}
