package recorder

import (
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// A tape is what is recorded of one test, and what of it has been played.
type tape struct {
	doc      *store.Doc // nil: nothing is recorded
	provider string     // of records that name none
	records  []snapshot.Snapshot
	keys     []key
	known    int // how many of keys are computed
	played   []bool
	next     int // no record before it is left to play
	index    map[key][]int
	parts    []*drift.Request // the requests, taken apart; filled as calls drift
}

// A fit says how a call relates to a tape.
type fit int

const (
	found     fit = iota
	exhausted     // recorded, but fewer times than it was called
	missing       // not recorded
)

// newTape returns the tape of a document, which may be nil.
func newTape(doc *store.Doc) *tape {
	if doc == nil {
		return tapeOf("", nil)
	}
	t := tapeOf(doc.Provider, doc.Document.Snapshots)
	t.doc = doc
	return t
}

func tapeOf(provider string, records []snapshot.Snapshot) *tape {
	return &tape{
		provider: provider,
		records:  records,
		keys:     make([]key, len(records)),
		played:   make([]bool, len(records)),
		parts:    make([]*drift.Request, len(records)),
	}
}

// find returns the first record of a call that was not played yet (design R9). Where calls come in
// the recorded order, it is the next one, and no other is looked at.
func (t *tape) find(k key) (i int, how fit, err error) {
	for t.next < len(t.records) && t.played[t.next] {
		t.next++
	}
	if t.next < len(t.records) {
		if err := t.know(t.next + 1); err != nil {
			return 0, missing, err
		}
		if t.keys[t.next] == k {
			return t.next, found, nil
		}
	}
	if err := t.makeIndex(); err != nil {
		return 0, missing, err
	}
	records := t.index[k]
	for n, i := range records {
		if !t.played[i] {
			t.index[k] = records[n:]
			return i, found, nil
		}
	}
	if len(records) > 0 {
		return records[len(records)-1], exhausted, nil
	}
	return 0, missing, nil
}

// providerOf returns the provider of a record.
func (t *tape) providerOf(i int) string {
	if named := t.records[i].Provider; named != "" {
		return named
	}
	return t.provider
}

// know computes the keys of the first n records.
func (t *tape) know(n int) (err error) {
	for ; t.known < n && err == nil; t.known++ {
		s := &t.records[t.known]
		t.keys[t.known], err = keyOf(t.providerOf(t.known), &s.Request, s.Source.Ignored)
	}
	return err
}

func (t *tape) makeIndex() error {
	if t.index != nil {
		return nil
	}
	if err := t.know(len(t.records)); err != nil {
		return err
	}
	t.index = make(map[key][]int, len(t.records))
	for i, k := range t.keys {
		t.index[k] = append(t.index[k], i)
	}
	return nil
}

// times returns how often the call of a record is recorded.
func (t *tape) times(i int) (n int) {
	for _, k := range t.keys {
		if k == t.keys[i] {
			n++
		}
	}
	return n
}
