package audit

import (
	"fmt"
	"path"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Report says what [Repair] did, and what is left to do.
type Report struct {
	// Commit says what became of an interrupted commit: "finished", "undone", or "discarded" and why; empty if there
	// was none.
	Commit   string
	Removed  []string           // files left by commits
	Merged   []Merge            // documents that had a conflict
	Restored []string           // documents whose raw answers or media were restored
	Resealed []string           // documents with whole records whose hash was computed again
	Left     []snapshot.Finding // what was left unchanged, and why
	Add      bool               // there is something to stage

	dir string // directory of the store, for commands
}

// A Merge is a document that had a conflict.
type Merge struct {
	File       string             // path in the store
	Whole      bool               // the document had no conflict markers, and was left unchanged
	Records    int                // number of records in the result
	Renumbered []RenumberedRecord // their records with a new number
	Choices    []Choice
}

// A RenumberedRecord is a record with a new id.
type RenumberedRecord struct{ From, To string }

// A Choice is a record that both sides changed. The version that was not chosen is still in git.
type Choice struct {
	ID     string
	Reason string
	Taken  string   // "ours", "theirs", or "merged" for a merged request with our answer
	Left   []string // components of the request that both sides changed differently, and that were taken from ours
}

// String returns the report as a command prints it, with one line per cause; empty if there was nothing to repair.
func (r *Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.Commit != "" {
		line("%s: a commit was cut short: %s", store.JournalName, r.Commit)
	}
	if len(r.Removed) > 0 {
		line("%s: left of a commit that was cut short: removed", few(r.Removed))
	}
	r.merged(line)
	if len(r.Restored) > 0 {
		line("%s: what it names was missing or altered, and is put back", few(r.Restored))
	}
	if len(r.Resealed) > 0 {
		line("%s: its records are whole, and its hash is computed again", few(r.Resealed))
	}
	choices, stale := r.choices()
	for _, c := range choices {
		line("%s", c)
	}
	r.left(line)
	if r.Add {
		line("%s", r.toAdd())
	}
	if stale > 0 {
		line("then: traceforge update, which buys %s again; until then replay serves those of ours",
			page.Count(stale, "answer", "answers"))
	}
	return b.String()
}

// mostNamed is the maximum number of names of one kind in a line.
const mostNamed = 3

// few joins the first names.
func few(names []string) string {
	if more := len(names) - mostNamed; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// merged prints the results for documents.
func (r *Report) merged(line func(format string, args ...any)) {
	var whole, merged, numbers []string
	records := 0
	for _, m := range r.Merged {
		if m.Whole {
			whole = append(whole, m.File)
			continue
		}
		merged, records = append(merged, m.File), records+m.Records
		for _, n := range m.Renumbered {
			numbers = append(numbers, n.From+" is now "+n.To)
		}
	}
	if len(whole) > 0 {
		line("%s: whole, and left as it is", few(whole))
	}
	if len(merged) > 1 {
		line("%s merged: %s: %s", page.Count(len(merged), "document", "documents"), page.Count(records, "record", "records"),
			few(merged))
	} else if len(merged) == 1 {
		line("%s: merged: %s", merged[0], page.Count(records, "record", "records"))
	}
	if len(numbers) > 0 {
		line("records of theirs have new numbers: %s", few(numbers))
	}
}

// choices describes what was chosen, in one line for all records with the same choice. It also returns how many records
// now have the answer to a different request.
func (r *Report) choices() (lines []string, stale int) {
	type cause struct{ reason, taken, left string }
	ids := map[cause][]string{}
	var order []cause
	for _, m := range r.Merged {
		for _, c := range m.Choices {
			key := cause{c.Reason, c.Taken, strings.Join(c.Left, ", ")}
			if ids[key] == nil {
				order = append(order, key)
			}
			if ids[key] = append(ids[key], c.ID); c.Taken == "merged" {
				stale++
			}
		}
	}
	for _, c := range order {
		line := fmt.Sprintf("%s: %s: ", few(ids[c]), c.reason)
		if c.taken == "merged" {
			line += "the requests are merged, and the answers ours"
		} else {
			line += c.taken + " is taken"
		}
		if c.reason == oursRemoved {
			line += "; if its test is gone, traceforge prune --write removes it again"
		}
		if c.left != "" {
			line += "; both changed " + c.left + ": that is ours"
		}
		if c.taken != "theirs" { // otherwise there is none of ours, or it has a different request
			line += "; to take theirs instead: traceforge repair --theirs " + allOf(ids[c])
		}
		lines = append(lines, line)
	}
	return lines, stale
}

// allOf returns records as a value of --theirs.
func allOf(ids []string) string {
	if len(ids) == 1 {
		return ids[0]
	}
	return "ID, or " + AllTheirs
}

// left prints what was left unchanged, in one line for all files with the same reason.
func (r *Report) left(line func(format string, args ...any)) {
	files := map[string][]string{}
	for _, f := range r.Left {
		files[f.Message] = append(files[f.Message], path.Join(r.dir, f.File))
	}
	for _, f := range r.Left {
		if names := files[f.Message]; names != nil {
			delete(files, f.Message)
			if len(names) == 1 {
				f.Message = strings.ReplaceAll(f.Message, " -- "+leftFile, " -- "+gotest.Quote(names[0]))
			}
			f.File = few(names)
			line("%s", f)
		}
	}
}

// toAdd says how to stage the store except for what was left; if much was left, that must be resolved first.
func (r *Report) toAdd() string {
	if len(r.Left) > 2*mostNamed {
		return "now: take a side of each that is left, then git add -A -- " + gotest.Quote(r.dir)
	}
	var command strings.Builder
	command.WriteString("now: git add -A -- " + gotest.Quote(r.dir))
	for _, f := range r.Left {
		command.WriteString(" " + gotest.Quote(":!"+path.Join(r.dir, f.File)))
	}
	return command.String()
}
