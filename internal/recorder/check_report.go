package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// conclude reports the findings of a check whose live calls have ended.
func (k *checks) conclude(ck *check) {
	if ck.State != "" {
		return
	}
	ck.Why = k.run.plainText(ck.Why)
	recorded, f := k.recordedStatement(ck)
	switch {
	case f != nil:
		ck.State, ck.Why = usage.CheckUnchecked, "the record says nothing: "+f.brief
		return
	case len(ck.live) == 0:
		ck.State = usage.CheckUnchecked
		return
	}
	ck.RecordedModel, ck.Runs = k.run.plainText(recorded.model), len(ck.live)
	var models []string
	for _, s := range ck.live {
		ck.Input, ck.Output = ck.Input+s.input, ck.Output+s.output
		if s.model != "" {
			models = inorder.With(models, k.run.plainText(s.model))
		}
	}
	ck.LiveModels = inorder.Strings(models)
	outputs := k.byOutput(ck)
	before, after := recorded, outputs[0][0]
	if len(outputs) > 1 {
		ck.State, ck.Different = usage.CheckVaried, ck.Runs-len(outputs[0])
		ck.Settings = k.settings(ck)
		before, after = outputs[0][0], outputs[1][0]
	}
	ck.Tiers = k.compareTiers(ck, before, after)
	switch {
	case ck.State != "":
	case slices.ContainsFunc(ck.Tiers, usage.CheckedTier.Fails):
		ck.State = usage.CheckDrifted
	case ck.Why != "":
		ck.State = usage.CheckUnchecked
	default:
		ck.State = usage.CheckSame
	}
	if ck.State == usage.CheckDrifted && ck.AskedModel == "" { // otherwise the code asks another model
		ck.Accept = k.run.with(UpdateAll.String())
		if ck.call.codec.Tools {
			ck.Accept = k.run.with(UpdateTools.String())
		}
	}
}

// settings returns the settings that may make a model answer one request differently.
func (k *checks) settings(ck *check) (causes []string) {
	request := ck.call.request
	if is := NotZero(request.Temperature); is != "" {
		causes = append(causes, "temperature "+is)
	}
	switch {
	case !ck.call.codec.Seeded:
		causes = append(causes, ck.call.provider+" takes no seed")
	case request.Seed == nil:
		causes = append(causes, "seed is not set")
	}
	switch {
	case len(ck.LiveModels) > 1:
		causes = append(causes, "answered by "+strings.Join(ck.LiveModels, " and "))
	case len(ck.LiveModels) == 1 && ck.LiveModels[0] != request.Model:
		causes = append(causes, fmt.Sprintf("%s is an alias, now of %s", request.Model, ck.LiveModels[0]))
	}
	var systems []string
	for _, s := range ck.live {
		systems = inorder.With(systems, s.fingerprint)
	}
	if systems = inorder.Strings(systems); len(systems) > 1 {
		const most = 3
		more := ""
		if n := len(systems) - most; n > 0 {
			systems, more = systems[:most], fmt.Sprintf(" and %d more", n)
		}
		causes = append(causes, "system_fingerprint changed: "+strings.Join(systems, ", ")+more)
	}
	for i := range causes {
		causes[i] = k.run.plainText(causes[i])
	}
	return causes
}

// failAll fails the test for its checks, and returns a line for its log. A test that has already failed gets the
// findings too.
func (k *checks) failAll() (note string) {
	states := map[string]int{}
	var whys []string
	var diverged []*check
	for _, ck := range k.all {
		states[ck.State]++
		if ck.State == usage.CheckUncheckable {
			whys = append(whys, fmt.Sprintf("\n  call %d is not checkable: %s", ck.Number, ck.Why))
		}
		if ck.call.codec.Tools && ck.State == usage.CheckDrifted {
			diverged = append(diverged, ck)
		} else if f := k.checkFailure(ck); f != nil {
			f.Source = ck.source
			k.report.fail(k.briefly(f))
		}
	}
	if len(diverged) > 0 {
		k.report.fail(k.briefly(k.divergenceFailure(diverged)))
	}
	if len(k.all) == 0 {
		return ""
	}
	var said []string
	for _, state := range usage.CheckStates {
		if n := states[state]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, state))
		}
	}
	return k.run.plainText("check: " + strings.Join(said, ", ") + strings.Join(whys, ""))
}

// legend says which line of a difference belongs to which answer. A brief check leaves that to its command.
func (k *checks) legend() string {
	if k.run.Checking.Brief {
		return ""
	}
	return " (- recorded, + live)"
}

// briefly returns a failure of a check without the text that the check's command shows itself.
func (k *checks) briefly(f *Failure) *Failure {
	if !k.run.Checking.Brief {
		return f
	}
	return &Failure{brief: f.brief, Text: f.brief, Source: f.Source}
}

// divergenceFailure is the failure of a test whose live tools returned something else than the tape has. The program
// was served the tape, so no difference follows from another.
func (k *checks) divergenceFailure(checks []*check) *Failure {
	var below, names []string
	for _, ck := range checks {
		names = inorder.With(names, ck.call.who())
		_, differences := ck.FailedTiers()
		below = append(append(below, fmt.Sprintf("call %d: %s", ck.Number, k.run.lastSaid(ck.call.request))), differences...)
		below = append(below, ck.Facts(k.run.plainText)...)
	}
	brief := fmt.Sprintf("%s of tools drifted from %s: %s%s",
		count(len(checks), "result"), checks[0].File, strings.Join(names, ", "), k.legend())
	f := failuref(brief, append(below, "accept: "+checks[0].Accept)...)
	f.Source = checks[0].source
	return f
}

// checkFailure returns why a check fails its test, or nil.
func (k *checks) checkFailure(ck *check) *Failure {
	where := fmt.Sprintf("%s, call %d", ck.File, ck.Number)
	tiers, below := ck.FailedTiers()
	var brief string
	switch ck.State {
	case usage.CheckUnchecked:
		return failuref(fmt.Sprintf("%s could not be checked: %s", ck.call.answerName(), where), "  "+ck.Why)
	case usage.CheckDrifted:
		brief = fmt.Sprintf("%s drifted from %s: %s%s", ck.call.answerName(), where, strings.Join(tiers, ", "), k.legend())
	case usage.CheckVaried:
		brief = fmt.Sprintf("%s: %s (two of them)", where, ck.Varied())
	default:
		return nil
	}
	if ck.AskedModel != "" {
		below = append(below, fmt.Sprintf("asked: %s instead of %s", ck.AskedModel, k.run.Checking.Old))
	}
	return failuref(brief, append(append(below, ck.Facts(k.run.plainText)...),
		labelled("or hold less: "+usage.CheckEnv+"=", holdLess(ck)), labelled("accept: ", ck.Accept))...)
}

// labelled returns a text behind its label, or "" for no text.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// holdLess returns check options under which the differences found do not fail, or "" if everything differs.
func holdLess(ck *check) string {
	less := ""
	for i, t := range ck.Tiers {
		if t.Fails() {
			less = ""
			if i+1 < len(ck.Tiers) {
				less = "tier=" + ck.Tiers[i+1].Tier
			}
		}
	}
	return less
}
