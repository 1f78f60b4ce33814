package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	osexec "os/exec"
	"slices"
	"strings"
)

// harness is the package whose importers record. This command never links it.
const harness = "github.com/traceforge/traceforge-go/traceforgetest"

// A testPackage is a package that has tests.
type testPackage struct {
	path    string // import path
	module  string // the directory of its module
	records bool   // its test binary links the harness, maybe through a helper package
}

// testPackages returns the packages that patterns match and that have tests, sorted by path. flags are the flags of go test; those that select files, such as -tags, matter here.
func testPackages(ctx context.Context, dir string, patterns, flags []string) ([]testPackage, error) {
	args := []string{"list", "-test", "-json=ImportPath,Deps,Module"}
	args = append(append(args, selecting(flags)...), "--")
	cmd := osexec.CommandContext(ctx, "go", append(args, patterns...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	var packages []testPackage
	for dec := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			ImportPath string
			Deps       []string
			Module     *struct{ Dir string }
		}
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			slices.SortFunc(packages, func(a, b testPackage) int { return strings.Compare(a.path, b.path) })
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		path, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if isTest && p.Module != nil {
			packages = append(packages, testPackage{path, p.Module.Dir, slices.ContainsFunc(p.Deps, isHarness)})
		}
	}
}

// isHarness reports whether a dependency is the harness, or its variant that is built for its
// own tests.
func isHarness(dep string) bool {
	path, _, _ := strings.Cut(dep, " ")
	return path == harness
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
