package recorder

import (
	"fmt"
	"sync"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A due is a served answer that has to be held against its record. A whole one is before it is served. A stream is at
// its end, when its caller closes it, or at the latest when the test ends: so its first event is not late, and it is
// decoded once.
type due struct {
	call   *call
	doc    *store.Doc
	record int

	once  sync.Once
	raw   []byte // nil means it was, or there is none
	wrong []snapshot.Violation
}

// dueOf returns what holds the answer to a call against its record, and the raw answer, if there is one.
func (r *run) dueOf(c *call, i int) (*due, error) {
	raw, err := r.raw(i) // which may read the document again
	return &due{call: c, doc: r.tape.doc, record: i, raw: raw}, err
}

func (d *due) prove() []snapshot.Violation {
	d.once.Do(func() {
		d.wrong = prove(d.doc, d.record, d.raw, &d.call.numbering)
		d.raw = nil
	})
	return d.wrong
}

// proven returns the failure of an answer that is not what its record says; nil of one that has no record yet.
func (r *report) proven(d *due) error {
	if d == nil || len(d.prove()) == 0 {
		return nil
	}
	f := r.unproven(d)
	r.failCall(d.call.what, d.call.id(), f) // a test that has ended was told
	return f
}

// proveRest proves the streams that nobody read to their end or closed.
func (r *report) proveRest() {
	for _, d := range r.due {
		if len(d.prove()) > 0 && r.failed[d.call.id()] == nil {
			r.fail(r.unproven(d))
		}
	}
}

func (s *setup) unproven(d *due) *Failure {
	e := &snapshot.Error{File: s.Shown + "/" + d.doc.File(), Violations: d.wrong}
	brief := fmt.Sprintf("%s, call %d, says one thing and serves another", e.File, d.doc.Document.Snapshots[d.record].Number())
	return failuref(brief, indent(e.Error()), "accept: "+s.Accept)
}
