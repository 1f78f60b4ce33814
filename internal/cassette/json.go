package cassette

import (
	"bytes"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// readJSON reads fixtures of aimock, or a cassette of vcrpy, which has a serializer for JSON too.
func (r *Recording) readJSON(data []byte) error {
	doc, err := jsontext.ParseLenient(data)
	if err != nil {
		return wrong(1, "is no JSON: %v; %s", err, readable)
	}
	switch root := doc.Root(); {
	case root.Member("fixtures").IsArray():
		return r.readFixtures(data, root.Member("fixtures"))
	case root.Member("interactions").IsArray():
		return r.readYAML(withoutPairs(data)) // JSON is YAML otherwise
	case root.Member("cassette_version").Present(), root.Member("metadata", "cassette_version").Present():
		return wrong(1, "is a cassette of TraceForge: traceforge import --from cassettes brings it into the store")
	}
	return wrong(1, "has neither fixtures (aimock) nor interactions (vcrpy); %s", readable)
}

// lineAt returns the line of an offset in a text.
func lineAt(text []byte, offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// withoutPairs spells characters out that JSON may escape as a pair of surrogates, which YAML has no escapes for.
func withoutPairs(text []byte) []byte {
	const pair = len(`\ud83d\ude00`)
	var b []byte
	for i := 0; i < len(text); {
		n := 1
		if text[i] == '\\' {
			var r rune
			if r, n = jsontext.Unescape(text[i:]); n == pair {
				b = jsontext.AppendRune(b, r)
				i += n
				continue
			}
		}
		b = append(b, text[i:i+n]...)
		i += n
	}
	return b
}
