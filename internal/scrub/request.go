package scrub

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// An editor edits the texts of a request. What needs no change is shared with the result, what does is
// copied.
type editor func(text string) []edit

func (e editor) request(r *modelio.Request) *modelio.Request {
	edited := *r
	changed := e.word(&edited.Model)
	changed = e.object(&edited.Options) || changed
	changed = each(&edited.Tools, e.tool) || changed
	changed = each(&edited.Stop, e.word) || changed
	changed = e.text(&edited.Prompt) || changed
	changed = each(&edited.Messages, e.message) || changed
	if !changed {
		return r
	}
	return &edited
}

// each edits the elements of a list.
func each[T any](list *[]T, one func(*T) bool) bool {
	changed := false
	for i := range *list {
		element := (*list)[i]
		if !one(&element) {
			continue
		}
		if !changed {
			*list, changed = slices.Clone(*list), true
		}
		(*list)[i] = element
	}
	return changed
}

func (e editor) tool(t *modelio.ToolDefinition) bool {
	changed := e.word(&t.Description)
	changed = e.json(&t.InputSchema) || changed
	changed = e.json(&t.OutputSchema) || changed
	changed = e.object(&t.Metadata) || changed
	return e.object(&t.Unknown) || changed
}

func (e editor) message(m *modelio.Message) bool {
	changed := each(&m.Content, e.part)
	changed = e.object(&m.Metadata) || changed
	return e.object(&m.Unknown) || changed
}

func (e editor) part(p *modelio.Part) bool {
	changed := e.text(&p.Text)
	changed = e.text(&p.Reasoning) || changed
	changed = pointed(&p.Media, func(m *modelio.Media) bool {
		return e.word(&m.URL) || e.object(&m.Unknown)
	}) || changed
	changed = pointed(&p.ToolRequest, func(t *modelio.ToolRequest) bool {
		input := e.json(&t.Input)
		return e.object(&t.Unknown) || input
	}) || changed
	changed = pointed(&p.ToolResponse, func(t *modelio.ToolResponse) bool {
		output := e.json(&t.Output)
		content := each(&t.Content, e.part)
		return e.object(&t.Unknown) || output || content
	}) || changed
	changed = e.object(&p.Custom) || changed
	changed = e.object(&p.Metadata) || changed
	return e.object(&p.Unknown) || changed
}

// pointed edits what a pointer leads to, if it is not nil.
func pointed[T any](p **T, one func(*T) bool) bool {
	if *p == nil {
		return false
	}
	value := **p
	changed := one(&value)
	if changed {
		*p = &value
	}
	return changed
}

func (e editor) text(s **string) bool { return pointed(s, e.word) }

func (e editor) word(s *string) bool {
	edits := e(*s)
	*s = edited(*s, edits)
	return len(edits) > 0
}

func (e editor) object(o *modelio.Object) bool {
	changed := false
	for _, name := range slices.Sorted(maps.Keys(*o)) {
		as, value := name, (*o)[name]
		renamed := e.word(&as)
		if !e.json(&value) && !renamed {
			continue
		}
		if !changed {
			*o, changed = maps.Clone(*o), true
		}
		delete(*o, name)
		(*o)[as] = value
	}
	return changed
}

// json edits the strings of a JSON text.
func (e editor) json(raw *json.RawMessage) bool {
	if len(*raw) == 0 {
		return false
	}
	d := parse(*raw)
	for _, t := range d.texts {
		t.edits = e(t.value)
	}
	changed := d.changed()
	*raw = d.bytes()
	return changed
}
