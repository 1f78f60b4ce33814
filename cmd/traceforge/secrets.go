package main

import (
	"fmt"
	"path"

	"github.com/traceforge/traceforge-go/internal/commandline"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ruleSecret is the rule for a credential in a store (design R12).
const ruleSecret = "secret"

// leaked finds credentials in a store: in records, raw answers and media. Other findings report files that cannot be
// read.
func leaked(c *call, s *store.Store) (found []snapshot.Finding) {
	const wayOut = "revoke it, since git keeps what was committed, and record again with traceforgetest.Scrub"
	for doc := range place.Readable(s, nil) {
		found = append(found, leakedIn(c, doc, wayOut)...)
	}
	return found
}

// secretless is a [store.Check] for pending answers: a value that recording refuses is not accepted, whoever wrote it.
func secretless(c *call) store.Check {
	return func(d *store.Doc) (wrong []snapshot.Violation) {
		for _, f := range leakedIn(c, d, "reject it, and record again with traceforgetest.Scrub") {
			if f.File != d.File() {
				f.Message = path.Base(f.File) + ": " + f.Message
			}
			wrong = append(wrong, snapshot.Violation{Pointer: f.Pointer, Rule: ruleSecret, Message: f.Message})
		}
		return wrong
	}
}

// leakedIn finds credentials in the records of a document, and then in the files that belong to it. wayOut tells the
// user how to fix one.
func leakedIn(c *call, doc *store.Doc, wayOut string) (found []snapshot.Finding) {
	file := doc.File()
	add := func(file string, hit secret.Hit, in string) {
		found = append(found,
			snapshot.Finding{File: file, Pointer: hit.Pointer, Rule: ruleSecret, Message: hit.What + in + ": " + wayOut})
	}
	looker := c.secrets.Looker()
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		if looker.Holds(record) {
			hit, _ := c.secrets.Find(jsontext.ObjectText(page.Whole(record)))
			hit.Pointer = fmt.Sprintf("/snapshots/%d%s", i, hit.Pointer)
			add(file, hit, " in the whole request or the answer")
		}
		words, _ := commandline.Words(record.Source.Function) // of a program's command, where a secret may contain quotes
		for _, word := range words {
			if hit, is := c.secrets.Find([]byte(word)); is {
				hit.Pointer = fmt.Sprintf("/snapshots/%d/source/function", i)
				add(file, hit, "")
				break
			}
		}
	}
	for _, n := range store.Needs(doc.Document) {
		data, err := doc.Fetch(n)
		if hit, is := c.secrets.Find(data); err == nil && is {
			add(doc.Beside(n.Own), hit, "")
		}
	}
	return found
}
