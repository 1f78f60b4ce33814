package recorder

import (
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// Deterministic is a [store.Check]: it holds design R7 by what stands in a record, since what a codec
// knows changes with its version. Where a model generated the answer the temperature must be 0, or a
// reason be given why it is not. A seed is asked for when a call is recorded, where the API has one:
// no record tells that.
func Deterministic(d *store.Doc) (wrong []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		if !generated(s) || s.Source.Nondeterministic != "" {
			continue
		}
		is := "is not set"
		if t := s.Request.Temperature; t != nil && zero(*t) {
			continue
		} else if t != nil {
			is = "is " + t.String()
		}
		wrong = append(wrong, snapshot.Violation{
			Pointer: jsontext.PointerTo("snapshots", strconv.Itoa(i), "request", "temperature"), Rule: snapshot.RuleDeterministic,
			Message: is + ", must be 0, or source.nondeterministic say why it is not: record again",
		})
	}
	return wrong
}

// generated reports whether a model made an answer up, by why it ended it. What the generic codec keeps
// may look so and be none.
func generated(s *snapshot.Snapshot) bool {
	ended := func(c modelio.Candidate) bool { return c.FinishReasonRaw != "" }
	return s.Request.API != "" && s.Request.API != genericAPI &&
		(s.Response.Incomplete != "" || slices.ContainsFunc(s.Response.Candidates, ended))
}

// genericAPI is that of the codec for what has none of its own.
const genericAPI = "http.json"

// ruleIgnored is that of a note on what a record says and nobody compared.
const ruleIgnored = "ignored"

// Notes says what is no fault of a document, and worth knowing to those who review it.
func Notes(d *store.Doc) (notes []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		at := jsontext.PointerTo("snapshots", strconv.Itoa(i))
		for n, pointer := range s.Source.Ignored {
			name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
			if slices.Contains([]string{"messages", "model", "prompt", "tools"}, name) {
				notes = append(notes, snapshot.Violation{
					Pointer: at + jsontext.PointerTo("source", "ignored", strconv.Itoa(n)), Rule: ruleIgnored,
					Message: "leaves " + pointer + " of the request out: a test that sends another is served this answer too",
				})
			}
		}
		if s.Request.API != modelAPI {
			continue
		}
		if raw, err := d.Raw(i); err == nil && unlikeChunks(raw) {
			notes = append(notes, snapshot.Violation{
				Pointer: at + "/response/raw_output_ref", Rule: snapshot.RuleAnswer,
				Message: "names an answer whose chunks say another text than its response: a record has the response",
			})
		}
	}
	return notes
}
