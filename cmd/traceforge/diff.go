package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/cmd/traceforge/internal/git"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func diffCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff [FROM [TO]]",
		Short: "show what differs between two states of the store",
		Long: `Compares the calls of tests: what was sent, what came back, and which part of a request
differs. FROM and TO are directories of stores, or revisions of git. FROM is HEAD where it
is not given, and TO is the store as it is now. A document with the same calls under
another name, as of a test that was renamed, is moved. The exit code is 1 where there are
differences.

The object of --json has:

  differences  of each document: ` + page.ChangeFields + `;
               or change is moved, and was the file before; differences, of each call
               that changed: call, its number; causes, what differs in the request in
               words; request and response, what differs, of each value: pointer, a JSON
               pointer into the whole request or response; recorded, the value in FROM;
               got, the value in TO. What does not apply is left out
`,
		Args: arguments(0, 2),
	}
	named := dirFlag(c)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := place.StoreDir(*named)
		if err != nil {
			return err
		}
		states := []string{"HEAD", ""}
		copy(states, args)
		from, err := openState(c.Context(), states[0], dir)
		if err != nil {
			return err
		}
		defer from.close()
		to, err := openState(c.Context(), states[1], dir)
		if err != nil {
			return err
		}
		defer to.close()
		differences, err := compare(from.Store, to.Store)
		if err != nil {
			return err
		}
		return writeDifferences(con, differences, *asJSON)
	}
	return c
}

func writeDifferences(con *console, differences []*page.Difference, asJSON bool) error {
	if asJSON {
		err := con.json(struct {
			Differences []*page.Difference `json:"differences"`
		}{orEmpty(differences)})
		if err != nil {
			return err
		}
	} else {
		for i, d := range differences {
			if i > 0 {
				fmt.Fprintln(con.stdout)
			}
			con.text(d.Text())
		}
	}
	if len(differences) > 0 {
		return exit{code: exitFindings}
	}
	return nil
}

// compare returns what differs between two states, by the documents' names.
func compare(from, to *store.Store) ([]*page.Difference, error) {
	before, err := place.Seals(from)
	if err != nil {
		return nil, err
	}
	after, err := place.Seals(to)
	if err != nil {
		return nil, err
	}
	load := func(s *store.Store, seals map[string]page.Seal, name string) (*snapshot.Document, error) {
		seal, there := seals[name]
		if !there {
			return nil, nil
		}
		doc, err := place.Load(s, seal.File)
		if err != nil {
			return nil, err
		}
		return doc.Document, nil
	}
	var differences []*page.Difference
	for _, c := range page.Changes(before, after) {
		f, err := load(from, before, c.Name)
		if err != nil {
			return nil, err
		}
		t, err := load(to, after, c.Name)
		if err != nil {
			return nil, err
		}
		d, err := page.Explain(c, f, t)
		if err != nil {
			return nil, err
		}
		differences = append(differences, d)
	}
	return page.JoinMoved(differences)
}

// A state is a store as it is, or was at a revision of git.
type state struct {
	*store.Store
	temp string // the directory of a copy; empty: it is none
}

func (s *state) close() {
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
}

// openState opens what name means: a directory, or a revision of the repository that the store in
// dir is in; empty: that store.
func openState(ctx context.Context, name, dir string) (*state, error) {
	if name == "" {
		name = dir
	}
	if info, err := os.Stat(name); name == dir || err == nil && info.IsDir() {
		s, _, err := place.OpenStore(name)
		return &state{Store: s}, err
	}
	temp, err := os.MkdirTemp("", "traceforge-diff-")
	if err != nil {
		return nil, err
	}
	s := &state{temp: temp}
	if err = git.Extract(ctx, name, dir, temp); err == nil {
		s.Store, err = store.Open(temp)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}
