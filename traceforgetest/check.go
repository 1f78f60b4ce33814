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

// A Kind selects calls of models or calls of tools: see [Check] and [Live].
type Kind string

// The kinds of calls. Calls of MCP servers count as tool calls, and all other calls as model calls.
const (
	Models Kind = usage.KindModels
	Tools  Kind = usage.KindTools
)

// Check makes calls of these kinds live as well when the run replays; the default is [Models]. The program still gets
// the recorded answers, so that the run follows the recording and one difference does not hide the others. At its end
// the test fails if a live answer drifted. Tools run where the program calls them, one after another. Check does for
// one test what TRACEFORGE_UPDATE=check and TRACEFORGE_CHECK=kind=tools do for a whole run; that variable and -update
// take precedence.
func Check(kinds ...Kind) Option {
	return Option{"Check", kinds, func(r *Recorder) { r.mode, r.kinds = recorder.Check, kinds }}
}

// Live makes calls of these kinds live when the run replays, and gives the program the live answers; the default is
// [Models]. Calls of the other kind are answered from the recording: tool calls by name and input, as often as a live
// model makes them. A tool call that was not recorded fails the test and is named. Nothing is written. Live does for
// one test what TRACEFORGE_UPDATE=live and TRACEFORGE_CHECK=kind=models, tools or all do for a whole run; that variable
// and -update take precedence. TRACEFORGE_CHECK=from=3 forks the recorded run: calls 1 and 2 are answered from the
// recording, and later calls are live. model=OLD=NEW sends the live calls to another model.
func Live(kinds ...Kind) Option {
	return Option{"Live", kinds, func(r *Recorder) { r.mode, r.kinds = recorder.Mixed, kinds }}
}

// readMode sets the mode of the run and which calls it makes live.
func (r *Recorder) readMode() (err error) {
	for _, k := range r.kinds {
		if !slices.Contains(usage.Kinds, string(k)) {
			return fmt.Errorf(
				"%q is no kind of calls, for Check and Live: use traceforgetest.Models, traceforgetest.Tools or both", k)
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
		return fmt.Errorf("%s=%s: with %s=live it says kind, from and model, and nothing else", usage.CheckEnv, text,
			gotest.UpdateEnv)
	}
	return nil
}

// kindOf returns kinds as one value of TRACEFORGE_CHECK's kind.
func kindOf(kinds []Kind) string {
	switch {
	case len(kinds) == 0:
		return usage.KindModels
	case slices.ContainsFunc(kinds, func(k Kind) bool { return k != kinds[0] }):
		return usage.KindAll
	}
	return string(kinds[0])
}

// deadlineOf returns when go test ends t; zero if that is unknown, as in a testing/synctest bubble, where Deadline
// panics.
func deadlineOf(t testing.TB) (deadline time.Time) {
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		defer func() { _ = recover() }()
		deadline, _ = t.Deadline()
	}
	return deadline
}
