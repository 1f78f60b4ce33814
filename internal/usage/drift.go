package usage

// The fate of a call: [Drift.Kind].
const (
	Drifted  = "drifted"  // it differs from the record that it is held against
	Missing  = "missing"  // it has no record
	Uncalled = "uncalled" // a record that no call asked for
)

// A Drift is a call that a test's records do not answer, or a record without a call. Its texts hold no
// secrets; whoever prints them sees to what drives a terminal.
type Drift struct {
	Kind     string        `json:"kind"`
	Record   string        `json:"record,omitempty"` // the id; empty means there is none
	Call     int           `json:"call,omitempty"`   // the record's number in its document
	Provider string        `json:"provider"`
	File     string        `json:"file,omitempty"` // of the call, below the module's root; of a record, as it was recorded
	Line     int           `json:"line,omitempty"`
	Changes  []DriftChange `json:"changes,omitempty"`  // of one that drifted; none means only its ignored pointers are others
	Summary  []string      `json:"summary,omitempty"`  // of the request of the other kinds, in a few lines
	Tokens   int64         `json:"tokens,omitempty"`   // that the record's answer took, in and out; 0 means not known
	Scripted bool          `json:"scripted,omitempty"` // a script answers the call, so accepting costs nothing
}

// A DriftChange is a component that changed. Changes with one key are one cause, in whatever calls, tests and
// processes they are.
type DriftChange struct {
	Key       string `json:"key"`
	Component string `json:"component"` // in words: "system", "message 2 (user) added"
	Kind      string `json:"kind"`      // without what differs from call to call: "user message"
	Removed   int    `json:"removed"`   // lines
	Added     int    `json:"added"`
	// Before and After are the two sides of the change. Large texts are cut to the surroundings of changed lines.
	// Only the first of a process's changes with one key has them. Where a side has no such component, it is nil.
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}
