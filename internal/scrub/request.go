package scrub

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/texts"
)

// An editor returns the edits of a text.
type editor func(text string) []edit

// texts returns the editor for requests.
func (e editor) texts() *texts.Editor { return &texts.Editor{Text: e.word, Name: e.word, JSON: e.json} }

func (e editor) word(s *string) bool {
	edits := e(*s)
	*s = edited(*s, edits)
	return len(edits) > 0
}

// json edits the strings of a JSON text.
func (e editor) json(raw *json.RawMessage) bool {
	d := parse(*raw)
	for _, t := range d.texts {
		t.edits = e(t.value)
	}
	changed := d.changed()
	*raw = d.bytes()
	return changed
}
