package recorder

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Script answers calls with steps that a test has written.
type Script interface {
	http.RoundTripper
	modelio.Model
	// TakeHTTP takes the step that answers a request, and TakeModel the step that answers a model's call. A step
	// answers once. The error says that there is no step, what was asked, and what was expected.
	TakeHTTP(req *http.Request) (*Step, error)
	TakeModel(req *modelio.GenerateRequest) (*Step, error)
	// Unused returns an error that names the steps that no call used, or nil.
	Unused() error
}

// A Step is a script's answer to one call.
type Step struct {
	Hash  canon.Hash // of its answer
	Name  string     // its place: "step 2 of 3"
	Says  string     // its answer in a line
	HTTP  func() (*http.Response, error)
	Model modelio.Model
}

// ProvenanceHeader is a header on answers of scripts and recordings, with their [Provenance] as JSON. It names the
// origin even if another transport stands between them and the recorder. No record has it.
const ProvenanceHeader = "Traceforge-Provenance"

// processWord begins the value of the header. Only this process knows it, so that no provider can claim an origin.
var processWord = rand.Text() + " "

// ScriptOf returns the script that v, an upstream or a model, is or has.
func ScriptOf(v any) (Script, bool) {
	if s, ok := v.(interface{ ForRecorder() Script }); ok {
		return s.ForRecorder(), true
	}
	s, ok := v.(Script)
	return s, ok
}

// script returns the script that answers the HTTP calls of the test, or nil.
func (o *Options) script() Script {
	script, _ := o.Upstream.(Script)
	return script
}

// asksScript reports whether each call takes a step. A check, or a run with live calls, uses the script as it would use
// a provider.
func (s *setup) asksScript() bool { return s.Mode != Check && s.Mode != Mixed }

// setStep sets nextStep of an HTTP call that a script answers.
func (s *setup) setStep(c *call, req *http.Request, w *wire) {
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

// setModelStep is setStep for a model's call.
func (s *setup) setModelStep(c *call, g *Generation) {
	if script, ok := g.Live.(Script); ok && s.asksScript() {
		c.nextStep = func() (*Step, error) { return script.TakeModel(g.Request) }
	}
}

// takeStep takes the step that answers a call, even in a replay: a different step is drift. A retry of a call
// that a fault broke is the same call.
func (r *Recorder) takeStep(c *call) (err error) {
	if c.nextStep == nil {
		return nil
	}
	r.run.mu.Lock()
	r.run.matchUnknown(c) // so that the retry is recognised
	broken := r.run.faults.owedTo(c)
	r.run.mu.Unlock()
	if broken != nil {
		return nil
	}
	if c.step, err = c.nextStep(); err != nil {
		return failuref(c.title()+" has no answer in the script", indent(err.Error()))
	}
	return nil
}

// Scripted adds the script of a model. Steps that stay unused fail the test.
func (r *Recorder) Scripted(script Script) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	r.run.scripts = append(r.run.scripts, script)
}

// unusedSteps fails the test for steps of its scripts that no call used.
func (r *report) unusedSteps() {
	if !r.run.asksScript() {
		return
	}
	scripts := r.run.scripts
	if script := r.run.script(); script != nil {
		scripts = append(scripts[:len(scripts):len(scripts)], script)
	}
	for _, script := range scripts {
		if err := script.Unused(); err != nil {
			r.fail(failuref(strings.TrimPrefix(err.Error(), "script: ")))
		}
	}
}

// scripted returns the hash of the step that answers a call, or "".
func (c *call) scripted() canon.Hash {
	if c.step == nil {
		return ""
	}
	return c.step.Hash
}

// otherStep is the failure of a call whose record differs from the script's answer. It is nil if they agree, or no
// script is asked.
func (r *report) otherStep(c *call, i int) error {
	was := &r.run.tape.records[i]
	if c.step == nil || was.Source.Scripted == c.step.Hash {
		return nil
	}
	brief := fmt.Sprintf("%s of the script says something else than %s", c.step.Name, r.run.recordName(i))
	before, after := short(saidIn(was)), c.step.Says
	if was.Source.IsBought() {
		before += " (bought, which the script would replace: keep it without the script)"
	}
	f := failuref(brief, "  - "+before, "  + "+after, "accept: "+r.run.Accept, "the script answers, so no call is made")
	return f.withDrift(&usage.Drift{
		Kind: usage.Drifted, Record: was.ID, Call: was.Number(), Provider: c.provider, Scripted: true,
		Changes: []usage.DriftChange{{
			Key: "script " + string(c.step.Hash), Component: "script", Kind: "script", Removed: 1, Added: 1, Before: &before,
			After: &after,
		}},
	})
}

// saidIn returns a record's answer as text.
func saidIn(s *snapshot.Snapshot) string {
	switch r := &s.Response; {
	case r.Error != nil:
		return strings.TrimPrefix(fmt.Sprintf("%d %s", r.Status, r.Error.Message), "0 ") // a call without HTTP has no status
	case len(r.Candidates) > 0:
		said := &r.Candidates[0]
		content, _ := jsontext.Marshal(said.Message.Content) // its parts have a core
		if text := drift.Spoken.Text(content); len(said.Message.Content) > 0 && text != "" {
			return text
		}
		return "no text, with the finish reason " + string(said.FinishReason)
	}
	return "no text"
}

// noteProvenance notes the origin that an answer names.
func (tk *take) noteProvenance(header http.Header) {
	tk.imported = ProvenanceIn(header)
	header.Del(ProvenanceHeader)
}

// ProvenanceIn returns the provenance that [Provenance.In] added to a header, or nil.
func ProvenanceIn(header http.Header) *Provenance {
	text, own := strings.CutPrefix(header.Get(ProvenanceHeader), processWord)
	from := &Provenance{}
	if !own || json.Unmarshal([]byte(text), from) != nil {
		return nil
	}
	return from
}

// isScripted reports whether a script's step answered. Such an answer needs no permission: the test wrote it.
func (tk *take) isScripted() bool { return tk.imported != nil && tk.imported.Scripted != "" }
