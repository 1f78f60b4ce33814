package traceforgetest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// A Kind is a kind of calls, of models or of tools: see [Check] and [Live].
type Kind string

// The kinds of calls. Calls of MCP servers count as calls of tools, and all others as calls of models.
const (
	Models Kind = usage.KindModels
	Tools  Kind = usage.KindTools
)

// Check makes the calls of these kinds live too where the run replays; without any, those of models. The program
// is served what is recorded, so that the run stays on the tape and one difference does not hide the rest, and at its
// end the test fails where a live answer drifted. Tools are run where they are called, one after another as the
// program calls them. It is what TRACEFORGE_UPDATE=check does for a whole run, with TRACEFORGE_CHECK=kind=tools; that
// variable and -update come before it.
func Check(kinds ...Kind) Option {
	return Option{"Check", kinds, func(r *Recorder) { r.mode, r.kinds = recorder.Check, kinds }}
}

// Live makes the calls of these kinds live where the run replays, and gives the program their answers; without
// any, those of models. Calls of the other kind are answered from the tape: those of tools by name and input, as
// often as a live model asks so. A tool that is asked for what the tape does not have fails the test by its
// name. Nothing is written. It is what TRACEFORGE_UPDATE=live does for a whole run, with TRACEFORGE_CHECK=kind=models, tools
// or all; that variable and -update come before it. TRACEFORGE_CHECK=from=3 forks the recorded run: calls 1 and 2 are
// answered from the tape, and what follows is live. model=OLD=NEW has another model asked what is live.
func Live(kinds ...Kind) Option {
	return Option{"Live", kinds, func(r *Recorder) { r.mode, r.kinds = recorder.Mixed, kinds }}
}

// readMode reads what the run does, and of the options which calls it makes live.
func (r *Recorder) readMode() (err error) {
	for _, k := range r.kinds {
		if !slices.Contains(usage.Kinds, string(k)) {
			return fmt.Errorf("%q is no kind of calls, for Check and Live: use traceforgetest.Models, traceforgetest.Tools or both", k)
		}
	}
	if r.opts.Mode, err = currentMode(); err != nil {
		return err
	}
	text := os.Getenv(usage.CheckEnv)
	if r.opts.Mode == recorder.Replay && r.mode != recorder.Replay {
		r.opts.Mode, text = r.mode, "kind="+kindOf(r.kinds)
	}
	if r.opts.Mode != recorder.Check && r.opts.Mode != recorder.Mixed {
		if text != "" {
			return fmt.Errorf("%s=%s counts only with %s=check or live", usage.CheckEnv, text, gotest.UpdateEnv)
		}
		return nil
	}
	if r.opts.Checking, err = usage.ParseCheckOptions(text); err != nil {
		return err
	}
	if r.opts.Mode == recorder.Mixed && !r.opts.Checking.IsLive() {
		return fmt.Errorf("%s=%s: with %s=live it says kind, from and model, and nothing else", usage.CheckEnv, text, gotest.UpdateEnv)
	}
	return nil
}

// kindOf returns kinds as one word.
func kindOf(kinds []Kind) string {
	switch {
	case len(kinds) == 0:
		return usage.KindModels
	case slices.ContainsFunc(kinds, func(k Kind) bool { return k != kinds[0] }):
		return usage.KindAll
	}
	return string(kinds[0])
}

// deadlineOf returns when go test ends t; zero where that is not known, as in a bubble of testing/synctest, where
// Deadline panics.
func deadlineOf(t testing.TB) (deadline time.Time) {
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		defer func() { _ = recover() }()
		deadline, _ = t.Deadline()
	}
	return deadline
}
