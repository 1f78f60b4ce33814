package recorder

import "errors"

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

// modes say what each mode does.
var modes = [...]struct {
	name      string // as receipts have it
	live      bool   // calls are made
	writes    bool   // what a passing test did is committed
	drops     bool   // records that are not called any more go, and do not fail the test
	completes bool   // what is recorded is served, and what is missing is bought
	injects   bool   // faults take the place of recorded answers
}{
	Replay:      {name: "replay", injects: true},
	Update:      {name: "update", live: true, writes: true, drops: true, completes: true},
	UpdateAll:   {name: "all", live: true, writes: true, drops: true},
	UpdateNew:   {name: "new", live: true, writes: true, completes: true},
	UpdateTools: {name: "tools", live: true, writes: true, drops: true, completes: true},
	Rekey:       {name: "rekey", writes: true, drops: true},
	Check:       {name: "check", live: true},
	Mixed:       {name: "live", live: true, injects: true},
}

// A source answers a call, or returns the take of a live one that will; nil: the next source is asked. The lock is held.
type source func(*Recorder, *call) (*servedRecord, error)

// sources are what a mode asks for the answer of a call, in order. A nil ends them.
func (m Mode) sources() [3]source {
	switch m {
	case Update:
		return [3]source{(*Recorder).stored, (*Recorder).cancelled, (*Recorder).made}
	case UpdateTools:
		return [3]source{(*Recorder).stored, (*Recorder).made}
	case UpdateAll:
		return [3]source{(*Recorder).made}
	case UpdateNew:
		return [3]source{(*Recorder).replayOrNew, (*Recorder).made}
	case Rekey:
		return [3]source{(*Recorder).rekey}
	case Mixed:
		return [3]source{(*Recorder).forked, (*Recorder).replay}
	}
	return [3]source{(*Recorder).replay}
}

func (m Mode) String() string { return modes[m].name }

// Live reports whether calls are made.
func (m Mode) Live() bool { return modes[m].live }

// ParseMode returns the mode that a value of TRACEFORGE_UPDATE, or of -update, names. The error lists them.
func ParseMode(value string) (Mode, error) {
	switch value {
	case "", "0", "false":
		return Replay, nil
	case "1", "true":
		return Update, nil
	}
	for m := UpdateAll; int(m) < len(modes); m++ {
		if m.String() == value {
			return m, nil
		}
	}
	return Replay, errors.New("use 1 to record what changed, all to record every call, new to record what is missing, " +
		"tools to run the tools again and record what changed, rekey to adopt stored answers, check to compare live answers, live to use them, 0 to replay")
}
