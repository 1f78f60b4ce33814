package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/snapshot"
)

var diffCommand = command{
	name:     "diff",
	synopsis: "[--json] [--dir DIR] [FROM [TO]]",
	summary:  "show what differs between two states of the store",
	help: `
Compares records: what was sent, what came back, and which part of a request differs.
FROM and TO are directories of stores, or revisions of git. FROM is HEAD where it is not
given, and TO is the store as it is now. A record that is the same call under another
name, as of a test that was renamed, is moved. The exit code is 1 where there are
differences.

  --dir DIR  the store
  --json     print one object instead

The object of --json has:

  differences  of each record: change, which is added, changed, removed or moved; file,
               its path in the store; id; package and test; was, the file before it
               moved; causes, what differs in the request in words; request and
               response, what differs, of each value: pointer, a JSON pointer into the
               record's request or response; recorded, the value in FROM; got, the value
               in TO. What does not apply is left out
`,
	run: runDiff,
}

func runDiff(ctx context.Context, con *console, args []string) error {
	flags := newFlags()
	named := flags.String("dir", "", "")
	asJSON := flags.Bool("json", false, "")
	args, err := arguments(flags, args, 0, 2)
	if err != nil {
		return err
	}
	dir, err := storeDir(*named)
	if err != nil {
		return err
	}
	states := []string{"HEAD", ""}
	copy(states, args)
	from, err := openState(ctx, states[0], dir)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := openState(ctx, states[1], dir)
	if err != nil {
		return err
	}
	defer to.close()
	differences, err := compare(from.store, to.store)
	if err != nil {
		return err
	}
	if *asJSON {
		err = con.json(struct {
			Differences []*difference `json:"differences"`
		}{append([]*difference{}, differences...)})
	} else {
		for i, d := range differences {
			if i > 0 {
				fmt.Fprintln(con.stdout)
			}
			fmt.Fprint(con.stdout, printableText(d.text()))
		}
		err = con.stdout.Flush()
	}
	if err == nil && len(differences) > 0 {
		err = exit{code: exitFindings}
	}
	return err
}

// A difference is a record that two states of a store do not have alike.
type difference struct {
	change
	was      string  // the file, before it moved
	from, to *record // nil: in the other state only

	causes            []string
	request, response []drift.Difference
}

// MarshalJSON writes the difference for a program to read.
func (d *difference) MarshalJSON() ([]byte, error) {
	type place struct {
		Pointer  string          `json:"pointer"`
		Recorded json.RawMessage `json:"recorded,omitempty"`
		Got      json.RawMessage `json:"got,omitempty"`
	}
	places := func(differences []drift.Difference) []place {
		var places []place
		for _, d := range differences {
			places = append(places, place(d))
		}
		return places
	}
	return json.Marshal(struct {
		change
		Was      string   `json:"was,omitempty"`
		Causes   []string `json:"causes,omitempty"`
		Request  []place  `json:"request,omitempty"`
		Response []place  `json:"response,omitempty"`
	}{d.change, d.was, d.causes, places(d.request), places(d.response)})
}

// compare returns what differs between two states, by file.
func compare(from, to *snapshot.Store) ([]*difference, error) {
	before, err := seals(from)
	if err != nil {
		return nil, err
	}
	after, err := seals(to)
	if err != nil {
		return nil, err
	}
	var differences []*difference
	for _, c := range changes("", before, after) {
		d := &difference{change: c}
		if c.Change != "added" {
			d.from, err = loadOne(from, snapshot.Entry{ID: c.ID, Provider: filepath.Dir(c.File), File: c.File, Hash: before[c.File]})
		}
		if err == nil && c.Change != "removed" {
			d.to, err = loadOne(to, snapshot.Entry{ID: c.ID, Provider: filepath.Dir(c.File), File: c.File, Hash: after[c.File]})
		}
		if err == nil {
			err = d.explain()
		}
		if err != nil {
			return nil, err
		}
		differences = append(differences, d)
	}
	return joinMoved(differences), nil
}

func loadOne(store *snapshot.Store, e snapshot.Entry) (*record, error) {
	loaded, err := load(store, []snapshot.Entry{e})
	if err != nil {
		return nil, err
	}
	return &loaded[0], nil
}

// explain says which test the record is of, and what differs if both states have it.
func (d *difference) explain() error {
	known := d.to
	if known == nil {
		known = d.from
	}
	d.testOf = testOf{known.snapshot.Source.Package, known.snapshot.Source.Test}
	if d.from == nil || d.to == nil {
		return nil
	}
	from, to := d.from.snapshot, d.to.snapshot
	var err error
	if d.request, err = drift.Requests(&from.Request, &to.Request, nil); err != nil {
		return err
	}
	d.causes = drift.Causes(d.request, &from.Request, &to.Request)
	d.response, err = responses(&from.Response, &to.Response)
	return err
}

// responses compares the cores of two responses, and what tells of how they came.
func responses(from, to *snapshot.Response) ([]drift.Difference, error) {
	f, err := from.Core()
	if err != nil {
		return nil, err
	}
	t, err := to.Core()
	if err != nil {
		return nil, err
	}
	differences := drift.JSON(f, t)
	for _, s := range []struct {
		pointer  string
		from, to any
	}{
		{"/incomplete", from.Incomplete, to.Incomplete},
		{"/model", from.Model, to.Model},
		{"/status", from.Status, to.Status},
	} {
		if s.from != s.to {
			differences = append(differences, drift.Difference{Pointer: s.pointer, Recorded: jsonOf(s.from), Got: jsonOf(s.to)})
		}
	}
	return differences, nil
}

func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil { // unreachable: strings and integers have a JSON form
		return nil
	}
	return text
}

// joinMoved makes one difference of a record that was removed and one that was added, where they
// are the same call.
func joinMoved(differences []*difference) []*difference {
	type call struct{ provider, request, response string }
	callOf := func(r *record) call {
		return call{r.provider, string(r.snapshot.Request.PromptHash), string(r.snapshot.Response.ResponseHash)}
	}
	removed := map[call][]*difference{}
	for _, d := range differences {
		if d.to == nil {
			removed[callOf(d.from)] = append(removed[callOf(d.from)], d)
		}
	}
	gone := map[*difference]bool{}
	for _, d := range differences {
		if d.from != nil {
			continue
		}
		key := callOf(d.to)
		if left := removed[key]; len(left) > 0 {
			d.Change, d.was, d.from = "moved", left[0].File, left[0].from
			gone[left[0]], removed[key] = true, left[1:]
		}
	}
	var joined []*difference
	for _, d := range differences {
		if !gone[d] {
			joined = append(joined, d)
		}
	}
	return joined
}

// text renders a difference for people.
func (d *difference) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, d.change)
	switch {
	case d.Change == "moved":
		fmt.Fprintln(&b, "  from "+d.was)
	case d.from == nil:
		b.WriteString(summaryOf(d.to.snapshot))
	case d.to == nil:
		b.WriteString(summaryOf(d.from.snapshot))
	case len(d.request)+len(d.response) == 0:
		fmt.Fprintln(&b, "  recorded again, with the same request and the same answer")
	}
	if len(d.request) > 0 {
		fmt.Fprintf(&b, "  request: %s\n%s", strings.Join(d.causes, ", "), indented(drift.Text(d.request)))
	}
	if len(d.response) > 0 {
		fmt.Fprintf(&b, "  response\n%s", indented(drift.Text(d.response)))
	}
	return b.String()
}

// summaryOf is a record in two lines.
func summaryOf(s *snapshot.Snapshot) string {
	const most = 100
	last := ""
	if n := len(s.Request.Messages); n > 0 {
		last = messageText(s.Request.Messages[n-1].Content)
	} else if s.Request.Prompt != nil {
		last = *s.Request.Prompt
	}
	clipped := func(text string) string { return clip(strings.Join(strings.Fields(text), " "), most) }
	return fmt.Sprintf("  sent     %s\n  answered %s\n", clipped(last), clipped(s.Response.Content))
}

func messageText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) != nil {
		text = string(content)
	}
	return text
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}
