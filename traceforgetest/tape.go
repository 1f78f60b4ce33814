package traceforgetest

import (
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A tape is what is recorded of one test, and what of it has been played.
type tape struct {
	entries []snapshot.Entry
	load    func(snapshot.Entry) (*snapshot.Sealed, error)
	played  []bool
	keys    []key // filled as records are loaded
	next    int   // no record before it is left to play
	index   *tapeIndex
}

// A key identifies a call: the same function makes it for recording and for replay.
type key struct {
	provider string
	prompt   canon.Hash
	wire     canon.Hash // outside the identity: equal bytes spare computing the prompt hash
}

func (k key) call() key { return key{provider: k.provider, prompt: k.prompt} }

// tapeIndex finds records where calls do not come in the recorded order.
type tapeIndex struct {
	byCall map[key][]int
	byWire map[canon.Hash]key
}

// A fit says how a call relates to a tape.
type fit int

const (
	found     fit = iota
	exhausted     // recorded, but fewer times than it was called
	missing       // not recorded
)

func openTape(store *snapshot.Store, pkg, test string) (*tape, error) {
	entries, err := store.Test(pkg, test)
	if err != nil {
		return nil, err
	}
	return newTape(entries, store.Load), nil
}

func newTape(entries []snapshot.Entry, load func(snapshot.Entry) (*snapshot.Sealed, error)) *tape {
	return &tape{entries: entries, load: load, played: make([]bool, len(entries)), keys: make([]key, len(entries))}
}

// find returns the first record of the call that was not played yet (design R9). The bytes of
// the request are compared first; whole is asked for the call's key only where they differ
// from those of the record whose turn it is. sealed is the record, where it had to be loaded.
func (t *tape) find(wire canon.Hash, whole func() (key, error)) (i int, sealed *snapshot.Sealed, how fit, err error) {
	for t.next < len(t.entries) && t.played[t.next] {
		t.next++
	}
	if t.next < len(t.entries) && t.index == nil {
		if sealed, err = t.loadKey(t.next); err != nil {
			return 0, nil, missing, err
		}
		if t.keys[t.next].wire == wire {
			return t.next, sealed, found, nil
		}
	}
	if err := t.makeIndex(); err != nil {
		return 0, nil, missing, err
	}
	call, ok := t.index.byWire[wire]
	if !ok {
		if call, err = whole(); err != nil {
			return 0, nil, missing, err
		}
	}
	records := t.index.byCall[call.call()]
	for _, i := range records {
		if !t.played[i] {
			sealed, err := t.record(i)
			return i, sealed, found, err
		}
	}
	if len(records) > 0 {
		return records[len(records)-1], nil, exhausted, nil
	}
	return 0, nil, missing, nil
}

func (t *tape) loadKey(i int) (*snapshot.Sealed, error) {
	sealed, err := t.load(t.entries[i])
	if err != nil {
		return nil, err
	}
	t.keys[i] = key{t.entries[i].Provider, sealed.PromptHash, sealed.WireHash}
	return sealed, nil
}

// record loads a record whose key is known.
func (t *tape) record(i int) (*snapshot.Sealed, error) {
	sealed, err := t.load(t.entries[i])
	if err == nil && sealed.PromptHash != t.keys[i].prompt {
		return nil, fmt.Errorf("%s was recorded again, from another request, while the test ran: run the test again", t.entries[i].File)
	}
	return sealed, err
}

func (t *tape) makeIndex() error {
	if t.index != nil {
		return nil
	}
	index := &tapeIndex{byCall: map[key][]int{}, byWire: map[canon.Hash]key{}}
	for i := range t.entries {
		if t.keys[i].prompt == "" {
			if _, err := t.loadKey(i); err != nil {
				return err
			}
		}
		call := t.keys[i].call()
		index.byCall[call] = append(index.byCall[call], i)
		if wire := t.keys[i].wire; wire != "" {
			index.byWire[wire] = call
		}
	}
	t.index = index
	return nil
}
