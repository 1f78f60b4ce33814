package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// mixed answers a call from the tape, or has it made live: which, its kind says. What is live may ask for more than
// the tape has, and in another order.
func (r *Recorder) mixed(c *call) (*served, *take, error) {
	if r.Checking.Covers(c.codec.Tools) {
		tk, err := r.take(c, "")
		return nil, tk, err
	}
	s, err := r.replay(c)
	return s, nil, r.refused(c, err)
}

// offTape is the failure of a tool that a live model asked for what the tape does not have.
func (r *Recorder) offTape(c *call) *Failure {
	var lines []string
	for i := range r.tape.records {
		if request := &r.tape.records[i].Request; sameTool(request, c.request) && request.API == c.request.API {
			lines = append(lines, "recorded: "+r.lastSaid(request))
		}
	}
	const most = 5
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	f := failuref(c.who()+" was asked for what is not on the tape", indent(r.summary(c.request)), strings.Join(lines, "\n"),
		"run the tools too: "+usage.CheckEnv+"=kind="+usage.KindAll+" "+r.with(Mixed.String()))
	f.Missing = true
	f.drift = &usage.Drift{Kind: usage.Missing, Provider: c.provider, Summary: strings.Split(indent(r.summary(c.request)), "\n")}
	return f
}

// acceptLive returns the command that accepts what drifted in a run with live calls: tools are run again only where the
// result of one is another, since that is what the request says.
func (r *Recorder) acceptLive() string {
	switch {
	case r.Checking.Covers(false):
		return r.with(UpdateAll.String())
	case slices.ContainsFunc(r.takes, r.returnsAnother):
		return r.with(UpdateTools.String())
	}
	return r.Accept
}

// returnsAnother reports whether a live tool returned what none of its records says.
func (r *Recorder) returnsAnother(tk *take) bool {
	if how := tk.ended(); !tk.codec.Tools || how == underWay || how == dropped || r.transient(how) {
		return false
	}
	g, f := r.golden(tk)
	if f != nil || r.tape == nil || r.tape.know(len(r.tape.records)) != nil {
		return false
	}
	recorded := false
	for i, k := range r.tape.keys {
		if k == tk.key {
			if recorded = true; saysTheSame(&r.tape.records[i].Response, &g.snapshot.Response) {
				return false
			}
		}
	}
	return recorded
}

// ranLive is a line for the log of a test of which some calls were live; "" where none was.
func (r *Recorder) ranLive() string {
	var models, tools, tries int
	var tokens int64
	for _, tk := range r.takes {
		switch {
		case r.transient(tk.outcome):
			tries++
		case tk.codec.Tools:
			tools++
		default:
			models++
		}
		if g, f := r.golden(tk); f == nil && g.snapshot.Response.TokensUsed != nil {
			tokens += *g.snapshot.Response.TokensUsed
		}
	}
	if len(r.takes) == 0 {
		return ""
	}
	var said []string
	add := func(n int, noun, of string) {
		if n > 0 {
			said = append(said, count(n, noun)+of)
		}
	}
	add(models, "call", " of models")
	add(tools, "call", " of tools")
	if tries > 0 {
		said = append(said, isAre(tries, "try", "tries")+" failed")
	}
	add(int(tokens), "token", "")
	add(len(r.answered)-len(r.takes), "call", " answered by the tape")
	if r.tape != nil {
		var uncalled []int
		for i := range r.tape.records {
			codec := codecNamed(r.tape.records[i].Request.API, r.tape.providerOf(i))
			if !r.tape.played[i] && codec != nil && !r.Checking.Covers(codec.Tools) {
				uncalled = append(uncalled, r.tape.records[i].Number())
			}
		}
		if len(uncalled) > 0 {
			said = append(said, "not made: "+calls(uncalled))
		}
	}
	return "live: " + strings.Join(said, ", ")
}
