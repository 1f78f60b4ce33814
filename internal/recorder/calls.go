package recorder

import (
	"reflect"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Calls returns the calls so far that have a whole answer, in their order, as copies of the caller's own. Calls of
// this run are as a replay will read them.
func (r *Recorder) Calls() (calls []*modelio.Call, err error) {
	snapshots, err := r.Snapshots()
	if err != nil || !r.Mode.Live() {
		return callsOf(snapshots), err
	}
	doc := &snapshot.Document{Version: snapshot.Version, Snapshots: snapshots}
	for i := range snapshots {
		snapshots[i].ID, snapshots[i].Continues = snapshot.ID(r.name, i+1), nil
	}
	_, err = doc.Write(func(read *snapshot.Document) error { calls = callsOf(read.Snapshots); return nil })
	return calls, err
}

func callsOf(snapshots []snapshot.Snapshot) []*modelio.Call {
	calls := make([]*modelio.Call, len(snapshots))
	for i := range snapshots {
		s := &snapshots[i]
		calls[i] = copyOf(&modelio.Call{
			Provider: s.Provider, Request: &s.Request, Response: &s.Response.Response,
			Latency: time.Duration(s.Response.LatencyMS) * time.Millisecond,
		})
		calls[i].Response.Complete = s.Response.Incomplete == ""
		for n := range calls[i].Response.Candidates {
			if s.Request.Tool() != "" {
				calls[i].Response.Candidates[n].Message.Role = modelio.RoleTool // files name no role
			}
		}
	}
	return calls
}

// Snapshots returns the calls so far that have a whole answer, in their order, each with its provider. Records of
// this run's own calls have no hashes yet.
func (r *Recorder) Snapshots() ([]snapshot.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	goldens := map[*take]*golden{}
	for _, tk := range r.takes {
		now := tk.soFar()
		if !r.isWhole(now) {
			continue
		}
		g, f := r.golden(now)
		if f != nil {
			return nil, f
		}
		goldens[tk] = g
	}
	var all []snapshot.Snapshot
	for _, c := range r.inOrder(goldens) {
		recorded := r.tape.snapshotOf(c)
		if recorded == nil {
			continue
		}
		s := *recorded
		if c.golden == nil {
			s.Provider = r.tape.providerOf(c.record)
		}
		all = append(all, s)
	}
	return all, nil
}

// isWhole reports whether a take has an answer that can be recorded.
func (r *run) isWhole(tk *take) bool {
	how := tk.ended()
	return how != underWay && how != dropped && !r.transient(tk) && r.unfinished(tk) == nil && !tk.dropsQuietly()
}

// inTapesOrder puts replayed calls that may have overlapped in the recording in the order of their records. Which of
// them asks first changes from run to run.
func (t *tape) inTapesOrder(made []testCall) []testCall {
	var together []int
	if t != nil {
		together = overlaps(t.records)
	}
	for n := range made {
		for i := n; i > 0 && made[i].golden == nil && made[i-1].golden == nil; i-- {
			a, b := made[i-1].record, made[i].record
			if a < b || together[a] != together[b] {
				break
			}
			made[i-1], made[i] = made[i], made[i-1]
		}
	}
	return made
}

// overlaps returns for each record a number that it shares with those that it may have overlapped with, one after another.
func overlaps(records []snapshot.Snapshot) []int {
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

// copyOf returns a value that shares no memory with v, whose types have exported fields only.
func copyOf[T any](v T) T { return copied(reflect.ValueOf(&v).Elem()).Interface().(T) }

func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for entries := v.MapRange(); entries.Next(); {
				out.SetMapIndex(entries.Key(), copied(entries.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	case reflect.String:
		out.SetString(strings.Clone(v.String()))
	default:
		out.Set(v)
	}
	return out
}
