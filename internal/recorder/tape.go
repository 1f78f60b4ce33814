package recorder

import (
	"hash/maphash"
	"slices"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A tape is the recording of one test, and how far it has been played.
type tape struct {
	doc        *store.Doc          // nil if nothing is recorded
	records    []snapshot.Snapshot // each with its provider
	unknown    []string            // headers that an imported record does not have
	rules      *scrub.Rules
	anywhere   *scrub.Rules     // values of rules that match the same in every process; nil until needed
	none       *scrub.Values    // values for all records if there are no rules; nil until needed
	volatile   *tape            // the records with placeholders for values that change in every run; nil until needed
	identities []identity       // of the records, each empty until it is asked for; nil until needed
	equal      map[key][]int    // see equalTo; nil until needed
	unkeyed    map[int][]int    // by lengthOf: the records that are not in equal yet
	byTexts    map[uint64][]int // by sumOfTexts: the records; nil until findAsSent needs it
	progress
}

// A progress says how far the records of a tape have been played. It stays when the document is read again.
type progress struct {
	plays []play  // of the records
	next  int     // all records before it were played
	turns []*turn // of the records; nil until needed
}

// A play says what happened to a record.
type play struct {
	played   bool
	compared bool           // a drifted call was compared with it, so no other drifted call is
	bought   bool           // its call was made live again with the same request
	missed   bool           // an answer waited for its call in vain, so none waits for it again; see owes
	parts    *drift.Request // the request, taken apart; nil until a call drifts
}

// An identity is what the rules make of the request of a record.
type identity struct {
	key
	request *modelio.Request // with the rules' placeholders
	values  *scrub.Values    // the values of those placeholders
}

// A fit says how a tape answers a call.
type fit int

const (
	found     fit = iota
	exhausted     // recorded, but fewer times than called
	otherIDs      // recorded with other ids only
	missing       // not recorded
)

// newTape returns the tape of a document, which may be nil.
func newTape(doc *store.Doc, rules *scrub.Rules) *tape {
	var records []snapshot.Snapshot
	var unknown []string
	if doc != nil {
		records = doc.Records()
	}
	for i := range records {
		unknown = append(unknown, records[i].Source.Unknown...)
	}
	return &tape{
		doc: doc, records: records, unknown: unknown, rules: rules,
		progress: progress{plays: make([]play, len(records))},
	}
}

// skipPlayed moves next to the first record that was not played.
func (t *tape) skipPlayed() {
	for t.next < len(t.records) && t.plays[t.next].played {
		t.next++
	}
}

// findAsSent returns the record that answers a call, if the two are equal without any change, so that no key is needed.
// It is the record that find would return. It finds none if rules may change texts, or a text may look like a
// placeholder.
func (t *tape) findAsSent(c *call) (i int, ok bool) {
	t.skipPlayed()
	if t.next == len(t.records) || !t.rules.Idle(nil) {
		return 0, false
	}
	if t.isOf(c, t.next) {
		return t.next, true
	}
	if len(c.ignored) > 0 { // requests with one key may then have different texts
		return 0, false
	}
	if t.byTexts == nil {
		t.byTexts = make(map[uint64][]int, len(t.records))
		for i := range t.records {
			sum := sumOfTexts(&t.records[i].Request)
			t.byTexts[sum] = append(t.byTexts[sum], i)
		}
	}
	i = firstLeft(t.byTexts[sumOfTexts(c.request)], t.isPlayed)
	return i, i >= 0 && t.isOf(c, i)
}

// isPlayed reports whether a call has played a record.
func (t *tape) isPlayed(i int) bool { return t.plays[i].played }

// isOf reports whether a record equals a call without any change. It compares the record that the call equals once.
func (t *tape) isOf(c *call, i int) bool {
	s := &t.records[i]
	if c.equal != s && c.provider == s.Provider && c.lane == s.Source.Lane && slices.Equal(c.ignored, s.Source.Ignored) &&
		(texts.Same{Without: "{{"}).Requests(c.request, &s.Request) {
		c.equal = s
	}
	return c.equal == s
}

var textSeed = maphash.MakeSeed()

// sumOfTexts returns a hash that is equal for requests with one key, as findAsSent compares them, and for few others.
func sumOfTexts(r *modelio.Request) uint64 {
	var sum maphash.Hash
	sum.SetSeed(textSeed)
	sum.WriteString(r.Model)
	for i := range r.Messages {
		for _, part := range r.Messages[i].Content {
			if part.Text != nil {
				sum.WriteByte(0)
				sum.WriteString(*part.Text)
			}
		}
	}
	return sum.Sum64()
}

// valuesOf returns the values of a record's placeholders.
func (t *tape) valuesOf(i int) *scrub.Values {
	if t.rules.Idle(nil) { // there are none
		if t.none == nil {
			_, t.none = t.rules.Stored(&t.records[i].Request, nil)
		}
		return t.none
	}
	return t.identity(i).values
}

// find returns the first unplayed record of a call (design R9). For calls in the recorded order it is the next record,
// and no other is looked at.
func (t *tape) find(k key) (i int, how fit) {
	t.skipPlayed()
	if t.next < len(t.records) && t.key(t.next) == k {
		return t.next, found
	}
	records := t.equalTo(k)
	if i := firstLeft(records, t.isPlayed); i >= 0 {
		return i, found
	}
	if len(records) > 0 {
		return records[len(records)-1], exhausted
	}
	return 0, missing
}

// firstLeft returns the first of some records that is not taken, or -1.
func firstLeft(records []int, isTaken func(int) bool) int {
	for _, i := range records {
		if !isTaken(i) {
			return i
		}
	}
	return -1
}

// identity returns what the rules make of the request of a record. A record that was read has a core, so this cannot
// fail.
func (t *tape) identity(i int) *identity {
	if t.identities == nil {
		t.identities = make([]identity, len(t.records))
	}
	if of := &t.identities[i]; of.request == nil {
		s := &t.records[i]
		of.key, of.request, of.values, _ = keyed(s.Provider, s.Source.Lane, &s.Request, s.Source.Ignored, t.rules.Stored)
	}
	return &t.identities[i]
}

// equalTo returns the records with a key, in order. It computes no keys of records with another number of messages.
func (t *tape) equalTo(k key) []int {
	if t.equal == nil {
		t.equal, t.unkeyed = map[key][]int{}, map[int][]int{}
		for i := range t.records {
			n := lengthOf(&t.records[i].Request, t.records[i].Source.Ignored)
			t.unkeyed[n] = append(t.unkeyed[n], i)
		}
	}
	for _, i := range t.unkeyed[k.messages] {
		t.equal[t.key(i)] = append(t.equal[t.key(i)], i)
	}
	delete(t.unkeyed, k.messages)
	return t.equal[k]
}

// key returns the key of a record.
func (t *tape) key(i int) key { return t.identity(i).key }

// request returns the request of a record with the rules' placeholders.
func (t *tape) request(i int) *modelio.Request {
	if t.rules.Idle(nil) { // there are none
		return &t.records[i].Request
	}
	return t.identity(i).request
}
