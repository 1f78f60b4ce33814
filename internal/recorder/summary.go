package recorder

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// countTokens counts the tokens of the calls made in this run.
func (r *revision) countTokens(kept []*take) {
	for _, tk := range kept {
		u := tk.record.Response.Usage
		if tk.origin != nil || tk.imported != nil || u == nil {
			continue
		}
		r.updated.TokensIn += amount.Of(u.InputTokens)
		r.updated.TokensOut += amount.Of(u.OutputTokens)
	}
}

// noteChange notes the changes of a record: was is its former state, and request its former request under the present
// rules.
func (r *revision) noteChange(compare *drift.Comparer, was *snapshot.Snapshot, request *modelio.Request, tk *take,
	is *snapshot.Snapshot) {
	record := usage.ChangedRecord{ID: was.ID}
	add := func(component string) {
		if component != "" {
			record.Components = inorder.With(record.Components, component)
		}
	}
	recorded, _ := compare.Request(request) // both have a key
	got, _ := compare.Request(tk.request)
	for _, c := range compare.Changes(recorded, got) {
		add(r.run.plainText(c.Kind))
	}
	if o := tk.origin; o != nil && o.place >= 0 {
		add(o.why)
		r.updated.Rekeyed = append(r.updated.Rekeyed, record)
		return
	}
	switch {
	case was.Response.RawOutputRef != is.Response.RawOutputRef:
		for _, component := range tk.answerChanged(was, is) {
			add(r.run.plainText(component))
		}
	case was.Response.Stale != "":
		add("stale answer")
	case was.Source.Scripted != is.Source.Scripted:
		add("script")
	}
	r.updated.Changed = append(r.updated.Changed, record)
}

// summary is an update in a line, or "" if nothing was made or changed.
func summary(u *usage.Update) string {
	tokens := int(u.TokensIn + u.TokensOut)
	if tokens+len(u.Changed)+len(u.New)+len(u.Rekeyed)+len(u.Removed) == 0 {
		return ""
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(len(u.Kept), "kept")
	add(len(u.Changed), "changed"+inWords(u.Changed))
	add(len(u.Rekeyed), "rekeyed"+inWords(u.Rekeyed))
	add(len(u.New), "new")
	add(len(u.Removed), "removed")
	if tokens > 0 {
		parts = append(parts, count(tokens, "token"))
	}
	return strings.Join(parts, ", ")
}

// inWords lists the changes of records, as " (system, answer)", or "" if no request changed.
func inWords(records []usage.ChangedRecord) string {
	var all []string
	for _, record := range records {
		all = inorder.With(all, record.Components...)
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(atMost(4, all, ""), ", ") + ")"
}
