package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Difference is a document that differs between two states of a store, or that only one of them has.
type Difference struct {
	Change
	Was string `json:"was,omitempty"` // the file before the document moved
	// numbers of the calls that both states have, in their order now; absent if it is the order before
	Order       []int            `json:"order,omitempty"`
	Differences []CallDifference `json:"differences,omitempty"`
	// calls that only one state has, by their fate, in the format's literal form with their readings and all of their
	// source. One that continues another of them has only the messages after those of that call
	Only Only `json:"only,omitempty"`

	Raw     []string `json:"-"` // changes in raw answers whose records are the same: see [OtherBytes.Tell]
	Glances []glance `json:"-"` // summaries of the first calls that only one state has

	same  map[string]int // number of records with the same content, by the kind of their difference
	times []string       // when calls that were recorded again were recorded, now and before
	// hash of all calls, which identifies the document under another name; only for documents that one state has
	content string
	all     string             // the command that shows all
	doc     *snapshot.Document // set if only one state has the document, unless heldAlone others are kept
}

// A CallDifference is a call that differs between both states.
type CallDifference struct {
	Call     int                `json:"call"`             // its number
	Causes   []string           `json:"causes,omitempty"` // what differs in the request, in words
	Request  []drift.Difference `json:"request,omitempty"`
	Response []drift.Difference `json:"response,omitempty"` // in the answer, including its headers
	Bytes    bool               `json:"bytes,omitempty"`    // only the raw answer differs
}

// numbered returns the calls of a document, which may be nil, by their numbers.
func numbered(doc *snapshot.Document) map[int]*snapshot.Snapshot {
	calls := map[int]*snapshot.Snapshot{}
	for i := range cmp.Or(doc, &snapshot.Document{}).Snapshots {
		s := &doc.Snapshots[i]
		calls[s.Number()] = s
	}
	return calls
}

// orderOf returns the numbers of the calls that two documents have, in the order of the second. It is nil if the first
// has that order too. Replay answers calls with one request in the order of their records.
func orderOf(from, to *snapshot.Document) []int {
	numbers := func(of, other *snapshot.Document) (common []int) {
		calls := numbered(other)
		for i := range of.Snapshots {
			if n := of.Snapshots[i].Number(); calls[n] != nil {
				common = append(common, n)
			}
		}
		return common
	}
	if now := numbers(to, from); !slices.Equal(now, numbers(from, to)) {
		return now
	}
	return nil
}

func explainCall(from, to *snapshot.Snapshot, request []drift.Difference, call *Call) (d CallDifference) {
	d.Call, d.Request = call.Call, request
	for _, c := range call.Request {
		d.Causes = append(d.Causes, c.String())
	}
	was, _ := snapshot.ResponseCore(&from.Response) // Answers has compared it
	is, _ := snapshot.ResponseCore(&to.Response)
	d.Response = append(drift.JSON(was, is), besideCores(call.Answer)...)
	d.Bytes = len(d.Response) == 0 && from.Response.RawOutputRef != to.Response.RawOutputRef
	if was, is := recordedAt(from), recordedAt(to); was != is && len(d.Request)+len(d.Response) == 0 && !d.Bytes {
		d.Response = []drift.Difference{{Pointer: "/timestamp", Recorded: jsontext.Text(was), Got: jsontext.Text(is)}}
	}
	return d
}

// isRecordedAgain reports whether two records are of a call that was made twice.
func isRecordedAgain(was, now *snapshot.Snapshot) bool { return !was.Timestamp.Equal(now.Timestamp) }

// recordedAt returns when a call was recorded, in the format's spelling.
func recordedAt(s *snapshot.Snapshot) string { return s.Timestamp.Format(time.RFC3339Nano) }

// ofCore are the kinds of changes within the core of an answer.
var ofCore = []string{AnswerText, ToolCalls, Reasoning, AnswerParts, FinishReason, AnswerError}

// besideCores returns those changes of [Answers] that are outside of the cores, as differences by pointer.
func besideCores(changes []drift.Change) (found []drift.Difference) {
	text := func(side *string) json.RawMessage {
		if side == nil {
			return nil
		}
		return jsontext.Text(*side)
	}
	for _, c := range changes {
		if !slices.Contains(ofCore, c.Kind) {
			found = append(found, drift.Difference{Pointer: c.Pointer, Recorded: text(c.Before), Got: text(c.After)})
		}
	}
	return found
}

// ofProviders returns the change from one provider to another, if they differ; empty stands for the provider in whose
// directory the document is.
func ofProviders(was, is string) []drift.Change {
	line := func(provider string) json.RawMessage {
		if provider == "" {
			return nil
		}
		return jsontext.Text("provider: " + provider)
	}
	return drift.Between(AnswerSource, AnswerSource, "/request/provider", line(was), line(is), drift.Readable)
}

// identify notes the content of a document that only one state has: what is sent, and all that replay serves or shows.
func (d *Difference) identify(doc *snapshot.Document) error {
	sum := sha256.New()
	for i := range doc.Snapshots {
		s := &doc.Snapshots[i]
		request, errRequest := snapshot.RequestCore(&s.Request, nil)
		answer, errAnswer := (&snapshot.Snapshot{Response: s.Response}).SF()
		if err := errors.Join(errRequest, errAnswer); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d %d %s%s %q %q", s.Provider, len(request), len(answer), request, answer,
			[]any{s.Response.Readings, s.Response.ReadingsMore, s.Source.IDs}, facts(s)) // SF has none of them
	}
	d.content = string(sum.Sum(nil))
	return nil
}

func glanceOf(s *snapshot.Snapshot) glance {
	const most = 100 // characters per line
	sent := ""
	if n := len(s.Request.Messages); n > 0 {
		sent = texts(s.Request.Messages[n-1].Content)
	} else if s.Request.Prompt != nil {
		sent = *s.Request.Prompt
	}
	return glance{
		Title: fmt.Sprintf("call %d", s.Number()), Sent: Clip(inLine(sent), most), Answered: Clip(Said(&s.Response), most),
	}
}

// texts returns the texts of parts, joined by spaces.
func texts(parts []modelio.Part) string {
	var said []string
	for _, part := range parts {
		switch {
		case part.Text != nil:
			said = append(said, *part.Text)
		case part.Media != nil:
			said = append(said, mediaText(part.Media))
		case part.ToolRequest != nil:
			said = append(said, part.ToolRequest.Name+"("+string(part.ToolRequest.Input)+")")
		case part.ToolResponse != nil:
			said = append(said,
				part.ToolResponse.Name+" returned "+string(part.ToolResponse.Output)+texts(part.ToolResponse.Content))
		}
	}
	return strings.Join(said, " ")
}

// Said returns the content of an answer on one line.
func Said(r *snapshot.Response) string { return inLine(saidWhole(r)) }

// saidWhole returns the complete content of an answer.
func saidWhole(r *snapshot.Response) string {
	switch {
	case len(r.Candidates) > 0:
		return texts(r.Candidates[0].Message.Content)
	case r.Error != nil:
		return inLine("error: " + r.Error.Message)
	}
	return ""
}

// inLine returns a text on one line, with single spaces between words.
func inLine(text string) string { return strings.Join(strings.Fields(text), " ") }
