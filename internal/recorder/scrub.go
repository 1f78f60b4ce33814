package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/pattern"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// keyed returns a request with its placeholders, their values, and its key.
func keyed(name, lane string, req *modelio.Request, ignored []string, scrubbed scrubFunc) (
	key, *modelio.Request, *scrub.Values, error) {
	core, err := snapshot.RequestCore(req, ignored)
	with, values := scrubbed(req, core)
	if err == nil && with != req {
		core, err = snapshot.RequestCore(with, ignored)
	}
	return keyOf(name, lane, with, core, ignored), with, values, err
}

// A scrubFunc is [scrub.Rules.Live] or [scrub.Rules.Stored].
type scrubFunc = func(req *modelio.Request, core []byte) (*modelio.Request, *scrub.Values)

// restore returns a record of a tape with its answer as this run is served it.
func (r *run) restore(c *call, t *tape, i int, body []byte) (*servedRecord, error) {
	recorded, record := t.valuesOf(i), &t.records[i]
	stored := rawAnswer(record, body)
	stored.Body = recorded.Answer(stored)
	body, err := c.values.Restore(stored, r.store.MaxBytes())
	if err != nil {
		return nil, r.unknownValues(i, err)
	}
	s := &servedRecord{record: record, tape: t, body: body}
	for name, values := range record.Response.Headers {
		for n, value := range values {
			restored, err := c.values.RestoreText(recorded.AnswerText(value))
			switch {
			case err != nil:
				return nil, r.unknownValues(i, err)
			case restored == value:
				continue
			case s.record == record: // the first that differs
				own := *record
				own.Response.Headers = http.Header(record.Response.Headers).Clone()
				s.record = &own
			}
			s.record.Response.Headers[name][n] = restored
		}
	}
	return s, nil
}

// isScrubbed reports whether a record was made under rules like the test's: they find nothing more in it.
func (t *tape) isScrubbed(i int) bool {
	if t.rules.Idle(nil) {
		return true
	}
	body, err := t.doc.Raw(i)
	stored := rawAnswer(&t.records[i], body)
	return err == nil && t.request(i) == &t.records[i].Request && bytes.Equal(t.valuesOf(i).Answer(stored), body) &&
		t.hiding(i, body) == nil
}

// hiding returns the names of the rules that match text in a record: it was recorded under other rules. Rules for
// values that only a run knows are not tried.
func (t *tape) hiding(i int, body []byte) []string {
	if t.rules.Idle(nil) {
		return nil
	}
	if t.anywhere == nil {
		t.anywhere = t.rules.Anywhere()
	}
	s := &t.records[i]
	_, values := t.anywhere.Stored(&s.Request, nil)
	values.Answer(rawAnswer(s, body))
	for _, id := range s.Source.IDs {
		values.AnswerText(id)
	}
	for _, header := range s.Response.Headers {
		for _, value := range header {
			values.AnswerText(value)
		}
	}
	return inorder.Strings(values.Took())
}

// Hiding returns a function that returns the names of the rules that match text in a record of a document, given its
// raw answer.
func Hiding(d *store.Doc, rules *scrub.Rules) func(i int, body []byte) []string {
	return newTape(d, rules).hiding
}

const scrubRules = "scrub rules" // the cause for a record made under other rules

// OtherRules says why a record is not what the rules of now would write.
const OtherRules = "recorded under other rules"

// hiddenFailure is the failure of a call whose record has text that rules match now and did not when it was recorded.
func (r *report) hiddenFailure(c *call, i int, rules []string) *Failure {
	return r.rulesFailure(c, i, scrubRules, "of which "+RuleNames(rules)+" hides text now")
}

// rulesFailure is the failure of a call whose record was made under other rules, as why says.
func (r *report) rulesFailure(c *call, i int, component, why string) *Failure {
	r.run.tape.plays[i].compared = true
	brief := fmt.Sprintf("%s is answered by %s, %s", c.title(), r.run.recordName(i), why)
	accept := OtherRules + ": " + r.run.Accept + " (no call is made)"
	f := failuref(brief, indent(r.run.summary(c.request)), accept, r.withoutKey(c, &r.run.tape.records[i]))
	change := drift.Change{Component: component, Kind: component}
	if r.run.toldBy(change.Key()) != nil {
		f = againf(brief, accept)
	}
	return f.withDrift(&usage.Drift{
		Kind: usage.Drifted, Record: r.run.tape.records[i].ID, Call: r.run.tape.records[i].Number(), Provider: c.provider,
		Changes: []usage.DriftChange{driftChange(change, false)},
	})
}

// RuleNames lists rules of Scrub.
func RuleNames(names []string) string {
	if len(names) == 1 {
		return "the rule " + names[0]
	}
	return "one of the rules " + strings.Join(names, ", ")
}

// rawAnswer returns the answer of a record with the given body.
func rawAnswer(s *snapshot.Snapshot, body []byte) *provider.Answer {
	contentType := strings.Join(s.Response.Headers["content-type"], ", ") // a proven record has one at most
	return &provider.Answer{Status: s.Response.Status, ContentType: contentType, Body: body, Asked: &s.Request}
}

// unknownValues is the failure of a call whose recorded answer has placeholders without a value in this run.
func (r *run) unknownValues(i int, err error) error {
	missing := asA[*scrub.MissingError](err)
	if missing == nil {
		return failuref(fmt.Sprintf("%s: the answer cannot be served: %v", r.recordName(i), err), raiseLimit)
	}
	return failuref(fmt.Sprintf("%s: the answer has placeholders: %v", r.recordName(i), err),
		r.addRules(scrub.Names(strings.Join(missing.Placeholders, " "))), "or record it as it is: "+r.Accept)
}

// addRules says which rules a test needs for placeholders of the given names.
func (s *setup) addRules(names []string) string {
	var rules []string
	for _, name := range names {
		rule := s.patternRule(name, "…")
		if pattern.IsVolatile(name) {
			rule = s.volatileRule()
		}
		rules = inorder.With(rules, rule)
	}
	return "it was recorded with rules that " + s.tested() + " has not: " + s.scrubbing(strings.Join(rules, ", "))
}

const volatileDiffers = "only values that change every run differ"

func (s *setup) addVolatile() string { return s.scrubbing(s.volatileRule()) }

// onPurpose is the way out if values that rules match were changed on purpose.
func (r *run) onPurpose() string {
	return "or, if they were changed on purpose, delete " + r.file() + " and record " + r.tested() + " again"
}

// explained names the rule that explains all differences of a call from a record. Or it says how to make the call the
// same in each run. It is "" if other things differ. once reports whether an update would help for one run.
func (r *run) explained(differences []drift.Difference) (rule string, once bool) {
	only := func(mask func() textMask) bool {
		was, is := mask(), mask()
		other := func(d drift.Difference) bool { return !bytes.Equal(was(d.Recorded), is(d.Got)) }
		return len(differences) > 0 && !slices.ContainsFunc(differences, other)
	}
	switch {
	case only(func() textMask { return r.rules.Mask() }):
		return "only placeholders differ: values that were equal are not, or the reverse. Value gives one a placeholder of its own", false
	case !r.rules.Has("uuid") && only(func() textMask { return r.rules.WithVolatile().Mask() }):
		return volatileDiffers + ": " + r.addVolatile() + "\n" + r.onPurpose(), true
	case !r.rules.Has("date") && only(func() textMask { return r.rules.WithDates().Mask() }):
		return "only dates differ: " + r.clock(true), false
	case only(func() textMask { return withUnixLines }):
		return "only line ends differ (CRLF or LF): if git changes those of a prompt's file, give it \"text eol=lf\" in .gitattributes", false
	case only(func() textMask { return scrub.WithoutClock }):
		return "only dates and times differ: " + r.clock(false), false
	}
	var names []string
	for _, d := range differences {
		names = inorder.With(names, scrub.Names(string(d.Recorded))...)
	}
	if names = slices.DeleteFunc(inorder.Strings(names), r.rules.Has); len(names) > 0 {
		return r.addRules(names), false
	}
	return "", false
}

// A textMask returns a JSON text without the values of a rule.
type textMask = func(json.RawMessage) []byte

// withUnixLines returns a JSON text with the line ends LF.
func withUnixLines(text json.RawMessage) []byte {
	return bytes.ReplaceAll(text, []byte(`\r\n`), []byte(`\n`))
}

// boughtBefore is the failure of a call that would be made again only for values that change in every run. The next run
// would make it again.
func (r *Recorder) boughtBefore(c *call) *Failure {
	if _, err := r.run.document(c.provider); err != nil {
		return r.run.asFailure(err) // before an answer is bought that could not be written
	}
	if !r.run.now.IsZero() {
		return nil // the values follow the time that the test was told
	}
	isLeft := func(i int) bool { return !r.run.tape.plays[i].bought && !r.run.tape.plays[i].played }
	for _, i := range r.run.tape.equalTo(c.key) {
		if isLeft(i) {
			r.run.tape.plays[i].bought = true
			return nil
		}
	}
	if len(r.run.tape.records) == 0 || r.run.rules.Has("uuid") {
		return nil
	}
	with := r.run.rules.WithVolatile()
	got, _, _, err := keyed(c.provider, c.lane, c.request, r.run.Ignored, with.Stored)
	if err != nil || got == c.key { // it has no such values
		return nil
	}
	if r.run.tape.volatile == nil {
		r.run.tape.volatile = newTape(r.run.tape.doc, with)
	}
	for _, i := range r.run.tape.volatile.equalTo(got) {
		if isLeft(i) && !r.run.follows(c, r.run.tape.request(i), isBought) {
			return failuref(fmt.Sprintf("%s was not sent: %s from those of %s, so each run would record it again",
				c.title(), volatileDiffers, r.run.recordName(i)), indent(r.run.summary(c.request)), r.run.addVolatile(),
				r.run.onPurpose())
		}
	}
	return nil
}
