package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ReadSF reads a document as the Snapshot Format Specification prints it ("Complete Snapshot Structure"), or one of its
// records ("Valid Snapshots"), from any writer. Hashes may lack their "sha256:", as in the specification's own
// JavaScript. Forms that SF leaves open are translated (docs/format.md section 14), and members that it does not name
// are kept in the provider options. All rules of SF apply, and missing values are not made up. The error is a
// [*snapshot.Error].
func ReadSF(data []byte) (*snapshot.Document, error) {
	doc, err := snapshot.Parse(data)
	if err == nil && !slices.ContainsFunc(doc.Snapshots, isOfOthers) {
		return doc, nil
	}
	text, broken := jsontext.ParseStrict(data)
	if broken != nil || errors.Is(err, snapshot.ErrVersion) {
		return nil, err
	}
	root := text.Root()
	records := root.Member("snapshots").Values()
	version, lone := root.Member("version").Word(),
		root.Member("request").IsObject() && !root.Member("snapshots").Present()
	if lone {
		version, records = snapshot.VersionSF, []jsontext.Value{root}
	}
	if version == "" || len(records) == 0 {
		return nil, err
	}
	var found []snapshot.Violation
	for i, record := range records {
		found = append(found, sealViolations(i, record)...)
	}
	if !lone && len(found) == 0 {
		found = combinedViolations(version, root, records)
	}
	doc, err = readTranslated(version, root, records)
	var wrong *snapshot.Error
	isNumber := func(v snapshot.Violation) bool { return v.Rule == snapshot.RuleNumber }
	if len(found) > 0 && !slices.ContainsFunc(found, isNumber) && errors.As(err, &wrong) {
		found = append(found, wrong.Violations...)
	}
	if len(found) > 0 {
		slices.SortFunc(found, snapshot.Violation.Compare)
		return nil, &snapshot.Error{Violations: slices.Compact(found)}
	}
	return doc, err
}

// isOfOthers reports whether another program wrote a valid record: its tools or message parts are in a provider's
// format.
func isOfOthers(s snapshot.Snapshot) bool {
	isOther := func(p modelio.Part) bool { return len(p.Unknown) > 0 }
	return slices.ContainsFunc(s.Request.Tools, func(t modelio.ToolDefinition) bool { return len(t.Unknown) > 0 }) ||
		slices.ContainsFunc(s.Request.Messages,
			func(m modelio.Message) bool { return slices.ContainsFunc(m.Content, isOther) })
}

// sealViolations returns what is wrong with the seal of the i-th record in its original form.
func sealViolations(i int, record jsontext.Value) (found []snapshot.Violation) {
	report := func(rule, message string, member ...string) {
		at := jsontext.PointerTo(append([]string{"snapshots", strconv.Itoa(i)}, member...)...)
		found = append(found, snapshot.Violation{Pointer: at, Rule: rule, Message: message})
	}
	for _, name := range []string{"id", "timestamp", "source", "request", "response", "hash"} {
		if !record.Member(name).Present() {
			report(snapshot.RuleMissing, "is required", name)
		}
	}
	if len(found) > 0 {
		return found
	}
	seal, err := snapshot.SealOf(record.Raw())
	stated := record.Member("hash").Word()
	switch {
	case err != nil:
		report(snapshot.RuleNumber, "has a number that JavaScript reads as another, so that no seal covers it: record again",
			numberIn(record)...)
	case !isHash(stated, seal):
		report(snapshot.RuleSeal, fmt.Sprintf("says %s, but the content has %s", jsontext.Excerpt(stated), seal), "hash")
	}
	return found
}

// numberIn returns the path to a number in a record that does not fit a float64.
func numberIn(record jsontext.Value) []string {
	_, err := canon.JSON(record.Raw())
	var at *canon.Error
	if !errors.As(err, &at) {
		return nil
	}
	way, _ := jsontext.ParsePointer(at.Pointer)
	return way
}

// combinedViolations returns what is wrong with the combined hash of a document.
func combinedViolations(version string, root jsontext.Value, records []jsontext.Value) []snapshot.Violation {
	seal := func(i int) canon.Hash { return canon.Hash(records[i].Member("hash").Word()) }
	want, stated := snapshot.CombinedHash(version, len(records), seal), root.Member("hash").Word()
	if isHash(stated, want) {
		return nil
	}
	return []snapshot.Violation{{Pointer: "/hash", Rule: snapshot.RuleHash,
		Message: fmt.Sprintf("says %q, but the records have %s", jsontext.Excerpt(stated), want)}}
}

// isHash reports whether stated is the hash h, with or without its prefix.
func isHash(stated string, h canon.Hash) bool { return stated == string(h) || stated == h.Hex() }

// readTranslated reads records whose seals were checked, after translation to the format's terms. Members that neither
// SF nor the format knows are moved to those that are kept; everything else that is wrong is an error.
func readTranslated(version string, root jsontext.Value, from []jsontext.Value) (*snapshot.Document, error) {
	records := make([]*sfRecord, len(from))
	for i, v := range from {
		records[i] = sfRecordOf(v)
		records[i].translate()
	}
	if root.Member("snapshots").Present() {
		for name, value := range root.Rest("version", "snapshots", "hash") {
			records[0].keepAs("document", name, value)
		}
	}
	for {
		doc, err := snapshot.Parse(sealed(version, records))
		if err == nil {
			return doc, number(doc)
		}
		if !keepWhatSFDoesNotName(records, err) {
			return nil, err
		}
	}
}

// keepWhatSFDoesNotName moves the members that an error names and SF does not. It reports whether there were any.
func keepWhatSFDoesNotName(records []*sfRecord, err error) (moved bool) {
	var wrong *snapshot.Error
	if !errors.As(err, &wrong) {
		return false
	}
	for _, v := range wrong.Violations {
		at, _ := jsontext.ParsePointer(v.Pointer)
		if len(at) < 4 || at[0] != "snapshots" {
			continue
		}
		i, err := strconv.Atoi(at[1])
		if err == nil && i < len(records) {
			moved = records[i].keep(at[2], at[3]) || moved
		}
	}
	return moved
}

// number gives the ids of tool calls, and everything else that a provider generates at random, the numbers that records
// have (design R8).
func number(doc *snapshot.Document) error {
	for i := range doc.Snapshots {
		s, numbers := &doc.Snapshots[i], modelio.Numbering{}
		req, err := numbers.Request(&s.Request)
		if err != nil {
			return err
		}
		resp, err := numbers.Response(&s.Response.Response)
		if err != nil {
			return err
		}
		s.Request, s.Response.Response = *req, *resp
	}
	return nil
}

// sealed returns the document of records with new seals. A record that lacks a member has no seal, and cannot be
// parsed.
func sealed(version string, records []*sfRecord) []byte {
	var seals []canon.Hash
	var all []json.RawMessage
	for _, r := range records {
		record := r.whole()
		seal, err := snapshot.SealOf(jsontext.ObjectText(record))
		if err != nil {
			seal = canon.Sum(nil)
		}
		record["hash"] = jsontext.Text(seal)
		seals, all = append(seals, seal), append(all, jsontext.ObjectText(record))
	}
	hash := snapshot.CombinedHash(version, len(seals), func(i int) canon.Hash { return seals[i] })
	return jsontext.ObjectText(modelio.Object{
		"version": jsontext.Text(version), "snapshots": jsontext.List(all), "hash": jsontext.Text(hash),
	})
}

// IsOurs reports whether a document is in a store's own form: the ids of its records match the given name.
func IsOurs(name string, d *snapshot.Document) bool {
	return !slices.ContainsFunc(d.Snapshots, func(s snapshot.Snapshot) bool {
		document, _, ok := snapshot.ParseID(s.ID)
		return !ok || document != name
	})
}

// CallsOf returns the calls of a provider's document that [ReadSF] has read. SF's documents have no raw answers and
// media next to them: names of such files are left out, and a record whose texts name media is refused.
func CallsOf(file, provider string, d *snapshot.Document) ([]Call, error) {
	var calls []Call
	for i := range d.Snapshots {
		s := d.Snapshots[i]
		if media := s.Media(); len(media) > 0 {
			return nil, &snapshot.Error{File: file, Violations: []snapshot.Violation{{
				Pointer: jsontext.PointerTo("snapshots", strconv.Itoa(i)), Rule: snapshot.RuleMedia,
				Message: fmt.Sprintf("names %s, which SF's layout has no place for: record it again", media[0].Hash),
			}}}
		}
		s.Provider = cmp.Or(s.Provider, provider)
		s.Response.RawOutputRef, s.Response.TimingMS = "", nil
		calls = append(calls, Call{File: file, Snapshot: s})
	}
	return calls, nil
}
