package store

import (
	"fmt"
	"path"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A Report is what [Store.Repair] did, and what is left to do.
type Report struct {
	// Commit is what became of a commit that was cut short: "finished", "undone", or "discarded" and why;
	// empty: there was none.
	Commit  string
	Removed []string           // files that were left of commits
	Merged  []Merge            // documents that were in conflict
	Left    []snapshot.Finding // what is as it was, and why
	Add     []string           // files and directories to git add, in the store

	dir string // of the store, for commands
}

// A Merge is a document that was in conflict.
type Merge struct {
	File       string       // path in the store
	Whole      bool         // the document was whole, and was left as it is
	Records    int          // that it has now
	Renumbered []Renumbered // records of theirs that have another number now
	Choices    []Choice
}

// A Renumbered is a record that has another id now.
type Renumbered struct{ From, To string }

// A Choice is a record that both sides changed, so that one of them had to be taken. The other one is
// in git, as it was.
type Choice struct {
	ID     string
	Reason string
	Taken  string // "ours" or "theirs"
}

// String returns the report as a command prints it; empty if there was nothing to repair.
func (r *Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.Commit != "" {
		line("%s: a commit was cut short: %s", journalName, r.Commit)
	}
	for _, file := range r.Removed {
		line("%s: left of a commit that was cut short: removed", file)
	}
	for _, m := range r.Merged {
		if m.Whole {
			line("%s: is whole: left as it is", m.File)
		} else {
			records := map[bool]string{true: "record", false: "records"}[m.Records == 1]
			line("%s: merged: %d %s", m.File, m.Records, records)
		}
		for _, n := range m.Renumbered {
			line("  %s of theirs is now %s", n.From, n.To)
		}
		for _, c := range m.Choices {
			line("  %s: %s: %s is taken%s", c.ID, c.Reason, c.Taken, c.wayOut())
		}
	}
	for _, f := range r.Left {
		line("%s", f)
	}
	if len(r.Add) > 0 {
		files := make([]string, len(r.Add))
		for i, file := range r.Add {
			files[i] = path.Join(r.dir, file)
		}
		line("now: git add -A -- %s", strings.Join(files, " "))
	}
	return b.String()
}

// wayOut says how to take the other side. Where ours removed a record, there is none to take.
func (c Choice) wayOut() string {
	if c.Taken == "ours" {
		return "; to take theirs instead: traceforge repair --theirs " + c.ID
	}
	return ""
}
