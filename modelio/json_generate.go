package modelio

// MarshalJSON writes t with its members sorted by name. Its errors are of type [*FormatError].
func (t ToolDefinition) MarshalJSON() ([]byte, error) {
	return writeJSON("tool definition", &t, writeToolDefinition)
}

// UnmarshalJSON reads t and loses nothing of it. Its errors are of type [*FormatError].
func (t *ToolDefinition) UnmarshalJSON(data []byte) error {
	return readJSON("tool definition", data, t, readToolDefinition)
}

func readToolDefinition(r *jsonReader, t *ToolDefinition) (bool, error) {
	return true, r.object(&t.Unknown, []string{"name"}, func(name string) (bool, error) {
		switch name {
		case "description":
			return readString(r, &t.Description)
		case "inputSchema":
			return readRaw(r, &t.InputSchema)
		case "metadata":
			return readObject(r, &t.Metadata)
		case "name":
			return readRequired(r, &t.Name)
		case "outputSchema":
			return readRaw(r, &t.OutputSchema)
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

func readOutputConfig(r *jsonReader, c *OutputConfig) (bool, error) {
	return true, r.object(&c.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "constrained":
			return readOptional(r, &c.Constrained, readBool)
		case "format":
			return readString(r, &c.Format)
		case "schema":
			return readRaw(r, &c.Schema)
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

func readGenerateRequest(r *jsonReader, g *GenerateRequest) (bool, error) {
	return true, r.object(&g.Unknown, []string{"messages"}, func(name string) (bool, error) {
		switch name {
		case "config":
			return readObject(r, &g.Config)
		case "messages":
			return readList(r, &g.Messages, readMessage)
		case "output":
			return readOptional(r, &g.Output, readOutputConfig)
		case "toolChoice":
			return readString(r, &g.ToolChoice)
		case "tools":
			return readList(r, &g.Tools, readToolDefinition)
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

func readGenerateResponse(r *jsonReader, g *GenerateResponse) (bool, error) {
	return true, r.object(&g.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "custom":
			return readRaw(r, &g.Custom)
		case "finishReason":
			return readString(r, &g.FinishReason)
		case "message":
			return readOptional(r, &g.Message, readMessage)
		case "usage":
			return readOptional(r, &g.Usage, readUsage)
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

func readUsage(r *jsonReader, u *Usage) (bool, error) {
	return true, r.object(&u.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "cacheWriteTokens":
			return readOptional(r, &u.CacheWriteTokens, readInt)
		case "cachedContentTokens":
			return readOptional(r, &u.CachedContentTokens, readInt)
		case "inputTokens":
			return readOptional(r, &u.InputTokens, readInt)
		case "outputTokens":
			return readOptional(r, &u.OutputTokens, readInt)
		case "thoughtsTokens":
			return readOptional(r, &u.ThoughtsTokens, readInt)
		case "totalTokens":
			return readOptional(r, &u.TotalTokens, readInt)
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

func readGenerateResponseChunk(r *jsonReader, g *GenerateResponseChunk) (bool, error) {
	return true, r.object(&g.Unknown, []string{"content"}, func(name string) (bool, error) {
		switch name {
		case "aggregated":
			return readOptional(r, &g.Aggregated, readBool)
		case "content":
			return readList(r, &g.Content, readPart)
		case "custom":
			return readRaw(r, &g.Custom)
		case "index":
			return readIndex(r, &g.Index)
		case "role":
			return readString(r, &g.Role)
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
