package modelio

import "github.com/traceforge/traceforge-go/internal/jsontext"

// MarshalJSON writes t with its members sorted by name. Its errors are of type [*FormatError].
func (t ToolDefinition) MarshalJSON() ([]byte, error) {
	return writeJSON("tool definition", &t, writeToolDefinition)
}

// UnmarshalJSON reads t and loses nothing of it. Its errors are of type [*FormatError].
func (t *ToolDefinition) UnmarshalJSON(data []byte) error {
	return readJSON("tool definition", data, t, readToolDefinition)
}

func readToolDefinition(v jsontext.Value, t *ToolDefinition) (bool, error) {
	return true, readMembers(v, &t.Unknown, []string{"name"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "description":
			return readString(at, &t.Description)
		case "inputSchema":
			return readRaw(at, &t.InputSchema)
		case "metadata":
			return readObject(at, &t.Metadata)
		case "name":
			return readRequired(at, &t.Name)
		case "outputSchema":
			return readRaw(at, &t.OutputSchema)
		}
		return false, nil
	})
}

func writeToolDefinition(w *jsonWriter, t *ToolDefinition) {
	w.object(t.Unknown, func(o *members) {
		o.text("description", t.Description)
		o.raw("inputSchema", t.InputSchema)
		o.object("metadata", t.Metadata)
		o.required("name", t.Name)
		o.raw("outputSchema", t.OutputSchema)
	})
}

// MarshalJSON writes c with its members sorted by name. Its errors are of type [*FormatError].
func (c OutputConfig) MarshalJSON() ([]byte, error) {
	return writeJSON("output config", &c, writeOutputConfig)
}

// UnmarshalJSON reads c and loses nothing of it. Its errors are of type [*FormatError].
func (c *OutputConfig) UnmarshalJSON(data []byte) error {
	return readJSON("output config", data, c, readOutputConfig)
}

func readOutputConfig(v jsontext.Value, c *OutputConfig) (bool, error) {
	return true, readMembers(v, &c.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "constrained":
			return readOptional(at, &c.Constrained, readBool)
		case "format":
			return readString(at, &c.Format)
		case "schema":
			return readRaw(at, &c.Schema)
		}
		return false, nil
	})
}

func writeOutputConfig(w *jsonWriter, c *OutputConfig) {
	w.object(c.Unknown, func(o *members) {
		o.optionalBool("constrained", c.Constrained)
		o.text("format", c.Format)
		o.raw("schema", c.Schema)
	})
}

// MarshalJSON writes g with its members sorted by name. Its errors are of type [*FormatError].
func (g GenerateRequest) MarshalJSON() ([]byte, error) {
	return writeJSON("request", &g, writeGenerateRequest)
}

// UnmarshalJSON reads g and loses nothing of it. Its errors are of type [*FormatError].
func (g *GenerateRequest) UnmarshalJSON(data []byte) error {
	return readJSON("request", data, g, readGenerateRequest)
}

func readGenerateRequest(v jsontext.Value, g *GenerateRequest) (bool, error) {
	return true, readMembers(v, &g.Unknown, []string{"messages"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "config":
			return readObject(at, &g.Config)
		case "messages":
			return readList(at, &g.Messages, readMessage)
		case "output":
			return readOptional(at, &g.Output, readOutputConfig)
		case "toolChoice":
			return readString(at, &g.ToolChoice)
		case "tools":
			return readList(at, &g.Tools, readToolDefinition)
		}
		return false, nil
	})
}

func writeGenerateRequest(w *jsonWriter, g *GenerateRequest) {
	w.object(g.Unknown, func(o *members) {
		o.object("config", g.Config)
		writeRequiredList(o, "messages", g.Messages, writeMessage)
		writeOptional(o, "output", g.Output, writeOutputConfig)
		o.text("toolChoice", string(g.ToolChoice))
		writeList(o, "tools", g.Tools, writeToolDefinition)
	})
}

// MarshalJSON writes g with its members sorted by name. Its errors are of type [*FormatError].
func (g GenerateResponse) MarshalJSON() ([]byte, error) {
	return writeJSON("response", &g, writeGenerateResponse)
}

// UnmarshalJSON reads g and loses nothing of it. Its errors are of type [*FormatError].
func (g *GenerateResponse) UnmarshalJSON(data []byte) error {
	return readJSON("response", data, g, readGenerateResponse)
}

func readGenerateResponse(v jsontext.Value, g *GenerateResponse) (bool, error) {
	return true, readMembers(v, &g.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "custom":
			return readRaw(at, &g.Custom)
		case "finishReason":
			return readString(at, &g.FinishReason)
		case "message":
			return readOptional(at, &g.Message, readMessage)
		case "usage":
			return readOptional(at, &g.Usage, readUsage)
		}
		return false, nil
	})
}

func writeGenerateResponse(w *jsonWriter, g *GenerateResponse) {
	w.object(g.Unknown, func(o *members) {
		o.raw("custom", g.Custom)
		o.text("finishReason", string(g.FinishReason))
		writeOptional(o, "message", g.Message, writeMessage)
		writeOptional(o, "usage", g.Usage, writeUsage)
	})
}

// MarshalJSON writes u with its members sorted by name. Its errors are of type [*FormatError].
func (u Usage) MarshalJSON() ([]byte, error) {
	return writeJSON("usage", &u, writeUsage)
}

// UnmarshalJSON reads u and loses nothing of it. Its errors are of type [*FormatError].
func (u *Usage) UnmarshalJSON(data []byte) error {
	return readJSON("usage", data, u, readUsage)
}

func readUsage(v jsontext.Value, u *Usage) (bool, error) {
	return true, readMembers(v, &u.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "cacheWriteTokens":
			return readOptional(at, &u.CacheWriteTokens, readInt)
		case "cachedContentTokens":
			return readOptional(at, &u.CachedContentTokens, readInt)
		case "inputTokens":
			return readOptional(at, &u.InputTokens, readInt)
		case "outputTokens":
			return readOptional(at, &u.OutputTokens, readInt)
		case "thoughtsTokens":
			return readOptional(at, &u.ThoughtsTokens, readInt)
		case "totalTokens":
			return readOptional(at, &u.TotalTokens, readInt)
		}
		return false, nil
	})
}

func writeUsage(w *jsonWriter, u *Usage) {
	w.object(u.Unknown, func(o *members) {
		o.optionalInt("cacheWriteTokens", u.CacheWriteTokens)
		o.optionalInt("cachedContentTokens", u.CachedContentTokens)
		o.optionalInt("inputTokens", u.InputTokens)
		o.optionalInt("outputTokens", u.OutputTokens)
		o.optionalInt("thoughtsTokens", u.ThoughtsTokens)
		o.optionalInt("totalTokens", u.TotalTokens)
	})
}

// MarshalJSON writes g with its members sorted by name. Its errors are of type [*FormatError].
func (g GenerateResponseChunk) MarshalJSON() ([]byte, error) {
	return writeJSON("chunk", &g, writeGenerateResponseChunk)
}

// UnmarshalJSON reads g and loses nothing of it. Its errors are of type [*FormatError].
func (g *GenerateResponseChunk) UnmarshalJSON(data []byte) error {
	return readJSON("chunk", data, g, readGenerateResponseChunk)
}

func readGenerateResponseChunk(v jsontext.Value, g *GenerateResponseChunk) (bool, error) {
	return true, readMembers(v, &g.Unknown, []string{"content"}, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "aggregated":
			return readOptional(at, &g.Aggregated, readBool)
		case "content":
			return readList(at, &g.Content, readPart)
		case "custom":
			return readRaw(at, &g.Custom)
		case "index":
			return readIndex(at, &g.Index)
		case "role":
			return readString(at, &g.Role)
		}
		return false, nil
	})
}

func writeGenerateResponseChunk(w *jsonWriter, g *GenerateResponseChunk) {
	w.object(g.Unknown, func(o *members) {
		o.optionalBool("aggregated", g.Aggregated)
		writeRequiredList(o, "content", g.Content, writePart)
		o.raw("custom", g.Custom)
		o.nonzero("index", int64(g.Index))
		o.text("role", string(g.Role))
	})
}
