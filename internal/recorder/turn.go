package recorder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A turn is the tools that one answer of a model asked for, and the calls that followed.
type turn struct {
	asker int      // index of the call with that answer
	asked []string // by toolKey, in the answer's order
	calls []int    // for each of asked, the index of its call, or notMade, or cancelled
	next  int      // index of the call that sends the results, or notMade
}

const (
	notMade   = -1
	cancelled = -2 // in this replay
)

// turnsOf returns the turns of n calls in order: an answer must come before the calls that it asks for.
func turnsOf(n int, call func(int) *snapshot.Snapshot) (turns []*turn) {
	for i := range n {
		s := call(i)
		switch {
		case s == nil:
		case s.Request.Tool() != "":
			key := toolKey(s.Request.Messages[0].Content[0].ToolRequest)
			for _, t := range slices.Backward(turns) {
				if t.next == notMade && t.fill(key, i) {
					break
				}
			}
		default:
			goesOn(turns, &s.Request, i)
			if asked := asksFor(&s.Response); len(asked) > 0 {
				turns = append(turns, &turn{i, asked, slices.Repeat([]int{notMade}, len(asked)), notMade})
			}
		}
	}
	return turns
}

// asksFor returns the tools that an answer asks for.
func asksFor(r *snapshot.Response) (asked []string) {
	for _, candidate := range r.Candidates {
		for _, part := range candidate.Message.Content {
			if part.ToolRequest != nil {
				asked = append(asked, toolKey(part.ToolRequest))
			}
		}
	}
	return asked
}

// toolKey is equal for two calls of one tool with one input. A missing input equals an empty one.
func toolKey(call *modelio.ToolRequest) string {
	input, err := canon.JSON(call.Input)
	if text := string(input); err != nil || text == "null" || text == "{}" {
		input = nil
	}
	return call.Name + " " + string(input)
}

// goesOn sets next of the turn whose results a request sends: the last turn with a tool that the request names. If the
// request has results without tools, since its provider remembers them, it is the last turn.
func goesOn(turns []*turn, request *modelio.Request, i int) {
	var named []string
	results := false
	for _, message := range slices.Backward(request.Messages) {
		for _, part := range message.Content {
			if part.ToolRequest != nil {
				named = append(named, toolKey(part.ToolRequest))
			}
			results = results || part.ToolResponse != nil
		}
		if named != nil {
			break
		}
	}
	for _, t := range slices.Backward(turns) {
		isNamed := func(key string) bool { return slices.Contains(named, key) }
		if t.next == notMade && (slices.ContainsFunc(t.asked, isNamed) || named == nil && results) {
			t.next = i
			return
		}
	}
}

// fill makes i the call of a tool that the turn asked for and that has no call yet. It reports whether there is such a
// tool.
func (t *turn) fill(key string, i int) bool {
	for slot, asked := range t.asked {
		if asked == key && t.calls[slot] == notMade {
			t.calls[slot] = i
			return true
		}
	}
	return false
}

// hasFailed reports whether a call of a turn has failed. meant chooses which calls count.
func (t *turn) hasFailed(call func(int) *snapshot.Snapshot, meant func(i int) bool) bool {
	return slices.ContainsFunc(t.calls, func(i int) bool { return i >= 0 && meant(i) && failedTool(&call(i).Response) })
}

func anyCall(int) bool { return true }

// failedTool reports whether a tool's result is an error, in the form of MCP servers too.
func failedTool(r *snapshot.Response) bool {
	isError := func(p modelio.Part) bool { return string(p.Metadata["isError"]) == "true" }
	return r.Error != nil || slices.ContainsFunc(partsOf(&r.Response), isError)
}

// inAnswersOrder returns the calls with the tool calls of each answer in the answer's order, at the places of those
// calls. Which of them begins first differs from run to run.
func (t *tape) inAnswersOrder(calls []testCall) []testCall {
	ordered := slices.Clone(calls)
	for _, turn := range t.turnsOf(calls) {
		of := slices.DeleteFunc(slices.Clone(turn.calls), func(i int) bool { return i < 0 })
		places := slices.Clone(of)
		inorder.By(places, cmp.Compare[int])
		for n, place := range places {
			ordered[place] = calls[of[n]]
		}
	}
	return ordered
}

func (t *tape) turnsOf(calls []testCall) []*turn {
	return turnsOf(len(calls), func(n int) *snapshot.Snapshot { return t.snapshotOf(calls[n]) })
}

// snapshotOf returns the record of a call, or its future record; nil if a fault replaced its answer.
func (t *tape) snapshotOf(c testCall) *snapshot.Snapshot {
	switch {
	case c.faulty:
		return nil
	case c.take != nil:
		return c.take.record
	}
	return &t.records[c.record]
}

// failedTurns returns the turns in which a tool failed.
func (t *tape) failedTurns(calls []testCall) []*turn {
	return slices.DeleteFunc(t.turnsOf(calls), func(turn *turn) bool {
		return !turn.hasFailed(func(n int) *snapshot.Snapshot { return t.snapshotOf(calls[n]) }, anyCall)
	})
}

// cancelledIn reports whether a take is a tool call that ended without a result because another call of its turn
// failed.
func (tk *take) cancelledIn(turns []*turn) bool {
	ended := tk.how == unread || tk.how == aborted ||
		tk.how == failed && (errors.Is(tk.err, context.Canceled) || isDirect(tk.codec.API) && !isA[*noJSON](tk.err))
	return ended && cancelIn(turns, tk.request)
}

// cancelIn fills the place of a cancelled tool call, in the first turn that asked for it and in which it was not made.
// It reports whether there is such a turn.
func cancelIn(turns []*turn, request *modelio.Request) bool {
	return request.Tool() != "" && slices.ContainsFunc(turns, func(t *turn) bool {
		return t.fill(toolKey(request.Messages[0].Content[0].ToolRequest), cancelled)
	})
}

// sparedOutcomes returns outcomes that keep records whose call was not made. Another tool of its turn failed, or a
// client kept an earlier answer from the store. pairs are the records that have calls.
func (t *tape) sparedOutcomes(calls []testCall, pairs []int) (all []store.Outcome) {
	failed := t.failedTurns(calls)
	for i := range t.records {
		asksSame := func(c testCall) bool { return c.take == nil && t.key(c.record) == t.key(i) }
		if t.spares(i) || !slices.Contains(pairs, i) &&
			(t.isCached(i) && slices.ContainsFunc(calls, asksSame) || cancelIn(failed, &t.records[i].Request)) {
			all = append(all, store.Outcome{Of: i})
		}
	}
	return all
}

func (t *tape) recordAt(i int) *snapshot.Snapshot { return &t.records[i] }

// recordedTurns returns the turns of the records.
func (t *tape) recordedTurns() []*turn {
	if t.turns == nil {
		t.turns = append([]*turn{}, turnsOf(len(t.records), t.recordAt)...) // not nil, if there are none
	}
	return t.turns
}

// cancels reports whether a failed tool of its turn had cancelled a call without a record during the recording, and
// sets the call's turn.
func (t *tape) cancels(c *call) bool {
	if c.request.Tool() == "" {
		return false
	}
	key := toolKey(c.request.Messages[0].Content[0].ToolRequest)
	for _, turn := range slices.Backward(t.recordedTurns()) {
		over := turn.next != notMade && t.plays[turn.next].played
		if t.plays[turn.asker].played && !over && turn.hasFailed(t.recordAt, anyCall) && turn.fill(key, cancelled) {
			c.turn = turn
			return true
		}
	}
	return false
}

// spares reports whether a record may stay unplayed because a tool failed in this run. The record belongs to the same
// turn, or its call overlapped the failed one.
func (t *tape) spares(i int) bool {
	return slices.ContainsFunc(t.recordedTurns(), func(turn *turn) bool {
		failed := slices.Contains(turn.calls, cancelled) ||
			turn.hasFailed(t.recordAt, func(j int) bool { return j != i && t.plays[j].played })
		beside := func(j int) bool { return i > turn.asker && i != turn.next && overlap(t.recordAt(i), t.recordAt(j)) }
		return failed && (slices.Contains(turn.calls, i) || turn.hasFailed(t.recordAt, beside))
	})
}

// overlap reports whether two recorded calls may have overlapped, to the millisecond.
func overlap(a, b *snapshot.Snapshot) bool {
	return !a.Timestamp.After(endOf(b)) && !b.Timestamp.After(endOf(a))
}

// endOf returns the last millisecond in which a recorded call may have been under way. Its time and its latency are
// both cut to whole milliseconds.
func endOf(s *snapshot.Snapshot) time.Time {
	return s.Timestamp.Add(time.Duration(s.Response.LatencyMS+1) * time.Millisecond)
}
