package recorder

import (
	"errors"
	"strings"
)

// A Mode says what a recorder does with a call.
type Mode int

const (
	Replay      Mode = iota // answer from the store; no network
	Update                  // serve what still matches; make and record what drifted, is new or is stale
	UpdateAll               // make and record every call
	UpdateNew               // make and record the calls that have no snapshot, replay the others
	UpdateTools             // as Update, and also make and record all calls of tools
	Rekey                   // adopt the stored answer for a request that changed; no network
	Check                   // serve what is stored, and compare live answers with it; nothing is written
	Mixed                   // make calls of some kinds live, serve the others; nothing is written
)

// modes say what each mode does.
var modes = [...]struct {
	name      string // as receipts and TRACEFORGE_UPDATE spell it
	does      string // its purpose, for the list of modes
	serves    bool   // the program gets recorded answers only, and needs no keys
	live      bool   // some calls are made live
	writes    bool   // commits the calls of a test that passed
	drops     bool   // removes records whose calls were not made, instead of failing the test
	completes bool   // serves recorded answers, and buys only missing ones
	injects   bool   // lets Fault replace recorded answers
}{
	Replay:    {name: "replay", does: "replay", serves: true, injects: true},
	Update:    {name: "update", does: "record what changed", live: true, writes: true, drops: true, completes: true},
	UpdateAll: {name: "all", does: "record every call", live: true, writes: true, drops: true},
	UpdateNew: {name: "new", does: "record what is missing", live: true, writes: true, completes: true},
	UpdateTools: {name: "tools", does: "run the tools again and record what changed", live: true, writes: true,
		drops: true, completes: true},
	Rekey: {name: "rekey", does: "adopt stored answers", serves: true, writes: true, drops: true},
	Check: {name: "check", does: "compare live answers", serves: true, live: true},
	Mixed: {name: "live", does: "use them", live: true, injects: true},
}

// A source answers a call with a record, or with the take of a live call. On nil, the next source is asked. The lock is
// held.
type source func(*Recorder, *call) (*servedRecord, error)

// sources are the sources of each mode, in the order in which they are asked. They are no column of modes, since their
// functions read modes, and Go refuses such a cycle.
var sources = [len(modes)][]source{
	Replay:      {(*Recorder).replay},
	Update:      {(*Recorder).sendReply, (*Recorder).stored, (*Recorder).cancelled, (*Recorder).makeLive},
	UpdateAll:   {(*Recorder).makeLive},
	UpdateNew:   {(*Recorder).sendReply, (*Recorder).replayOrNew, (*Recorder).makeLive},
	UpdateTools: {(*Recorder).sendReply, (*Recorder).stored, (*Recorder).makeLive},
	Rekey:       {(*Recorder).rekey},
	Check:       {(*Recorder).replay},
	Mixed:       {(*Recorder).forked, (*Recorder).replay},
}

func (m Mode) String() string { return modes[m].name }

// Serves reports whether the program gets recorded answers only, and needs no keys.
func (m Mode) Serves() bool { return modes[m].serves }

// Live reports whether the mode makes live calls.
func (m Mode) Live() bool { return modes[m].live }

// Drops reports whether the mode removes records whose calls were not made.
func (m Mode) Drops() bool { return modes[m].drops }

// makesAgain reports whether the mode makes calls live although they are recorded: all, or those of tools.
func (m Mode) makesAgain(tools bool) bool { return m == UpdateAll || m == UpdateTools && tools }

// ParseMode returns the mode for a value of TRACEFORGE_UPDATE or -update. Its error lists the values.
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
