package modelio

// ModelInfo is what a model declares about itself (GK "Capabilities & Declaration").
type ModelInfo struct {
	Label    string       `json:"label,omitzero"` // name for people; empty if absent
	Supports Capabilities `json:"supports,omitzero"`
	Unknown  Object       `json:"-" is:"unknown"` // Genkit's versions, stage and configSchema, and other members
}

// Capabilities are what a model supports. It does not support capabilities that it does not declare.
type Capabilities struct {
	Multiturn   bool        `json:"multiturn,omitzero"`   // accepts a history
	Media       bool        `json:"media,omitzero"`       // accepts media
	Tools       bool        `json:"tools,omitzero"`       // accepts tools, and requests calls of them
	ToolChoice  bool        `json:"toolChoice,omitzero"`  // obeys the tool choices required and none
	SystemRole  bool        `json:"systemRole,omitzero"`  // accepts system messages
	Constrained Constrained `json:"constrained,omitzero"` // enforces output.schema itself
	Output      []string    `json:"output,omitzero"`      // formats that it writes: "text", "json", "media"; nil if absent
	Unknown     Object      `json:"-" is:"unknown"`       // Genkit's context, contentType, longRunning, and others
}

// Constrained says when a model enforces output.schema itself. JSON may spell it as GK does, where true means all and
// false none, or in Genkit's own words, which are the ones that are written.
type Constrained string

// The three kinds of support. The zero value also means none.
const (
	ConstrainedNone    Constrained = "none"
	ConstrainedAll     Constrained = "all"
	ConstrainedNoTools Constrained = "no-tools" // only for requests without tools
)

// A Declarer is a [Model] that declares what it supports.
type Declarer interface {
	Info() ModelInfo
}

// InfoOf returns what m declares. A model that is not a [Declarer] is assumed to support everything.
func InfoOf(m Model) ModelInfo {
	if d, ok := m.(Declarer); ok {
		return d.Info()
	}
	return ModelInfo{Supports: Capabilities{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true,
		Constrained: ConstrainedAll, Output: []string{"text", "json", "media"},
	}}
}
