package provider

import (
	"bytes"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Our own marks. They start with $, unlike the names of providers; a body with such a member is rejected, so that marks
// are unambiguous.
const (
	markWire    = "$wire"    // in Metadata: which of several spellings the wire had
	markURL     = "$url"     // in Options: what the URL adds to the endpoint
	markHeaders = "$headers" // in Options: the headers that change behavior
	markBody    = "$body"    // in Options: a body that is not a JSON object
)

var marks = []string{markWire, markURL, markHeaders, markBody}

// IsMark reports whether a member is one of our own marks, which no body has.
func IsMark(name string) bool { return slices.Contains(marks, name) }

// Words of $wire that package encoder reads. The package comment explains them.
const (
	WireArray        = "array"
	WireString       = "string"
	WireThinking     = "thinking"
	WireThought      = "thought"
	WireRefusal      = "refusal"
	WireFunctionCall = "function_call"
	WireUntyped      = "untyped"
	WireBare         = "bare"
	WireInstructions = "instructions"
	WireInput        = "input"
	WireItem         = "item"
)

// mark sets $wire to a word that the package comment explains.
func mark(o *modelio.Object, word string) { jsontext.Keep(o, markWire, jsontext.Text(word)) }

// Marked reports whether Metadata has the word as $wire.
func Marked(o modelio.Object, word string) bool {
	return bytes.Equal(o[markWire], jsontext.Text(word))
}

// MetadataWord returns the string at a path of names in Metadata or Options; "" for any other value.
func MetadataWord(o modelio.Object, path ...string) string {
	return jsontext.ValueOf(o[path[0]]).Member(path[1:]...).Word()
}
