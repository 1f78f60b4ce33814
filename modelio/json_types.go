package modelio

import (
	"reflect"
	"strings"
)

// The types of GK write their members sorted by name, and lose nothing of what they read. All
// errors are of type [*FormatError].

func (m Message) MarshalJSON() ([]byte, error)               { return marshal("message", m.code) }
func (p Part) MarshalJSON() ([]byte, error)                  { return marshal("part", p.code) }
func (m Media) MarshalJSON() ([]byte, error)                 { return marshal("media", m.code) }
func (t ToolRequest) MarshalJSON() ([]byte, error)           { return marshal("tool request", t.code) }
func (t ToolResponse) MarshalJSON() ([]byte, error)          { return marshal("tool response", t.code) }
func (t ToolDefinition) MarshalJSON() ([]byte, error)        { return marshal("tool definition", t.code) }
func (o OutputConfig) MarshalJSON() ([]byte, error)          { return marshal("output config", o.code) }
func (g GenerateRequest) MarshalJSON() ([]byte, error)       { return marshal("request", g.code) }
func (g GenerateResponse) MarshalJSON() ([]byte, error)      { return marshal("response", g.code) }
func (u Usage) MarshalJSON() ([]byte, error)                 { return marshal("usage", u.code) }
func (g GenerateResponseChunk) MarshalJSON() ([]byte, error) { return marshal("chunk", g.code) }
func (i ModelInfo) MarshalJSON() ([]byte, error)             { return marshal("model info", i.code) }
func (c Capabilities) MarshalJSON() ([]byte, error)          { return marshal("capabilities", c.code) }

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

func (m *Message) code(c *coder) {
	c.object(&m.Unknown, func() {
		requiredList(c, "content", &m.Content, (*Part).code)
		c.members("metadata", &m.Metadata)
		requiredText(c, "role", &m.Role)
	})
}

func (p *Part) code(c *coder) {
	c.object(&p.Unknown, func() {
		c.members("custom", &p.Custom)
		optional(c, "media", &p.Media, (*Media).code)
		c.members("metadata", &p.Metadata)
		optional(c, "reasoning", &p.Reasoning, text)
		optional(c, "text", &p.Text, text)
		optional(c, "toolRequest", &p.ToolRequest, (*ToolRequest).code)
		optional(c, "toolResponse", &p.ToolResponse, (*ToolResponse).code)
	})
	if kinds := p.kinds(); len(kinds) > 1 {
		c.fail("a part is of one kind, not %s", strings.Join(kinds, " and "))
	}
}

// kinds returns the kinds that p is of. Custom may stand beside another kind, as Genkit's own schema
// has it.
func (p *Part) kinds() (kinds []string) {
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
	return kinds
}

func (m *Media) code(c *coder) {
	c.object(&m.Unknown, func() {
		nonzero(c, "contentType", &m.ContentType, text)
		requiredText(c, "url", &m.URL)
	})
}

func (t *ToolRequest) code(c *coder) {
	c.object(&t.Unknown, func() {
		c.raw("input", &t.Input)
		requiredText(c, "name", &t.Name)
		nonzero(c, "partial", &t.Partial, boolean)
		nonzero(c, "ref", &t.Ref, text)
	})
}

func (t *ToolResponse) code(c *coder) {
	c.object(&t.Unknown, func() {
		list(c, "content", &t.Content, (*Part).code)
		requiredText(c, "name", &t.Name)
		c.raw("output", &t.Output)
		nonzero(c, "ref", &t.Ref, text)
	})
}

func (t *ToolDefinition) code(c *coder) {
	c.object(&t.Unknown, func() {
		nonzero(c, "description", &t.Description, text)
		c.raw("inputSchema", &t.InputSchema)
		c.members("metadata", &t.Metadata)
		requiredText(c, "name", &t.Name)
		c.raw("outputSchema", &t.OutputSchema)
	})
}

func (o *OutputConfig) code(c *coder) {
	c.object(&o.Unknown, func() {
		optional(c, "constrained", &o.Constrained, boolean)
		nonzero(c, "format", &o.Format, text)
		c.raw("schema", &o.Schema)
	})
}

func (g *GenerateRequest) code(c *coder) {
	c.object(&g.Unknown, func() {
		c.members("config", &g.Config)
		requiredList(c, "messages", &g.Messages, (*Message).code)
		optional(c, "output", &g.Output, (*OutputConfig).code)
		nonzero(c, "toolChoice", &g.ToolChoice, text)
		list(c, "tools", &g.Tools, (*ToolDefinition).code)
	})
}

func (g *GenerateResponse) code(c *coder) {
	c.object(&g.Unknown, func() {
		c.raw("custom", &g.Custom)
		nonzero(c, "finishReason", &g.FinishReason, text)
		optional(c, "message", &g.Message, (*Message).code)
		optional(c, "usage", &g.Usage, (*Usage).code)
	})
}

func (u *Usage) code(c *coder) {
	c.object(&u.Unknown, func() {
		optional(c, "cacheWriteHourTokens", &u.CacheWriteHourTokens, integer)
		optional(c, "cacheWriteTokens", &u.CacheWriteTokens, integer)
		optional(c, "cachedContentTokens", &u.CachedContentTokens, integer)
		optional(c, "inputTokens", &u.InputTokens, integer)
		optional(c, "outputTokens", &u.OutputTokens, integer)
		optional(c, "thoughtsTokens", &u.ThoughtsTokens, integer)
		optional(c, "toolUseTokens", &u.ToolUseTokens, integer)
		optional(c, "totalTokens", &u.TotalTokens, integer)
	})
}

func (g *GenerateResponseChunk) code(c *coder) {
	c.object(&g.Unknown, func() {
		optional(c, "aggregated", &g.Aggregated, boolean)
		requiredList(c, "content", &g.Content, (*Part).code)
		c.raw("custom", &g.Custom)
		nonzero(c, "index", &g.Index, index)
		nonzero(c, "role", &g.Role, text)
	})
}

func (i *ModelInfo) code(c *coder) {
	c.object(&i.Unknown, func() {
		nonzero(c, "label", &i.Label, text)
		declared := func() bool { return !reflect.ValueOf(i.Supports).IsZero() }
		c.member("supports", declared, func() { i.Supports.code(c) })
	})
}

func (c *Capabilities) code(o *coder) {
	o.object(&c.Unknown, func() {
		nonzero(o, "constrained", &c.Constrained, constrained)
		nonzero(o, "media", &c.Media, boolean)
		nonzero(o, "multiturn", &c.Multiturn, boolean)
		list(o, "output", &c.Output, text)
		nonzero(o, "systemRole", &c.SystemRole, boolean)
		nonzero(o, "toolChoice", &c.ToolChoice, boolean)
		nonzero(o, "tools", &c.Tools, boolean)
	})
}

// constrained codes when a model enforces a schema, which may be spelled as a boolean.
func constrained(when *Constrained, c *coder) {
	switch {
	case c.at.Kind() != "a boolean":
		text(when, c)
	case string(c.at.Raw()) == "true":
		*when = ConstrainedAll
	default:
		*when = ConstrainedNone
	}
}
