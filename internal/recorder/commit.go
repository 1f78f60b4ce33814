package recorder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A revision is the new state of the test's document after a run.
type revision struct {
	run     *run
	report  *report
	pending *pending
	updated *usage.Update      // what the test changed in its document, or nil
	written *snapshot.Document // the document that was committed, or nil
	renewed []string           // ids of the records whose calls were made or adopted an answer
}

// settle writes the recorded calls if the test passed. After a failed or skipped test the store stays as it was, and
// the answers wait. It returns a note for the test's log.
func (r *revision) settle(o TestEnd) (note string) {
	kept := r.kept()
	r.updated = &usage.Update{}
	r.countTokens(kept)
	if !o.Failed && !o.Skipped && len(r.report.failures) == 0 {
		err := r.write(kept, o.Partial)
		if err == nil && r.run.Mode != Rekey {
			note, r.updated.Unasked, err = r.pending.drop(r.records(), r.renewed, o.Partial)
		}
		if err == nil {
			return strings.Trim(r.run.plainText(summary(r.updated))+"\n"+note, "\n")
		}
		r.report.fail(r.run.asFailure(err))
	}
	if r.updated.Pending, note = r.pending.leave(kept); note != "" {
		return failedBy(o.Subtests) + note
	}
	if len(r.run.takes) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, so %s not recorded and the snapshots are as they were",
		r.run.notRecorded(o.Skipped), isAre(len(r.run.madeCalls()), "call was", "calls were"))
}

// failedBy begins the note of a test that failed through its subtests: its answers wait for theirs.
func failedBy(subtests []string) string {
	if len(subtests) == 0 {
		return ""
	}
	return "the test failed by its subtest " + strings.Join(atMost(1, subtests, ""), " ") + ": "
}

// write commits the document that the test now has.
func (r *revision) write(kept []*take, partial bool) error {
	put, changed, err := r.pair(kept, partial)
	if err != nil {
		return err
	}
	if r.run.Namesake && r.run.tape.losesCalls(put.Document) {
		return failuref(
			fmt.Sprintf("another test named %s has recorded its calls in this process, and would lose them", r.run.Test),
			"give each a name of its own, by t.Run where New is called in several testing/synctest bubbles")
	}
	r.written = put.Document
	if len(put.Document.Snapshots) == 0 {
		return r.remove()
	}
	if err := r.run.refuseSecrets(changed...); err != nil {
		return err
	}
	put.Summed = true
	put.Check = func(read *snapshot.Document) error { return r.verify(put.Provider, read, kept) }
	begins.Delete([2]string{r.run.Dir, r.run.name})
	return r.run.store.Commit(store.Change{Put: []store.Put{put}})
}

// losesCalls reports whether a document has no record of some request of the tape.
func (t *tape) losesCalls(next *snapshot.Document) bool {
	return slices.ContainsFunc(t.records, func(was snapshot.Snapshot) bool {
		return !slices.ContainsFunc(next.Snapshots, func(s snapshot.Snapshot) bool { return store.SameRequest(&was, &s) })
	})
}

// records returns the records that the test's document has now.
func (r *revision) records() []snapshot.Snapshot {
	switch {
	case r.written != nil:
		return r.written.Snapshots
	case r.run.tape != nil:
		return r.run.tape.records
	}
	return nil
}

// remove removes the document of a test whose calls were all cancelled by their callers.
func (r *revision) remove() error {
	if r.run.tape.doc == nil {
		return nil
	}
	return r.run.store.Commit(store.Change{Remove: []string{r.run.tape.doc.File()}})
}

// kept makes the records of the takes, and returns the takes that have one. A call that failed for now and then
// succeeded counts as one call.
func (r *revision) kept() (kept []*take) {
	for _, tk := range r.run.takes {
		tk.endWithTest()
		if tk.dropsQuietly() {
			tk.become(dropped)
		}
	}
	unkept := map[*take]*Failure{}
	for _, tk := range r.run.madeCalls() {
		if tk.how == dropped {
			continue
		}
		if f := r.run.makeRecord(tk); f != nil {
			unkept[tk] = f
		} else {
			kept = append(kept, tk)
		}
	}
	if len(unkept) == 0 {
		return kept
	}
	failed := r.run.tape.failedTurns(r.run.inOrder(kept))
	for _, tk := range r.run.takes {
		if f := unkept[tk]; f != nil && !tk.cancelledIn(failed) {
			f.Source = tk.source
			r.report.fail(f)
		}
	}
	return kept
}

// madeCalls returns one take for each call that was made live. If no try was final, it is the first try.
func (r *run) madeCalls() (takes []*take) {
	counted := r.finalKeys()
	for _, tk := range r.takes {
		again := r.transient(tk)
		if again && counted[tk.key] {
			continue
		}
		counted[tk.key] = counted[tk.key] || again && tk.retry == ""
		takes = append(takes, tk)
	}
	return takes
}

// finalKeys returns the keys of the calls that have a final try.
func (r *run) finalKeys() map[key]bool {
	final := map[key]bool{}
	for _, tk := range r.takes {
		if tk.ending() != dropped && !r.transient(tk) {
			final[tk.key] = true
		}
	}
	return final
}

// transient reports whether a take ended in a way that a further try may better.
func (s *setup) transient(tk *take) bool {
	how := tk.ending()
	return how == retryable || tk.retry != "" || how == failed && !s.keepsError(tk)
}

// verify looks up each recording with the code that replays, in the document as it will be read, before anything is
// written.
func (r *revision) verify(provider string, doc *snapshot.Document, kept []*take) error {
	t := newTape(&store.Doc{Provider: provider, Document: doc}, r.run.rules)
	for _, c := range r.run.inOrder(kept) { // equal requests that overlapped are in the order of their answers
		s := r.run.tape.snapshotOf(c)
		i, how := 0, missing
		if c.take != nil {
			i, how = t.findCall(c.take.call)
		} else {
			i, how = t.find(r.run.tape.key(c.record))
		}
		if how == found && len(s.Source.IDs) > 0 {
			i = max(i, t.withJustIDs(i, s.Source.IDs))
		}
		if how != found || c.take != nil && !store.SameAnswer(&doc.Snapshots[i].Response, &s.Response) {
			return fmt.Errorf("%s would not be found again in replay: nothing was written",
				titleOf(s.Provider, &s.Request))
		}
		t.plays[i].played = true
	}
	return nil
}

// document returns the tape of the test's document, even if the test made no call that the tape answers. The tape is
// empty if an update replaces an unreadable document. One of a newer traceforge, or of an unfinished merge, is an
// error.
func (r *run) document(provider string) (*tape, error) {
	err := r.openTape(provider)
	if modes[r.Mode].writes && isA[*snapshot.Error](err) && !errors.Is(err, snapshot.ErrNewer) &&
		!errors.Is(err, snapshot.ErrConflict) {
		r.tape, err = newTape(nil, r.rules), nil
	}
	return r.tape, err
}

// whole reports whether the files that a stored record names exist and match it.
func (t *tape) whole(i int) bool {
	raw, err := t.doc.Raw(i)
	return err == nil && len(prove(t.doc, i, raw, &modelio.Numbering{})) == 0 && t.fetchMedia(i) == nil
}

// fetchMedia returns an error for media of a record that are missing.
func (t *tape) fetchMedia(i int) error {
	for _, medium := range t.records[i].Media() {
		if _, err := t.doc.Media(medium.Hash); err != nil {
			return err
		}
	}
	return nil
}
