package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/snapshot"
)

var packCommand = command{
	name:     "pack",
	synopsis: "[--json] [--package PATH] [--dir DIR] -o DIR TEST",
	summary:  "export the calls of a test as a run pack",
	help: `
Writes a directory with model_io.json, a session of the calls that a test and its
subtests made, and run.json, which says what run it is of and names the session's hash.
The same snapshots make the same bytes. The directory must be empty, or hold a pack,
which is replaced.

  -o DIR          the directory to write
  --package PATH  the import path of the test's package, where several have a test of
                  that name
  --dir DIR       the store
  --json          print one object: dir, the pack; interactions, how many calls it has;
                  model_io_hash, the hash of its session
`,
	run: runPack,
}

func runPack(_ context.Context, con *console, args []string) error {
	flags := newFlags()
	out := flags.String("o", "", "")
	pkg := flags.String("package", "", "")
	dir := flags.String("dir", "", "")
	asJSON := flags.Bool("json", false, "")
	args, err := arguments(flags, args, 1, 1)
	if err != nil {
		return err
	}
	if *out == "" {
		return usagef("-o must name the directory to write")
	}
	test := args[0]
	snaps, err := testSnapshots(*dir, *pkg, test)
	if err != nil {
		return err
	}
	p, err := pack.New(snaps[0].Source.Package, test, snaps)
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
	_, err = fmt.Fprintf(con.stdout, "%s: %s, %s\n", *out, count(len(snaps), "interaction", "interactions"), p.Run.ModelIOHash)
	return err
}

// testSnapshots returns the snapshots of a test and its subtests in the one package that
// has it, or the one that is named.
func testSnapshots(dir, pkg, test string) ([]*snapshot.Snapshot, error) {
	store, dir, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	records, err := testRecords(store, test)
	if err != nil {
		return nil, err
	}
	var snaps []*snapshot.Snapshot
	var packages []string
	for _, r := range records {
		packages = append(packages, r.snapshot.Source.Package)
		if pkg == "" || pkg == r.snapshot.Source.Package {
			snaps = append(snaps, r.snapshot)
		}
	}
	packages = slices.Compact(packages) // records are sorted by package
	switch {
	case len(packages) == 0:
		return nil, fmt.Errorf("%s has no snapshot of %s", dir, test)
	case len(snaps) == 0:
		return nil, fmt.Errorf("%s has no snapshot of %s in %s, but in:\n  %s", dir, test, pkg, strings.Join(packages, "\n  "))
	case pkg == "" && len(packages) > 1:
		return nil, usagef("several packages have a test %s: name one with --package:\n  %s", test, strings.Join(packages, "\n  "))
	}
	return snaps, nil
}

var packVerifyCommand = command{
	name:     "pack verify",
	synopsis: "DIR",
	summary:  "check a run pack",
	help: `
Checks a run pack and prints a line of canonical JSON: its files and what was compared,
or every violation. Both files must be there and nothing else, the session must be valid,
and what run.json says of it must be so.
`,
	run: runPackVerify,
}

func runPackVerify(_ context.Context, con *console, args []string) error {
	args, err := arguments(newFlags(), args, 1, 1)
	if err != nil {
		return err
	}
	report, err := pack.Verify(args[0])
	if err != nil {
		return err
	}
	con.canonical(report.String())
	if !report.OK() {
		return exit{code: exitFindings}
	}
	return nil
}
