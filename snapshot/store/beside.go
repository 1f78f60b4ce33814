package store

import (
	"bytes"
	"fmt"
	"os"

	"github.com/traceforge/traceforge-go/snapshot"
)

// lookBeside looks at what is beside a document.
func (v *verifier) lookBeside(doc *Doc, s *scratch) error {
	named := map[string]need{}
	for _, n := range needs(doc.Document) {
		named[n.own] = n
	}
	for _, own := range v.besides[doc.beside("")] {
		n, ok := named[own]
		if !ok {
			v.orphan(doc.beside(own))
			continue
		}
		delete(named, own)
		if err := v.checkBeside(doc.beside(own), n, doc.Name, s); err != nil {
			return err
		}
	}
	for own, n := range named {
		v.report(doc.File(), snapshot.Violation{Pointer: n.pointer, Rule: n.rule, Message: n.missing(doc.beside(own))})
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

// checkBeside checks that a file has the hash that its document names.
func (v *verifier) checkBeside(file string, n need, name string, s *scratch) error {
	f, err := os.Open(v.store.path(file))
	if err != nil {
		return err
	}
	got, err := sumFile(f, v.store.maxBytes, s.piece)
	if violation, ok := unreadable(err); err != nil && ok {
		v.report(file, violation)
		return nil
	}
	if err != nil || got == n.hash {
		return err
	}
	violation := snapshot.Violation{Rule: n.rule, Message: n.altered(got, name)}
	if data, err := v.store.read(file); err == nil && conflictLine(data) > 0 {
		violation.Rule = snapshot.RuleConflict
		violation.Message = fmt.Sprintf("line %d is a conflict marker of a merge", conflictLine(data))
	}
	v.report(file, violation)
	return nil
}

// conflictLine returns the number of the first line that is a conflict marker of a merge; 0 if not all
// three are there, as a text may have lines of its own that look like one.
func conflictLine(data []byte) int {
	first, seen := 0, map[string]bool{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		for _, marker := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
			if bytes.HasPrefix(line, []byte(marker)) {
				seen[marker] = true
				if first == 0 {
					first = n
				}
			}
		}
	}
	if len(seen) < 3 {
		return 0
	}
	return first
}
