package modelio

import "strings"

// MarshalJSON writes m with its members sorted by name. Its errors are of type [*FormatError].
func (m Message) MarshalJSON() ([]byte, error) {
	return writeJSON("message", &m, writeMessage)
}

// UnmarshalJSON reads m and loses nothing of it. Its errors are of type [*FormatError].
func (m *Message) UnmarshalJSON(data []byte) error {
	return readJSON("message", data, m, readMessage)
}

func readMessage(r *jsonReader, m *Message) (bool, error) {
	return true, r.object(&m.Unknown, []string{"content", "role"}, func(name string) (bool, error) {
		switch name {
		case "content":
			return readList(r, &m.Content, readPart)
		case "metadata":
			return readObject(r, &m.Metadata)
		case "role":
			return readRequired(r, &m.Role)
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

func readPart(r *jsonReader, p *Part) (bool, error) {
	err := r.object(&p.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "custom":
			return readObject(r, &p.Custom)
		case "media":
			return readOptional(r, &p.Media, readMedia)
		case "metadata":
			return readObject(r, &p.Metadata)
		case "reasoning":
			return readOptional(r, &p.Reasoning, readRequired)
		case "text":
			return readOptional(r, &p.Text, readRequired)
		case "toolRequest":
			return readOptional(r, &p.ToolRequest, readToolRequest)
		case "toolResponse":
			return readOptional(r, &p.ToolResponse, readToolResponse)
		}
		return false, nil
	})
	if problem := p.kindProblem(); err == nil && problem != "" {
		err = r.errorf("%s", problem)
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

func readMedia(r *jsonReader, m *Media) (bool, error) {
	return true, r.object(&m.Unknown, []string{"url"}, func(name string) (bool, error) {
		switch name {
		case "contentType":
			return readString(r, &m.ContentType)
		case "url":
			return readRequired(r, &m.URL)
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

func readToolRequest(r *jsonReader, t *ToolRequest) (bool, error) {
	return true, r.object(&t.Unknown, []string{"name"}, func(name string) (bool, error) {
		switch name {
		case "input":
			return readRaw(r, &t.Input)
		case "name":
			return readRequired(r, &t.Name)
		case "partial":
			return readTrue(r, &t.Partial)
		case "ref":
			return readString(r, &t.Ref)
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

func readToolResponse(r *jsonReader, t *ToolResponse) (bool, error) {
	return true, r.object(&t.Unknown, []string{"name"}, func(name string) (bool, error) {
		switch name {
		case "content":
			return readList(r, &t.Content, readPart)
		case "name":
			return readRequired(r, &t.Name)
		case "output":
			return readRaw(r, &t.Output)
		case "ref":
			return readString(r, &t.Ref)
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
