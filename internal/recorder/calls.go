package recorder

import (
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Calls returns the calls so far that have a whole answer, in order. They are copies that belong to the caller, as a
// replay reads them from a document.
func (r *Recorder) Calls() (calls []*modelio.Call, err error) {
	snapshots, err := r.Snapshots()
	for _, s := range snapshots {
		s.ID, s.Continues = snapshot.ID(r.run.name, 1), nil
		s.Source.Package, s.Source.Test = r.run.Package, r.run.Test
		alone := &snapshot.Document{Snapshots: []snapshot.Snapshot{s}}
		_, err = alone.Write(func(read *snapshot.Document) error { // so the copy shares no memory
			calls = append(calls, callOf(&read.Snapshots[0]))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return calls, err
}

func callOf(s *snapshot.Snapshot) *modelio.Call {
	response := &s.Response.Response
	response.Complete = s.Response.Incomplete == ""
	for i := range response.Candidates {
		if s.Request.Tool() != "" {
			response.Candidates[i].Message.Role = modelio.RoleTool // files name no role
		}
	}
	latency := time.Duration(s.Response.LatencyMS) * time.Millisecond
	return &modelio.Call{Provider: s.Provider, Request: &s.Request, Response: response, Latency: latency}
}

// Snapshots returns the records of the calls so far that have a whole answer, in order, each with its provider. Records
// of calls made in this run have no hashes yet.
func (r *Recorder) Snapshots() ([]snapshot.Snapshot, error) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	var kept []*take
	for _, tk := range r.run.takes {
		now := tk.soFar()
		how := now.ending()
		if how == underWay || how == dropped || r.run.unfinishedFailure(now) != nil || now.dropsQuietly() {
			continue // the call has no answer that can be recorded
		}
		if f := r.run.makeRecord(now); f != nil {
			return nil, f
		}
		kept = append(kept, now)
	}
	var all []snapshot.Snapshot
	for _, c := range r.run.inOrder(kept) {
		if recorded := r.run.tape.snapshotOf(c); recorded != nil {
			all = append(all, *recorded)
		}
	}
	return all, nil
}

// inTapesOrder returns the calls, with replayed calls that may have overlapped in the recording in the order of their
// records. Which of them comes first changes from run to run.
func (t *tape) inTapesOrder(made []testCall) []testCall {
	var together []int
	if t != nil {
		together = overlapGroups(t.records)
	}
	for n := range made {
		for i := n; i > 0 && made[i].take == nil && made[i-1].take == nil; i-- {
			a, b := made[i-1].record, made[i].record
			if a < b || together[a] != together[b] {
				break
			}
			made[i-1], made[i] = made[i], made[i-1]
		}
	}
	return made
}

// overlapGroups returns a group number for each record. Records that may have overlapped, directly or through others,
// have the same number.
func overlapGroups(records []snapshot.Snapshot) []int {
	byStart := make([]int, len(records))
	for i := range byStart {
		byStart[i] = i
	}
	inorder.By(byStart, func(a, b int) int { return records[a].Timestamp.Compare(records[b].Timestamp) })
	together := make([]int, len(records))
	var group int
	var end time.Time
	for _, i := range byStart {
		s := &records[i]
		if s.Timestamp.After(end) {
			group++
		}
		together[i] = group
		if over := endOf(s); over.After(end) {
			end = over
		}
	}
	return together
}
