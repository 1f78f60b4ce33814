package recorder

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// pair makes the document to write from the test's records and its kept takes (design R4, R11). The record of an
// unchanged call stays as it is. A changed one keeps its id and its place, and if only the request changed, its answer.
// A new record follows that of the call before it. changed are the takes that contribute to the document.
func (r *revision) pair(kept []*take, partial bool) (put store.Put, changed []*take, err error) {
	for _, tk := range kept {
		r.run.maskCommand(tk)
	}
	calls := r.run.inOrder(kept)
	old, err := r.run.document(providerOf(calls))
	if err != nil {
		return put, nil, err
	}
	beside, compare := map[canon.Hash][]byte{}, drift.NewComparer(nil)
	pairs, after := r.run.counterparts(calls, old)
	renewTime := r.run.Mode == UpdateAll && r.run.config.MaxAge.IsSet()
	done, same := old.outcomes(calls, pairs, r.run.KeptHeaders, renewTime)
	drop := modes[r.run.Mode].drops && !partial
	for n := range done {
		done[n].After = after[n]
	}
	next, places := store.Next(r.run.name, old.records, append(done, old.sparedOutcomes(calls, pairs)...), drop)
	for n, c := range calls {
		tk, is := c.take, &next[places[n]]
		if tk != nil {
			r.renewed = append(r.renewed, is.ID)
		}
		switch i := pairs[n]; {
		case same[n]:
			r.updated.Kept = append(r.updated.Kept, is.ID)
			continue
		case i < 0:
			r.updated.New = append(r.updated.New, is.ID)
		default:
			r.noteChange(compare, &old.records[i], old.request(i), tk, is)
		}
		changed = append(changed, tk)
		beside[tk.record.Response.RawOutputRef] = tk.raw
		maps.Copy(beside, tk.media)
	}
	r.updated.Removed = removed(old.records, next)
	r.date(next, old)
	put = store.PutOf(r.run.name, next)
	put.Beside = beside
	return put, changed, nil
}

// removed returns the ids of the old records that are missing from the next.
func removed(old, next []snapshot.Snapshot) (ids []string) {
	left := map[string]bool{}
	for i := range next {
		left[next[i].ID] = true
	}
	for i := range old {
		if !left[old[i].ID] {
			ids = append(ids, old[i].ID)
		}
	}
	return ids
}

// outcomes returns what happens to the record of each call, and whether the record stays the same. pairs are the
// indexes of the calls' records. renewTime gives an unchanged record the time of its call, from which its age counts.
func (t *tape) outcomes(calls []testCall, pairs []int, headers []string,
	renewTime bool) (done []store.Outcome, same []bool) {
	done, same = make([]store.Outcome, len(calls)), make([]bool, len(calls))
	for n, c := range calls {
		done[n].Of = pairs[n]
		if c.take == nil {
			done[n].Of, same[n] = c.record, true
			continue
		}
		done[n].Record = c.take.record
		done[n].Answered = pairs[n] >= 0 && t.confirms(pairs[n], c.take, headers)
	}
	t.renewIDs(calls, done)
	renewSessions(calls, done, renewTime)
	for n := range calls {
		o := &done[n]
		if !o.Answered {
			continue
		}
		was, s := &t.records[o.Of], o.Record
		same[n] = t.key(o.Of) == calls[n].take.key && slices.Equal(was.Source.IDs, s.Source.IDs) &&
			was.Response.Stale == s.Response.Stale && was.Source.SameOrigin(&s.Source)
		switch {
		case same[n] && renewTime:
			now := *was
			now.Timestamp = s.Timestamp
			*o = store.Outcome{Of: o.Of, Record: &now}
		case same[n]:
			*o = store.Outcome{Of: o.Of}
		default:
			o.Dated = renewTime
		}
	}
	return done, same
}

// confirms reports whether a new answer says the same as the i-th record. The old answer then stays, with its bytes,
// times, usage and headers, even if texts of the request changed. Other options may ask for an answer in another form.
func (t *tape) confirms(i int, tk *take, headers []string) bool {
	was, now := &t.records[i].Response, &tk.record.Response
	return store.SameAnswer(was, now) && now.Confirms(was) &&
		(t.key(i) == tk.key || store.SameOptions(t.request(i), tk.request)) &&
		t.whole(i) && t.isScrubbed(i) && !lackHeaders(was.Headers, now.Headers, headers)
}

// renewIDs gives all records of a response, a file or a job one id. It does so if an answer that gives it out or a
// request that names it is new. It then also replaces answers that say the same as before. Otherwise the requests keep
// the ids that they named.
func (t *tape) renewIDs(calls []testCall, done []store.Outcome) {
	areNamed := slices.ContainsFunc(calls, func(c testCall) bool { return c.take != nil && len(c.take.ids) > 0 })
	isOther := func(c testCall) bool { return c.take != nil && !c.take.codec.Generates && !c.take.codec.Tools }
	others := slices.ContainsFunc(calls, isOther)
	if !areNamed && !others {
		return // the usual case
	}
	var old, fresh naming
	for n, c := range calls {
		switch {
		case c.take == nil:
		case done[n].Answered && t.key(done[n].Of) == c.take.key:
			old.add(c.take, others)
		default:
			fresh.add(c.take, others)
		}
	}
	isNew := false
	var giving []int
	for n, c := range calls {
		if c.take == nil || (c.take.codec.Tools || c.take.codec.Generates) && !areNamed {
			continue
		}
		for _, id := range handedOut(rawAnswer(c.take.record, c.take.raw)) {
			byNew := fresh.has(id, c.take)
			if byNew || old.has(id, c.take) {
				giving, isNew = append(giving, n), isNew || byNew || !done[n].Answered
			}
		}
	}
	isNew = t.renewFollowers(calls, done) || isNew
	for _, n := range giving {
		done[n].Answered = done[n].Answered && !isNew
	}
	for n := range done {
		if done[n].Answered && !isNew {
			done[n].Record.Source.IDs = t.records[done[n].Of].Source.IDs
		}
	}
}

// renewSessions replaces all answers of sessions to whose server a client listens, if one is new or isNew. Events of a
// stream wait for the calls that were made before them, so their times have to be of one run.
func renewSessions(calls []testCall, done []store.Outcome, isNew bool) {
	listened := false
	var all []int
	for n, c := range calls {
		if c.take != nil && c.take.codec.Listens != nil {
			all, isNew = append(all, n), isNew || !done[n].Answered
			listened = listened || c.take.codec.Session == nil || c.take.listens()
		}
	}
	for _, n := range all {
		done[n].Answered = done[n].Answered && !(isNew && listened)
	}
}

// renewFollowers replaces the answers of calls that name an id which an answer of another call has now. It reports
// whether there are such calls.
func (t *tape) renewFollowers(calls []testCall, done []store.Outcome) (renewed bool) {
	was := map[string]string{} // ids in the answers of the calls, and what they are in the answers that are kept
	for n, c := range calls {
		i := done[n].Of
		if i < 0 || c.take != nil && !done[n].Answered {
			continue
		}
		raw, _ := t.doc.Raw(i) // it was served, or confirmed
		recorded := handedOut(rawAnswer(&t.records[i], raw))
		now := recorded
		if c.take != nil {
			now = handedOut(rawAnswer(c.take.record, c.take.raw))
		}
		for j := range min(len(now), len(recorded)) {
			if _, repeats := was[now[j]]; !repeats {
				was[now[j]] = recorded[j]
			}
		}
	}
	for n, c := range calls {
		if c.take == nil || !done[n].Answered {
			continue
		}
		recorded := t.records[done[n].Of].Source.IDs
		for j := range min(len(c.take.stable), len(recorded)) {
			if id, known := was[c.take.stable[j]]; known && id != recorded[j] {
				done[n].Answered, renewed = false, true
			}
		}
	}
	return renewed
}

// A naming has what the requests of some calls name.
type naming struct {
	urls   strings.Builder // with the ids that requests have as numbers
	bodies bytes.Buffer
}

func (n *naming) add(tk *take, bodies bool) {
	if w, ok := tk.what.(*wire); ok {
		n.urls.WriteString(strings.Join(tk.ids, " ") + " " + w.URL.Path + "?" + w.URL.RawQuery + " " + w.URL.String() + "\n")
		if bodies {
			n.bodies.Write(w.Body)
		}
	}
}

// has reports whether a request names an id that an answer gives out. It may do so by a number, in its URL, or, if the
// id is not of a model and only repeated, in its body.
func (n *naming) has(id string, given *take) bool {
	w, ok := given.what.(*wire)
	return strings.Contains(n.urls.String(), id) ||
		ok && !given.codec.Generates && !given.codec.Tools && !w.names(id) &&
			bytes.Contains(n.bodies.Bytes(), jsontext.Text(id))
}

func providerOf(calls []testCall) string {
	for _, c := range calls {
		if c.take != nil {
			return c.take.provider
		}
	}
	return anyProvider
}

// inOrder returns the calls of the test in their order. Tools that one answer asked for are in that answer's order.
// Other calls that overlapped are in the order of their records, then by their requests and answers, so that concurrent
// recordings give the same document.
func (r *run) inOrder(kept []*take) []testCall {
	takes := slices.SortedFunc(slices.Values(kept), func(a, b *take) int { return cmp.Compare(a.began, b.began) })
	isKept := make(map[int64]bool, len(kept)) // by the step at which it began, since some takes are copies
	for _, tk := range kept {
		isKept[tk.began] = true
	}
	old := &tape{}
	if len(takes) > 1 {
		if stored, err := r.document(takes[0].provider); err == nil {
			old = stored
		}
	}
	place := func(tk *take) int { // of its first record
		if of := old.equalTo(tk.key); len(of) > 0 {
			return of[0]
		}
		return math.MaxInt
	}
	inPlace := func(a, b *take) int { return cmp.Or(cmp.Compare(place(a), place(b)), compareTakes(a, b)) }
	var ordered, ready []*take
	for len(takes) > 0 || len(ready) > 0 {
		// not its end: the caller may close the answer later
		ended := func(tk *take) bool { return tk.heard < takes[0].began }
		for len(takes) > 0 && !slices.ContainsFunc(ready, ended) {
			ready, takes = append(ready, takes[0]), takes[1:]
		}
		next := slices.MinFunc(ready, inPlace)
		ordered = append(ordered, next)
		ready = slices.DeleteFunc(ready, func(tk *take) bool { return tk == next })
	}
	var calls []testCall
	for _, a := range r.answered {
		switch {
		case a.take == nil:
			calls = append(calls, a)
		case isKept[a.take.began]:
			calls = append(calls, testCall{take: ordered[0]})
			ordered = ordered[1:]
		}
	}
	return r.tape.inAnswersOrder(r.tape.inTapesOrder(calls))
}

func compareTakes(a, b *take) int {
	return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.lane, b.lane), compareRequests(a.request, b.request),
		bytes.Compare(a.core[:], b.core[:]), compareAnswers(a, b), cmp.Compare(a.began, b.began))
}

func compareAnswers(a, b *take) int {
	if a == b || a.key != b.key {
		return 0 // the rest decides
	}
	x, y := a.answerSum(), b.answerSum()
	return bytes.Compare(x[:], y[:])
}

// compareRequests orders requests by what a reader sees: the length of the conversation, and its last text.
func compareRequests(a, b *modelio.Request) int {
	last := func(r *modelio.Request) string {
		if len(r.Messages) == 0 {
			return ""
		}
		return textOf(r.Messages[len(r.Messages)-1].Content)
	}
	return cmp.Or(cmp.Compare(len(a.Messages), len(b.Messages)), cmp.Compare(last(a), last(b)))
}

// counterparts returns for each call the record that it replaces or confirms, or -1. It pairs them by key, then by
// likeness if calls were added, removed or concurrent, then in order. If only missing calls are recorded, no record is
// replaced. after says how many of the old records must come before each new one: see inTheirOrder.
func (s *setup) counterparts(calls []testCall, old *tape) (pairs, after []int) {
	pairs = make([]int, len(calls))
	taken := make([]bool, len(old.records))
	for n, c := range calls {
		pairs[n] = -1
		if c.take == nil {
			taken[c.record] = true
		} else if o := c.take.origin; o != nil && o.place >= 0 {
			pairs[n], taken[o.place] = o.place, true
		}
	}
	if s.Mode == UpdateNew {
		return pairs, inTheirOrder(calls, old, pairs)
	}
	isTaken := func(i int) bool { return taken[i] }
	var changed []int // indexes of calls
	for n, c := range calls {
		if pairs[n] >= 0 || c.take == nil {
			continue
		}
		if i := firstLeft(old.equalTo(c.take.key), isTaken); i >= 0 {
			pairs[n], taken[i] = i, true
			continue
		}
		changed = append(changed, n)
	}
	var left []int // indexes of records
	for i := range old.records {
		if !taken[i] {
			left = append(left, i)
		}
	}
	if len(changed) > 0 && len(left) > 0 && (len(changed) != len(left) || madeAtOnce(calls, changed)) {
		for _, l := range likenesses(calls, old, changed, left) {
			if pairs[l.call] < 0 && !taken[l.record] {
				pairs[l.call], taken[l.record] = l.record, true
			}
		}
	}
	for _, n := range changed {
		same := func(i int) bool { return !taken[i] && sameTool(&old.records[i].Request, calls[n].take.request) }
		if next := slices.IndexFunc(left, same); pairs[n] < 0 && next >= 0 {
			pairs[n], taken[left[next]] = left[next], true
		}
	}
	return pairs, inTheirOrder(calls, old, pairs)
}

// inTheirOrder gives a call a new record if its own comes before that of an earlier call with the same request. Replay
// answers these in the order of the records. It returns how many of the old records must come before each new one.
func inTheirOrder(calls []testCall, old *tape, pairs []int) (after []int) {
	after = make([]int, len(calls))
	at, last := -1, map[string]int{} // the old record at or behind which a call's is, as in store.Next; by request
	for n, c := range calls {
		place, k := pairs[n], key{}
		if c.take == nil {
			place, k = c.record, old.key(c.record)
		} else {
			k = c.take.key
		}
		id := k.id() + " " + strings.Join(old.snapshotOf(c).Source.IDs, " ")
		before, isAgain := last[id]
		if isAgain && c.take != nil && place <= before {
			place, pairs[n] = -1, -1
		}
		switch {
		case place >= 0:
			at = place
		case isAgain:
			at = max(at, before)
			after[n] = at + 1
		}
		last[id] = at
	}
	return after
}

// madeAtOnce reports whether some of the calls overlapped in time.
func madeAtOnce(calls []testCall, some []int) bool {
	over := int64(math.MaxInt64)
	for _, n := range slices.Backward(some) {
		tk := calls[n].take
		if tk.heard > over {
			return true
		}
		over = min(over, tk.began)
	}
	return false
}

// A likeness is a call and a record that the call may replace.
type likeness struct{ call, record, size int }

// maxNeighbours is the number of records that each changed call is compared with: those at about the same place in the
// test.
const maxNeighbours = 100

// likenesses returns the remaining pairs, the most similar first. If calls were added or removed, pairing by order
// alone would give each changed call another call's record.
func likenesses(calls []testCall, old *tape, changed, left []int) []likeness {
	compare := drift.NewComparer(nil)
	records := make([]*drift.Request, len(left))
	for n, i := range left {
		records[n], _ = compare.Request(&old.records[i].Request) // nil if the request has no JSON
	}
	var all []likeness
	for rank, n := range changed {
		tk := calls[n].take
		got, _ := compare.Request(tk.request) // the call has a key
		from := max(0, min(rank-maxNeighbours/2, len(left)-maxNeighbours))
		for m := from; m < min(from+maxNeighbours, len(left)); m++ {
			i := left[m]
			if records[m] != nil && old.comparable(i, tk.call) {
				all = append(all, likeness{n, i, compare.Distance(records[m], got)})
			}
		}
	}
	inorder.By(all, func(a, b likeness) int { return cmp.Compare(a.size, b.size) })
	return all
}
