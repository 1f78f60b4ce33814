package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Comparison contains the differences between two states of a store.
type Comparison struct {
	Config      []*Setting    `json:"config,omitempty"` // changes in config.json, which come first
	Causes      []*Cause      `json:"causes"`           // what changed, without repetitions
	Differences []*Difference `json:"differences"`      // per document
	Unread      []string      `json:"unread,omitempty"` // why documents cannot be read: they are not compared

	// Calls whose records have the same content as before.
	Again []Place      `json:"again,omitempty"` // recorded again
	Form  []Place      `json:"form,omitempty"`  // not recorded again, as after a call before them was inserted
	Bytes []OtherBytes `json:"bytes,omitempty"` // their raw answers differ

	// Whole makes Add keep the differences of each call by pointer, for programs.
	Whole bool `json:"-"`

	// Cost returns the cost of a call, if it is known; nil if costs are unknown.
	Cost func(*snapshot.Snapshot) (cost float64, ok bool) `json:"-"`

	// All is the command that shows everything, for a program. With it, Add keeps of added calls what their glances do
	// not say.
	All string `json:"-"`

	// Conversations makes Add keep the conversations of tests, for [Comparison.HTML].
	Conversations bool `json:"-"`

	group Causes
	tests []*htmlTest
	kept  int             // bytes of the texts of tests
	held  int             // documents that only one state has
	usual map[string]bool // keys of fields that calls of the earlier state have
}

// heldAlone limits how many documents that only one state has are kept, to find tests that were renamed and changed.
const heldAlone = 200

// Empty reports whether both states are equal.
func (c *Comparison) Empty() bool { return len(c.Differences)+len(c.Config) == 0 }

// KeepAnswers sets for how many calls of a cause the changed answers are kept.
func (c *Comparison) KeepAnswers(n int) { c.group.Answers = n }

// Add adds the change of a document; a document is nil in a state without it.
func (c *Comparison) Add(change Change, from, to *snapshot.Document) error {
	d := &Difference{Change: change, same: map[string]int{}}
	c.Differences = append(c.Differences, d)
	c.noteUsual(path.Dir(d.File), from)
	if from == nil || to == nil {
		doc := cmp.Or(from, to)
		if c.held++; c.held <= heldAlone {
			d.doc = doc
		}
		if err := d.identify(doc); err != nil {
			return err
		}
	} else if err := c.documents(d, from, to); err != nil {
		return fmt.Errorf("%s: %w", change.File, err)
	}
	c.alone(d, from, to)
	return nil
}

// documents compares the calls of two documents of a test, including calls with the same record that continue a changed
// call.
func (c *Comparison) documents(d *Difference, from, to *snapshot.Document) error {
	pairs := newCallPairs(from)
	d.Order = orderOf(from, to)
	differ := map[int]bool{} // numbers of calls whose requests differ: a call may inherit messages, tools and options
	shown := c.conversation(d)
	defer c.keep(shown)
	calls := numbered(from)
	for i := range to.Snapshots {
		now := &to.Snapshots[i]
		n := now.Number()
		isChanged := d.Calls.has(drift.Changed, n)
		if !isChanged && (now.Continues == nil || !differ[now.Continues.Call]) || d.Calls.has(drift.Added, n) {
			continue
		}
		was := calls[n]
		call, err := c.calls(pairs, d, was, now)
		if err != nil {
			return fmt.Errorf("call %d: %w", n, err)
		}
		differ[n] = len(call.Request)+call.Inherits > 0
		if causes, n := c.group.Add(call); n > 0 {
			shown.add(call, causes, now)
		}
		if !isChanged {
			continue
		}
		if !differ[n] && len(call.Answer) == 0 {
			c.same(d, call.Place, was, now)
		}
		if c.Whole {
			whole := explainCall(was, now, pairs.Differences(pairs.byCall[n].recorded, pairs.byCall[n].got), &call)
			whole.Bytes = whole.Bytes || slices.Contains(d.Altered, n)
			d.Differences = append(d.Differences, whole)
		}
	}
	return nil
}

// same notes how the record of a call differs whose content is the same.
func (c *Comparison) same(d *Difference, at Place, was, now *snapshot.Snapshot) {
	switch before, after := recordedAt(was), recordedAt(now); {
	case slices.Contains(d.Altered, at.Call):
		c.Bytes = append(c.Bytes, OtherBytes{Place: at, Of: d})
		d.same["altered"]++
	case was.Response.RawOutputRef != now.Response.RawOutputRef:
		c.Bytes = append(c.Bytes, OtherBytes{Place: at, Of: d})
		d.same["bytes"]++
	case before == after:
		c.Form = append(c.Form, at)
		d.same["form"]++
	default:
		c.Again = append(c.Again, at)
		d.same["again"]++ // its answer may be no newer
		d.times = append(d.times, fmt.Sprintf("call %d: %s, before %s", at.Call, after, before))
	}
}

// callPairs compares the calls of a test that two recordings have. For each call it compares only what it adds to the
// call that it continues, so the cost of a conversation is linear in its messages, not quadratic.
type callPairs struct {
	*drift.Comparer
	byCall map[int]callPair
	named  map[string]bool // the ids that calls of the first recording name
}

// A callPair is the requests of a call in two recordings.
type callPair struct {
	was, now      *modelio.Request
	recorded, got *drift.Request // without the messages of the call that both continue
	differ        bool           // some messages differ, including those of calls that they continue
}

func newCallPairs(first *snapshot.Document) *callPairs {
	t := &callPairs{drift.NewComparer(nil), map[int]callPair{}, map[string]bool{}}
	for i := range first.Snapshots {
		for _, id := range first.Snapshots[i].Source.IDs {
			t.named[id] = true
		}
	}
	return t
}

// ids returns the change of the ids by which replay tells a call from one with the same request. If the call was
// recorded again, it ignores ids that no call of the first recording names.
func (t *callPairs) ids(was, now *snapshot.Snapshot) []drift.Change {
	before, after := was.Source.IDs, now.Source.IDs
	again := isRecordedAgain(was, now)
	if slices.EqualFunc(before, after, func(b, a string) bool { return b == a || again && !t.named[a] }) {
		return nil
	}
	return drift.Between(AnswerSource, AnswerSource, "/source/ids",
		jsonOf(strings.Join(before, "\n")), jsonOf(strings.Join(after, "\n")), drift.Readable)
}

// next compares the requests of a call, and returns the changes. inherits is the number of the earlier call with whose
// messages both start, if some of those changed: their changes are not returned again. 0 if there is none.
func (t *callPairs) next(was, now *snapshot.Snapshot) (changes []drift.Change, inherits int, err error) {
	pair, m, n := callPair{was: &was.Request, now: &now.Request}, 0, 0
	if was.Continues != nil && now.Continues != nil && was.Continues.Call == now.Continues.Call {
		base := t.byCall[now.Continues.Call]
		if m, n = beginning(base.was, was), beginning(base.now, now); m == 0 || n == 0 {
			m, n = 0, 0
		} else if base.differ {
			inherits = now.Continues.Call
		}
	}
	pair.recorded, err = t.RequestFrom(m, pair.was)
	if err == nil {
		pair.got, err = t.RequestFrom(n, pair.now)
	}
	if err != nil {
		return nil, 0, err
	}
	changes = t.Changes(pair.recorded, pair.got)
	pair.differ = inherits > 0 || slices.ContainsFunc(changes, drift.Change.OfMessages)
	t.byCall[now.Number()] = pair
	return changes, inherits, nil
}

// beginning returns the number of messages in a request if a call that continues it starts with all of them; otherwise
// 0.
func beginning(r *modelio.Request, of *snapshot.Snapshot) int {
	if r == nil || len(r.Messages) > of.Continues.Messages {
		return 0
	}
	return len(r.Messages)
}

// calls compares two calls of a test.
func (c *Comparison) calls(pairs *callPairs, d *Difference, was, now *snapshot.Snapshot) (call Call, err error) {
	call.Place = Place{
		Package: d.Package, Test: d.Test.Name, Call: now.Number(), File: now.Source.File, Line: now.Source.Line,
	}
	if d.OfProgram() {
		call.Place.Command = now.Source.Function
	}
	call.Adopted = was.Response.Stale == "" && now.Response.Stale != ""
	if call.Request, call.Inherits, err = pairs.next(was, now); err != nil {
		return call, err
	}
	if was.Hash != now.Hash { // otherwise only the call that it continues differs
		if call.Answer, err = answers(*was, *now, len(call.Request) > 0 || call.Inherits > 0); err != nil {
			return call, err
		}
		call.Answer = slices.Concat(call.Answer, pairs.ids(was, now), ofProviders(d.providers(was, now)))
	}
	if was.Response.TokensUsed != nil && now.Response.TokensUsed != nil {
		call.TokensBefore, call.TokensAfter = *was.Response.TokensUsed, *now.Response.TokensUsed
	}
	if c.Cost == nil {
		return call, nil
	}
	cost, known := c.Cost(was)
	if costNow, both := c.Cost(now); known && both {
		call.CostBefore, call.CostAfter = cost, costNow
	}
	return call, nil
}

// answers compares the answers of two records. If the requests differ, the mark of an answer that was adopted for
// another request is not a change of the answer. Another model is none either if each request asked for its own.
func answers(was, now snapshot.Snapshot, requestsDiffer bool) ([]drift.Change, error) {
	asAsked := func(asked, answered string) bool { return asked != "" && strings.HasPrefix(answered, asked) }
	if requestsDiffer {
		was.Response.Stale, now.Response.Stale = "", ""
	}
	if was.Request.Model != now.Request.Model &&
		asAsked(was.Request.Model, was.Response.Model) && asAsked(now.Request.Model, now.Response.Model) {
		was.Response.Model = now.Response.Model
	}
	return Answers(&was, &now)
}

// Close ends the comparison. It sorts causes by their number of calls. It joins a document that was removed and one
// that was added into a move if they have the same calls, as after renaming a test, or if they are the most similar
// ones in their package, as after renaming and changing a test.
func (c *Comparison) Close() {
	gone := map[string][]*Difference{}
	for _, d := range c.Differences {
		if d.Fate == drift.Removed {
			gone[d.content] = append(gone[d.content], d)
		}
	}
	joined := map[*Difference]bool{}
	for _, d := range c.Differences {
		if left := gone[d.content]; d.Fate == drift.Added && len(left) > 0 {
			d.Fate, d.Was, d.Calls, d.Glances, d.Only = Moved, left[0].File, Calls{}, nil, nil
			joined[left[0]], gone[d.content] = true, left[1:]
		}
	}
	c.renamed(joined)
	all := append([]*Difference{}, c.Differences...) // never nil
	c.Differences = slices.DeleteFunc(all, func(d *Difference) bool { return joined[d] })
	for _, d := range c.Differences {
		for i := range d.Glances {
			d.Glances[i].settle(c)
		}
	}
	if c.Causes = c.group.List(); c.Whole {
		brief(c.Causes)
	}
}

// renamed joins an added document with the most similar removed one of its package, if each is the other's most
// similar.
func (c *Comparison) renamed(joined map[*Difference]bool) {
	compare, requests := drift.NewComparer(nil), map[*Difference]*drift.Request{}
	first := func(d *Difference) *drift.Request {
		if requests[d] == nil {
			requests[d], _ = compare.Request(&d.doc.Snapshots[0].Request) // it has a core: see alone
		}
		return requests[d]
	}
	likest := func(of *Difference, fate string) *Difference {
		var among []*Difference
		var asked []*drift.Request
		for _, d := range c.Differences {
			if d.Fate == fate && !joined[d] && d.doc != nil && d.Package == of.Package {
				among, asked = append(among, d), append(asked, first(d))
			}
		}
		if i := compare.Likest(first(of), asked); i >= 0 {
			return among[i]
		}
		return nil
	}
	for _, d := range c.Differences {
		if d.Fate != drift.Added || d.doc == nil {
			continue
		}
		was := likest(d, drift.Removed)
		if was == nil || likest(was, drift.Added) != d {
			continue
		}
		d.Fate, d.Was, d.Calls, d.Glances, d.Only = Moved, was.File, Calls{}, nil, nil
		joined[was] = true
		both(SealOf("", was.doc).Calls, SealOf("", d.doc).Calls,
			func(n int, fate string) { d.Calls[fate] = append(d.Calls[fate], n) })
		again, form := len(c.Again), len(c.Form)
		_ = c.documents(d, was.doc, d.doc) // its calls have cores: see alone
		// These mean nothing for a document with another name.
		c.Again, c.Form = c.Again[:again], c.Form[:form]
		delete(d.same, "again")
		delete(d.same, "form")
		c.alone(d, was.doc, d.doc)
	}
}
