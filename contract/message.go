package contract

import (
	"encoding/json"
	"errors"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// PutMessage stores a message, to be named in [GenerateParams], and returns its ref. Each message
// has one form, so the same message always has the same ref: an object with content, role
// and, if there is any, metadata, where the content is a string if it is one text part without
// metadata, else the list of GK parts (design R15).
func PutMessage(store CAS, m modelio.Message) (canon.Hash, error) {
	return PutJSON(store, message{m})
}

// A message is a message in the form that blobs have.
type message struct{ modelio.Message }

func (m message) MarshalJSON() ([]byte, error) {
	if len(m.Unknown) > 0 {
		return nil, errors.New("a message has members that are not known")
	}
	var content any = m.Content
	if isText(m.Content) {
		content = m.Content[0].Text
	} else if m.Content == nil {
		content = []modelio.Part{}
	}
	return json.Marshal(struct {
		Content  any            `json:"content"`
		Metadata modelio.Object `json:"metadata,omitempty"`
		Role     modelio.Role   `json:"role"`
	}{content, m.Metadata, m.Role})
}

// isText reports whether content is written as a string.
func isText(parts []modelio.Part) bool {
	return len(parts) == 1 && parts[0].Text != nil && len(parts[0].Metadata) == 0 && len(parts[0].Unknown) == 0 && parts[0].Custom == nil
}

func (m *message) UnmarshalJSON(data []byte) error { return unmarshal("message", data, m, readMessage) }

func readMessage(r *reader, raw jsontext.Value, m *message) {
	r.record(raw,
		required("content", &m.Content, readContent),
		optional("metadata", &m.Metadata, readMetadata),
		required("role", &m.Role, readRole),
	)
}

func readContent(r *reader, v jsontext.Value, parts *[]modelio.Part) {
	if text, ok := v.Text(); ok {
		*parts = []modelio.Part{modelio.TextPart(text)}
		return
	}
	listOf(readPart)(r, v, parts)
	if isText(*parts) {
		r.report(ruleType, "must be a string where it is one text part: write it with PutMessage")
	}
}

func readPart(r *reader, raw jsontext.Value, part *modelio.Part) {
	readModelIO(r, raw, part)
	r.unknown(part.Unknown)
	switch {
	case part.Media != nil:
		r.in("media", func() { r.unknown(part.Media.Unknown) })
	case part.ToolRequest != nil:
		r.in("toolRequest", func() { r.unknown(part.ToolRequest.Unknown) })
	case part.ToolResponse != nil:
		r.in("toolResponse", func() { r.unknown(part.ToolResponse.Unknown) })
	}
}

// unknown reports the members that package modelio kept as not known.
func (r *reader) unknown(members modelio.Object) {
	for name := range members {
		r.in(name, func() { r.report(ruleUnknown, "is no member of this type, or should be left out") })
	}
}

func readMetadata(r *reader, v jsontext.Value, o *modelio.Object) {
	if !r.want(v, "an object") {
		return
	}
	if *o = v.Object(); len(*o) == 0 {
		r.report(ruleBlank, "must be left out where it is empty")
	}
}

func readRole(r *reader, raw jsontext.Value, role *modelio.Role) {
	readText(r, raw, (*string)(role))
	switch *role {
	case modelio.RoleSystem, modelio.RoleUser, modelio.RoleModel, modelio.RoleTool:
	default:
		r.report(ruleChoice, "must be one of model, system, tool, user, is %q", string(*role))
	}
}

// readModelIO reads a value of package modelio, which is as strict as the contract except for
// members that it does not know.
func readModelIO[T any](r *reader, raw jsontext.Value, v *T) {
	err := json.Unmarshal(raw.Raw(), v)
	var wrong *modelio.FormatError
	if errors.As(err, &wrong) {
		r.found.add(jsontext.PointerTo(r.path...)+wrong.Pointer, ruleType, "%s", wrong.Problem)
	}
}

// A tool is a tool definition in the form that blobs have, GK's.
type tool struct{ modelio.ToolDefinition }

func (t *tool) UnmarshalJSON(data []byte) error {
	return unmarshal("tool definition", data, t, func(r *reader, raw jsontext.Value, t *tool) {
		readModelIO(r, raw, &t.ToolDefinition)
		r.unknown(t.Unknown)
	})
}
