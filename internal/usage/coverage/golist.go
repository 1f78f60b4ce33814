package coverage

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Harness is the package whose importers record. This command never links it.
const Harness = "github.com/traceforge/traceforge-go/traceforgetest"

// A Package is one that has tests.
type Package struct {
	Path    string // import path
	Module  string // the directory of its module
	Records bool   // its test binary links the harness, maybe through a helper package
}

// Packages returns the packages that patterns match and that have tests, sorted by path. flags are
// the flags of go test; those that select files, such as -tags, matter here.
func Packages(ctx context.Context, dir string, patterns, flags []string) ([]Package, error) {
	args := []string{"-test", "-f", "{{if .Module}}{{.ImportPath}}\t{{.Module.Dir}}\t{{join .Deps \" \"}}{{end}}"}
	rows, err := goList(ctx, dir, slices.Concat(args, selecting(flags), []string{"--"}, patterns)...)
	var packages []Package
	for _, row := range rows {
		if path, isTest := strings.CutSuffix(row[0], ".test"); isTest {
			// Packages that are built for a test of their own have its name behind theirs.
			packages = append(packages, Package{path, row[1], slices.Contains(strings.Fields(row[2]), Harness)})
		}
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return packages, err
}

// goList runs go list and returns the lines that it prints, as their fields, which tabs separate.
func goList(ctx context.Context, dir string, args ...string) (rows [][]string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-buildvcs=false"}, args...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	for line := range strings.Lines(string(listed)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\r\n"), "\t"))
	}
	return rows, nil
}

// selects is a flag that says which files a package has, its name where a value comes with it, and that value.
var selects = regexp.MustCompile(`^--?(?:race|msan|asan|(tags|mod|modfile|overlay))(=.*)?$`)

// selecting returns those of a test's flags that say which files its package has.
func selecting(flags []string) (kept []string) {
	for i, flag := range flags {
		if flag == "-args" || flag == "--args" {
			break
		}
		if m := selects.FindStringSubmatch(flag); m != nil {
			kept = append(kept, flag)
			if m[1] != "" && m[2] == "" && i+1 < len(flags) {
				kept = append(kept, flags[i+1])
			}
		}
	}
	return kept
}
