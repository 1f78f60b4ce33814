package texts

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Same compares values that are usually equal, much faster than by their canonical forms. Values that it reports as
// the same are equal byte for byte; values that it reports as different may differ only in spelling. Nil and empty
// lists and objects are the same, except for custom parts.
type Same struct {
	Without string // a string that no text may contain; empty for no restriction
}

// Requests compares requests.
func (s Same) Requests(a, b *modelio.Request) bool {
	differs := func(p modelio.Parameter) bool { return !Equal(*p.Field(a), *p.Field(b)) }
	return a.API == b.API && s.text(a.Model, b.Model) && s.pointed(a.Prompt, b.Prompt) &&
		!slices.ContainsFunc(modelio.Parameters, differs) && slices.EqualFunc(a.Stop, b.Stop, s.text) &&
		slices.EqualFunc(a.Messages, b.Messages, s.Messages) &&
		s.objects(a.Options, b.Options) && slices.EqualFunc(a.Tools, b.Tools, s.Tools)
}

// Messages compares messages.
func (s Same) Messages(a, b modelio.Message) bool {
	return a.Role == b.Role && s.Parts(a.Content, b.Content) && s.objects(a.Metadata, b.Metadata) &&
		s.objects(a.Unknown, b.Unknown)
}

// Parts compares contents.
func (s Same) Parts(a, b []modelio.Part) bool { return slices.EqualFunc(a, b, s.parts) }

func (s Same) parts(a, b modelio.Part) bool {
	return s.pointed(a.Text, b.Text) && s.pointed(a.Reasoning, b.Reasoning) &&
		(a.Custom == nil) == (b.Custom == nil) && s.objects(a.Custom, b.Custom) &&
		s.objects(a.Metadata, b.Metadata) && s.objects(a.Unknown, b.Unknown) &&
		both(a.Media, b.Media, s.media) && both(a.ToolRequest, b.ToolRequest, s.toolRequests) &&
		both(a.ToolResponse, b.ToolResponse, s.toolResponses)
}

func (s Same) media(a, b *modelio.Media) bool {
	return s.text(a.ContentType, b.ContentType) && s.text(a.URL, b.URL) && s.objects(a.Unknown, b.Unknown)
}

func (s Same) toolRequests(a, b *modelio.ToolRequest) bool {
	return s.text(a.Name, b.Name) && s.text(a.Ref, b.Ref) && a.Partial == b.Partial && s.json(a.Input, b.Input) &&
		s.objects(a.Unknown, b.Unknown)
}

func (s Same) toolResponses(a, b *modelio.ToolResponse) bool {
	return s.text(a.Name, b.Name) && s.text(a.Ref, b.Ref) && s.json(a.Output, b.Output) && s.Parts(a.Content, b.Content) &&
		s.objects(a.Unknown, b.Unknown)
}

// Tools compares tools.
func (s Same) Tools(a, b modelio.ToolDefinition) bool {
	return s.text(a.Name, b.Name) && s.text(a.Description, b.Description) && s.json(a.InputSchema, b.InputSchema) &&
		s.json(a.OutputSchema, b.OutputSchema) && s.objects(a.Metadata, b.Metadata) && s.objects(a.Unknown, b.Unknown)
}

func (s Same) objects(a, b modelio.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		if other, has := b[name]; !has || !s.text(name, name) || !s.json(value, other) {
			return false
		}
	}
	return true
}

func (s Same) json(a, b json.RawMessage) bool {
	return (a == nil) == (b == nil) && bytes.Equal(a, b) && (s.Without == "" || !bytes.Contains(a, []byte(s.Without)))
}

func (s Same) text(a, b string) bool {
	return a == b && (s.Without == "" || !strings.Contains(a, s.Without))
}

func (s Same) pointed(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && s.text(*a, *b)
}

// Equal reports whether two pointers point to equal values or are both nil.
func Equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func both[T any](a, b *T, same func(a, b *T) bool) bool {
	return a == nil && b == nil || a != nil && b != nil && same(a, b)
}
