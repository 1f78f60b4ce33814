package genkittraceforge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// fromValue returns the JSON text of a Genkit value; nil is absent.
func fromValue(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return jsontext.Marshal(v)
}

// readAsJSON converts a value to another type through JSON.
func readAsJSON(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// toValue returns the value that a JSON text decodes to in Genkit: maps, lists, strings and float64s. A number that a
// float64 would change becomes a json.Number, and null stays null, so that it is not mistaken for an absent value.
func toValue(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	if string(raw) == "null" {
		return raw, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return withFloats(v), nil
}

// withFloats replaces the numbers in v that fit a float64.
func withFloats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = withFloats(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withFloats(value)
		}
	case json.Number:
		f, err := v.Float64()
		if err != nil || !strings.ContainsAny(v.String(), ".eE") && strconv.FormatFloat(f, 'f', -1, 64) != v.String() {
			return v
		}
		return f
	}
	return v
}

// fromMap returns the members of a map; nil is absent.
func fromMap(m map[string]any) (modelio.Object, error) {
	if m == nil {
		return nil, nil
	}
	object := make(modelio.Object, len(m))
	for name, value := range m {
		raw, err := fromValue(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if raw == nil {
			raw = json.RawMessage("null")
		}
		object[name] = raw
	}
	return object, nil
}

// toMap returns the map of an object; nil is absent.
func toMap(object modelio.Object) (map[string]any, error) {
	if object == nil {
		return nil, nil
	}
	value, err := toValue(jsontext.ObjectText(object))
	m, _ := value.(map[string]any) // nil after an error
	return m, err
}

// toMetadata is toMap for a part's metadata. It makes the signature of a thought a []byte, the only type in which
// Genkit's plugins find it.
func toMetadata(object modelio.Object) (map[string]any, error) {
	m, err := toMap(object)
	if s, ok := m["signature"].(string); ok {
		if signature, err := base64.StdEncoding.Strict().DecodeString(s); err == nil {
			m["signature"] = signature
		}
	}
	return m, err
}

// fromSchema returns the JSON text of a schema; nil is absent.
func fromSchema(schema map[string]any) (json.RawMessage, error) {
	if schema == nil {
		return nil, nil
	}
	return fromValue(schema)
}

// toSchema returns the schema in a JSON text; Genkit's schemas are objects. An absent schema is nil. So is null, which
// Genkit's JSON uses for no schema.
func toSchema(raw json.RawMessage) (map[string]any, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	schema, ok := jsontext.MembersOf(raw)
	if !ok {
		return nil, fmt.Errorf("a schema in Genkit is an object, not %s", raw)
	}
	return toMap(schema)
}
