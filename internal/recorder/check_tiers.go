package recorder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A statement is what an answer says, as a check compares it.
type statement struct {
	tiers         [][]byte // canonical JSON by usage.Tiers
	model         string   // that answered
	fingerprint   string   // of the system that answered; "" if the provider does not tell it
	refusal       string   // the error that the provider reported
	gone          string   // the provider's message that it no longer has the model, or ""
	why           string   // why the answer cannot be compared, or ""
	returned      string   // the result or error of a tool
	input, output int64    // tokens
}

// statementOf returns what a take received, as a record says it: with placeholders and numbered ids.
func (r *run) statementOf(tk *take) (*statement, *Failure) {
	decoded, _, f := r.answerOf(tk)
	if f != nil {
		return nil, f
	}
	s := &statement{model: decoded.Model, fingerprint: jsontext.WordOf(decoded.Metadata["system_fingerprint"])}
	if u := decoded.Usage; u != nil {
		s.input, s.output = amount.Of(u.InputTokens), amount.Of(u.OutputTokens)
	}
	if decoded.Error != nil {
		s.refusal = decoded.Error.Message
		s.gone = withdrawn(tk.provider, cmp.Or(r.Checking.New, tk.request.Model), tk.status, decoded.Error)
	}
	resp, err := asRecorded(decoded, tk.status, &tk.numbering, &tk.media)
	if err == nil {
		s.tiers, err = tiersOf(resp)
	}
	if err != nil {
		return nil, r.unkeptFailure(tk, err)
	}
	if tk.codec.Tools {
		s.returned = returned(resp)
	}
	return s, nil
}

// returned is the result of a tool as one text.
func returned(resp *modelio.Response) string {
	if resp.Error != nil {
		return "error: " + resp.Error.Message
	}
	var said []string
	for _, part := range partsOf(resp) {
		if part.ToolResponse != nil {
			said = append(said, string(part.ToolResponse.Output))
		}
	}
	return strings.Join(said, "\n")
}

// tiersOf splits an answer into its tiers: text, tool calls with their arguments, finish reason, and answering model.
// The refs of tool calls are in none.
func tiersOf(resp *modelio.Response) ([][]byte, error) {
	core, err := snapshot.ResponseCore(&snapshot.Response{Response: *resp})
	if err != nil {
		return nil, err
	}
	members := split(jsontext.ValueOf(core))
	model := modelio.Object{}
	if resp.Model != "" {
		model["model"] = jsontext.Text(resp.Model)
	}
	var tiers [][]byte
	for _, object := range append(members[:], model) {
		tiers = append(tiers, jsontext.ObjectText(object))
	}
	return tiers, nil
}

// split sorts the members of a candidate's core, or of a whole answer's, into the first three tiers.
func split(v jsontext.Value) (tiers [3]modelio.Object) {
	text, tools, finish := modelio.Object{}, modelio.Object{}, modelio.Object{}
	text["content"], finish["finish_reason"] = v.Member("content").Raw(), v.Member("finish_reason").Raw()
	var refs []string
	var called []json.RawMessage
	for _, call := range v.Member("tool_calls").Elements() {
		refs = append(refs, call.Member("ref").Word())
		called = append(called, jsontext.ObjectText(call.Rest("ref")))
	}
	if called != nil {
		tools["tool_calls"] = jsontext.List(called)
	}
	var parts []json.RawMessage
	plain := true // whether the parts repeat the content
	for _, part := range v.Member("parts").Elements() {
		if name, ok := drift.Listed(part); ok && text[name] == nil {
			text[name], plain = part.Member("custom").Raw(), false
			continue
		}
		call := part.Member("toolRequest")
		if call.Present() && slices.Contains(refs, call.Member("ref").Word()) {
			continue
		}
		parts, plain = append(parts, part.Raw()), plain && part.Len() == 1 && part.Member("text").Present()
	}
	if !plain {
		delete(text, "content")
		text["parts"] = jsontext.List(parts)
	}
	if e := v.Member("error"); e.Present() {
		text["error"] = jsontext.ObjectText(map[string]json.RawMessage{"message": jsontext.Text(e.Member("message").Word())})
		finish["error"] = jsontext.ObjectText(e.Rest("message"))
	}
	var others [3][]json.RawMessage
	for _, candidate := range v.Member("candidates").Elements() {
		for i, object := range split(candidate) {
			others[i] = append(others[i], jsontext.ObjectText(object))
		}
	}
	tiers = [3]modelio.Object{text, tools, finish}
	for i, list := range others {
		if list != nil {
			tiers[i]["candidates"] = jsontext.List(list)
		}
	}
	return tiers
}

// holds reports whether a difference in a tier fails. Asking another model on purpose is no difference. For a tool,
// every difference fails.
func (k *checks) holds(ck *check, tier string) bool {
	o := k.run.Checking
	return ck.call.codec.Tools || o.Holds(tier) && !(tier == "model" && o.New != "")
}

// differences returns how two answers differ in a tier, without values that the test's rules take out of texts.
func (k *checks) differences(before, after *statement, tier int) []drift.Difference {
	found := drift.JSON(before.tiers[tier], after.tiers[tier])
	if len(found) == 0 {
		return nil
	}
	was, is := k.run.rules.Mask(), k.run.rules.Mask()
	return slices.DeleteFunc(found, func(d drift.Difference) bool {
		// what one side lacks has no counterpart
		return len(d.Recorded) > 0 && len(d.Got) > 0 && bytes.Equal(was(d.Recorded), is(d.Got))
	})
}

// compareTiers compares two answers tier by tier.
func (k *checks) compareTiers(ck *check, before, after *statement) (all []usage.CheckedTier) {
	for i, tier := range usage.Tiers {
		differences := k.differences(before, after, i)
		// must come before the texts are cut for display, which could leave part of a secret
		k.run.scanner().Hide(&differences)
		t := usage.CheckedTier{
			Tier: tier, Same: len(differences) == 0, Held: k.holds(ck, tier), Diff: k.run.plainText(drift.Text(differences)),
		}
		if ck.call.codec.Tools { // their answers are only results
			t.Tier, t.Diff = usage.ResultTier, cmp.Or(k.run.plainText(k.outcomes(before, after)), t.Diff)
			return []usage.CheckedTier{t}
		}
		all = append(all, t)
	}
	return all
}

// outcomes says in two lines what a tool returned if one of the two answers is an error. The two then have no members
// in common. Otherwise it returns "".
func (k *checks) outcomes(before, after *statement) string {
	if before.returned == "" || after.returned == "" || (before.refusal == "") == (after.refusal == "") {
		return ""
	}
	line := func(of *statement) string { return short(k.run.scanner().Mask(of.returned)) }
	return "- " + line(before) + "\n+ " + line(after) + "\n"
}

// byOutput groups answers that agree in all tiers that must hold, the largest groups first.
func (k *checks) byOutput(ck *check) (groups [][]*statement) {
	for _, answer := range ck.live {
		same := func(group []*statement) bool {
			for i, tier := range usage.Tiers {
				if k.holds(ck, tier) && len(k.differences(group[0], answer, i)) > 0 {
					return false
				}
			}
			return true
		}
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i] = append(groups[i], answer)
		} else {
			groups = append(groups, []*statement{answer})
		}
	}
	inorder.By(groups, func(a, b []*statement) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), slices.CompareFunc(a[0].tiers, b[0].tiers, bytes.Compare))
	})
	return groups
}
