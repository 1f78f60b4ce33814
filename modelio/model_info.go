package modelio

// ModelInfo is what a model declares about itself (GK "Capabilities & Declaration").
type ModelInfo struct {
	Label    string       `json:"label,omitzero"` // name for people; empty means absent
	Supports Capabilities `json:"supports,omitzero"`
	Unknown  Object       `json:"-" is:"unknown"` // Genkit's versions, stage and configSchema, and further members
}

// Capabilities are what a model supports. A capability that is not declared is not there.
type Capabilities struct {
	Multiturn   bool        `json:"multiturn,omitzero"`   // takes a history
	Media       bool        `json:"media,omitzero"`       // takes media
	Tools       bool        `json:"tools,omitzero"`       // takes tools, and asks for calls of them
	ToolChoice  bool        `json:"toolChoice,omitzero"`  // heeds the tool choices required and none
	SystemRole  bool        `json:"systemRole,omitzero"`  // takes system messages
	Constrained Constrained `json:"constrained,omitzero"` // enforces output.schema itself
	Output      []string    `json:"output,omitzero"`      // formats that it writes: "text", "json", "media"; nil means absent
	Unknown     Object      `json:"-" is:"unknown"`       // Genkit's context, contentType, longRunning, and others
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
