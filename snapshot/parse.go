package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Parse reads a document strictly (SF "Validation Rules"). The document must have every required member and no unknown
// ones, each of the right type; every hash must match; and each call that another one continues must exist. White
// space, the order of members, the spelling of strings and numbers and the pieces of texts are free; package spelling
// requires those of [Document.Write].
//
// The document refers to data, which must not be changed any more. Each request in it is complete. Requests share the
// memory of their common parts: do not change any in place.
//
// The error is an [*Error]. A text that is not JSON, or that readers understand differently, has one violation with its
// offset; any other text has all of its violations. A document of [VersionSF] is also accepted. For another version of
// the format, the only violation is [ErrVersion], and [ErrNewer] too if the version is later.
func Parse(data []byte) (*Document, error) {
	text, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil, unreadable(data, err)
	}
	doc, found := parse(text)
	if len(found) > 0 {
		return nil, &Error{Violations: found}
	}
	return doc, nil
}

// ParseUnsealed is [Parse] for an edited text whose hashes may be wrong; nil if it violates any other rule.
func ParseUnsealed(data []byte) *Document {
	text, _ := jsontext.ParseStrict(data) // a text that is not JSON is not an object
	doc, found := parse(text)
	if slices.ContainsFunc(found, func(v Violation) bool { return v.Rule != RuleSeal && v.Rule != RuleHash }) {
		return nil
	}
	return doc
}

// membersRoom is a lower bound for the number of members in a document's nested objects.
const membersRoom = 32

// parse returns all violations, sorted; the document is valid only if there are none.
func parse(text *jsontext.Document) (d *Document, found []Violation) {
	root := text.Root()
	if v, ok := root.Member("version").Text(); ok && v != Version && v != VersionSF {
		return nil, []Violation{OtherVersion(v)}
	}
	records := root.Member("snapshots")
	c := coder{
		cursor: cursor{at: root, dst: make([]byte, 0, 512), members: make([]member, 0, membersRoom)},
		doc:    &Document{}, calls: make(map[string]int, records.Len()), tails: make([][]modelio.Message, records.Len()),
	}
	c.steps, c.frames = c.room.steps[:0], c.room.frames[:0]
	for i, r := range records.Elements() {
		id := r.Member("id").Word()
		if _, twice := c.calls[id]; !twice {
			c.calls[id] = i
		}
	}
	c.document()
	if c.seal != nil {
		seals.Put(c.seal)
	}
	if found = sorted(c.found); len(found) == 1 && found[0].Rule == RuleHash && c.doc.Version == Version {
		found[0].Message += Unsealed
	}
	return c.doc, found
}

// unreadable returns the error for data that readers understand differently.
func unreadable(data []byte, err error) *Error {
	if line, _ := conflict.Line(data); line > 0 && errors.Is(err, jsontext.ErrSyntax) {
		message := fmt.Sprintf("line %d is a conflict marker of a merge", line)
		return &Error{Violations: []Violation{{Rule: RuleConflict, Message: message}}}
	}
	return &Error{Violations: []Violation{textViolation("", err)}, Err: err}
}

// checkDocument checks rules that concern several records (SF "Combined Hash").
func (c *coder) checkDocument(at jsontext.Value) {
	d := c.doc
	records := at.Member("snapshots")
	complete := d.Version != "" && d.Hash != "" && records.IsArray()
	if records.IsArray() && records.IsEmpty() { // the first record names the test
		c.report(RuleValue, "must have at least one record", "snapshots")
	}
	for i := range d.Snapshots {
		s := &d.Snapshots[i]
		if first := c.calls[s.ID]; s.ID != "" && first < i {
			c.report(RuleDuplicate, "is the id of another record too: "+jsontext.Excerpt(s.ID),
				"snapshots", strconv.Itoa(i), "id")
		}
		s.Source.Package, s.Source.Test = d.Snapshots[0].Source.Package, d.Snapshots[0].Source.Test
		complete = complete && s.Hash != ""
	}
	if !complete {
		return
	}
	if want := d.combinedHash(); d.Hash != want {
		c.report(RuleHash, disagreement(d.Hash, want), "hash")
	}
}

// checkRecord checks a record's seal, and the ranges of SF "Request Fields". A request that the provider refused may be
// out of range: it is recorded as it was sent.
func (c *coder) checkRecord(at jsontext.Value, s *Snapshot) {
	if s.Hash != "" {
		want, ok := c.sealOf(at)
		switch {
		case ok && s.Hash != want:
			c.report(RuleSeal, disagreement(s.Hash, want), "hash")
		case !ok && len(c.found) == 0: // so that no text passes whose seal cannot be computed
			c.report(RuleSeal, "cannot be computed: it covers what JavaScript does not read as it is", "hash")
		}
	}
	if s.Response.Error != nil || s.Response.Status >= 400 {
		return
	}
	for _, p := range modelio.Parameters {
		value := *p.Field(&s.Request)
		if value == nil {
			continue
		}
		if f, _ := value.Float64(); f < p.Least || f > p.Most { // infinite if it does not fit a float64
			c.report(RuleValue, fmt.Sprintf("must be from %g to %g where the provider answered, is %s",
				p.Least, p.Most, jsontext.Excerpt(value.String())), "request", p.Name)
		}
	}
}

// Unsealed ends the message of a violation about a document that has no other. Its records are whole, but a merge of
// git or an editor added, removed or moved some.
const Unsealed = "; each of its records is whole, and traceforge repair computes it again"

func disagreement(stated, computed canon.Hash) string {
	return fmt.Sprintf("says %s, but the content has %s", stated, computed)
}
