package recorder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// longAnswer is the length in bytes from which collecting garbage is worth its time.
const longAnswer = 8 << 20

// makeRecord makes the record of a take, or returns why the take cannot be kept.
func (r *run) makeRecord(tk *take) *Failure {
	if tk.record != nil {
		return nil
	}
	decoded, answer, f := r.answerOf(tk)
	if f != nil {
		return f
	}
	resp, err := asRecorded(decoded, tk.status, &tk.numbering, &tk.media)
	if err != nil {
		return r.unkeptFailure(tk, err)
	}
	record := r.frame(tk)
	stored := &record.Response
	checkHeaders(stored.Headers, func(pointer, format string, args ...any) {
		err = errors.New("response" + pointer + " " + fmt.Sprintf(format, args...))
	})
	if err != nil {
		return r.unkeptFailure(tk, err)
	}
	stored.Response, stored.TokensUsed = *resp, resp.Usage.Used()
	stored.Note = tk.note
	if tk.how != failed {
		stored.Readings, stored.ReadingsMore = reading.Told(reading.Of(answer, tk.codec.API, tk.provider, decoded))
		tk.raw, stored.RawOutputRef = answer.Body, canon.Sum(answer.Body)
	}
	if (r.Timing || tk.listens()) && !isDirect(tk.codec.API) && tk.origin == nil && tk.imported == nil {
		stored.TimingMS = timing(answer, tk.arrivals)
	}
	if len(tk.raw) > longAnswer {
		runtime.GC() // decoding took several times the answer's memory
	}
	tk.record, tk.cleared = &record, -1
	return nil
}

// answerSum returns the hash of the answer's core. It is computed when it is first needed, which few calls do. A
// response without a core cannot be encoded either, and its error is reported there.
func (tk *take) answerSum() [sha256.Size]byte {
	if tk.sum == nil {
		core, _ := snapshot.ResponseCore(&tk.record.Response)
		sum := sha256.Sum256(core)
		tk.sum = &sum
	}
	return *tk.sum
}

// answerOf returns what the answer of a take says, and the answer with placeholders and without content encoding.
func (r *run) answerOf(tk *take) (resp *modelio.Response, answer *provider.Answer, f *Failure) {
	if f := r.unfinishedFailure(tk); f != nil {
		return nil, nil, f
	}
	if tk.how == failed {
		return recordedTransportError(tk.err), new(provider.Answer), nil
	}
	answer, err := tk.received()
	if err == nil {
		answer.Body = tk.values.Answer(answer)
		resp, err = tk.understand(answer)
	}
	if err != nil {
		return nil, nil, r.unkeptFailure(tk, err)
	}
	if e := resp.Error; e != nil && tk.codec.Session == nil && r.asksForRetry(tk, e) {
		tk.retry = " with the error " + cmp.Or(e.Type, e.Code)
	}
	if tk.how == whole && !resp.Complete && resp.Error == nil {
		tk.become(unterminated)
		f = r.unfinishedFailure(tk)
	}
	return resp, answer, f
}

// understand decodes an answer. An answer that does not fit its API is decoded by the generic codec, with a note
// (design R6).
func (tk *take) understand(answer *provider.Answer) (*modelio.Response, error) {
	tk.note = ""
	resp, err := tk.codec.DecodeResponse(answer)
	if err == nil || isDirect(tk.codec.API) {
		return resp, err
	}
	tk.note = err.Error()
	return provider.DecodeWhole(answer)
}

// asRecorded returns a decoded answer in the form of a record: with numbered ids, named media, and complete usage.
func asRecorded(decoded *modelio.Response, status int, n *modelio.Numbering, m *media) (*modelio.Response, error) {
	resp, err := n.Response(decoded)
	if err != nil {
		return nil, err
	}
	resp.ID, resp.Metadata = "", nil // these are not stored
	resp.Usage = resp.Usage.Completed()
	if resp.Error != nil {
		failure := *resp.Error
		failure.Status = status
		resp.Error = &failure
	}
	for i := range resp.Candidates {
		c := &resp.Candidates[i]
		m.message(&c.Message)
		c.FinishReason = cmp.Or(c.FinishReason, modelio.FinishOther)
	}
	return resp, nil
}

// cut has the values of Response.Incomplete for answers that ended early.
var cut = map[ending]string{aborted: "aborted", broken: "error", unterminated: "ended"}

// frame returns the snapshot of a take without the content of the answer.
func (r *run) frame(tk *take) snapshot.Snapshot {
	s := snapshot.Snapshot{
		Timestamp: dated(tk.started).UTC().Truncate(time.Millisecond),
		Source:    tk.source,
		Provider:  tk.provider,
		Request:   *tk.request,
		Response: snapshot.Response{
			LatencyMS:  tk.endTime().Sub(tk.started).Milliseconds(),
			Headers:    r.headers(tk),
			Status:     tk.status,
			Incomplete: cut[tk.how],
		},
	}
	s.Source.Origin = r.Origin
	if tk.origin != nil {
		tk.origin.date(&s.Timestamp, &s.Response)
		was := &tk.origin.record.Source
		s.Source.Origin, s.Source.Scripted, s.Source.Unknown = was.Origin, was.Scripted, was.Unknown
	}
	s.Source.Package, s.Source.Test = r.Package, r.Test
	s.Source.Nondeterministic = cmp.Or(r.Nondeterministic, tk.lifted)
	s.Source.IDs, s.Source.Ignored, s.Source.Lane = tk.stable, r.Ignored, tk.lane
	if r.scanner().Holds(s.Source.IDs, nil) {
		s.Source.IDs = nil // without all of them, none is compared
	}
	if s.Source.Provenance.ProviderID == tk.provider {
		s.Source.Provenance.ProviderID = ""
	}
	if tk.imported != nil {
		tk.imported.date(&s)
		s.Source.Origin, s.Source.Scripted = cmp.Or(tk.imported.From, s.Source.Origin), tk.imported.Scripted
	}
	return s
}

// unfinishedFailure is the failure of a take without a whole answer.
func (r *run) unfinishedFailure(tk *take) *Failure {
	switch tk.how {
	case unread:
		if tk.status == 0 { // no answer began, or the call has no HTTP, whose answer nobody reads or closes
			return r.lossOf(tk, fmt.Sprintf("%s was still under way when %s ended", tk.title(), r.tested()), "wait for its end")
		}
		return r.lossOf(tk, tk.answerName()+" was neither read to its end nor closed")
	case aborted, broken, unterminated:
		if r.allows(CutStreams) || tk.isScripted() {
			return nil
		}
		by := "by the caller"
		if tk.how != aborted {
			by = "before its end"
		}
		if tk.how == broken && tk.err != nil {
			by += ": " + tk.err.Error()
		}
		return r.lossOf(tk, tk.answerName()+" was cut "+by, "record again, or keep it as it is: "+r.allow("CutStreams"))
	case endless:
		return r.lossOf(tk, (&tooLong{tk.answerName(), tk.limit}).Error(), raiseLimit)
	case retryable:
		brief := fmt.Sprintf("%s answered %s, and no later try of the call did better", tk.provider, statusText(tk.status))
		return r.lossOf(tk, brief, "record again: "+r.again(), "or keep the answer as it is: "+r.allow("RetryableErrors"))
	case failed:
		if bad := asA[*noJSON](tk.err); bad != nil {
			return r.lossOf(tk, bad.Error())
		}
		if r.keepsError(tk) && !tk.lacksResult() {
			return nil
		}
		return r.unansweredFailure(tk)
	}
	return nil
}

// keepsError reports whether a take's error may be recorded. An error that an SDK made from an answer may not: replay
// would return it without the status that programs branch on.
func (s *setup) keepsError(tk *take) bool {
	status, _ := answeredWith(tk.err)
	return tk.isScripted() || s.allows(TransportErrors) && (status == 0 || !isDirect(tk.codec.API))
}

// lacksResult reports whether a tool was cancelled or panicked, which is no result.
func (tk *take) lacksResult() bool {
	return tk.codec.Tools && (errors.Is(tk.err, context.Canceled) || tk.err == errUnwound)
}

// lossOf is the failure of a take that is not recorded, with the reason and the ways out.
func (s *setup) lossOf(tk *take, brief string, ways ...string) *Failure {
	return failuref(brief+": it was not recorded", append([]string{indent(s.summary(tk.request))}, ways...)...)
}

func (s *setup) unkeptFailure(tk *take, err error) *Failure {
	return failuref(fmt.Sprintf("%s cannot be kept: %v", tk.answerName(), err), indent(s.summary(tk.request)))
}
