package recorder

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// driftError returns the failure of a session whose client's messages differ from the record, or end before it.
func (s *realtime) driftError(c *call) error {
	r, i := s.r, s.replayed.record
	recorded := r.run.tape.request(i)
	n := 1
	for n <= len(c.request.Messages) && s.beginAlike(recorded, c.request, n) {
		n++
	}
	accept := "accept: " + r.run.Accept
	if n > len(c.request.Messages) || !onlySetUp(c.request.Messages[:n-1]) || modes[r.run.Mode].completes {
		accept = "the provider has to be asked from the beginning, and the client was served the recorded session so far\n" +
			"accept: " + r.run.with(UpdateAll.String())
	}
	d := r.run.tape.driftOf(i)
	session := fmt.Sprintf("%s session drifted from %s", c.provider, r.run.recordName(i))
	switch {
	case n > len(c.request.Messages) && n > len(recorded.Messages):
		return r.report.unrecordedFailure(c) // neither has a message, and the models differ
	case n > len(c.request.Messages):
		brief := fmt.Sprintf("%s: it ended before frame %d to the server: %s", session, n, frameName(&recorded.Messages[n-1]))
		return failuref(brief, indent(short(textOf(recorded.Messages[n-1].Content))), accept).withDrift(d)
	}
	was, is := *recorded, *c.request
	was.Messages, is.Messages = recorded.Messages[:min(n, len(recorded.Messages))], c.request.Messages[:n]
	one, _ := r.run.comparer().Request(&was) // both have a key
	other, _ := r.run.comparer().Request(&is)
	changes := r.run.compare.Changes(one, other)
	r.run.scanner().Hide(&changes)
	for _, change := range changes {
		d.Changes = append(d.Changes, driftChange(change, true))
	}
	brief := fmt.Sprintf("%s, frame %d to the server: %s", session, n, frameName(&c.request.Messages[n-1]))
	rule, once := r.run.explained(r.run.compare.Differences(one, other))
	if once {
		accept = ""
	}
	failure := failuref(brief+" (- recorded, + got)", drift.Plain.Text(changes),
		r.report.remarks(i, d.Changes, rule), accept)
	failure.brief = brief
	return failure.withDrift(d)
}

// frameName names a frame of the client by its message: its type, its only member or its role.
func frameName(m *modelio.Message) string {
	for _, p := range m.Content {
		if word := jsontext.WordOf(p.Custom["type"]); strings.Contains(word, ".") {
			return word
		}
		if len(p.Custom) == 1 {
			for name := range p.Custom {
				return name
			}
		}
	}
	return string(m.Role) + " message"
}
