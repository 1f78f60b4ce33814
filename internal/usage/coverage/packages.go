package coverage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
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
	args := []string{"list", "-test", "-json=ImportPath,Deps,Module"}
	args = append(append(args, selecting(flags)...), "--")
	cmd := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	var packages []Package
	for dec := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			ImportPath string
			Deps       []string
			Module     *struct{ Dir string }
		}
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		path, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if isTest && p.Module != nil {
			packages = append(packages, Package{path, p.Module.Dir, slices.ContainsFunc(p.Deps, isHarness)})
		}
	}
}

// isHarness reports whether a dependency is the harness, or its variant that is built for its
// own tests.
func isHarness(dep string) bool {
	path, _, _ := strings.Cut(dep, " ")
	return path == Harness
}

// selectingFlags are the flags of go that say which files a package has.
var selectingFlags = []string{"tags", "mod", "modfile", "overlay", "race", "msan", "asan"}

// selecting returns those of a test's flags that say which files its package has.
func selecting(flags []string) []string {
	var kept []string
	for i, flag := range flags {
		if flag == "-args" || flag == "--args" {
			break
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !strings.HasPrefix(flag, "-") || !slices.Contains(selectingFlags, name) {
			continue
		}
		kept = append(kept, flag)
		boolean := name == "race" || name == "msan" || name == "asan"
		if !hasValue && !boolean && i+1 < len(flags) {
			kept = append(kept, flags[i+1])
		}
	}
	return kept
}
