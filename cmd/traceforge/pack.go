package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
)

func packCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "pack -o DIR TEST",
		Short: "export the calls of a test as a run pack",
		Long: `Writes a directory with model_io.json, a session of the calls that a test and its
subtests made, and run.json, which says what run it is of and names the session's hash.
The same snapshots make the same bytes. The directory must be empty, or hold a pack,
which is replaced.

The object of --json has: dir, the pack; interactions, how many calls it has;
model_io_hash, the hash of its session.
`,
		Args:                       arguments(1, 1),
		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(packVerifyCommand(con))
	out := c.Flags().StringP("output", "o", "", "the `DIR` to write")
	pkg := c.Flags().String("package", "",
		"the import `PATH` of the test's package, where several have a test of that name")
	dir := dirFlag(c)
	asJSON := jsonFlag(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if *out == "" {
			return usageError{errors.New("-o must name the directory to write")}
		}
		snaps, err := testSnapshots(*dir, *pkg, args[0])
		if err != nil {
			return err
		}
		p, err := pack.New(snaps[0].Source.Package, args[0], snaps)
		if err != nil {
			return err
		}
		if err := p.Write(*out); err != nil {
			return err
		}
		if *asJSON {
			return con.json(struct {
				Dir          string `json:"dir"`
				Interactions int    `json:"interactions"`
				ModelIOHash  string `json:"model_io_hash"`
			}{*out, len(snaps), string(p.Run.ModelIOHash)})
		}
		interactions := page.Count(len(snaps), "interaction", "interactions")
		_, err = fmt.Fprintf(con.stdout, "%s: %s, %s\n", *out, interactions, p.Run.ModelIOHash)
		return err
	}
	return c
}

// testSnapshots returns the snapshots of a test and its subtests in the one package that
// has it, or the one that is named.
func testSnapshots(dir, pkg, test string) ([]*snapshot.Snapshot, error) {
	s, dir, err := place.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	docs, err := place.OfTest(s, test)
	if err != nil {
		return nil, err
	}
	var snaps []*snapshot.Snapshot
	var packages []string
	for _, doc := range docs {
		from := page.TestOf(doc.Document).Package
		packages = append(packages, from)
		for i := range doc.Document.Snapshots {
			if pkg == "" || pkg == from {
				snaps = append(snaps, &doc.Document.Snapshots[i])
			}
		}
	}
	packages = slices.Compact(packages) // documents are sorted by package
	found := strings.Join(packages, "\n  ")
	switch {
	case len(packages) == 0:
		return nil, fmt.Errorf("%s has no snapshot of %s", dir, test)
	case len(snaps) == 0:
		return nil, fmt.Errorf("%s has no snapshot of %s in %s, but in:\n  %s", dir, test, pkg, found)
	case pkg == "" && len(packages) > 1:
		return nil, usagef("several packages have a test %s: name one with --package:\n  %s", test, found)
	}
	return snaps, nil
}

func packVerifyCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "check a run pack",
		Long: `Checks a run pack and prints a line of canonical JSON: its files and what was compared,
or every violation. Both files must be there and nothing else, the session must be valid,
and what run.json says of it must be so.
`,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := pack.Verify(args[0])
			if err != nil {
				return err
			}
			con.canonical(report.String())
			if !report.OK() {
				return exit{code: exitFindings}
			}
			return nil
		},
	}
}
