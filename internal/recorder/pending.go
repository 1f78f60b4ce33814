package recorder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// pending are the answers that were bought for a test that has not passed since (design R11). They are in a store of
// their own, whose documents have the names of those of the store. A record there that is to replace one has its
// number, a new one has a number that none has.
type pending struct {
	store   *store.Store
	earlier *tape        // what earlier runs have bought
	clean   bool         // they have bought nothing
	torn    string       // what is worth a line of the test's log; empty means nothing is
	mine    map[int]bool // the numbers of what this run has of them
	wrong   error        // why the last answer could not be written

	provider string          // in whose directory the document is
	logs     []*store.Log    // what this run has bought so far; the last one goes on, unless it is broken
	broken   bool            // what is bought next is for another log
	writer   snapshot.Writer // of the last log, and then of the document of the test
}

// openPending returns the pending answers of the test.
func (r *Recorder) openPending(provider string) *pending {
	if r.pending == nil {
		p := &pending{store: r.store.Pending(), mine: map[int]bool{}, provider: provider}
		doc, err := p.store.Load(r.name, provider)
		if err != nil {
			doc, p.clean = nil, errors.Is(err, fs.ErrNotExist) // else it cannot be read
		}
		if errors.Is(err, store.ErrDoubt) { // it is not this run's to remove
			p.clean, p.torn = true, err.Error()
		}
		if doc != nil && doc.Torn {
			p.torn = "an answer that a killed run was about to keep in " + r.Shown + "/.pending is not whole: it is left out"
		}
		p.earlier = newTape(doc, r.rules)
		r.pending = p
	}
	return r.pending
}

// boughtEarlier serves a call from what an earlier run of the test has bought for it; nil if that is nothing.
func (r *Recorder) boughtEarlier(c *call, lifted string) *servedRecord {
	if r.Mode == UpdateAll {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.openPending(c.provider)
	for {
		i, how, err := p.earlier.find(c.key)
		if err != nil || how != found {
			return nil
		}
		p.earlier.played[i] = true
		if r.Mode == UpdateTools && c.codec.Tools { // its result of now takes the place of that one
			p.mine[p.earlier.records[i].Number()] = true
			return nil
		}
		if !p.earlier.whole(i) {
			continue
		}
		s, err := r.adopt(c, p.earlier, i, &origin{place: -1, pending: true, lifted: lifted})
		if err != nil {
			continue
		}
		tk := r.takes[len(r.takes)-1]
		if g, f := r.golden(tk); f == nil {
			tk.golden, tk.number, tk.place = g, p.earlier.records[i].Number(), -1
			p.mine[tk.number] = true
		}
		return s
	}
}

// keepPending writes what was bought, before anybody can lose it: a test that is killed runs no cleanup. What
// cannot be kept is for the end of the test to say. An error of the provider is not kept: it costs nothing, and
// the next run may do better.
func (r *Recorder) keepPending(tk *take) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if how := tk.ended(); r.ended || how != whole && how != aborted && how != broken {
		return
	}
	g, f := r.golden(tk)
	if f != nil || !r.keepable(g) || tk.dropsQuietly() {
		return
	}
	tk.golden = g
	p := r.openPending(tk.provider)
	if p.wrong = r.number(tk.provider); p.wrong == nil {
		p.wrong = r.logPending()
	}
	if len(g.raw) > longAnswer {
		runtime.GC() // what it was written by is some times as long
	}
}

func (s *setup) keepable(g *golden) bool {
	return g.snapshot.Response.Error == nil && g.snapshot.Source.Scripted == "" && s.refuseSecrets([]*golden{g}) == nil
}

// waiting returns the takes whose answers are pending, in the order of the calls.
func (r *Recorder) waiting() (takes []*take) {
	for _, tk := range r.takes {
		if tk.golden != nil {
			takes = append(takes, tk)
		}
	}
	return takes
}

// number numbers the pending answers that have no number yet: as the record that the call would be held
// against, or with a number of its own.
func (r *Recorder) number(provider string) error {
	t, err := r.document(provider)
	if err == nil {
		err = t.know(len(t.records))
	}
	if err != nil {
		return err
	}
	served := map[int]bool{}
	for _, a := range r.answered {
		served[a.record] = served[a.record] || a.take == nil
	}
	claimed := map[int]bool{}
	for _, tk := range r.waiting() {
		if tk.number > 0 && tk.place >= 0 && served[tk.place] {
			tk.number = 0 // another call has turned out to be that of the record
		}
		if tk.number > 0 && tk.place >= 0 {
			claimed[tk.place] = true
		}
	}
	for _, tk := range r.waiting() {
		if tk.number > 0 {
			continue
		}
		if tk.place = r.placeOf(tk, claimed, served); tk.place >= 0 {
			claimed[tk.place] = true
		}
		r.renumber(tk)
	}
	return nil
}

// placeOf returns the index of the record that a pending answer is to replace; -1: none.
func (r *Recorder) placeOf(tk *take, claimed, served map[int]bool) int {
	if r.Mode == UpdateNew {
		return -1
	}
	for i, k := range r.tape.keys {
		if k == tk.key && !claimed[i] && !served[i] {
			return i
		}
	}
	if len(claimed)+len(served) >= len(r.tape.records) {
		return -1 // each is another call's, as all are of a test that is new
	}
	held := slices.Clone(r.tape.held)
	defer func() { r.tape.held = held }()
	for i := range claimed {
		r.tape.held[i] = true
	}
	i, _ := r.like(tk.call)
	return i
}

// renumber gives a pending answer the number of its place.
func (r *Recorder) renumber(tk *take) {
	if tk.place >= 0 {
		tk.number = r.tape.records[tk.place].Number()
		return
	}
	last := store.LastNumber(r.tape.records)
	for i, s := range r.pending.earlier.records {
		if !r.pending.earlier.played[i] {
			last = max(last, s.Number())
		}
	}
	for _, other := range r.waiting() {
		last = max(last, other.number)
	}
	tk.number = last + 1
}

// logPending appends to the log of this run what it has bought since. Where what is there has got another number, it
// begins the log again.
func (r *Recorder) logPending() error {
	p := r.pending
	if slices.ContainsFunc(r.takes, func(tk *take) bool { return tk.logged > 0 && tk.golden != nil && tk.logged != tk.number }) {
		old := p.logs
		p.logs, p.broken = nil, true
		for _, tk := range r.takes {
			tk.logged = 0
		}
		if err := r.logPending(); err != nil {
			p.logs = append(old, p.logs...)
			return err
		}
		_, err := removeLogs(old)
		return err
	}
	for i, tk := range r.takes {
		if tk.golden == nil || tk.logged > 0 || tk.origin != nil { // what comes from where it waits is there
			continue
		}
		err := r.logTake(i, tk)
		if errors.Is(err, store.ErrTaken) {
			err = r.logTake(i, tk)
		}
		if err != nil {
			return err
		}
		tk.logged = tk.number
	}
	return nil
}

func removeLogs(logs []*store.Log) (taken bool, err error) {
	for _, l := range logs {
		gone, failed := l.Remove()
		taken, err = taken || gone, errors.Join(err, failed)
	}
	return taken, err
}

func (r *Recorder) logTake(place int, tk *take) error {
	p, s := r.pending, r.pendingRecord(tk)
	if s.Provider == p.provider {
		s.Provider = ""
	}
	if p.broken || len(p.logs) == 0 || p.logs[len(p.logs)-1].Full() {
		p.logs, p.writer = append(p.logs, r.store.NewLog(r.name, p.provider)), snapshot.Writer{}
	}
	line, err := p.writer.Append(s)
	if err == nil {
		err = p.logs[len(p.logs)-1].Append(place, line, tk.golden.raw, s.Response.RawOutputRef, tk.media)
	}
	p.broken = err != nil
	return err
}

func (s *setup) pendingRecord(tk *take) snapshot.Snapshot {
	record := tk.golden.snapshot
	record.ID = snapshot.ID(s.name, tk.number)
	return record
}

// writePending writes the pending answers of the test: what this run has bought, and what other runs have bought
// unless it was for the same record.
func (r *Recorder) writePending() error {
	p := r.pending
	mine, raw, media := map[int]bool{}, map[int][]byte{}, map[canon.Hash][]byte{}
	var records []snapshot.Snapshot
	for _, tk := range r.waiting() {
		mine[tk.number], p.mine[tk.number] = true, true
		records, raw[tk.number] = append(records, r.pendingRecord(tk)), tk.golden.raw
		maps.Copy(media, tk.media)
	}
	put := store.PutOf(r.name, records)
	put.Provider, put.Raw, put.Media = cmp.Or(put.Provider, p.provider), raw, media
	err := p.store.Settle(put, p.logs, p.mine)
	if err == nil {
		p.logs, p.mine, p.clean = nil, mine, false
	}
	return err
}

// leavePending settles what of this run waits after a test that did not pass, and says so.
func (r *Recorder) leavePending(goldens map[*take]*golden) (note string) {
	var ids []string
	var said strings.Builder
	for _, tk := range r.settlePending(goldens) {
		id := snapshot.ID(r.name, tk.number)
		ids = append(ids, id)
		if len(ids) <= briefFailures {
			said.WriteString("\n  " + id + ": " + r.preview(&tk.golden.snapshot.Response))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	if more := len(ids) - briefFailures; more > 0 {
		fmt.Fprintf(&said, "\n  … and %d more", more)
	}
	r.updated.Pending = ids
	them, wait := "them", "new answers wait"
	if len(ids) == 1 {
		them, wait = "it", "new answer waits"
	}
	next := r.nextUses(them)
	if slices.ContainsFunc(r.waiting(), func(tk *take) bool { return tk.codec.Realtime != nil }) {
		next = "the next " + r.updating("") + " makes sessions again"
	}
	return fmt.Sprintf("%d %s in %s/.pending: %s; accept or reject %s: traceforge accept %s%s",
		len(ids), wait, r.Shown, next, them, strings.Join(ids, " "), said.String())
}

// nextUses says which run uses the answers that wait, in the mode of this one where that uses any.
func (r *Recorder) nextUses(them string) string {
	switch {
	case r.Mode == UpdateNew:
		return "the next " + r.updating(UpdateNew.String()) + " uses " + them
	case r.Mode == UpdateTools && slices.ContainsFunc(r.waiting(), func(tk *take) bool { return tk.codec.Tools }):
		return "the next " + r.updating(UpdateTools.String()) + " uses those of models, and runs the tools again"
	case r.Mode == UpdateTools:
		return "the next " + r.updating(UpdateTools.String()) + " uses " + them
	case r.Mode == UpdateAll:
		return "the next " + r.updating("") + " uses those of calls that changed, and " + r.updating(UpdateAll.String()) + " makes all calls again"
	}
	return "the next " + r.updating("") + " uses " + them
}

// preview is an answer in a line.
func (s *setup) preview(resp *snapshot.Response) string {
	if len(resp.Candidates) == 0 {
		return "no text"
	}
	return short(s.Plain(textOf(resp.Candidates[0].Message.Content)))
}

// settlePending holds all calls of the test against its records, now that they are known, and writes the pending answers
// where that numbers one in another way, or where one has a secret that was not known when it was bought.
func (r *Recorder) settlePending(goldens map[*take]*golden) []*take {
	if r.Mode == Rekey || len(goldens) == 0 {
		return nil
	}
	calls := r.inOrder(goldens)
	provider := providerOf(calls)
	p := r.openPending(provider)
	changed := p.wrong != nil || !p.clean // else the log of this run has it all
	for _, tk := range r.takes {
		g := goldens[tk]
		if tk.golden == nil && g != nil && tk.origin == nil && r.keepable(g) {
			tk.golden, changed = g, true // it ended with the test
		}
		if tk.golden != nil && !r.keepable(tk.golden) {
			tk.golden, changed = nil, true
		}
	}
	if len(r.waiting()) == 0 && !changed {
		return nil
	}
	old, err := r.document(provider)
	if err == nil {
		err = old.know(len(old.records))
	}
	if err == nil {
		pairs := r.counterparts(calls, old)
		for n, c := range calls {
			if c.golden == nil || c.golden.take.golden == nil {
				continue
			}
			if tk := c.golden.take; tk.number == 0 || tk.place != pairs[n] {
				tk.place, tk.number, changed = pairs[n], 0, true
				r.renumber(tk)
			}
		}
		if changed {
			err = r.writePending()
		}
	}
	if err != nil {
		r.fail(failuref("what was bought cannot be kept: "+r.asFailure(err).brief, r.lost()))
		return nil
	}
	return r.waiting()
}

// lost says what became of answers that could not be settled: those that are in the log of the run wait there.
func (r *Recorder) lost() string {
	kept, waiting := 0, r.waiting()
	for _, tk := range waiting {
		if tk.logged > 0 {
			kept++
		}
	}
	switch {
	case kept == 0:
		return "it is lost: the next run buys it again"
	case kept == len(waiting):
		return "it waits in " + r.Shown + "/.pending: traceforge accept"
	}
	return fmt.Sprintf("%d of %d answers are lost, and the next run buys them again; the others wait in %s/.pending: traceforge accept",
		len(waiting)-kept, len(waiting), r.Shown)
}

// dropPending removes the pending answers that a test which passed has used, and those that others have replaced. All others stay, for
// a decision: they were paid. note says so.
func (r *Recorder) dropPending(partial bool) (note string, err error) {
	p := r.openPending(anyProvider)
	taken, err := removeLogs(p.logs)
	if err != nil || p.clean && !taken {
		return "", err
	}
	for _, tk := range r.waiting() {
		p.mine[tk.number] = true
	}
	done, kept, unasked := r.sortPending(partial)
	if len(kept)+len(unasked) == 0 {
		done = []string{r.name}
	} else if !partial {
		note, r.updated.Unasked = r.unusedNote(kept, unasked), unasked
	}
	if err := r.store.Reject(done...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return note, nil
}

// sortPending sorts the ids of what earlier runs have bought: done is used, or replaced by an answer that is newer or says the same; kept
// answers the request of a record that this run has kept as it was; unasked is for a call that this run has not made, as that
// of a prompt that was undone.
func (r *Recorder) sortPending(partial bool) (done, kept, unasked []string) {
	var now []snapshot.Snapshot
	if r.written != nil {
		now = r.written.Snapshots
	} else if r.tape != nil {
		now = r.tape.records
	}
	for _, waits := range r.openPending(anyProvider).earlier.records {
		i := slices.IndexFunc(now, func(s snapshot.Snapshot) bool { return s.ID == waits.ID })
		same := i >= 0 && asksTheSame(&now[i], &waits)
		switch {
		case r.pending.mine[waits.Number()],
			!partial && (slices.Contains(r.renewed, waits.ID) || same && saysTheSame(&now[i].Response, &waits.Response)):
			done = append(done, waits.ID)
		case same:
			kept = append(kept, waits.ID)
		default:
			unasked = append(unasked, waits.ID)
		}
	}
	return done, kept, unasked
}

func asksTheSame(a, b *snapshot.Snapshot) bool {
	asked, errA := snapshot.RequestCore(&a.Request, a.Source.Ignored)
	asks, errB := snapshot.RequestCore(&b.Request, b.Source.Ignored)
	return errors.Join(errA, errB) == nil && bytes.Equal(asked, asks)
}

// unusedNote says what waits after a test that passed.
func (s *setup) unusedNote(kept, unasked []string) (note string) {
	them, wait := "them", "answers still wait"
	if len(kept) == 1 {
		them, wait = "it", "answer still waits"
	}
	if len(kept) > 0 {
		note = fmt.Sprintf("%d %s in %s/.pending, as the calls are kept as they were recorded; accept or reject %s: traceforge accept %s\n",
			len(kept), wait, s.Shown, them, strings.Join(kept, " "))
	}
	if len(unasked) > 0 && s.first("unasked") {
		note += usage.Unasked(len(unasked)) // traceforge update counts those of all tests
	}
	return strings.TrimSuffix(note, "\n")
}
