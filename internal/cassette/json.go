package cassette

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// readJSON reads a cassette of vcrpy's JSON serializer.
func (r *Recording) readJSON(data []byte) error {
	doc, err := jsontext.ParseLenient(data)
	if err != nil {
		return wrong(1, "is no JSON: %v; %s", err, readable)
	}
	switch root := doc.Root(); {
	case root.Member("fixtures").IsArray():
		return wrong(1, "holds fixtures of aimock, which have answers and no requests: script.Open of traceforgetest/script answers from them")
	case root.Member("interactions").IsArray():
		return r.readYAML(withoutPairs(data)) // all other JSON is YAML
	case root.Member("cassette_version").Present(), root.Member("metadata", "cassette_version").Present():
		return wrong(1, "is a cassette of TraceForge: traceforge import --from cassettes brings it into the store")
	}
	return wrong(1, "has no interactions (vcrpy); %s", readable)
}

// escapes matches an escaped backslash, and a character that is escaped as a pair of surrogates.
var escapes = regexp.MustCompile(`\\\\|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}`)

// withoutPairs replaces escaped pairs of surrogates by their characters, because YAML has no such escapes.
func withoutPairs(text []byte) []byte {
	return escapes.ReplaceAllFunc(text, func(escape []byte) []byte {
		if r, n := jsontext.Unescape(escape); n > len(`\\`) {
			return jsontext.AppendRune(nil, r)
		}
		return escape
	})
}
