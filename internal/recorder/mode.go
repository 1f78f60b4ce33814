package recorder

import (
	"errors"
	"slices"
)

// A Mode says what a recorder does with a call.
type Mode int

const (
	Replay      Mode = iota // answer from the store; no network
	Update                  // serve what still matches, make and record what drifted, is new or is stale
	UpdateAll               // make and record every call
	UpdateNew               // make and record the calls that have no snapshot, replay the others
	UpdateTools             // as Update, and run the tools again: make and record their calls, whatever is recorded
	Rekey                   // adopt the stored answer for a request that changed; no network
	Check                   // serve what is stored, and hold live answers against it; nothing is written
	Mixed                   // make the calls of some kinds live, serve what is stored of the others; nothing is written
)

// modes are the names of modes, as receipts have them.
var modes = []string{
	Replay: "replay", Update: "update", UpdateAll: "all", UpdateNew: "new", UpdateTools: "tools", Rekey: "rekey", Check: "check",
	Mixed: "live",
}

func (m Mode) String() string { return modes[m] }

// Live reports whether calls are made.
func (m Mode) Live() bool { return m != Replay && m != Rekey }

// Writes reports whether what a passing test did is committed.
func (m Mode) Writes() bool { return m != Replay && m != Check && m != Mixed }

// ParseMode returns the mode that a value of TRACEFORGE_UPDATE, or of -update, names. The error lists them.
func ParseMode(value string) (Mode, error) {
	switch value {
	case "", "0", "false":
		return Replay, nil
	case "1", "true":
		return Update, nil
	}
	if i := slices.Index(modes, value); i > int(Update) {
		return Mode(i), nil
	}
	return Replay, errors.New("use 1 to record what changed, all to record every call, new to record what is missing, " +
		"tools to run the tools again and record what changed, rekey to adopt stored answers, check to compare live answers, live to use them, 0 to replay")
}
