package recorder

import (
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

// pending are the answers bought for a test that has not passed since (design R11). They are in a store of their own,
// under the names of the store's documents. A record there that is to replace one has its number; a new record has a
// number of its own. The run's lock guards them.
type pending struct {
	run     *run
	report  *report
	earlier *tape        // the answers that earlier runs bought
	clean   bool         // earlier runs bought nothing
	torn    string       // a note for the test's log, or ""
	mine    map[int]bool // the numbers of those that this run also has
	wrong   error        // why the last answer could not be written

	provider string     // the provider in whose directory the document is
	log      *store.Log // the answers that this run has bought; nil until it buys one
}

// open reads the answers that earlier runs of the test bought.
func (p *pending) open(provider string) {
	if p.log != nil {
		return
	}
	p.mine, p.provider, p.log = map[int]bool{}, provider, p.run.store.NewLog(p.run.name, provider)
	doc, err := p.run.store.Pending().Load(p.run.name, provider) // nil on an error
	p.clean = errors.Is(err, fs.ErrNotExist)
	if errors.Is(err, store.ErrDoubt) { // its writer is in doubt, so this run must not remove it
		p.clean, p.torn = true, err.Error()
	}
	if doc != nil && doc.Torn {
		p.torn = "an answer that a killed run was about to keep in " + p.run.Shown + "/.pending is not whole: it is left out"
	}
	p.earlier = newTape(doc, p.run.rules)
}

// serve serves a call from an answer that an earlier run of the test bought for it, or returns nil.
func (p *pending) serve(c *call, lifted string) *servedRecord {
	if p.run.Mode == UpdateAll {
		return nil
	}
	p.open(c.provider)
	i, how := search{p.run, p.earlier}.find(c)
	if how == found && (p.run.Mode.makesAgain(c.codec.Tools) || c.isFree(&p.earlier.records[i])) {
		p.earlier.plays[i].played = true
		p.mine[p.earlier.records[i].Number()] = true
		return nil // the newer answer replaces that one
	}
	s := p.run.adoptFrom([]*tape{p.earlier}, c, lifted)
	if s == nil {
		return nil
	}
	tk := p.run.takes[len(p.run.takes)-1]
	if p.run.makeRecord(tk) == nil {
		tk.waits, tk.number, tk.place = true, s.record.Number(), -1
		p.mine[tk.number] = true
	}
	return s
}

// keep writes a bought answer at once, since a test that is killed runs no cleanup. The end of the test reports answers
// that cannot be kept. An error is not kept: it cost nothing.
func (p *pending) keep(tk *take) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	if how := tk.ending(); p.run.ended || how != whole && how != aborted && how != broken {
		return
	}
	if p.run.makeRecord(tk) != nil || !p.keepable(tk) || tk.isFree(tk.record) || tk.dropsQuietly() {
		return
	}
	tk.waits = true
	p.open(tk.provider)
	if p.wrong = p.number(tk.provider); p.wrong == nil {
		p.wrong = p.append()
	}
	if len(tk.raw) > longAnswer {
		runtime.GC() // writing it took several times its length
	}
}

func (p *pending) keepable(tk *take) bool {
	return tk.record.Source.Scripted == "" && p.run.refuseSecrets(tk) == nil
}

// isFree reports whether an answer is an error, which cost nothing: the next run asks again, and may succeed. An error
// in a message of a session is a result like any other.
func (c *call) isFree(s *snapshot.Snapshot) bool {
	return s.Response.Error != nil && c.codec.Session == nil
}

// waiting returns the takes whose answers wait, in the order of the calls.
func (p *pending) waiting() (takes []*take) {
	for _, tk := range p.run.takes {
		if tk.waits {
			takes = append(takes, tk)
		}
	}
	return takes
}

// number numbers the waiting answers that have no number yet. An answer gets the number of the record that its call
// would be compared with, or a new one.
func (p *pending) number(provider string) error {
	if _, err := p.run.document(provider); err != nil {
		return err
	}
	taken := make([]bool, len(p.run.tape.records)) // records that belong to other calls
	for _, a := range p.run.answered {
		if a.take == nil {
			taken[a.record] = true
		}
	}
	for _, tk := range p.waiting() {
		if tk.number > 0 && tk.place >= 0 && taken[tk.place] {
			tk.number = 0 // another call turned out to belong to the record
		} else if tk.number > 0 && tk.place >= 0 {
			taken[tk.place] = true
		}
	}
	for _, tk := range p.waiting() {
		if tk.number > 0 {
			continue
		}
		if tk.place = p.placeOf(tk, taken); tk.place >= 0 {
			taken[tk.place] = true
		}
		p.renumber(tk)
	}
	return nil
}

// placeOf returns the index of the record that an answer is to replace, among those not taken, or -1.
func (p *pending) placeOf(tk *take, taken []bool) int {
	if p.run.Mode == UpdateNew || !slices.Contains(taken, false) {
		return -1
	}
	if i := firstLeft(p.run.tape.equalTo(tk.key), func(i int) bool { return taken[i] }); i >= 0 {
		return i
	}
	i, _ := p.run.like(tk.call, taken)
	return i
}

// renumber gives an answer the number of its place.
func (p *pending) renumber(tk *take) {
	if tk.place >= 0 {
		tk.number = p.run.tape.records[tk.place].Number()
		return
	}
	last := store.LastNumber(p.run.tape.records)
	for i, s := range p.earlier.records {
		if !p.earlier.plays[i].played {
			last = max(last, s.Number())
		}
	}
	for _, other := range p.waiting() {
		last = max(last, other.number)
	}
	tk.number = last + 1
}

// append adds to the log of this run the answers bought since the last time. If an answer in it has a new number, the
// log is begun again.
func (p *pending) append() error {
	if slices.ContainsFunc(p.run.takes,
		func(tk *take) bool { return tk.logged > 0 && tk.waits && tk.logged != tk.number }) {
		old := p.log
		p.log = p.run.store.NewLog(p.run.name, p.provider)
		for _, tk := range p.run.takes {
			tk.logged = 0
		}
		if err := p.append(); err != nil {
			p.log.Join(old)
			return err
		}
		_, err := old.Remove()
		return err
	}
	for i, tk := range p.run.takes {
		if !tk.waits || tk.logged > 0 || tk.origin != nil { // an adopted answer already waits in a log
			continue
		}
		if err := p.log.Append(i, p.recordOf(tk), tk.raw, tk.media); err != nil {
			return err
		}
		tk.logged = tk.number
	}
	return nil
}

func (p *pending) recordOf(tk *take) snapshot.Snapshot {
	record := *tk.record
	record.ID = snapshot.ID(p.run.name, tk.number)
	return record
}

// write writes the waiting answers of the test: those of takes, and other runs' answers for other records.
func (p *pending) write(takes []*take) error {
	mine, beside := map[int]bool{}, map[canon.Hash][]byte{}
	var records []snapshot.Snapshot
	for _, tk := range takes {
		mine[tk.number], p.mine[tk.number] = true, true
		records = append(records, p.recordOf(tk))
		beside[tk.record.Response.RawOutputRef] = tk.raw
		maps.Copy(beside, tk.media)
	}
	put := store.PutOf(p.run.name, records)
	put.Provider, put.Beside = cmp.Or(put.Provider, p.provider), beside
	err := p.run.store.Pending().Settle(put, p.log, p.mine)
	if err == nil {
		p.log, p.mine, p.clean = p.run.store.NewLog(p.run.name, p.provider), mine, false
	}
	return err
}

// leave settles the waiting answers of this run after a test that did not pass. It returns their ids, and a note.
func (p *pending) leave(kept []*take) (ids []string, note string) {
	var said []string
	for _, tk := range p.settle(kept) {
		id := snapshot.ID(p.run.name, tk.number)
		ids = append(ids, id)
		line := "  " + id + ": " + short(p.run.plainText(saidIn(tk.record)))
		if tk.isFree(tk.record) {
			line += " (the next run asks again)"
		}
		said = append(said, line)
	}
	if len(ids) == 0 {
		return nil, ""
	}
	note = p.waitNote(ids, "new answer waits", "new answers wait", ": "+p.nextUses(ids), p.together(ids))
	if p.run.Mode != UpdateTools && p.toolsWait() {
		note += "\n  a tool whose result waits is not run again; to run the tools again: " + p.run.with(UpdateTools.String())
	}
	return ids, note + "\n" + strings.Join(atMost(briefFailures, said, moreLines), "\n")
}

// toolsWait reports whether a tool's result is among the waiting answers.
func (p *pending) toolsWait() bool {
	return slices.ContainsFunc(p.waiting(), func(tk *take) bool { return tk.codec.Tools && !tk.isFree(tk.record) })
}

// together replaces many ids by the name of the test's document, if no other answers wait for it.
func (p *pending) together(ids []string) []string {
	const few = 3
	other := func(s snapshot.Snapshot) bool { return !slices.Contains(ids, s.ID) }
	if len(ids) <= few || slices.ContainsFunc(p.earlier.records, other) {
		return ids
	}
	return []string{p.run.name}
}

// waitNote says that answers wait, with the words for one and for many, and how to decide on them by names.
func (p *pending) waitNote(ids []string, one, many, why string, names []string) string {
	return fmt.Sprintf("%s in %s/.pending%s; accept or reject %s: traceforge accept %s",
		isAre(len(ids), one, many), p.run.Shown, why, them(ids), strings.Join(names, " "))
}

// them is the pronoun for a number of ids.
func them(ids []string) string {
	if len(ids) == 1 {
		return "it"
	}
	return "them"
}

// nextUses says which run will use the waiting answers: one in this run's mode, if that mode uses any.
func (p *pending) nextUses(ids []string) string {
	switch {
	case slices.ContainsFunc(p.waiting(), func(tk *take) bool { return tk.codec.Realtime != nil }):
		return "the next " + p.run.updating("") + " makes sessions again"
	case p.run.Mode == UpdateTools && p.toolsWait():
		return "the next " + p.run.updating(UpdateTools.String()) + " uses those of models, and runs the tools again"
	case p.run.Mode == UpdateNew, p.run.Mode == UpdateTools:
		return "the next " + p.run.updating(p.run.Mode.String()) + " uses " + them(ids)
	case p.run.Mode == UpdateAll:
		return "the next " + p.run.updating("") + " uses those of calls that changed, and " +
			p.run.updating(UpdateAll.String()) + " makes all calls again"
	}
	return "the next " + p.run.updating("") + " uses " + them(ids)
}

// settle compares all calls of the test with its records, now that all calls are known. It writes the waiting answers
// again if one gets a new number, or has a secret that was not known when it was bought. Errors wait with the answers,
// since a test that is accepted needs them too.
func (p *pending) settle(kept []*take) []*take {
	if p.run.Mode == Rekey || len(kept) == 0 {
		return nil
	}
	calls := p.run.inOrder(kept)
	provider := providerOf(calls)
	p.open(provider)
	changed := p.wrong != nil || !p.clean // otherwise the log of this run has everything
	bought := slices.ContainsFunc(calls, func(c testCall) bool {
		return c.take != nil && !c.take.isFree(c.take.record) && p.keepable(c.take)
	})
	for _, tk := range kept { // including those that already wait
		if !tk.waits && tk.origin == nil && p.keepable(tk) && (bought || !tk.isFree(tk.record)) {
			tk.waits, changed = true, true // it ended with the test, or is an error
		}
		if tk.waits && !p.keepable(tk) {
			tk.waits, changed = false, true
		}
	}
	if len(p.waiting()) == 0 && !changed {
		return nil
	}
	old, err := p.run.document(provider)
	if err == nil {
		pairs, _ := p.run.counterparts(calls, old)
		for n, c := range calls {
			if c.take == nil || !c.take.waits {
				continue
			}
			if tk := c.take; tk.number == 0 || tk.place != pairs[n] {
				tk.place, tk.number, changed = pairs[n], 0, true
				p.renumber(tk)
			}
		}
		if changed {
			err = p.write(p.waiting())
		}
	}
	if err != nil {
		p.report.fail(failuref("what was bought cannot be kept: "+p.run.asFailure(err).brief, p.lost()))
		return nil
	}
	return p.waiting()
}

// lost says what happened to answers that could not be settled: those in a log wait there.
func (p *pending) lost() string {
	kept, waiting := 0, p.waiting()
	for _, tk := range waiting {
		if tk.logged > 0 || tk.origin != nil {
			kept++
		}
	}
	switch {
	case kept == 0:
		return "it is lost: the next run buys it again"
	case kept == len(waiting):
		return "it waits in " + p.run.Shown + "/.pending: traceforge accept"
	}
	return fmt.Sprintf(
		"%d of %d answers are lost, and the next run buys them again; the others wait in %s/.pending: traceforge accept",
		len(waiting)-kept, len(waiting), p.run.Shown)
}

// drop removes the waiting answers that a passed test used or replaced. All others stay for a decision, since they were
// paid for: note says so, and unasked are the ids of those that no call asks for. now are the test's records, and
// renewed the ids of those that this run answered.
func (p *pending) drop(now []snapshot.Snapshot, renewed []string,
	partial bool) (note string, unasked []string, err error) {
	p.open(anyProvider)
	taken, err := p.log.Remove()
	if err != nil || p.clean && !taken {
		return "", nil, err
	}
	for _, tk := range p.waiting() {
		p.mine[tk.number] = true
	}
	kept, unasked := p.sort(now, renewed, partial)
	if left := len(kept) + len(unasked); left == 0 || left < len(p.earlier.records) {
		if err := p.write(nil); err != nil {
			return "", nil, err
		}
	}
	if partial {
		return "", nil, nil
	}
	return p.unusedNote(kept, unasked), unasked, nil
}

// sort sorts the answers that earlier runs bought and this run neither used nor replaced. It returns their ids: kept
// are answers for records that this run left unchanged, unasked are answers for calls that this run did not make, for
// example after a prompt was undone.
func (p *pending) sort(now []snapshot.Snapshot, renewed []string, partial bool) (kept, unasked []string) {
	for _, waits := range p.earlier.records {
		i := slices.IndexFunc(now, func(s snapshot.Snapshot) bool { return s.ID == waits.ID })
		same := i >= 0 && store.SameRequest(&now[i], &waits)
		switch {
		case p.mine[waits.Number()],
			!partial && (slices.Contains(renewed, waits.ID) || same && store.SameAnswer(&now[i].Response, &waits.Response)):
			p.mine[waits.Number()] = true
		case same:
			kept = append(kept, waits.ID)
		default:
			unasked = append(unasked, waits.ID)
		}
	}
	return kept, unasked
}

// unusedNote says which answers still wait after a test that passed.
func (p *pending) unusedNote(kept, unasked []string) (note string) {
	if len(kept) > 0 {
		const why = ", as the calls are kept as they were recorded"
		note = p.waitNote(kept, "answer still waits", "answers still wait", why, kept) + "\n"
	}
	if len(unasked) > 0 && p.run.saysFirst("unasked") {
		note += usage.Unasked(len(unasked)) // traceforge update counts those of all tests
	}
	return strings.TrimSuffix(note, "\n")
}
