package recorder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// undetermined holds a call to the rules of determinism (SF "Determinism Requirements"): it asks for what its API
// and its model take. lifted says for the record what the model takes no value of; f is the failure of a
// call whose answer may be another one each time.
func (r *run) undetermined(c *call) (lifted string, f *Failure) {
	if r.Lifted || r.Origin != "" || r.config.Nondeterministic != "" || !c.codec.Generates || r.archive() != nil || c.step != nil {
		return "", nil
	}
	var missing []string
	switch is := notZero(c.request.Temperature); {
	case is == "":
	case r.isFixed(c, "temperature"):
		lifted = cmp.Or(c.request.Model, c.codec.API) + " takes no temperature of 0"
	case c.request.Temperature == nil:
		missing = append(missing, "temperature is not set, so the provider's default applies: set it to 0")
	default:
		missing = append(missing, "temperature "+is+": set it to 0")
	}
	switch {
	case !c.codec.Seeded || c.request.Seed != nil:
	case !r.isFixed(c, "seed"):
		missing = append(missing, "seed is not set: set it to any fixed number")
	case lifted == "":
		lifted = cmp.Or(c.request.Model, c.codec.API) + " takes no seed"
	}
	if len(missing) == 0 {
		return lifted, nil
	}
	if lifted != "" {
		missing = append(missing, lifted+", so that is not asked for")
	}
	brief := fmt.Sprintf("%s request is not deterministic, so it was not sent: %s",
		c.provider, strings.Join(missing, "; "))
	summary := indent(r.summary(c.request))
	f = failuref(brief, summary, orSay+r.saysWhy())
	f.recipe = failuref(brief, summary, orSay+"as the first such failure shows").Text
	return "", f
}

// notZero says how a temperature is not 0; "" where it is, or is so small that it stands for 0. Clients that leave
// zeros out, as go-openai does, are given the smallest number instead.
func notZero(temperature *json.Number) string {
	if temperature == nil {
		return "is not set"
	}
	if value, err := temperature.Float64(); err == nil && value >= 0 && value < 1e-6 {
		return ""
	}
	return "is " + temperature.String()
}

const (
	orSay   = "or say why it cannot be, "
	teaches = "say why the call is not deterministic, "
)

// isFixed reports whether a call's model takes no deterministic value of a parameter. The model is known for that, or
// its provider has said so to this test.
func (r *run) isFixed(c *call, name string) bool {
	return c.codec.Fixed != nil && slices.Contains(c.codec.Fixed(c.request), name) || slices.Contains(r.notTaken(c), name)
}

// notTaken returns what the answers so far said that the model of a call does not take.
func (r *run) notTaken(c *call) (names []string) {
	for _, tk := range r.takes {
		if tk.provider == c.provider && tk.request.Model == c.request.Model {
			names = append(names, tk.notTaken()...)
		}
	}
	if r.tape == nil {
		return names
	}
	for i := range r.tape.records {
		s := &r.tape.records[i]
		if s.Provider == c.provider && s.Request.Model == c.request.Model {
			names = append(names, provider.NotTaken(s.Response.Status, s.Response.Error)...)
		}
	}
	return names
}

// notTaken returns what an answer says that the model does not take.
func (tk *take) notTaken() []string {
	if tk.ended() == underWay || tk.status < 400 {
		return nil
	}
	resp, err := tk.decode()
	if err != nil {
		return nil
	}
	return provider.NotTaken(tk.status, resp.Error)
}

// teach says which settings the models of a test refused, and what to do instead. A user who followed the rule of
// determinism into a refusal finds the way out here.
func (n *notes) teach() {
	var lines []string
	for _, tk := range n.takes {
		for _, name := range tk.notTaken() {
			line := fmt.Sprintf("%s takes no %s, as %s answered: leave it out, and %s", tk.request.Model, name, tk.provider, teaches)
			lines = inorder.With(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	why := "as the first such test shows"
	if n.first(teaches) {
		why = n.saysWhy()
	}
	n.say("%s%s", strings.Join(lines, "\n"), why)
}

// Deterministic is a [store.Check]: it holds design R7 by what stands in a record. Where a model generated the answer
// the temperature must be 0, and there must be a seed where the API has one, or a reason be given why not. A
// parameter that the model does not take is such a reason. The recorder writes it, since a codec's facts about models
// change with its version.
func Deterministic(d *store.Doc) (wrong []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		if codec := codecNamed(s.Request.API, s.Provider); codec != nil && codec.Generates && finished(s) && !s.Source.IsLifted() {
			wrong = append(wrong, unfixed(i, s, codec.Seeded, ", or source.nondeterministic say why it is not: record again")...)
		}
	}
	return wrong
}

// unfixed says what the i-th record lacks of what makes an answer repeatable, and in its own words what follows.
func unfixed(i int, s *snapshot.Snapshot, seeded bool, what string) (wrong []snapshot.Violation) {
	report := func(name, is string) {
		wrong = append(wrong, violationAt(i, snapshot.RuleDeterministic, is+what, "request", name))
	}
	if is := notZero(s.Request.Temperature); is != "" {
		report("temperature", is+", must be 0")
	}
	if seeded && s.Request.Seed == nil {
		report("seed", "is not set, must be any fixed number")
	}
	return wrong
}

// finished reports whether a model answered, by why it ended the answer, or by how that was cut.
func finished(s *snapshot.Snapshot) bool {
	return s.Response.Incomplete != "" ||
		slices.ContainsFunc(s.Response.Candidates, func(c modelio.Candidate) bool { return c.FinishReasonRaw != "" })
}

// genericAPI is that of the codec for what has none of its own.
const genericAPI = "http.json"

// ruleIgnored is that of a note on what a record says and nobody compared.
const ruleIgnored = "ignored"

// wholeMessages names the messages of the i-th record of which a rule took all: whatever a request has in their place is
// no drift. Values of Volatile are of one form each.
func wholeMessages(i int, req *modelio.Request) (notes []snapshot.Violation) {
	look := func(text string, path ...string) {
		if name := scrub.Whole(text); name != "" {
			notes = append(notes, violationAt(i, snapshot.RuleRules, "is nothing but a placeholder of "+name+
				", a rule that takes a whole message: a request that has another text here is served this answer too", path...))
		}
	}
	if req.Prompt != nil {
		look(*req.Prompt, "request", "prompt")
	}
	for n := range req.Messages {
		if content := req.Messages[n].Content; len(content) == 1 && content[0].Text != nil {
			look(*content[0].Text, "request", "messages", strconv.Itoa(n))
		}
	}
	return notes
}

// Notes says what is no fault of a document, and worth knowing to those who review it.
func Notes(d *store.Doc) (notes []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		for n, pointer := range s.Source.Ignored {
			name, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
			if slices.Contains([]string{"messages", "model", "prompt", "tools"}, name) {
				what := ""
				if name != "model" && name != "tools" && !strings.Contains(rest, "/") {
					what = ", a rule that takes a whole message"
				}
				message := "leaves " + pointer + " of the request out" + what + ": a request that has another is served this answer too"
				notes = append(notes, violationAt(i, ruleIgnored, message, "source", "ignored", strconv.Itoa(n)))
			}
		}
		notes = append(notes, wholeMessages(i, &s.Request)...)
		if isMigrated(s) && s.Response.RawOutputRef == "" { // SF asks for both of every call
			notes = append(notes, unfixed(i, s, true, " once the call is made: nobody asked for it where it was "+s.Source.Origin)...)
		}
		if s.Request.API != modelio.ModelAPI {
			continue
		}
		if raw, err := d.Raw(i); err == nil && unlikeChunks(raw) {
			const message = "names an answer whose chunks say another text than its response: a record has the response"
			notes = append(notes, violationAt(i, snapshot.RuleAnswer, message, "response", "raw_output_ref"))
		}
	}
	return notes
}

// unlikeChunks reports whether the chunks of a model say another text than its response, where both say
// one. GK forbids it, and what a model did can be recorded all the same.
func unlikeChunks(body []byte) bool {
	chunked := ""
	response, err := readLines(bytes.NewReader(body), func(chunk *modelio.GenerateResponseChunk) error {
		if chunk != nil && chunk.Index == 0 {
			if chunk.Aggregated != nil && *chunk.Aggregated {
				chunked = ""
			}
			chunked += texts.Join(chunk.Content)
		}
		return nil
	})
	if err != nil || response.Message == nil {
		return false
	}
	text := texts.Join(response.Message.Content)
	return chunked != "" && text != "" && chunked != text
}
