package recorder

import (
	"errors"
	"strings"
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

// modes say what each mode does.
var modes = [...]struct {
	name      string // as receipts and TRACEFORGE_UPDATE have it
	does      string // what it is for, for the list of modes
	live      bool   // some calls are made live
	writes    bool   // the calls of a test that passed are committed
	drops     bool   // records whose calls were not made are removed, and do not fail the test
	completes bool   // recorded answers are served, and only missing ones are bought
	injects   bool   // Fault may replace recorded answers
}{
	Replay:      {name: "replay", does: "replay", injects: true},
	Update:      {name: "update", does: "record what changed", live: true, writes: true, drops: true, completes: true},
	UpdateAll:   {name: "all", does: "record every call", live: true, writes: true, drops: true},
	UpdateNew:   {name: "new", does: "record what is missing", live: true, writes: true, completes: true},
	UpdateTools: {name: "tools", does: "run the tools again and record what changed", live: true, writes: true, drops: true, completes: true},
	Rekey:       {name: "rekey", does: "adopt stored answers", writes: true, drops: true},
	Check:       {name: "check", does: "compare live answers", live: true},
	Mixed:       {name: "live", does: "use them", live: true, injects: true},
}

// A source answers a call from a record, or with the take of a live call; nil means that the next source is asked. The
// lock is held.
type source func(*Recorder, *call) (*servedRecord, error)

// sources are what each mode asks for an answer, in order. They are no column of modes, since their functions read
// modes, and Go refuses such a circle.
var sources = [len(modes)][]source{
	Replay:      {(*Recorder).replay},
	Update:      {(*Recorder).stored, (*Recorder).cancelled, (*Recorder).makeLive},
	UpdateAll:   {(*Recorder).makeLive},
	UpdateNew:   {(*Recorder).replayOrNew, (*Recorder).makeLive},
	UpdateTools: {(*Recorder).stored, (*Recorder).makeLive},
	Rekey:       {(*Recorder).rekey},
	Check:       {(*Recorder).replay},
	Mixed:       {(*Recorder).forked, (*Recorder).replay},
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
	says := []string{"use 1 to " + modes[Update].does}
	for _, mode := range modes[UpdateAll:] {
		says = append(says, mode.name+" to "+mode.does)
	}
	return Replay, errors.New(strings.Join(append(says, "0 to "+modes[Replay].does), ", "))
}
