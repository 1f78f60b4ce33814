package provider

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Parts that most APIs have as members of an object, which names say in the order of the part's fields. Names that
// follow are of members that say nothing more. The others are Metadata.

// textPart decodes a text. It reports false for an object without one.
func textPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	text, ok := textField(v.Member(names[0]))
	return modelio.Part{Text: text, Metadata: v.Rest(names...)}, ok
}

// dataPart decodes media by their content type and their bytes in base64. It reports false for an object that lacks
// one of these.
func dataPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	contentType := v.Member(names[0]).Word()
	data, ok := v.Member(names[1]).Text()
	part := modelio.MediaPart(contentType, dataURL(contentType, data))
	part.Metadata = v.Rest(names...)
	return part, ok && isContentType(contentType)
}

// callPart decodes a call by the name of a tool, its ref and its input. It reports false for an object that lacks name
// or ref.
func callPart(v jsontext.Value, names ...string) (modelio.Part, bool) {
	call := toolRequest(v, names[0], names[1], names[2])
	return modelio.Part{ToolRequest: call, Metadata: v.Rest(names...)}, call.Name != "" && call.Ref != ""
}

// partOf returns the part that an object was decoded to. One that is not as its kind should be becomes a custom part with all of
// the members.
func partOf(v jsontext.Value, part modelio.Part, ok bool) modelio.Part {
	if !ok {
		return modelio.Part{Custom: v.Object()}
	}
	return part
}

// partsOf returns the elements of a list, each as one decodes it.
func partsOf(list jsontext.Value, one func(jsontext.Value) modelio.Part) (parts []modelio.Part) {
	for _, e := range list.Elements() {
		parts = append(parts, one(e))
	}
	return parts
}

// keepType keeps the type of a block, unless it is the one that its part usually has.
func keepType(o *modelio.Object, kind, usual string) {
	if kind != usual {
		jsontext.Keep(o, "type", jsontext.Text(kind))
	}
}

// toolRequest returns the call that an object is, by the names of its members.
func toolRequest(v jsontext.Value, name, ref, input string) *modelio.ToolRequest {
	return &modelio.ToolRequest{Name: v.Member(name).Word(), Ref: v.Member(ref).Word(), Input: v.Member(input).Raw()}
}

// only returns the members of an object that names say; nil means it has none of them.
func only(v jsontext.Value, names ...string) (o modelio.Object) {
	for _, name := range names {
		if m := v.Member(name); m.Present() {
			jsontext.Keep(&o, name, m.Raw())
		}
	}
	return o
}

// userText returns a text as a message of the user's.
func userText(text string) modelio.Message {
	return modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}
}

func textField(v jsontext.Value) (*string, bool) {
	text, ok := v.Text()
	return &text, ok
}

// wordsOf returns those of names that are members of v with a word for their value.
func wordsOf(v jsontext.Value, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !v.Member(name).IsWord() })
}
