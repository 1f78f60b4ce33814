package page

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Only are calls that only one state has: records in the literal form, by their fate.
type Only map[string][]json.RawMessage

// OnlyOf returns the calls that only one of two documents has, by their numbers. A document may be nil, or have
// changed. As in files, a call that continues another one of them has only the messages after those of that call.
func OnlyOf(calls Calls, from, to *snapshot.Document) Only {
	only := Only{}
	for fate, doc := range map[string]*snapshot.Document{drift.Added: to, drift.Removed: from} {
		all := numbered(doc)
		for _, n := range calls[fate] {
			s := all[n]
			if s == nil {
				continue
			}
			if s.Continues != nil && calls.has(fate, s.Continues.Call) {
				only[fate] = append(only[fate], literalEnd(all[s.Continues.Call], s))
			} else {
				only[fate] = append(only[fate], jsontext.ObjectText(Whole(s)))
			}
		}
	}
	return only
}

// literalEnd returns a record in the literal form without the messages of base, the call that it continues, and without
// its hash, which includes them.
func literalEnd(base, s *snapshot.Snapshot) json.RawMessage {
	end, known := *s, min(s.Continues.Messages, len(base.Request.Messages))
	end.Request.Messages = s.Request.Messages[known:]
	record := Whole(&end)
	request := jsontext.ValueOf(record["request"]).Object()
	request["continues"] = fmt.Appendf(nil, `{"call":%d,"messages":%d}`, base.Number(), known)
	record["request"] = jsontext.ObjectText(request)
	delete(record, "hash")
	return jsontext.ObjectText(record)
}

// Literal returns a record in the format's literal form.
func Literal(s *snapshot.Snapshot) jsontext.Value {
	text, _ := s.SF() // the record was read from this
	return jsontext.ValueOf(text).Member("snapshots").Head()
}

// Whole returns the members of a record in the literal form, with what that form lacks: marks of the source, and
// readings.
func Whole(s *snapshot.Snapshot) map[string]json.RawMessage {
	record := Literal(s).Object()
	response := jsontext.ValueOf(record["response"]).Object()
	var readings []json.RawMessage // not as in files, which have long texts in pieces
	for _, g := range s.Response.Readings {
		reading := map[string]json.RawMessage{"kind": jsontext.Text(g.Kind), "says": jsontext.Text(g.Says)}
		if g.Event > 0 {
			reading["event"] = fmt.Append(nil, g.Event)
		}
		readings = append(readings, jsontext.ObjectText(reading))
	}
	jsontext.KeepList(&response, "readings", readings)
	if more := s.Response.ReadingsMore; more > 0 {
		response["readings_more"] = fmt.Append(nil, more)
	}
	doc := snapshot.Document{Snapshots: []snapshot.Snapshot{{Source: s.Source}}}
	record["source"] = jsontext.ValueOf(doc.AppendFile(nil)).Member("snapshots").Head().Member("source").Raw()
	record["response"] = jsontext.ObjectText(response)
	return record
}

// A glance is a summary of a call.
type glance struct {
	Title, Sent, Answered string
	Rest                  []string // what else an added call says; set by Close

	rest []restLine
	cut  int // lines that are not in rest
}

// A restLine is a line about a call. A line with the key of a usual field is not shown if the earlier state has it.
type restLine struct{ key, text string }

// A room limits what is shown of calls that only one state has.
type room struct {
	calls int // of a document
	lines int // of what a glance does not say
	width int // bytes of a line
}

func (c *Comparison) room() room {
	if c.Conversations {
		return room{40, htmlLines, htmlWidth}
	}
	return room{shownCalls, 30, 200}
}

// alone notes the calls that only one state has.
func (c *Comparison) alone(d *Difference, from, to *snapshot.Document) {
	if d.all = c.All; c.Whole {
		d.Only = OnlyOf(d.Calls, from, to)
	}
	r := restReader{room: c.room(), all: c.All,
		conversation: conversation{provider: path.Dir(d.File), doc: to, numbers: numbered(to)}}
	r.Page, r.shown = &Page{Out: &r.out, Width: 96, Unwrapped: c.Conversations}, map[*snapshot.Snapshot]map[string]string{}
	calls := map[string]map[int]*snapshot.Snapshot{drift.Added: r.numbers, drift.Removed: numbered(from)}
	for _, fate := range []string{drift.Added, drift.Removed} {
		for _, n := range d.Calls[fate] {
			if len(d.Glances) == r.calls {
				return
			}
			s := calls[fate][n]
			g := glanceOf(s)
			if from != nil && to != nil {
				g.Title += " " + fate
			}
			if fate == drift.Added && c.All != "" {
				if c.kept > HTMLLimit {
					r.lines = 0
				}
				r.read(s, &g)
				for _, line := range g.rest {
					c.kept += len(line.text)
				}
			}
			d.Glances = append(d.Glances, g)
		}
	}
}

// A restReader reads what the glances at a document's calls do not say.
type restReader struct {
	conversation
	room
	all string // the command that shows all

	out strings.Builder // what the page shows
}

// usualFields are those that many calls have in common.
var usualFields = []string{"provider", "api", "model", "sent"}

// read adds to a glance what it does not say of a call.
func (r *restReader) read(s *snapshot.Snapshot, g *glance) {
	fields, parts := r.added(s, "")
	for _, f := range fields {
		if f.name == "source" && !TestOf(r.doc).OfProgram() {
			continue
		}
		key := f.key()
		if f.name == "sent" {
			f.name = "with" // what was sent are the texts
		}
		r.out.Reset()
		r.header([]headerField{f})
		r.add(g, key, "")
	}
	for i, part := range parts {
		r.out.Reset()
		part()
		switch said := inLine(r.out.String()); {
		case i == len(parts)-1 && said == "answer "+g.Answered:
		case i == len(parts)-2 && (said == "prompt "+g.Sent || said == "user "+g.Sent):
		default:
			r.add(g, "", margin)
		}
	}
}

// add adds the lines that the page shows.
func (r *restReader) add(g *glance, key, indent string) {
	for line := range strings.Lines(r.out.String()) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
		case r.lines == 0 || len(g.rest) == r.lines+len(usualFields):
			g.cut++
		default:
			if len(line) > r.width {
				head := strings.ToValidUTF8(line[:r.width], "")
				line = fmt.Sprintf("%s… (%d bytes more: %s)", head, len(line)-len(head), r.all)
			}
			g.rest = append(g.rest, restLine{key, indent + line})
		}
	}
}

// key identifies a usual field; empty for other ones, and for one with a long value.
func (f *headerField) key() string {
	if len(f.value) > 200 || !slices.Contains(usualFields, f.name) {
		return ""
	}
	return f.name + " " + f.value
}

// noteUsual notes the usual fields of calls of the earlier state.
func (c *Comparison) noteUsual(provider string, from *snapshot.Document) {
	if c.All == "" || from == nil {
		return
	}
	if c.usual == nil {
		c.usual = map[string]bool{}
	}
	for i := range from.Snapshots {
		for _, f := range (&Page{Width: 96}).fields(provider, &from.Snapshots[i]) {
			c.usual[f.key()] = true
		}
	}
	delete(c.usual, "")
}

// settle sets the lines that are shown.
func (g *glance) settle(c *Comparison) {
	for _, line := range g.rest {
		if !c.usual[line.key] {
			g.Rest = append(g.Rest, line.text)
		}
	}
	most := min(c.room().lines, len(g.Rest))
	g.cut += len(g.Rest) - most
	if g.Rest = g.Rest[:most]; g.cut > 0 {
		g.Rest = append(g.Rest, fmt.Sprintf("  … and %s: %s", Count(g.cut, "more line", "more lines"), c.All))
	}
}
