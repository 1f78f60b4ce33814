// Package texts edits all texts in requests and answers, and joins the texts of an answer. An edited value shares the
// unchanged parts with the original and copies the rest.
package texts

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
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

// Calls returns the tool calls of an answer that the caller must run. Calls that the provider runs itself are answered
// in the same message, or have a type that says so.
func Calls(parts []modelio.Part) (calls []modelio.ToolRequest) {
	answered := map[string]bool{} // does not escape: of a few calls, it allocates nothing
	for i := range parts {
		switch p := &parts[i]; {
		case p.ToolResponse != nil:
			answered[p.ToolResponse.Ref] = true
		case bytes.HasSuffix(p.Custom["type"], []byte(`_call_output"`)):
			answered[jsontext.WordOf(p.Custom["call_id"])] = true
		}
	}
	delete(answered, "") // nothing answers a call without a ref by it
	for i := range parts {
		call := parts[i].ToolRequest
		if parts[i].Custom != nil {
			call = customCall(parts[i].Custom)
		}
		if call != nil && !answered[call.Ref] && !bytes.HasSuffix(parts[i].Metadata["type"], []byte(`_tool_use"`)) {
			calls = append(calls, modelio.ToolRequest{Name: call.Name, Ref: call.Ref, Input: call.Input})
		}
	}
	return calls
}

// customCalls are the types of custom parts with a call of a tool that OpenAI defines and the caller may have to run.
var customCalls = []string{"apply_patch_call", "computer_call", "local_shell_call", "shell_call", "tool_search_call"}

// customCall returns the call in a custom part. It is nil if there is none, or one that OpenAI runs itself, which is in
// one of its containers or has no call_id.
func customCall(o modelio.Object) *modelio.ToolRequest {
	name, ref := jsontext.WordOf(o["type"]), jsontext.WordOf(o["call_id"])
	place := jsontext.ValueOf(o["environment"]).Member("type").Word()
	if ref == "" || place == "container_reference" || !slices.Contains(customCalls, name) {
		return nil
	}
	input := jsontext.ValueOf(jsontext.ObjectText(o)).Rest("call_id", "id", "status", "type")
	return &modelio.ToolRequest{Name: name, Ref: ref, Input: jsontext.ObjectText(input)}
}

// IsPlain reports whether a text and a number of calls cover everything in parts: one non-empty text before the calls,
// and no metadata.
func IsPlain(parts []modelio.Part, calls int) bool {
	for i := range parts {
		p := &parts[i]
		switch {
		case len(p.Metadata) > 0 || len(p.Unknown) > 0 || p.Custom != nil || Kinds(p) != 1:
			return false
		case p.Text != nil && i == 0 && (*p.Text != "" || len(parts) == 1):
		case p.ToolRequest != nil && !p.ToolRequest.Partial && len(p.ToolRequest.Unknown) == 0:
			calls--
		default:
			return false
		}
	}
	return calls == 0
}

// Kinds returns the number of kinds that part p has. Custom may be combined with another kind, as in Genkit's own
// schema.
func Kinds(p *modelio.Part) (n int) {
	for _, set := range [...]bool{
		p.Text != nil, p.Media != nil, p.ToolRequest != nil, p.ToolResponse != nil, p.Reasoning != nil,
	} {
		if set {
			n++
		}
	}
	return n
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
	if changed(
		e.Text(&edited.Model), e.object(&edited.Options), inorder.Edit(&edited.Tools, e.tool),
		inorder.Edit(&edited.Stop, e.Text), e.text(&edited.Prompt), inorder.Edit(&edited.Messages, e.Message),
	) {
		return &edited
	}
	return r
}

// changed reports whether one of several edits changed something. Its arguments are evaluated in order.
func changed(edits ...bool) bool { return slices.Contains(edits, true) }

func (e *Editor) tool(t *modelio.ToolDefinition) bool {
	return changed(e.Text(&t.Description), e.json(&t.InputSchema), e.json(&t.OutputSchema), e.object(&t.Metadata),
		e.object(&t.Unknown))
}

// Message edits a message.
func (e *Editor) Message(m *modelio.Message) bool {
	return changed(e.parts(&m.Content), e.object(&m.Metadata), e.object(&m.Unknown))
}

// parts is [inorder.Edit] for contents. It allocates no copy of an element, because contents are many.
func (e *Editor) parts(list *[]modelio.Part) (edited bool) {
	for i := range *list {
		part := (*list)[i]
		if !e.part(&part) {
			continue
		}
		if !edited {
			*list, edited = slices.Clone(*list), true
		}
		(*list)[i] = part
	}
	return edited
}

func (e *Editor) part(p *modelio.Part) bool {
	return changed(
		e.text(&p.Text), e.text(&p.Reasoning),
		pointed(&p.Media, func(m *modelio.Media) bool { return changed(e.Text(&m.URL), e.object(&m.Unknown)) }),
		pointed(&p.ToolRequest, func(t *modelio.ToolRequest) bool { return changed(e.json(&t.Input), e.object(&t.Unknown)) }),
		pointed(&p.ToolResponse, func(t *modelio.ToolResponse) bool {
			return changed(e.json(&t.Output), e.parts(&t.Content), e.object(&t.Unknown))
		}),
		e.object(&p.Custom), e.object(&p.Metadata), e.object(&p.Unknown),
	)
}

// pointed edits the value that a pointer points to, if it is not nil.
func pointed[T any](p **T, one func(*T) bool) bool {
	if *p == nil {
		return false
	}
	value := **p
	edited := one(&value)
	if edited {
		*p = &value
	}
	return edited
}

func (e *Editor) object(o *modelio.Object) bool {
	if len(*o) == 0 {
		return false
	}
	edited := false
	for _, name := range inorder.Names(*o) {
		as, value := name, (*o)[name]
		renamed := e.Name != nil && e.Name(&as)
		if !e.json(&value) && !renamed {
			continue
		}
		if !edited {
			*o, edited = maps.Clone(*o), true
		}
		delete(*o, name)
		(*o)[as] = value
	}
	return edited
}

func (e *Editor) json(raw *json.RawMessage) bool { return len(*raw) > 0 && e.JSON(raw) }
