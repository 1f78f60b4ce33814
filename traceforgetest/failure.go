package traceforgetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A failure is why a test fails: one line for the caller of the model, and the text that the
// test prints when it ends.
type failure struct {
	brief   string
	text    string
	missing bool // the call has no snapshot, so recording what is missing would record it
}

func (f *failure) Error() string { return "traceforge: " + f.brief }

// failuref makes a failure of a line and the indented lines below it.
func failuref(brief string, below ...string) *failure {
	text := brief
	for _, block := range below {
		for line := range strings.Lines(block) {
			text += "\n" + strings.TrimRight(line, "\n")
		}
	}
	return &failure{brief: brief, text: text}
}

func (r *Recorder) file(e snapshot.Entry) string { return r.shown + "/" + e.File }

func (r *Recorder) accept() string { return r.place.acceptCommand(r.t.Name()) }

// unrecorded is the failure of a call that no snapshot fits: drift where the test has one left
// that the call can be held against, else a missing snapshot.
func (r *Recorder) unrecorded(w *wire) *failure {
	c, err := r.identify(w)
	if err != nil {
		return r.asFailure(err)
	}
	if r.mode != updateNew {
		if n := r.nearest(c); n != nil {
			return r.drifted(c, n)
		}
	}
	state := "the test has none recorded"
	if n := len(r.tape.entries); n > 0 {
		state = fmt.Sprintf("none of the test's %s fits it", count(n, "recorded call"))
	}
	f := failuref(fmt.Sprintf("%s request has no snapshot: %s", c.provider, state),
		indent(summary(&c.stored)),
		"record: "+r.accept())
	f.missing = true
	return f
}

// A neighbour is the snapshot that a drifted call is shown against.
type neighbour struct {
	index       int
	snapshot    *snapshot.Snapshot
	differences []drift.Difference
	size        int // bytes of the values that differ
}

// nearest returns the recorded call that differs least from c among those of the same test,
// the same API and provider that were not played, and marks it as held against.
func (r *Recorder) nearest(c *call) *neighbour {
	var best *neighbour
	for i, entry := range r.tape.entries {
		if r.tape.played[i] || entry.Provider != c.provider {
			continue
		}
		sealed, err := r.tape.load(entry)
		if err != nil {
			continue
		}
		recorded, err := sealed.Snapshot()
		if err != nil || recorded.Request.API != c.stored.API {
			continue
		}
		differences, err := drift.Requests(&recorded.Request, &c.stored, r.ignored)
		if err != nil {
			continue
		}
		n := &neighbour{i, recorded, differences, drift.Size(differences)}
		if best == nil || n.size < best.size {
			best = n
		}
	}
	if best != nil {
		r.tape.played[best.index] = true
	}
	return best
}

func (r *Recorder) drifted(c *call, n *neighbour) *failure {
	changed := "changed: " + strings.Join(drift.Causes(n.differences, &n.snapshot.Request, &c.stored), ", ")
	if len(n.differences) == 0 {
		changed = fmt.Sprintf("changed: the ignored pointers, from [%s] to [%s]",
			strings.Join(n.snapshot.Source.Ignored, " "), strings.Join(r.ignored, " "))
	}
	if len(r.ignored) > 0 && len(n.differences) > 0 {
		changed += "\nignored: " + strings.Join(r.ignored, " ")
	}
	pointers := make([]string, 0, len(n.differences))
	for _, d := range n.differences {
		pointers = append(pointers, d.Pointer)
	}
	if len(pointers) > 3 {
		pointers = append(pointers[:3], fmt.Sprintf("and %d more", len(pointers)-3))
	}
	brief := fmt.Sprintf("%s request drifted from %s", c.provider, r.file(r.tape.entries[n.index]))
	f := failuref(brief+" (- recorded, + got)", drift.Text(n.differences), changed, "accept: "+r.accept())
	f.brief = brief + ": " + strings.Join(pointers, ", ")
	f.missing = true
	return f
}

func (r *Recorder) oneTooMany(w *wire, recorded int) *failure {
	entry := r.tape.entries[recorded]
	times := 0
	for i := range r.tape.entries {
		if r.tape.keys[i].call() == r.tape.keys[recorded].call() {
			times++
		}
	}
	f := failuref(fmt.Sprintf("%s request was made once too often: %s of it, and this call would be number %d", entry.Provider, recordedTimes(times), times+1),
		"last recorded in "+r.file(entry),
		"accept: "+r.accept())
	f.missing = true
	return f
}

func recordedTimes(n int) string {
	if n == 1 {
		return "there is 1 recording"
	}
	return fmt.Sprintf("there are %d recordings", n)
}

func (r *Recorder) notCalled(i int) *failure {
	below := []string{}
	if sealed, err := r.tape.load(r.tape.entries[i]); err != nil {
		below = append(below, err.Error())
	} else if recorded, err := sealed.Snapshot(); err == nil {
		below = append(below, indent(summary(&recorded.Request)))
	}
	if r.mode == updateNew && len(r.takes) > 0 {
		below = append(below, "a call that has no snapshot was made instead, maybe the same one changed: TRACEFORGE_UPDATE=new replaces nothing")
	}
	below = append(below, "accept: "+r.accept())
	return failuref("recorded call was not made: "+r.file(r.tape.entries[i]), below...)
}

func (r *Recorder) noCall() *failure {
	way := "the code under test must use the recorder's Client; a test that makes no call needs no recorder"
	if n := len(r.tape.entries); n > 0 {
		return failuref(fmt.Sprintf("no model call was made, but %s recorded", isAre(n, "is", "are")), way)
	}
	return failuref("no model call was made", way)
}

func (r *Recorder) unknownCall(w *wire) *failure {
	return failuref(fmt.Sprintf("%s %s is no model call that traceforge knows", w.Method, w.URL),
		"known: "+strings.Join(apis(), ", "),
		"give this client only to the SDK that calls the model, or let the call pass while recording: "+
			fmt.Sprintf("traceforgetest.New(t, traceforgetest.PassThrough(%q))", w.URL.Hostname()))
}

func apis() []string {
	var names []string
	for _, codec := range provider.Codecs() {
		names = append(names, codec.API())
	}
	return names
}

func (r *Recorder) undecodable(w *wire, err error) *failure {
	return failuref(fmt.Sprintf("%s %s cannot be kept: %v", w.Method, w.URL, err))
}

// asFailure words an error of the store.
func (r *Recorder) asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	text := r.explain(err).Error()
	brief, _, _ := strings.Cut(text, "\n")
	return &failure{brief: brief, text: text}
}

// explain names the store as the other messages do, and the command that records what cannot
// be used any more.
func (r *Recorder) explain(err error) error {
	text := strings.ReplaceAll(filepath.ToSlash(err.Error()), filepath.ToSlash(r.dir), r.shown)
	if errors.Is(err, snapshot.ErrVersion) || errors.Is(err, snapshot.ErrSeal) || errors.Is(err, snapshot.ErrBlob) {
		text += "\nrecord again: " + r.accept()
	}
	return errors.New(text)
}

// summary is a request in a few lines, for a reader who must recognise it.
func summary(req *snapshot.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model: %s\n", req.Model)
	if req.Prompt != nil {
		fmt.Fprintf(&b, "prompt: %s\n", short(*req.Prompt))
	}
	const most = 4
	for i, m := range req.Messages {
		if skipped := len(req.Messages) - most; skipped > 0 && i == 1 {
			fmt.Fprintf(&b, "… %d messages\n", skipped)
		}
		if i > 0 && i <= len(req.Messages)-most {
			continue
		}
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Role, short(text))
	}
	return b.String()
}

func short(text string) string {
	const most = 120 // runes
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func isAre(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil { // unreachable: a string always has a JSON form
		return `""`
	}
	return string(quoted)
}
