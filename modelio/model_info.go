package modelio

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

func readModelInfo(r *jsonReader, i *ModelInfo) (bool, error) {
	return true, r.object(&i.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "label":
			return readString(r, &i.Label)
		case "supports":
			if r.data[r.off] == 'n' {
				return false, nil
			}
			_, err := readCapabilities(r, &i.Supports)
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

func readCapabilities(r *jsonReader, c *Capabilities) (bool, error) {
	return true, r.object(&c.Unknown, nil, func(name string) (bool, error) {
		switch name {
		case "constrained":
			return readConstrained(r, &c.Constrained)
		case "media":
			return readTrue(r, &c.Media)
		case "multiturn":
			return readTrue(r, &c.Multiturn)
		case "output":
			return readList(r, &c.Output, readRequired)
		case "systemRole":
			return readTrue(r, &c.SystemRole)
		case "toolChoice":
			return readTrue(r, &c.ToolChoice)
		case "tools":
			return readTrue(r, &c.Tools)
		}
		return false, nil
	})
}

func readConstrained(r *jsonReader, field *Constrained) (bool, error) {
	if c := r.data[r.off]; c != 't' && c != 'f' {
		return readString(r, field)
	}
	var all bool
	known, err := readBool(r, &all)
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
