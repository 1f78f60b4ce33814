package modelio

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// MarshalJSON writes m with its members sorted by name. Its errors are of type [*FormatError].
func (m Message) MarshalJSON() ([]byte, error) {
	return writeJSON("message", &m, writeMessage)
}

// UnmarshalJSON reads m and loses nothing of it. Its errors are of type [*FormatError].
func (m *Message) UnmarshalJSON(data []byte) error {
	return readJSON("message", data, m, readMessage)
}

func readMessage(v jsontext.Value, m *Message) (bool, error) {
	return true, readMembers(v, &m.Unknown, []string{"content", "role"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "content":
			return readList(at, &m.Content, readPart)
		case "metadata":
			return readObject(at, &m.Metadata)
		case "role":
			return readRequired(at, &m.Role)
		}
		return false, nil
	})
}

func writeMessage(w *jsonWriter, m *Message) {
	w.object(m.Unknown, func(o *members) {
		writeRequiredList(o, "content", m.Content, writePart)
		o.object("metadata", m.Metadata)
		o.required("role", string(m.Role))
	})
}

// MarshalJSON writes p with its members sorted by name. Its errors are of type [*FormatError].
func (p Part) MarshalJSON() ([]byte, error) {
	return writeJSON("part", &p, writePart)
}

// UnmarshalJSON reads p and loses nothing of it. Its errors are of type [*FormatError].
func (p *Part) UnmarshalJSON(data []byte) error {
	return readJSON("part", data, p, readPart)
}

func readPart(v jsontext.Value, p *Part) (bool, error) {
	err := readMembers(v, &p.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "custom":
			return readObject(at, &p.Custom)
		case "media":
			return readOptional(at, &p.Media, readMedia)
		case "metadata":
			return readObject(at, &p.Metadata)
		case "reasoning":
			return readOptional(at, &p.Reasoning, readRequired)
		case "text":
			return readOptional(at, &p.Text, readRequired)
		case "toolRequest":
			return readOptional(at, &p.ToolRequest, readToolRequest)
		case "toolResponse":
			return readOptional(at, &p.ToolResponse, readToolResponse)
		}
		return false, nil
	})
	if problem := p.kindProblem(); err == nil && problem != "" {
		err = problemf("%s", problem)
	}
	return true, err
}

// kindProblem says what is wrong if p is of two kinds at once. Custom may stand beside another
// kind, as Genkit's own schema has it.
func (p *Part) kindProblem() string {
	var kinds []string
	for _, kind := range []struct {
		name string
		set  bool
	}{
		{"text", p.Text != nil},
		{"media", p.Media != nil},
		{"toolRequest", p.ToolRequest != nil},
		{"toolResponse", p.ToolResponse != nil},
		{"reasoning", p.Reasoning != nil},
	} {
		if kind.set {
			kinds = append(kinds, kind.name)
		}
	}
	if len(kinds) < 2 {
		return ""
	}
	return "a part is of one kind, not " + strings.Join(kinds, " and ")
}

func writePart(w *jsonWriter, p *Part) {
	if problem := p.kindProblem(); problem != "" {
		w.fail("", problem)
	}
	w.object(p.Unknown, func(o *members) {
		o.object("custom", p.Custom)
		writeOptional(o, "media", p.Media, writeMedia)
		o.object("metadata", p.Metadata)
		o.optionalText("reasoning", p.Reasoning)
		o.optionalText("text", p.Text)
		writeOptional(o, "toolRequest", p.ToolRequest, writeToolRequest)
		writeOptional(o, "toolResponse", p.ToolResponse, writeToolResponse)
	})
}

// MarshalJSON writes m with its members sorted by name. Its errors are of type [*FormatError].
func (m Media) MarshalJSON() ([]byte, error) {
	return writeJSON("media", &m, writeMedia)
}

// UnmarshalJSON reads m and loses nothing of it. Its errors are of type [*FormatError].
func (m *Media) UnmarshalJSON(data []byte) error {
	return readJSON("media", data, m, readMedia)
}

func readMedia(v jsontext.Value, m *Media) (bool, error) {
	return true, readMembers(v, &m.Unknown, []string{"url"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "contentType":
			return readString(at, &m.ContentType)
		case "url":
			return readRequired(at, &m.URL)
		}
		return false, nil
	})
}

func writeMedia(w *jsonWriter, m *Media) {
	w.object(m.Unknown, func(o *members) {
		o.text("contentType", m.ContentType)
		o.required("url", m.URL)
	})
}

// MarshalJSON writes t with its members sorted by name. Its errors are of type [*FormatError].
func (t ToolRequest) MarshalJSON() ([]byte, error) {
	return writeJSON("tool request", &t, writeToolRequest)
}

// UnmarshalJSON reads t and loses nothing of it. Its errors are of type [*FormatError].
func (t *ToolRequest) UnmarshalJSON(data []byte) error {
	return readJSON("tool request", data, t, readToolRequest)
}

func readToolRequest(v jsontext.Value, t *ToolRequest) (bool, error) {
	return true, readMembers(v, &t.Unknown, []string{"name"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "input":
			return readRaw(at, &t.Input)
		case "name":
			return readRequired(at, &t.Name)
		case "partial":
			return readTrue(at, &t.Partial)
		case "ref":
			return readString(at, &t.Ref)
		}
		return false, nil
	})
}

func writeToolRequest(w *jsonWriter, t *ToolRequest) {
	w.object(t.Unknown, func(o *members) {
		o.raw("input", t.Input)
		o.required("name", t.Name)
		o.trueOnly("partial", t.Partial)
		o.text("ref", t.Ref)
	})
}

// MarshalJSON writes t with its members sorted by name. Its errors are of type [*FormatError].
func (t ToolResponse) MarshalJSON() ([]byte, error) {
	return writeJSON("tool response", &t, writeToolResponse)
}

// UnmarshalJSON reads t and loses nothing of it. Its errors are of type [*FormatError].
func (t *ToolResponse) UnmarshalJSON(data []byte) error {
	return readJSON("tool response", data, t, readToolResponse)
}

func readToolResponse(v jsontext.Value, t *ToolResponse) (bool, error) {
	return true, readMembers(v, &t.Unknown, []string{"name"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "content":
			return readList(at, &t.Content, readPart)
		case "name":
			return readRequired(at, &t.Name)
		case "output":
			return readRaw(at, &t.Output)
		case "ref":
			return readString(at, &t.Ref)
		}
		return false, nil
	})
}

func writeToolResponse(w *jsonWriter, t *ToolResponse) {
	w.object(t.Unknown, func(o *members) {
		writeList(o, "content", t.Content, writePart)
		o.required("name", t.Name)
		o.raw("output", t.Output)
		o.text("ref", t.Ref)
	})
}
