package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/canon"
)

// Parse reads a document, strictly: it must have every member that the format requires and no
// other, each of the right type, and every hash must match (SF "Validation Rules"). White
// space, the order of members and the spelling of strings and numbers are free, as nothing
// depends on them; [Store.Verify] asks for the one spelling that [Document.Encode] writes.
//
// Numbers that the text keeps as {"$number":"…"} are numbers in the result (design R1). The
// result may share memory with nothing but itself.
//
// An error is an [*Error]. Text that is not JSON, or that not every reader takes alike, has one
// violation with its offset; all other text has every violation. Another version of the
// format has that one violation alone, which is [ErrVersion].
func Parse(data []byte) (*Document, error) {
	text, err := canon.JSON(data)
	if err != nil {
		return nil, unreadable(data, err)
	}
	doc, found := decodeDocument(text)
	if len(found) > 0 {
		return nil, &Error{Violations: found}
	}
	return doc, nil
}

// unreadable says why data is no text that canon accepts.
func unreadable(data []byte, err error) *Error {
	if line := conflictLine(data); line > 0 && errors.Is(err, canon.ErrSyntax) {
		return newError("", "", ruleConflict, "line %d is a conflict marker of a merge", line)
	}
	return &Error{Violations: []Violation{textViolation("", err)}, Err: err}
}

// conflictLine returns the number of the first line that is a conflict marker, counted
// from 1, or 0. No line of a JSON text looks like one. Git's have seven characters, or more
// where both sides renamed the file.
func conflictLine(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		for _, marker := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
			rest, ok := bytes.CutPrefix(line, []byte(marker))
			if rest = bytes.TrimLeft(rest, marker[:1]); ok && (len(rest) == 0 || rest[0] == ' ') {
				return n
			}
		}
	}
	return 0
}

// A document is a Document being read or written.
type document struct {
	Document
	records []record
}

// A record is a Snapshot being read or written.
type record struct {
	Snapshot
	texts [len(sealedNames)][]byte // of the members that the seal covers, compact; nil: missing
	valid [len(sealedNames)]bool   // the member has no violation of its own
}

// decodeDocument reads a compact text and returns all violations, sorted. The document is
// of use only if there are none.
func decodeDocument(text []byte) (*Document, []Violation) {
	c := newCursor(text)
	if found := c.otherVersion(); found != nil {
		return nil, found
	}
	var d document
	if !documentObject.decode(c, &d) {
		slices.SortFunc(c.found, compareViolations)
		return nil, slices.Compact(c.found)
	}
	d.Snapshots = make([]Snapshot, len(d.records))
	for i := range d.records {
		d.Snapshots[i] = d.records[i].Snapshot
	}
	return &d.Document, nil
}

// otherVersion returns a violation if the document is of another version: what else that
// version asks for is not known here (SF "Migration Path").
func (c *cursor) otherVersion() (found []Violation) {
	if c.kind() != '{' {
		return nil
	}
	c.members(func(name string) {
		if name != "version" || c.kind() != '"' {
			c.skip()
			return
		}
		if v := c.unquote(); v != Version {
			c.report(ruleVersion, rejection(v))
		}
	})
	c.pos = 0
	return c.found
}

// rejection is SF's wording for a document of another version.
func rejection(version string) string {
	return fmt.Sprintf("Snapshot version %s is no longer supported\n   Current version: %s\n   Re-record all snapshots", excerpt(version), Version)
}

// checkDocument checks what concerns more than one record (SF "Combined Hash").
func (c *cursor) checkDocument(d *document, has func(string) bool) {
	if c.sealed { // and so it has one record
		return
	}
	ids := map[string]bool{}
	hashes := make([]canon.Hash, len(d.records))
	complete := has("snapshots") && d.Version != "" && d.Hash != ""
	for i, r := range d.records {
		if r.ID != "" && ids[r.ID] {
			c.report(ruleDuplicate, "is the id of another record too: "+excerpt(r.ID), "snapshots", strconv.Itoa(i), "id")
		}
		ids[r.ID] = true
		hashes[i] = r.Hash
		complete = complete && r.Hash != ""
	}
	if want := combinedHash(d.Version, slices.Values(hashes)); complete && d.Hash != want {
		c.report(ruleHash, disagreement(d.Hash, want), "hash")
	}
}

// checkRecord checks a record's hashes (SF "Individual Snapshot Hash", design R3).
func (c *cursor) checkRecord(r *record, _ func(string) bool) {
	c.checkRanges(r)
	if !c.sealed && r.Hash != "" {
		if want, ok := r.seal(); ok && r.Hash != want {
			c.report(ruleSeal, disagreement(r.Hash, want), "hash")
		}
	}
	// What a source that is not valid says it ignores is not known.
	if got := r.Request.PromptHash; got != "" && r.valid[sourceText] {
		if want, err := c.core.prompt(r.texts[requestText], r.Source.Ignored); err == nil && got != want {
			c.report(ruleHash, disagreement(got, want), "request", "prompt_hash")
		}
	}
	if got := r.Response.ResponseHash; got != "" {
		if want := c.core.response(r.texts[responseText]); got != want {
			c.report(ruleHash, disagreement(got, want), "response", "response_hash")
		}
	}
}

// checkRanges checks the ranges that SF "Request Fields" gives. What a provider refused is on
// record as it was sent.
func (c *cursor) checkRanges(r *record) {
	if r.Response.Error != nil || r.Response.Status >= 400 {
		return
	}
	for _, p := range []struct {
		name        string
		value       *Number
		least, most float64
	}{
		{"temperature", r.Request.Temperature, 0, 2},
		{"frequency_penalty", r.Request.FrequencyPenalty, -2, 2},
		{"presence_penalty", r.Request.PresencePenalty, -2, 2},
	} {
		if p.value == nil {
			continue
		}
		if f, err := strconv.ParseFloat(string(*p.value), 64); err != nil || f < p.least || f > p.most {
			c.report(ruleValue, fmt.Sprintf("must be from %g to %g where the provider answered, is %s", p.least, p.most, excerpt(string(*p.value))), "request", p.name)
		}
	}
}

func disagreement(stated, computed canon.Hash) string {
	return fmt.Sprintf("says %s, but the content has %s", stated, computed)
}
