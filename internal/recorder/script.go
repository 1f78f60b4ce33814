package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Script answers calls with what a test has written (design N9).
type Script interface {
	http.RoundTripper
	modelio.Model
	// TakeHTTP takes the step that answers a request, and TakeModel the one that answers a call of a model: it answers no
	// other call. An error says that there is none, what was asked, and what was expected.
	TakeHTTP(req *http.Request) (*Step, error)
	TakeModel(req *modelio.GenerateRequest) (*Step, error)
	// Unused returns an error that names the steps that no call asked for; nil means there is none.
	Unused() error
}

// A Step is what a script answers to one call.
type Step struct {
	Hash  canon.Hash // of what it says
	Name  string     // its place: "step 2 of 3"
	Says  string     // what it says, in a line
	HTTP  func() (*http.Response, error)
	Model modelio.Model
}

// ProvenanceHeader is a header of answers of scripts and recordings: their [Provenance] as JSON. It says what answered
// also where something stands between them and the recorder; no record has it.
const ProvenanceHeader = "Traceforge-Provenance"

// ScriptOf returns the script that v holds, an upstream or a model.
func ScriptOf(v any) (Script, bool) {
	if s, ok := v.(interface{ ForRecorder() Script }); ok {
		return s.ForRecorder(), true
	}
	s, ok := v.(Script)
	return s, ok
}

// script returns the script that answers the HTTP calls of the test; nil means there is none.
func (s *setup) script() Script {
	script, _ := s.Upstream.(Script)
	return script
}

// asksScript reports whether each call takes a step. A check, and a run that is partly live, ask the script as they
// ask a provider.
func (s *setup) asksScript() bool { return s.Mode != Check && s.Mode != Mixed }

// takesStep sets nextStep of an HTTP call, if a script answers it.
func (s *setup) takesStep(c *call, req *http.Request, w *wire) {
	script := s.script()
	if script == nil || !s.asksScript() {
		return
	}
	c.nextStep = func() (*Step, error) {
		asked := req.Clone(req.Context())
		asked.Body = io.NopCloser(bytes.NewReader(w.Body))
		asked.Header.Del("Content-Encoding")
		return script.TakeHTTP(asked)
	}
}

// takesModelStep is takesStep for a call of a model.
func (s *setup) takesModelStep(c *call, g *Generation) {
	if script, ok := g.Live.(Script); ok && s.asksScript() {
		c.nextStep = func() (*Step, error) { return script.TakeModel(g.Request) }
	}
}

// ask takes the step that answers a call, in a replay too: another step is drift (design N9). A try of a call that a
// fault has broken is the same call.
func (r *Recorder) ask(c *call) (err error) {
	if c.nextStep == nil {
		return nil
	}
	r.mu.Lock()
	r.matchUnknown(c) // whose faults these may be
	broken := r.faults.owedTo(c)
	r.mu.Unlock()
	if broken != nil {
		return nil
	}
	if c.step, err = c.nextStep(); err != nil {
		return failuref(c.asking()+" has no answer in the script", indent(err.Error()))
	}
	return nil
}

// Scripted adds the script of a model, whose unused steps fail the test.
func (r *Recorder) Scripted(script Script) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts = append(r.scripts, script)
}

// unusedSteps fails the test by the steps of its scripts that no call asked for.
func (r *report) unusedSteps() {
	if !r.asksScript() {
		return
	}
	scripts := r.scripts
	if script := r.script(); script != nil {
		scripts = append(scripts[:len(scripts):len(scripts)], script)
	}
	for _, script := range scripts {
		if err := script.Unused(); err != nil {
			r.fail(failuref(strings.TrimPrefix(err.Error(), "script: ")))
		}
	}
}

// scripted returns the hash of the step that answers a call; empty means none does.
func (c *call) scripted() canon.Hash {
	if c.step == nil {
		return ""
	}
	return c.step.Hash
}

// otherStep is the failure of a call whose record has another answer than the script. It is nil where they are the
// same, or no script is asked.
func (r *report) otherStep(c *call, i int) error {
	was := &r.tape.records[i]
	if c.step == nil || was.Source.Scripted == c.step.Hash {
		return nil
	}
	brief := fmt.Sprintf("%s of the script says something else than %s", c.step.Name, r.record(i))
	before, after := short(saidIn(was)), c.step.Says
	if was.Source.IsBought() {
		before += " (bought, which the script would replace: keep it without the script)"
	}
	f := failuref(brief, "  - "+before, "  + "+after, "accept: "+r.Accept, "the script answers, so no call is made")
	return f.withDrift(&usage.Drift{
		Kind: usage.Drifted, Record: was.ID, Call: was.Number(), Provider: c.provider, Scripted: true,
		Changes: []usage.DriftChange{{
			Key: "script " + string(c.step.Hash), Component: "script", Kind: "script", Removed: 1, Added: 1, Before: &before, After: &after,
		}},
	})
}

// saidIn is what a record says.
func saidIn(s *snapshot.Snapshot) string {
	switch r := &s.Response; {
	case r.Error != nil:
		return strings.TrimPrefix(fmt.Sprintf("%d %s", r.Status, r.Error.Message), "0 ") // what is no HTTP has no status
	case len(r.Candidates) > 0:
		return textOf(r.Candidates[0].Message.Content)
	}
	return "no text"
}

// noteProvenance notes what an answer says it is from.
func (tk *take) noteProvenance(header http.Header) {
	var from Provenance
	if json.Unmarshal([]byte(header.Get(ProvenanceHeader)), &from) == nil && (from.Scripted == "" || from.Scripted.Valid()) {
		tk.imported = &from
	}
	header.Del(ProvenanceHeader)
}

// isScripted reports whether a step of a script answered, which nobody has to allow: it is as the test wrote it.
func (tk *take) isScripted() bool { return tk.imported != nil && tk.imported.Scripted != "" }
