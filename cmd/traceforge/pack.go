package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A packed is what pack prints for a program.
type packed struct {
	Dir          string `json:"dir"`
	Interactions int    `json:"interactions"`
	ModelIOHash  string `json:"model_io_hash"`
}

func packTest(c *call) error {
	out := c.value("output")
	if out == "" {
		return usageError{errors.New("-o must name the directory to write")}
	}
	snaps, err := testSnapshots(c, c.value("package"), c.args[0])
	if err != nil {
		return err
	}
	p, err := pack.New(snaps[0].Source.Package, c.args[0], snaps)
	if err != nil {
		return err
	}
	if err := p.Write(out); err != nil {
		return err
	}
	return c.answer(packed{out, len(snaps), string(p.Run.ModelIOHash)}, func() {
		interactions := page.Count(len(snaps), "interaction", "interactions")
		fmt.Fprintf(c.stdout, "%s: %s, %s\n", out, interactions, p.Run.ModelIOHash)
	})
}

func verifyPack(c *call) error {
	report, err := pack.Verify(c.args[0])
	if err != nil {
		return err
	}
	c.canonical(report.String())
	if !report.OK() {
		return exit{code: exitFindings}
	}
	return nil
}

// testSnapshots returns the snapshots of a test and its subtests in the one package that
// has it, or the one that is named.
func testSnapshots(c *call, pkg, test string) ([]*snapshot.Snapshot, error) {
	s, dir, err := c.store()
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
