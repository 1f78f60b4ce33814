package usage

// The kinds of drift: [Drift.Kind].
const (
	Drifted  = "drifted"  // the call differs from the closest record
	Missing  = "missing"  // the call has no record
	Uncalled = "uncalled" // a record without a call
)

// A Drift is a call that a test's records do not answer, or a record without a call. Its texts contain no secrets, but
// may contain control characters, which whoever prints them must escape.
type Drift struct {
	Kind     string        `json:"kind"`
	Record   string        `json:"record,omitempty"` // id of the record; empty without one
	Call     int           `json:"call,omitempty"`   // number of the record in its document
	Provider string        `json:"provider"`
	File     string        `json:"file,omitempty"` // file of the call, relative to the module's root; for a record, as it was recorded
	Line     int           `json:"line,omitempty"`
	Changes  []DriftChange `json:"changes,omitempty"`  // changes of a drifted call; empty if only ignored pointers changed
	Summary  []string      `json:"summary,omitempty"`  // for the other kinds, the request in a few lines
	Tokens   int64         `json:"tokens,omitempty"`   // input and output tokens of the record's answer; 0 if unknown
	Scripted bool          `json:"scripted,omitempty"` // a script answers the call, so accepting costs nothing
}

// A DriftChange is a changed component. Changes with the same key have one cause, in all calls, tests and processes.
type DriftChange struct {
	Key       string `json:"key"`
	Component string `json:"component"` // in words: "system", "message 2 (user) added"
	Kind      string `json:"kind"`      // without the parts that differ between calls: "user message"
	Removed   int    `json:"removed"`   // number of lines
	Added     int    `json:"added"`
	// Before and After are the two sides of the change. Large texts are reduced to the changed lines and their
	// surroundings. Only the first change with a key in a process has them. A side without the component is nil.
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}
