package recorder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// undeterminedFailure is the failure of a call whose answer may differ each time, since it lacks what lacking says.
func (r *report) undeterminedFailure(c *call, missing string) *Failure {
	brief := c.provider + " request is not deterministic, so it was not sent: " + missing
	why := recipeBefore
	if r.told < wholeFailures { // otherwise only the first line is told
		why = r.run.recipe()
	}
	return failuref(brief, indent(r.run.summary(c.request)), "or say why it cannot be, "+why)
}

const recipeBefore = "as the first such test shows"

// recipe says how to give a reason why calls are not deterministic. Tests that lack one are many, so only the first of
// the process tells all of it.
func (r *run) recipe() string {
	if r.saysFirst("nondeterministic") {
		return r.saysWhy()
	}
	return recipeBefore
}

// lacking holds a call to the rules of determinism (SF "Determinism Requirements"): it must set every parameter that
// its API and its model take. missing says which it does not set. If it sets all, lifted says, for the record, which
// the model does not take.
func (r *run) lacking(c *call) (lifted, missing string) {
	if r.Lifted || r.Origin != "" || r.config.Nondeterministic != "" || !c.codec.Generates || r.archive() != nil ||
		c.step != nil {
		return "", ""
	}
	var lacks []string
	switch is := NotZero(c.request.Temperature); {
	case is == "":
	case r.isFixed(c, "temperature"):
		lifted = cmp.Or(c.request.Model, c.codec.API) + " takes no temperature of 0"
	case c.request.Temperature == nil:
		lacks = append(lacks, "temperature is not set, so the provider's default applies: set it to 0")
	default:
		lacks = append(lacks, "temperature "+is+": set it to 0")
	}
	switch {
	case !c.codec.Seeded || c.request.Seed != nil:
	case !r.isFixed(c, "seed"):
		lacks = append(lacks, "seed is not set: set it to any fixed number")
	case lifted == "":
		lifted = cmp.Or(c.request.Model, c.codec.API) + " takes no seed"
	}
	if len(lacks) > 0 && lifted != "" {
		lacks, lifted = append(lacks, lifted+", so that is not asked for"), ""
	}
	return lifted, strings.Join(lacks, "; ")
}

// obstacle says why an update would refuse a call, and what to write; it is "" if nothing is known that it would
// refuse.
func (r *report) obstacle(c *call) string {
	if _, missing := r.run.lacking(c); missing != "" {
		return "an update refuses it: " + missing + ", or say why not: " + r.run.Options.given("Nondeterministic", "why")
	}
	core, _ := snapshot.RequestCore(c.request, nil) // the call has a key
	if hit, found := r.run.scanner().Find(core); found {
		return "an update refuses it: it holds " + hit.What + ": " + r.run.keepOut(hit)
	}
	return ""
}

// NotZero says how a temperature differs from 0, or "" if it is 0 or a tiny number in place of 0. Clients that leave
// out zeros, such as go-openai, use such a number.
func NotZero(temperature *json.Number) string {
	if temperature == nil {
		return "is not set"
	}
	if value, err := temperature.Float64(); err == nil && value >= 0 && value < 1e-6 {
		return ""
	}
	return "is " + temperature.String()
}

// isFixed reports whether a call's model takes no deterministic value of a parameter. Either this is known of the
// model, or the provider has told this test.
func (r *run) isFixed(c *call, name string) bool {
	return c.codec.IsFixed(c.request, name) || slices.Contains(r.notTaken(c), name)
}

// notTaken returns the parameters that the model of a call does not take, by the answers so far.
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

// notTaken returns the parameters that the model does not take, by this answer.
func (tk *take) notTaken() []string {
	if tk.ending() == underWay || tk.status < 400 {
		return nil
	}
	resp, err := tk.decode()
	if err != nil {
		return nil
	}
	return provider.NotTaken(tk.status, resp.Error)
}

// sayRefusedSettings notes which settings the models of a test refused, and what to do instead. It helps a user who
// followed the rule of determinism and was refused.
func (n *notes) sayRefusedSettings() {
	var lines []string
	for _, tk := range n.run.takes {
		for _, name := range tk.notTaken() {
			line := fmt.Sprintf("%s takes no %s, as %s answered: leave it out, and say why the call is not deterministic, ",
				tk.request.Model, name, tk.provider)
			lines = inorder.With(lines, line)
		}
	}
	if len(lines) > 0 {
		n.say("%s%s", strings.Join(lines, "\n"), n.run.recipe())
	}
}
