package recorder

import (
	"fmt"
	"maps"
	"strings"

	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// former returns the test's document from a store of an earlier version, which an update brings over.
func (s *setup) former(provider string) (*store.Doc, error) {
	doc, err := s.store.ParseFile(snapshot.FormerName(s.Package, s.Test), provider)
	if err != nil {
		return nil, err
	}
	if !modes[s.Mode].writes {
		return nil, doc.OtherVersion()
	}
	put, err := Renewed(doc)
	if err != nil {
		return nil, err
	}
	for i := range put.Document.Snapshots {
		resp := &put.Document.Snapshots[i].Response
		maps.DeleteFunc(resp.Headers, func(name string, _ []string) bool { return !s.isKept(name, resp.Status) })
	}
	if err := s.store.Commit(store.Change{Put: []store.Put{put}, Remove: []string{doc.File()}}); err != nil {
		return nil, err
	}
	return s.store.Load(s.name, provider)
}

// Renewed returns a document of an earlier version in the present form. If a record's core equals what its
// raw answer decodes to, the codec makes its other decoded members again. All else stays.
func Renewed(d *store.Doc) (store.Put, error) {
	first := &d.Document.Snapshots[0].Source
	put, err := d.Moved(first.Package, first.Test)
	if err != nil {
		return put, fmt.Errorf("bring over %s: %w", d.File(), err)
	}
	for i := range put.Document.Snapshots {
		s := &put.Document.Snapshots[i]
		if raw := put.Beside[s.Response.RawOutputRef]; raw != nil {
			(&proof{doc: d, record: s, raw: raw}).renew()
		}
		s.Response.Headers = maps.Clone(s.Response.Headers)
		splitOrigin(&s.Source)
	}
	return put, nil
}

// splitOrigin moves the origin of a 1.0.0 record, which stands among the reasons why the record is not deterministic,
// to a member of its own.
func splitOrigin(s *snapshot.Source) {
	for _, begin := range []string{MigratedFrom, "imported from ", "made of "} {
		why, from, found := strings.Cut("; "+s.Nondeterministic, "; "+begin)
		if found {
			s.Nondeterministic, s.Origin = strings.TrimPrefix(why, "; "), begin+from
			return
		}
	}
}

// renew gives a record what its codec makes of the raw answer besides the core. A record that disagrees with its raw
// answer stays as it is: verify finds it.
func (p *proof) renew() {
	said, answer := &p.record.Response, rawAnswer(p.record, p.raw)
	got, err := p.decode(answer)
	if err != nil {
		return
	}
	resp, err := p.asRecorded(got, &modelio.Numbering{})
	if err != nil {
		return
	}
	if !store.SameAnswer(resp, said) {
		if differ, err := p.compareCores(got); differ || err != nil {
			return
		}
	}
	sourcesOf(said, resp)
	said.Readings, said.ReadingsMore = reading.Told(p.readings(answer, got))
	said.Model, said.Usage, said.TokensUsed = resp.Model, resp.Usage, resp.TokensUsed
	for i := range min(len(said.Candidates), len(resp.Candidates)) {
		mine, theirs := &said.Candidates[i], &resp.Candidates[i]
		mine.FinishReasonRaw, mine.Citations = theirs.FinishReasonRaw, theirs.Citations
	}
}
