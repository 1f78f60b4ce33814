package recorder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// forked has a call made live if its kind, or the place at which the run is forked, asks for that. Live calls may ask
// for more than the tape has, and in another order.
func (r *Recorder) forked(c *call) (*servedRecord, error) {
	if before, err := r.beforeFork(c); before || err != nil || !r.run.Checking.Covers(c.codec.Tools) {
		return nil, err
	}
	if w, ok := c.what.(*wire); r.run.asksOther(c) && (!ok || !namesModel(w, r.run.Checking.Old)) {
		o := r.run.Checking
		return nil, failuref(fmt.Sprintf(
			"%s cannot be forked to %s: the request does not name its model in a way that can be replaced", c.who(), o.New),
			"record the call under its SDK, with tf.Client(), or run without model="+o.Old+"="+o.New)
	}
	r.run.tellMiss(c, nil)
	return r.startTake(c, "")
}

// beforeFork reports whether a call comes before the fork, so that the tape answers it. All those calls must be played
// before a call that matches none of them is live.
func (r *Recorder) beforeFork(c *call) (bool, error) {
	from := r.run.Checking.From
	if from == 1 {
		return false, nil
	}
	if err := r.run.openTape(c.provider); err != nil {
		return false, err
	}
	if last := len(r.run.tape.records); from > last {
		return false, failuref(
			fmt.Sprintf("from=%d is beyond the last call: %s has %s", from, r.run.Test, count(last, "recorded call")),
			"name one of them: traceforge show "+r.run.Test+" lists them")
	}
	return slices.ContainsFunc(r.run.tape.unplayed(r.run.Checking.Covers),
		func(number int) bool { return number < from }), nil
}

// unplayed returns the numbers of the remaining records of tools or of models, as meant chooses.
func (t *tape) unplayed(meant func(tools bool) bool) []int {
	return t.numbers(func(i int) bool {
		codec := CodecNamed(t.records[i].Request.API, t.records[i].Provider)
		return !t.plays[i].played && codec != nil && meant(codec.Tools)
	})
}

// asksOther reports whether a live call goes to another model than it names.
func (s *setup) asksOther(c *call) bool {
	o := s.Checking
	return s.Mode == Mixed && o.New != "" && !c.codec.Tools && c.request.Model == o.Old
}

// unreplacedModelFailure is the failure of a test whose live calls never named the model to be replaced, or nil.
func (r *report) unreplacedModelFailure() *Failure {
	o := r.run.Checking
	if r.run.Mode != Mixed || o.New == "" || !r.run.called {
		return nil
	}
	var asked []string
	for _, tk := range r.run.takes {
		if r.run.asksOther(tk.call) {
			return nil
		}
		if model := tk.request.Model; model != "" {
			asked = inorder.With(asked, model)
		}
	}
	return failuref(fmt.Sprintf("model=%s=%s: no live call asked %s", o.Old, o.New, o.Old),
		"asked live: "+cmp.Or(strings.Join(asked, ", "), "nothing"))
}

// offTapeFailure is the failure of a tool call that a live model asked for and the tape lacks.
func (r *report) offTapeFailure(c *call) *Failure {
	var lines []string
	for i := range r.run.tape.records {
		if request := &r.run.tape.records[i].Request; sameTool(request, c.request) && request.API == c.request.API {
			lines = append(lines, "recorded: "+r.run.lastSaid(request))
		}
	}
	summary := indent(r.run.summary(c.request))
	f := failuref(c.who()+" was asked for what is not on the tape", summary, strings.Join(atMost(5, lines, ""), "\n"),
		"run the tools too: "+usage.CheckEnv+"=kind="+usage.KindAll+" "+r.run.with(Mixed.String()))
	return f.missing(c.provider, summary)
}

// acceptLive returns the command that accepts drift in a run with live calls. It runs tools again only if a tool's
// result differs, since results are in the requests.
func (r *report) acceptLive() string {
	switch {
	case r.run.Checking.From == 1 && r.run.Checking.Covers(false):
		return r.run.with(UpdateAll.String())
	case slices.ContainsFunc(r.run.takes, r.returnsAnother):
		return r.run.with(UpdateTools.String())
	}
	return r.run.Accept
}

// wholeConversation is the way out for a call whose provider does not know what an answer from the store began. A live
// run writes nothing, and so names no update.
func (r *report) wholeConversation() string {
	switch {
	case r.run.Mode == Mixed && r.run.Checking.From > 1:
		return "let the live run begin it: " + usage.CheckEnv + "=from=1"
	case r.run.Mode == Mixed:
		return "make all its calls live: " + usage.CheckEnv + "=kind=" + usage.KindAll
	}
	return "buy the whole conversation: " + r.run.with("all")
}

// returnsAnother reports whether a live tool returned something that none of its records has.
func (r *report) returnsAnother(tk *take) bool {
	if how := tk.ending(); !tk.codec.Tools || how == underWay || how == dropped || r.run.transient(tk) {
		return false
	}
	if r.run.tape == nil || r.run.makeRecord(tk) != nil {
		return false
	}
	recorded := r.run.tape.equalTo(tk.key)
	isIts := func(i int) bool { return store.SameAnswer(&r.run.tape.records[i].Response, &tk.record.Response) }
	return len(recorded) > 0 && !slices.ContainsFunc(recorded, isIts)
}

// answeredLive returns the models that answered instead of the tape, in order.
func (r *run) answeredLive() (all []usage.Live) {
	if r.Mode != Mixed {
		return nil
	}
	for _, tk := range r.takes {
		if r.makeRecord(tk) != nil || r.transient(tk) {
			continue
		}
		response := &tk.record.Response
		i := slices.IndexFunc(all, func(l usage.Live) bool { return l.Model == response.Model })
		if i < 0 {
			i, all = len(all), append(all, usage.Live{Model: response.Model})
		}
		all[i].Calls++
		if used := response.Usage; used != nil {
			all[i].Input += amount.Of(used.InputTokens)
			all[i].Output += amount.Of(used.OutputTokens)
		}
	}
	return all
}

// sayLiveCalls notes which calls of a test were live.
func (n *notes) sayLiveCalls() {
	if len(n.run.takes) == 0 {
		return
	}
	var models, tools, tries int
	var tokens int64
	for _, tk := range n.run.takes {
		switch {
		case n.run.transient(tk):
			tries++
		case tk.codec.Tools:
			tools++
		default:
			models++
		}
		if n.run.makeRecord(tk) == nil {
			tokens += amount.Of(tk.record.Response.TokensUsed)
		}
	}
	var said []string
	add := func(n int, one, many string) {
		if n > 0 {
			said = append(said, isAre(n, one, many))
		}
	}
	add(models, "call of models", "calls of models")
	add(tools, "call of tools", "calls of tools")
	add(tries, "try failed", "tries failed")
	add(int(tokens), "token", "tokens")
	add(len(n.run.answered)-len(n.run.takes), "call answered by the tape", "calls answered by the tape")
	uncalled := n.run.tape.unplayed(func(tools bool) bool { return !n.run.Checking.Covers(tools) })
	if len(uncalled) > 0 {
		said = append(said, "not made: "+calls(uncalled))
	}
	if n.run.Checking.From > 1 {
		said = append(said, fmt.Sprintf("forked at call %d", n.run.Checking.From))
	}
	if slices.ContainsFunc(n.run.takes, func(tk *take) bool { return n.run.asksOther(tk.call) }) {
		said = append(said, "asked "+n.run.Checking.New+" instead of "+n.run.Checking.Old)
	}
	n.say("live: %s", strings.Join(said, ", "))
}
