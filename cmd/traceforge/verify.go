package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/snapshot"
)

var verifyCommand = command{
	name:     "verify",
	synopsis: "[--json] [--receipt DIR] [DIR]",
	summary:  "check that the store is what was recorded",
	help: `
Reads every file of the store and prints a line for each thing that is wrong:

  file: pointer: rule: message

It finds files that were altered, are missing, were added or renamed, blobs that no
record refers to, files that are not written as traceforge writes them, conflict
markers, and a manifest that disagrees with the records. What mends them is said on
standard error. On GitHub Actions findings are annotations too.

With --receipt it also tells how a run of the tests used the store, by package: the
records that were played, those that were not, those that no test can use any more (see
prune), and calls that no record answered. The last two are findings. The run must have
had TRACEFORGE_RECEIPT=DIR in its environment. Put what go test -json printed into a file
in DIR too: only so it is known which tests ran and used nothing.

  --json         print one object instead
  --receipt DIR  what the run left

The object of --json has:

  ok         true where nothing was found
  snapshots  how many records the store has
  findings   of each: file, its path in the store, empty for the store itself; pointer,
             a JSON pointer into the file, empty for all of it; rule, a word that
             docs/format.md explains, or unused or unrecorded of --receipt; message
  coverage   ` + coverageFields + `;
             only with --receipt
`,
	run: runVerify,
}

func runVerify(ctx context.Context, con *console, args []string) error {
	flags := newFlags()
	asJSON := flags.Bool("json", false, "")
	left := flags.String("receipt", "", "")
	args, err := arguments(flags, args, 0, 1)
	if err != nil {
		return err
	}
	named := strings.Join(args, "")
	store, dir, err := openStore(named)
	if err != nil {
		return err
	}
	defer store.Close()
	found, err := store.Verify()
	if err != nil {
		return err
	}
	snapshots, err := countSnapshots(dir, found)
	if err != nil {
		return err
	}
	var c *coverage
	if *left != "" {
		if c, err = coverRun(ctx, *left, store, dir); err != nil && (c == nil || len(found) == 0) {
			return err
		}
		found = append(found, c.findings()...)
	}
	if *asJSON {
		if err := writeFindings(con, snapshots, found, c); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			f.File = path.Join(filepath.ToSlash(dir), f.File)
			writeFinding(con, f)
		}
		if c != nil {
			c.write(con.stdout)
		}
	}
	if annotation.Wanted() {
		for _, f := range found {
			annotate(con, dir, f)
		}
	}
	if c != nil {
		c.sayKept(con)
	}
	if len(found) == 0 {
		con.say("%s: %s, nothing is wrong", dir, count(snapshots, "snapshot", "snapshots"))
		return nil
	}
	con.say("%s: %s, %s", dir, count(snapshots, "snapshot", "snapshots"), count(len(found), "finding", "findings"))
	sayRemedies(con, found, dir, named)
	if c != nil && len(c.missing) > 0 {
		con.say("record calls that have no snapshot, or accept what drifted, with %s", updateOf(c.missing))
	}
	if c != nil && len(c.orphans) > 0 {
		con.say("remove what no test uses with traceforge prune --write")
	}
	return exit{code: exitFindings}
}

// countSnapshots counts the files of records that are in the store. The manifest may be wrong.
func countSnapshots(dir string, found []snapshot.Finding) (int, error) {
	files, err := fs.Glob(os.DirFS(dir), "*/*.json")
	if err != nil {
		return 0, err
	}
	stray := map[string]bool{}
	for _, f := range found {
		stray[f.File] = stray[f.File] || f.Rule == "stray"
	}
	return len(slices.DeleteFunc(files, func(file string) bool { return stray[file] })), nil
}

// writeFinding writes a line for a finding.
func writeFinding(con *console, f snapshot.Finding) {
	lines := strings.Split(f.Message, "\n") // as SF words the rejection of a version
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	f.Message = strings.Join(lines, "; ")
	fmt.Fprintln(con.stdout, printable(f.String()))
}

// annotate tells GitHub Actions of a finding, which shows it at its file.
func annotate(con *console, dir string, f snapshot.Finding) {
	file := path.Join(filepath.ToSlash(dir), f.File)
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
		file = annotation.Path(wd, file)
	}
	text := f.Message
	if f.Pointer != "" {
		text = f.Pointer + ": " + text
	}
	con.say("%s", annotation.Error(file, 0, "traceforge verify: "+f.Rule, text))
}

// A finding is a snapshot.Finding for a program to read.
type finding struct {
	File    string `json:"file"`
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// writeFindings writes what was found for a program to read.
func writeFindings(con *console, snapshots int, found []snapshot.Finding, c *coverage) error {
	answer := struct {
		OK        bool              `json:"ok"`
		Snapshots int               `json:"snapshots"`
		Findings  []finding         `json:"findings"`
		Coverage  []packageCoverage `json:"coverage,omitempty"`
	}{OK: len(found) == 0, Snapshots: snapshots, Findings: []finding{}}
	if c != nil {
		answer.Coverage = c.packages
	}
	for _, f := range found {
		answer.Findings = append(answer.Findings, finding(f))
	}
	return con.json(answer)
}
