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

// Harness is the package that recording tests import. This command never links it.
const Harness = "github.com/traceforge/traceforge-go/traceforgetest"

// A Package is a package with tests.
type Package struct {
	Path    string // import path
	Module  string // directory of its module
	Records bool   // its test binary links the harness, possibly through another package
}

// Packages returns the packages with tests that match patterns, sorted by path. flags are flags of go test; those that
// select files, such as -tags, are used.
func Packages(ctx context.Context, dir string, patterns, flags []string) ([]Package, error) {
	args := []string{"-test", "-f", "{{if .Module}}{{.ImportPath}}\t{{.Module.Dir}}\t{{join .Deps \" \"}}{{end}}"}
	rows, err := goList(ctx, dir, slices.Concat(args, selecting(flags), []string{"--"}, patterns)...)
	var packages []Package
	for _, row := range rows {
		if path, isTest := strings.CutSuffix(row[0], ".test"); isTest {
			// A package that is compiled for another package's test has that test's name after its own.
			packages = append(packages, Package{path, row[1], slices.Contains(strings.Fields(row[2]), Harness)})
		}
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return packages, err
}

// goList runs go list and returns the tab-separated fields of the lines that it prints.
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

// selects matches a flag that selects the files of a package. Its groups are the name of a flag with a value, and the
// value.
var selects = regexp.MustCompile(`^--?(?:race|msan|asan|(tags|mod|modfile|overlay))(=.*)?$`)

// selecting returns the flags of go test that select the files of a package.
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
