package modelio

import "github.com/traceforge/traceforge-go/internal/jsontext"

// ModelInfo is what a model declares about itself (GK "Capabilities & Declaration").
type ModelInfo struct {
	Label    string // name for people; empty: absent
	Supports Capabilities
	Unknown  Object // Genkit's versions, stage and configSchema, and members it does not name
}

// Capabilities are what a model supports. A capability that is not declared is not there.
type Capabilities struct {
	Multiturn   bool        // takes a history
	Media       bool        // takes media
	Tools       bool        // takes tools, and asks for calls of them
	ToolChoice  bool        // heeds the tool choices required and none
	SystemRole  bool        // takes system messages
	Constrained Constrained // enforces output.schema itself
	Output      []string    // formats that it can write: "text", "json", "media"; nil: absent
	Unknown     Object      // Genkit's context, contentType and longRunning, and members it does not name
}

// Constrained says when a model enforces output.schema itself. JSON may spell it as GK does,
// where true means all and false none, or in Genkit's own words, which are the ones written.
type Constrained string

// The three kinds of support. The zero value is none, too.
const (
	ConstrainedNone    Constrained = "none"
	ConstrainedAll     Constrained = "all"
	ConstrainedNoTools Constrained = "no-tools" // only in requests without tools
)

// enforced reports whether a model with c enforces the output schema of req.
func (c Constrained) enforced(req *GenerateRequest) bool {
	return c == ConstrainedAll || c == ConstrainedNoTools && len(req.Tools) == 0
}

// A Declarer is a [Model] that declares what it supports.
type Declarer interface {
	Info() ModelInfo
}

// InfoOf returns what m declares. A model that is no [Declarer] is taken to support everything.
func InfoOf(m Model) ModelInfo {
	if d, ok := m.(Declarer); ok {
		return d.Info()
	}
	return ModelInfo{Supports: Capabilities{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true,
		Constrained: ConstrainedAll, Output: []string{"text", "json", "media"},
	}}
}

// MarshalJSON writes i with its members sorted by name. Its errors are of type [*FormatError].
func (i ModelInfo) MarshalJSON() ([]byte, error) {
	return writeJSON("model info", &i, writeModelInfo)
}

// UnmarshalJSON reads i and loses nothing of it. Its errors are of type [*FormatError].
func (i *ModelInfo) UnmarshalJSON(data []byte) error {
	return readJSON("model info", data, i, readModelInfo)
}

func readModelInfo(v jsontext.Value, i *ModelInfo) (bool, error) {
	return true, readMembers(v, &i.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "label":
			return readString(at, &i.Label)
		case "supports":
			if at.IsNull() {
				return false, nil
			}
			_, err := readCapabilities(at, &i.Supports)
			return !i.Supports.empty(), err
		}
		return false, nil
	})
}

func writeModelInfo(w *jsonWriter, i *ModelInfo) {
	w.object(i.Unknown, func(o *members) {
		o.text("label", i.Label)
		if !i.Supports.empty() {
			writeOptional(o, "supports", &i.Supports, writeCapabilities)
		}
	})
}

// empty reports whether c says nothing.
func (c *Capabilities) empty() bool {
	return !c.Multiturn && !c.Media && !c.Tools && !c.ToolChoice && !c.SystemRole &&
		c.Constrained == "" && c.Output == nil && c.Unknown == nil
}

// MarshalJSON writes c with its members sorted by name. Its errors are of type [*FormatError].
func (c Capabilities) MarshalJSON() ([]byte, error) {
	return writeJSON("capabilities", &c, writeCapabilities)
}

// UnmarshalJSON reads c and loses nothing of it. Its errors are of type [*FormatError].
func (c *Capabilities) UnmarshalJSON(data []byte) error {
	return readJSON("capabilities", data, c, readCapabilities)
}

func readCapabilities(v jsontext.Value, c *Capabilities) (bool, error) {
	return true, readMembers(v, &c.Unknown, nil, func(name string, at jsontext.Value) (bool, error) {
		switch name {
		case "constrained":
			return readConstrained(at, &c.Constrained)
		case "media":
			return readTrue(at, &c.Media)
		case "multiturn":
			return readTrue(at, &c.Multiturn)
		case "output":
			return readList(at, &c.Output, readRequired)
		case "systemRole":
			return readTrue(at, &c.SystemRole)
		case "toolChoice":
			return readTrue(at, &c.ToolChoice)
		case "tools":
			return readTrue(at, &c.Tools)
		}
		return false, nil
	})
}

func readConstrained(v jsontext.Value, field *Constrained) (bool, error) {
	if v.Kind() != "a boolean" {
		return readString(v, field)
	}
	var all bool
	known, err := readBool(v, &all)
	*field = ConstrainedNone
	if all {
		*field = ConstrainedAll
	}
	return known, err
}

func writeCapabilities(w *jsonWriter, c *Capabilities) {
	w.object(c.Unknown, func(o *members) {
		o.text("constrained", string(c.Constrained))
		o.trueOnly("media", c.Media)
		o.trueOnly("multiturn", c.Multiturn)
		writeList(o, "output", c.Output, func(w *jsonWriter, s *string) { w.text(*s) })
		o.trueOnly("systemRole", c.SystemRole)
		o.trueOnly("toolChoice", c.ToolChoice)
		o.trueOnly("tools", c.Tools)
	})
}
