// Package texts edits all texts in requests and answers, and joins the texts of an answer. An edited value shares the
// unchanged parts with the original and copies the rest.
package texts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/modelio"
)

// Join returns all texts of a content as one.
func Join(parts []modelio.Part) string {
	if len(parts) == 1 && parts[0].Text != nil {
		return *parts[0].Text
	}
	var all []string
	for i := range parts {
		if parts[i].Text != nil {
			all = append(all, *parts[i].Text)
		}
	}
	return strings.Join(all, "") // does not copy a single text
}

// An Editor edits each text in place. Its functions report whether they changed their argument. They are called in the
// same order for equal requests.
type Editor struct {
	Text func(*string) bool
	JSON func(*json.RawMessage) bool // called for values that are present
	Name func(*string) bool          // edits names of object members; nil keeps them

	at string // the current text, so that not each one is allocated
}

// text edits the text that a pointer points to, if it is not nil.
func (e *Editor) text(p **string) bool {
	if *p == nil {
		return false
	}
	if e.at = **p; !e.Text(&e.at) {
		return false
	}
	edited := e.at
	*p = &edited
	return true
}

// Request returns a request with its texts edited, or r itself if nothing changed.
func (e *Editor) Request(r *modelio.Request) *modelio.Request {
	edited := *r
	changed := e.Text(&edited.Model)
	changed = e.object(&edited.Options) || changed
	changed = each(&edited.Tools, e.tool) || changed
	changed = each(&edited.Stop, e.Text) || changed
	changed = e.text(&edited.Prompt) || changed
	changed = each(&edited.Messages, e.Message) || changed
	if !changed {
		return r
	}
	return &edited
}

// each edits the elements of a list.
func each[T any](list *[]T, one func(*T) bool) bool {
	if len(*list) == 0 {
		return false // the usual case
	}
	changed := false
	var element T
	for i := range *list {
		element = (*list)[i]
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

func (e *Editor) tool(t *modelio.ToolDefinition) bool {
	changed := e.Text(&t.Description)
	changed = e.json(&t.InputSchema) || changed
	changed = e.json(&t.OutputSchema) || changed
	changed = e.object(&t.Metadata) || changed
	return e.object(&t.Unknown) || changed
}

// Message edits a message.
func (e *Editor) Message(m *modelio.Message) bool {
	changed := e.parts(&m.Content)
	changed = e.object(&m.Metadata) || changed
	return e.object(&m.Unknown) || changed
}

// parts is each for contents. It allocates no copy of an element, because contents are many.
func (e *Editor) parts(list *[]modelio.Part) (changed bool) {
	for i := range *list {
		part := (*list)[i]
		if !e.part(&part) {
			continue
		}
		if !changed {
			*list, changed = slices.Clone(*list), true
		}
		(*list)[i] = part
	}
	return changed
}

func (e *Editor) part(p *modelio.Part) bool {
	changed := e.text(&p.Text)
	changed = e.text(&p.Reasoning) || changed
	changed = pointed(&p.Media, func(m *modelio.Media) bool {
		url := e.Text(&m.URL)
		return e.object(&m.Unknown) || url
	}) || changed
	changed = pointed(&p.ToolRequest, func(t *modelio.ToolRequest) bool {
		input := e.json(&t.Input)
		return e.object(&t.Unknown) || input
	}) || changed
	changed = pointed(&p.ToolResponse, func(t *modelio.ToolResponse) bool {
		output := e.json(&t.Output)
		content := e.parts(&t.Content)
		return e.object(&t.Unknown) || output || content
	}) || changed
	changed = e.object(&p.Custom) || changed
	changed = e.object(&p.Metadata) || changed
	return e.object(&p.Unknown) || changed
}

// pointed edits the value that a pointer points to, if it is not nil.
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

func (e *Editor) object(o *modelio.Object) bool {
	if len(*o) == 0 {
		return false
	}
	changed := false
	for _, name := range inorder.Names(*o) {
		as, value := name, (*o)[name]
		renamed := e.Name != nil && e.Name(&as)
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

func (e *Editor) json(raw *json.RawMessage) bool { return len(*raw) > 0 && e.JSON(raw) }
