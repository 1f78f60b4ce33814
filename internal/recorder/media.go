package recorder

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// media are contents in base64 that messages name instead of containing them, so that the document stays readable
// (design R4).
type media map[canon.Hash][]byte

const minMedia = snapshot.MinMedium

// request replaces the media of a request by names, in a copy. Most requests are only texts without media.
func (m *media) request(asked *modelio.Request) *modelio.Request {
	plain := asked.Tools == nil && asked.Stop == nil && asked.Prompt == nil && !mayBeMedia(asked.Model)
	for _, value := range asked.Options {
		plain = plain && !mayHoldMedia(value)
	}
	for i := range asked.Messages {
		plain = plain && !mayNameMedia(&asked.Messages[i])
	}
	if plain {
		return asked
	}
	return m.editor().Request(asked)
}

// message replaces the media of a message.
func (m *media) message(said *modelio.Message) {
	if mayNameMedia(said) {
		m.editor().Message(said)
	}
}

// mayNameMedia reports whether a message may have media: it is more than texts, or a text may be media.
func mayNameMedia(said *modelio.Message) bool {
	may := func(p modelio.Part) bool {
		return p.Text == nil || mayBeMedia(*p.Text) || p.Media != nil || p.ToolRequest != nil || p.ToolResponse != nil ||
			p.Reasoning != nil || p.Custom != nil || p.Metadata != nil || p.Unknown != nil
	}
	return said.Metadata != nil || said.Unknown != nil || slices.ContainsFunc(said.Content, may)
}

// editor returns the editor that replaces the media of messages.
func (m *media) editor() *texts.Editor { return &texts.Editor{Text: m.text, JSON: m.value} }

// text replaces a text that is media.
func (m *media) text(s *string) bool {
	name, ok := m.name(*s)
	if ok {
		*s = name
	}
	return ok
}

// value replaces the media in a JSON text. Invalid JSON is reported by the code that encodes it.
func (m *media) value(raw *json.RawMessage) bool {
	if !mayHoldMedia(*raw) {
		return false
	}
	var named json.RawMessage
	at := 0
	jsontext.ValueOf(*raw).EachString(func(s jsontext.Value, isName bool) {
		if isName {
			return
		}
		if name, ok := m.name(s.Word()); ok {
			named = append(append(named, (*raw)[at:s.Offset()]...), jsontext.Text(name)...)
			at = int(s.Offset()) + len(s.Raw())
		}
	})
	if named == nil {
		return false
	}
	*raw = append(named, (*raw)[at:]...)
	return true
}

// name keeps value and returns its name, if it is media in base64.
func (m *media) name(value string) (string, bool) {
	if !mayBeMedia(value) {
		return "", false
	}
	medium, data, ok := snapshot.MediumOf(value)
	if !ok {
		return "", false
	}
	if *m == nil {
		*m = media{}
	}
	(*m)[medium.Hash] = data
	return medium.String(), true
}

// mayBeMedia avoids decoding ordinary texts: words have spaces.
func mayBeMedia(s string) bool {
	return len(s) >= minMedia && (strings.HasPrefix(s, "data:") || !strings.ContainsAny(s[:minMedia], " \n\t.,:;'\""))
}

// mayHoldMedia avoids parsing JSON without a long run of base64. Such a run covers at least one multiple of its least
// length, so only the bytes at those multiples are checked.
func mayHoldMedia(raw []byte) bool {
	for at := minMedia - 1; at < len(raw); at += minMedia {
		if !isBase64(raw[at]) {
			continue
		}
		start, end := at, at+1
		for start > 0 && isBase64(raw[start-1]) {
			start--
		}
		for end < len(raw) && end-start < minMedia && isBase64(raw[end]) {
			end++
		}
		if end-start >= minMedia {
			return true
		}
	}
	return false
}

// isBase64 reports whether c may be part of base64 in a JSON string, which may escape a slash.
func isBase64(c byte) bool {
	letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
	return letter || c == '+' || c == '/' || c == '-' || c == '_' || c == '=' || c == '\\'
}
