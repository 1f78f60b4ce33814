package modelio

// The types of GK write their members sorted by name, and lose nothing that they read. All errors are of type
// [*FormatError].

func (m Message) MarshalJSON() ([]byte, error)               { return marshal("message", &m) }
func (p Part) MarshalJSON() ([]byte, error)                  { return marshal("part", &p) }
func (m Media) MarshalJSON() ([]byte, error)                 { return marshal("media", &m) }
func (t ToolRequest) MarshalJSON() ([]byte, error)           { return marshal("tool request", &t) }
func (t ToolResponse) MarshalJSON() ([]byte, error)          { return marshal("tool response", &t) }
func (t ToolDefinition) MarshalJSON() ([]byte, error)        { return marshal("tool definition", &t) }
func (o OutputConfig) MarshalJSON() ([]byte, error)          { return marshal("output config", &o) }
func (g GenerateRequest) MarshalJSON() ([]byte, error)       { return marshal("request", &g) }
func (g GenerateResponse) MarshalJSON() ([]byte, error)      { return marshal("response", &g) }
func (u Usage) MarshalJSON() ([]byte, error)                 { return marshal("usage", &u) }
func (g GenerateResponseChunk) MarshalJSON() ([]byte, error) { return marshal("chunk", &g) }
func (i ModelInfo) MarshalJSON() ([]byte, error)             { return marshal("model info", &i) }
func (c Capabilities) MarshalJSON() ([]byte, error)          { return marshal("capabilities", &c) }

func (m *Message) UnmarshalJSON(data []byte) error      { return unmarshal("message", data, m) }
func (p *Part) UnmarshalJSON(data []byte) error         { return unmarshal("part", data, p) }
func (m *Media) UnmarshalJSON(data []byte) error        { return unmarshal("media", data, m) }
func (t *ToolRequest) UnmarshalJSON(data []byte) error  { return unmarshal("tool request", data, t) }
func (t *ToolResponse) UnmarshalJSON(data []byte) error { return unmarshal("tool response", data, t) }
func (t *ToolDefinition) UnmarshalJSON(data []byte) error {
	return unmarshal("tool definition", data, t)
}
func (o *OutputConfig) UnmarshalJSON(data []byte) error          { return unmarshal("output config", data, o) }
func (g *GenerateRequest) UnmarshalJSON(data []byte) error       { return unmarshal("request", data, g) }
func (g *GenerateResponse) UnmarshalJSON(data []byte) error      { return unmarshal("response", data, g) }
func (u *Usage) UnmarshalJSON(data []byte) error                 { return unmarshal("usage", data, u) }
func (g *GenerateResponseChunk) UnmarshalJSON(data []byte) error { return unmarshal("chunk", data, g) }
func (i *ModelInfo) UnmarshalJSON(data []byte) error             { return unmarshal("model info", data, i) }
func (c *Capabilities) UnmarshalJSON(data []byte) error          { return unmarshal("capabilities", data, c) }
