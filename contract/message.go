package contract

import (
	"encoding/json"
	"errors"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/modelio"
)

// PutMessage stores a message for use in [GenerateParams], and returns its ref. Each message has exactly one form, so
// the same message always has the same ref: an object with content, role and, if there is any, metadata. The content is
// a string if it is one text part without metadata, and otherwise the list of GK parts (design R15).
func PutMessage(store CAS, m modelio.Message) (canon.Hash, error) {
	return PutJSON(store, message{m})
}

// A message is a message in the form of blobs.
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
	return len(parts) == 1 && parts[0].Text != nil && len(parts[0].Metadata) == 0 && len(parts[0].Unknown) == 0 &&
		parts[0].Custom == nil
}

// A content is a message's parts or its single text.
type content []modelio.Part

func (m *message) UnmarshalJSON(data []byte) error {
	var blob struct {
		Content  content        `json:"content" is:"required"`
		Metadata modelio.Object `json:"metadata"`
		Role     modelio.Role   `json:"role"`
	}
	if err := unmarshal("message", data, &blob); err != nil {
		return err
	}
	m.Message = modelio.Message{Role: blob.Role, Content: blob.Content, Metadata: blob.Metadata}
	return nil
}

func readContent(r *fields.Reader, v jsontext.Value, parts *content) {
	if text, ok := v.Text(); ok {
		*parts = []modelio.Part{modelio.TextPart(text)}
		return
	}
	r.Value(v, (*[]modelio.Part)(parts))
	if isText(*parts) {
		r.Report(ruleType, "must be a string where it is one text part: write it with PutMessage")
	}
}

func readPart(r *fields.Reader, raw jsontext.Value, part *modelio.Part) {
	readModelIO(r, raw, part)
	refuse(r, part.Unknown)
	switch {
	case part.Media != nil:
		r.In("media", func() { refuse(r, part.Media.Unknown) })
	case part.ToolRequest != nil:
		r.In("toolRequest", func() { refuse(r, part.ToolRequest.Unknown) })
	case part.ToolResponse != nil:
		r.In("toolResponse", func() { refuse(r, part.ToolResponse.Unknown) })
	}
}

// refuse reports members that package modelio does not know.
func refuse(r *fields.Reader, members modelio.Object) {
	for name := range members {
		r.In(name, func() { r.Report(ruleUnknown, "is no member of this type, or should be left out") })
	}
}

func readMetadata(r *fields.Reader, v jsontext.Value, o *modelio.Object) {
	*o = v.Object()
	if r.Want(v, "an object") && len(*o) == 0 {
		r.Report(ruleBlank, "must be left out where it is empty")
	}
}

func readRole(r *fields.Reader, raw jsontext.Value, role *modelio.Role) {
	readText(r, raw, (*string)(role))
	switch *role {
	case modelio.RoleSystem, modelio.RoleUser, modelio.RoleModel, modelio.RoleTool:
	default:
		r.Report(ruleChoice, "must be one of model, system, tool, user, is %q", string(*role))
	}
}

// readModelIO reads a value of package modelio, which is as strict as the contract except for unknown members.
func readModelIO[T any](r *fields.Reader, raw jsontext.Value, v *T) {
	err := json.Unmarshal(raw.Raw(), v)
	var wrong *modelio.FormatError
	if errors.As(err, &wrong) {
		r.ReportBelow(wrong.Pointer, ruleType, wrong.Problem)
	}
}

// A tool is a tool definition in the form of blobs, which is GK's.
type tool struct{ modelio.ToolDefinition }

func (t *tool) UnmarshalJSON(data []byte) error { return unmarshal("tool definition", data, t) }

func readTool(r *fields.Reader, v jsontext.Value, t *tool) {
	readModelIO(r, v, &t.ToolDefinition)
	refuse(r, t.Unknown)
}
