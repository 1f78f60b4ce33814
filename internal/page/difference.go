package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Difference is a document that two states of a store do not have alike.
type Difference struct {
	Change
	Was         string           `json:"was,omitempty"` // the file, before it moved
	Differences []CallDifference `json:"differences,omitempty"`

	from, to *snapshot.Document // nil: in the other state only
}

// A CallDifference is a call that both states have, and have not alike.
type CallDifference struct {
	Call     int                `json:"call"`             // its number
	Causes   []string           `json:"causes,omitempty"` // what differs in the request, in words
	Request  []drift.Difference `json:"request,omitempty"`
	Response []drift.Difference `json:"response,omitempty"`
	Bytes    bool               `json:"bytes,omitempty"` // only the raw answer differs
}

// Explain says what differs between two states of a document; nil: the state does not have it.
func Explain(c Change, from, to *snapshot.Document) (*Difference, error) {
	d := &Difference{Change: c, from: from, to: to}
	if from == nil || to == nil {
		return d, nil
	}
	for _, n := range c.Calls[changed] {
		call, err := explainCall(callOf(from, n), callOf(to, n))
		if err != nil {
			return nil, fmt.Errorf("%s: call %d: %w", c.File, n, err)
		}
		d.Differences = append(d.Differences, call)
	}
	return d, nil
}

func callOf(doc *snapshot.Document, n int) *snapshot.Snapshot {
	i := slices.IndexFunc(doc.Snapshots, func(s snapshot.Snapshot) bool { return s.Number() == n })
	return &doc.Snapshots[i]
}

func explainCall(from, to *snapshot.Snapshot) (d CallDifference, err error) {
	d.Call = to.Number()
	if d.Request, err = drift.Requests(&from.Request, &to.Request, nil); err != nil {
		return d, err
	}
	d.Causes = drift.Named(d.Request, &from.Request, &to.Request)
	d.Response, err = responses(&from.Response, &to.Response)
	d.Bytes = len(d.Response) == 0 && from.Response.RawOutputRef != to.Response.RawOutputRef
	return d, err
}

// responses compares the cores of two responses, and what tells of how they came.
func responses(from, to *snapshot.Response) ([]drift.Difference, error) {
	f, err := snapshot.ResponseCore(from)
	if err != nil {
		return nil, err
	}
	t, err := snapshot.ResponseCore(to)
	if err != nil {
		return nil, err
	}
	differences := drift.JSON(f, t)
	for _, s := range []struct{ pointer, from, to string }{
		{"/headers", headers(from), headers(to)},
		{"/incomplete", from.Incomplete, to.Incomplete},
		{"/model", from.Model, to.Model},
		{"/status", fmt.Sprint(from.Status), fmt.Sprint(to.Status)},
	} {
		if s.from != s.to {
			d := drift.Difference{Pointer: s.pointer, Recorded: jsontext.Text(s.from), Got: jsontext.Text(s.to)}
			differences = append(differences, d)
		}
	}
	return differences, nil
}

// headers returns the headers of an answer, a line each.
func headers(r *snapshot.Response) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Headers[name], ", "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// JoinMoved makes one difference of a document that was removed and one that was added, where they
// hold the same calls, as of a test that was renamed.
func JoinMoved(differences []*Difference) ([]*Difference, error) {
	gone := map[string][]*Difference{}
	for _, d := range differences {
		if d.to == nil {
			key, err := content(d.from)
			if err != nil {
				return nil, err
			}
			gone[key] = append(gone[key], d)
		}
	}
	joined := map[*Difference]bool{}
	for _, d := range differences {
		if d.from != nil {
			continue
		}
		key, err := content(d.to)
		if err != nil {
			return nil, err
		}
		if left := gone[key]; len(left) > 0 {
			d.Change.Change, d.Was, d.from, d.Calls = "moved", left[0].File, left[0].from, Calls{}
			joined[left[0]], gone[key] = true, left[1:]
		}
	}
	return slices.DeleteFunc(differences, func(d *Difference) bool { return joined[d] }), nil
}

// content tells documents apart by what was asked and answered.
func content(doc *snapshot.Document) (string, error) {
	var b strings.Builder
	for i := range doc.Snapshots {
		s := &doc.Snapshots[i]
		request, err := snapshot.RequestCore(&s.Request, nil)
		if err != nil {
			return "", err
		}
		response, err := snapshot.ResponseCore(&s.Response)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, s.Provider, canon.Sum(request), canon.Sum(response))
	}
	return b.String(), nil
}

// Text renders the difference for people.
func (d *Difference) Text() string {
	var b strings.Builder
	fmt.Fprintln(&b, d.Change)
	switch {
	case d.Change.Change == "moved":
		fmt.Fprintln(&b, "  from "+d.Was)
	case d.from == nil:
		summarize(&b, "", d.to, d.Calls[added])
	case d.to == nil:
		summarize(&b, "", d.from, d.Calls[removed])
	default:
		for _, c := range d.Differences {
			c.text(&b)
		}
		summarize(&b, " added", d.to, d.Calls[added])
		summarize(&b, " removed", d.from, d.Calls[removed])
		if len(d.Calls) == 0 {
			fmt.Fprintln(&b, "  the same calls in another order, or under another provider")
		}
	}
	return b.String()
}

func (c *CallDifference) text(b *strings.Builder) {
	fmt.Fprintf(b, "  call %d\n", c.Call)
	if c.Bytes {
		fmt.Fprintln(b, "    the bytes of the raw answer differ, and what the record says of it is the same")
	} else if len(c.Request)+len(c.Response) == 0 {
		fmt.Fprintln(b, "    recorded again, with the same request and the same answer")
	}
	if len(c.Request) > 0 {
		fmt.Fprintf(b, "    request: %s\n%s", strings.Join(c.Causes, ", "), indented(drift.Text(c.Request)))
	}
	if len(c.Response) > 0 {
		fmt.Fprintf(b, "    response\n%s", indented(drift.Text(c.Response)))
	}
}

// summarize writes some calls of a document, each in three lines.
func summarize(b *strings.Builder, what string, doc *snapshot.Document, numbers []int) {
	const most = 100 // characters of a line
	clipped := func(text string) string { return Clip(strings.Join(strings.Fields(text), " "), most) }
	for _, n := range numbers {
		s := callOf(doc, n)
		sent := ""
		if n := len(s.Request.Messages); n > 0 {
			sent = texts(s.Request.Messages[n-1].Content)
		} else if s.Request.Prompt != nil {
			sent = *s.Request.Prompt
		}
		answered := ""
		if len(s.Response.Candidates) > 0 {
			answered = texts(s.Response.Candidates[0].Message.Content)
		}
		fmt.Fprintf(b, "  call %d%s\n    sent     %s\n    answered %s\n", n, what, clipped(sent), clipped(answered))
	}
}

// texts returns what parts say, in a few words.
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
			said = append(said, part.ToolResponse.Name+" returned "+string(part.ToolResponse.Output))
		}
	}
	return strings.Join(said, " ")
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}
