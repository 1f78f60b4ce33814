package provider

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Parts that most APIs represent as members of an object. names are the members for the part's fields, in order,
// followed by members that can be dropped. All others are Metadata.

// textPart decodes a text. It reports false for an object without one.
func textPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	text, ok := textField(v.Member(names[0]))
	return modelio.Part{Text: text, Metadata: v.Rest(names...)}, ok
}

// dataPart decodes media from a content type and base64. It reports false for an object that lacks one of these.
func dataPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	contentType := v.Member(names[0]).Word()
	data, ok := v.Member(names[1]).Text()
	part := modelio.MediaPart(contentType, dataURL(contentType, data))
	part.Metadata = v.Rest(names...)
	return part, ok && isContentType(contentType)
}

// callPart decodes a call from the name of a tool, its ref and its input. It reports false for an object without name
// or ref.
func callPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	call := toolRequest(v, names[0], names[1], names[2])
	return modelio.Part{ToolRequest: call, Metadata: v.Rest(names...)}, call.Name != "" && call.Ref != ""
}

// partOf returns the part that an object was decoded to. An object without the form of its kind becomes a custom part
// with all of its members.
func partOf(v jsontext.Value, part modelio.Part, ok bool) modelio.Part {
	if !ok {
		return modelio.Part{Custom: v.Object()}
	}
	return part
}

// partsOf decodes the elements of a list with one.
func partsOf(list jsontext.Value, one func(jsontext.Value) modelio.Part) (parts []modelio.Part) {
	for _, e := range list.Elements() {
		parts = append(parts, one(e))
	}
	return parts
}

// keepType keeps the type of a block, unless it is the usual one for its part.
func keepType(o *modelio.Object, kind, usual string) {
	if kind != usual {
		jsontext.Keep(o, "type", jsontext.Text(kind))
	}
}

// toolRequest returns the call in an object, by the names of its members.
func toolRequest(v jsontext.Value, name, ref, input string) *modelio.ToolRequest {
	return &modelio.ToolRequest{Name: v.Member(name).Word(), Ref: v.Member(ref).Word(), Input: v.Member(input).Raw()}
}

// only returns the members of an object with the given names; nil without any.
func only(v jsontext.Value, names ...string) (o modelio.Object) {
	for _, name := range names {
		jsontext.Keep(&o, name, v.Member(name).Raw())
	}
	return o
}

// userText returns a text as a message of the user.
func userText(text string) modelio.Message {
	return modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}
}

func textField(v jsontext.Value) (*string, bool) {
	text, ok := v.Text()
	return &text, ok
}

// wordsOf returns those of names that are non-empty string members of v.
func wordsOf(v jsontext.Value, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !v.Member(name).IsWord() })
}
