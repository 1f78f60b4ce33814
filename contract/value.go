package contract

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// A Decimal is the text of a decimal number, kept as it was written: 0.2 and 0.20 are different texts. It matches
// ^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$.
type Decimal string

// UnmarshalJSON reads a decimal from a JSON string. It returns an [*Error].
func (d *Decimal) UnmarshalJSON(data []byte) error { return unmarshal("decimal", data, d) }

// A ToolChoice says whether the model may call tools. In JSON it is {"$tag":"Auto"}, or
// {"$tag":"Tool","$value":{"name":"calc"}}.
type ToolChoice struct {
	Tag  string // ChoiceAuto, ChoiceNone, ChoiceRequired or ChoiceTool
	Name string // the tool that must be called; for ChoiceTool only
}

// The tags of a [ToolChoice].
const (
	ChoiceAuto     = "Auto"     // the model decides
	ChoiceNone     = "None"     // no tool may be called
	ChoiceRequired = "Required" // some tool must be called
	ChoiceTool     = "Tool"     // the named tool must be called
)

// MarshalJSON writes c.
func (c ToolChoice) MarshalJSON() ([]byte, error) {
	if c.Tag == ChoiceTool || c.Name != "" {
		return tagged(c.Tag, map[string]string{"name": c.Name})
	}
	return tagged(c.Tag, nil)
}

// UnmarshalJSON reads c strictly. An error is an [*Error].
func (c *ToolChoice) UnmarshalJSON(data []byte) error { return unmarshal("tool choice", data, c) }

func readToolChoice(r *fields.Reader, v jsontext.Value, c *ToolChoice) {
	var tool struct {
		Name string `json:"name" is:"name"`
	}
	c.Tag = readVariant(r, v, map[string]any{ChoiceAuto: nil, ChoiceNone: nil, ChoiceRequired: nil, ChoiceTool: &tool})
	c.Name = tool.Name
}

// tagged writes a value of a sum type.
func tagged(tag string, value any) ([]byte, error) {
	return json.Marshal(struct {
		Tag   string `json:"$tag"`
		Value any    `json:"$value,omitempty"`
	}{tag, value})
}

// A TextOrSecretRef is a text, or says where a secret one is kept. One of its fields is set. In
// JSON it is {"$tag":"literal","$value":"…"} or
// {"$tag":"secret","$value":{"alias":"openai","version":1}}.
//
// As an API key in params only a secret is accepted, since params are kept. So that a literal one
// does not end in a log, formatting shows no literal.
type TextOrSecretRef struct {
	Literal *string
	Secret  *SecretRef
}

// A SecretRef names a secret that the host of the program keeps.
type SecretRef struct {
	Alias   string `json:"alias" is:"name"`
	Version uint64 `json:"version"`
}

// Secret returns a reference to a secret.
func Secret(alias string, version uint64) *TextOrSecretRef {
	return &TextOrSecretRef{Secret: &SecretRef{alias, version}}
}

// Format writes t without its literal text, whatever the verb.
func (t TextOrSecretRef) Format(f fmt.State, _ rune) {
	switch {
	case t.Secret != nil:
		fmt.Fprintf(f, "secret %s@%d", t.Secret.Alias, t.Secret.Version)
	case t.Literal != nil:
		fmt.Fprint(f, "literal (not shown)")
	default:
		fmt.Fprint(f, "nothing")
	}
}

const (
	tagLiteral = "literal"
	tagSecret  = "secret"
)

// MarshalJSON writes t.
func (t TextOrSecretRef) MarshalJSON() ([]byte, error) {
	switch {
	case t.Literal != nil && t.Secret != nil:
		return nil, fmt.Errorf("text or secret ref: both a literal and a secret are set")
	case t.Literal != nil:
		return tagged(tagLiteral, *t.Literal)
	case t.Secret != nil:
		return tagged(tagSecret, t.Secret)
	}
	return nil, fmt.Errorf("text or secret ref: neither a literal nor a secret is set")
}

// UnmarshalJSON reads t strictly. An error is an [*Error]; it does not show a literal.
func (t *TextOrSecretRef) UnmarshalJSON(data []byte) error {
	return unmarshal("text or secret ref", data, t)
}

func readTextOrSecretRef(r *fields.Reader, v jsontext.Value, t *TextOrSecretRef) {
	readVariant(r, v, map[string]any{tagLiteral: &t.Literal, tagSecret: &t.Secret})
}

// readKeyRef reads an API key, which must not be there itself.
func readKeyRef(r *fields.Reader, v jsontext.Value, t *TextOrSecretRef) {
	readTextOrSecretRef(r, v, t)
	if t.Literal != nil {
		r.Report(ruleLiteral, "params are kept, so an API key must not stand in them: name it as a secret ref")
	}
}

// UnmarshalJSON reads s strictly. An error is an [*Error].
func (s *SecretRef) UnmarshalJSON(data []byte) error { return unmarshal("secret ref", data, s) }

// A ResponseFormat says what the text of an answer must be.
type ResponseFormat struct {
	Type       string          `json:"type"`        // FormatText, FormatJSON or FormatJSONSchema
	JSONSchema json.RawMessage `json:"json_schema"` // for FormatJSONSchema only; nil means not set
	Strict     *bool           `json:"strict"`      // for FormatJSONSchema only; Anthropic is always strict
}

// The types of a [ResponseFormat].
const (
	FormatText       = "text"
	FormatJSON       = "json"
	FormatJSONSchema = "json_schema"
)

// UnmarshalJSON reads f strictly. An error is an [*Error] with all that is wrong.
func (f *ResponseFormat) UnmarshalJSON(data []byte) error {
	return unmarshal("response format", data, f)
}

// checkResponseFormat reports members that do not go with the type.
func checkResponseFormat(found *fields.Faults, format any) {
	f := format.(*ResponseFormat)
	switch {
	case f.Type == FormatJSONSchema && f.JSONSchema == nil:
		found.In("json_schema", func() { found.Report(ruleMissing, "is required with json_schema") })
	case f.Type == "": // reported
	case f.Type != FormatJSONSchema && (f.JSONSchema != nil || f.Strict != nil):
		found.Report(ruleUnknown, "json_schema and strict go with the type json_schema only")
	case f.Type != FormatJSONSchema && f.Type != FormatJSON && f.Type != FormatText:
		found.In("type", func() { found.Report(ruleChoice, "must be one of json, json_schema, text, is %q", f.Type) })
	}
}
