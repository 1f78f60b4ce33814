package contract

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Decimal is the text of a decimal number, kept as it was written: 0.2 and 0.20 are different
// texts. It matches ^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$.
type Decimal string

// UnmarshalJSON reads a decimal from a JSON string. An error is an [*Error].
func (d *Decimal) UnmarshalJSON(data []byte) error { return unmarshal("decimal", data, d, readDecimal) }

// A ToolChoice says whether the model may call tools. In JSON it is {"$tag":"Auto"}, or
// {"$tag":"Tool","$value":{"name":"calc"}}.
type ToolChoice struct {
	Tag  string // ChoiceAuto, ChoiceNone, ChoiceRequired or ChoiceTool
	Name string // of the tool that must be called; for ChoiceTool only
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
func (c *ToolChoice) UnmarshalJSON(data []byte) error {
	return unmarshal("tool choice", data, c, readToolChoice)
}

func readToolChoice(r *reader, raw jsontext.Value, c *ToolChoice) {
	c.Tag = r.variant(raw, map[string]func(*reader, jsontext.Value){
		ChoiceAuto:     nil,
		ChoiceNone:     nil,
		ChoiceRequired: nil,
		ChoiceTool: func(r *reader, raw jsontext.Value) {
			r.record(raw, required("name", &c.Name, readName))
		},
	})
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
	Alias   string `json:"alias"`
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
	return unmarshal("text or secret ref", data, t, readTextOrSecretRef)
}

func readTextOrSecretRef(r *reader, raw jsontext.Value, t *TextOrSecretRef) {
	r.variant(raw, map[string]func(*reader, jsontext.Value){
		tagLiteral: func(r *reader, raw jsontext.Value) {
			t.Literal = new(string)
			readText(r, raw, t.Literal)
		},
		tagSecret: func(r *reader, raw jsontext.Value) {
			t.Secret = new(SecretRef)
			readSecretRef(r, raw, t.Secret)
		},
	})
}

// readKeyRef reads an API key, which must not be there itself.
func readKeyRef(r *reader, raw jsontext.Value, t *TextOrSecretRef) {
	readTextOrSecretRef(r, raw, t)
	if t.Literal != nil {
		r.report(ruleLiteral, "params are kept, so an API key must not stand in them: name it as a secret ref")
	}
}

// UnmarshalJSON reads s strictly. An error is an [*Error].
func (s *SecretRef) UnmarshalJSON(data []byte) error {
	return unmarshal("secret ref", data, s, readSecretRef)
}

func readSecretRef(r *reader, raw jsontext.Value, s *SecretRef) {
	r.record(raw, required("alias", &s.Alias, readName), required("version", &s.Version, readNat))
}

// A ResponseFormat says what the text of an answer must be.
type ResponseFormat struct {
	Type       string          `json:"type"`        // FormatText, FormatJSON or FormatJSONSchema
	JSONSchema json.RawMessage `json:"json_schema"` // for FormatJSONSchema only; nil: not set
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
	return unmarshal("response format", data, f, func(r *reader, raw jsontext.Value, f *ResponseFormat) {
		r.record(raw,
			required("type", &f.Type, readText),
			optional("json_schema", &f.JSONSchema, readObject),
			option("strict", &f.Strict, readBool),
		)
		switch {
		case f.Type == FormatJSONSchema && f.JSONSchema == nil:
			r.in("json_schema", func() { r.report(ruleMissing, "is required with json_schema") })
		case f.Type == "": // reported
		case f.Type != FormatJSONSchema && (f.JSONSchema != nil || f.Strict != nil):
			r.report(ruleUnknown, "json_schema and strict go with the type json_schema only")
		case f.Type != FormatJSONSchema && f.Type != FormatJSON && f.Type != FormatText:
			r.in("type", func() { r.report(ruleChoice, "must be one of json, json_schema, text, is %q", f.Type) })
		}
	})
}
