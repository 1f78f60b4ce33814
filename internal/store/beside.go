package store

import (
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/snapshot"
)

// lookBeside looks at what is beside a document.
func (v *verifier) lookBeside(doc *Doc, hasDir bool, s *scratch) (err error) {
	named := map[string]need{}
	for _, n := range needs(doc.Document) {
		named[n.own] = n
	}
	var owns []string
	if hasDir {
		owns, err = v.owned(doc.Provider + "/" + doc.Name)
	}
	if err != nil {
		return err
	}
	for _, own := range owns {
		n, ok := named[own]
		if !ok {
			v.orphan(doc.beside(own))
			continue
		}
		delete(named, own)
		if err := v.checkBeside(doc, n, s); err != nil {
			return err
		}
	}
	for own, n := range named {
		v.report(doc.File(), snapshot.Violation{Pointer: n.pointer(), Rule: n.rule, Message: n.missing(doc.beside(own))})
	}
	return nil
}

// orphan reports a file beside documents that none names.
func (v *verifier) orphan(file string) {
	v.mu.Lock()
	v.orphans = append(v.orphans, file)
	v.mu.Unlock()
	v.stray(file, "is named by no record: traceforge prune removes it")
}

// checkBeside checks that a file has the hash that its document names. It keeps small ones for the checks that ask for
// them again.
func (v *verifier) checkBeside(doc *Doc, n need, s *scratch) error {
	file := doc.beside(n.own)
	f, err := v.store.toRead(file)
	if err != nil {
		return err
	}
	got, data, err := sumFile(f, v.store.maxBytes, s.piece)
	if got == n.hash && data != nil && len(v.checks) > 0 {
		if doc.whole == nil {
			doc.whole = map[string][]byte{}
		}
		doc.whole[n.own] = slices.Clone(data)
	}
	if violation, ok := unreadable(err); err != nil && ok {
		v.report(file, violation)
		return nil
	}
	if err != nil || got == n.hash {
		return err
	}
	violation := snapshot.Violation{Rule: n.rule, Message: n.altered(got, doc.Name)}
	data, _ = v.store.read(file)
	if pointed(data) == n.hash {
		violation.Rule, violation.Message = snapshot.RulePointer, notFetched
	}
	if line, kinds := conflict.Line(data); kinds == 3 {
		violation.Rule = snapshot.RuleConflict
		violation.Message = fmt.Sprintf("line %d is a conflict marker of a merge", line)
	}
	v.report(file, violation)
	return nil
}
