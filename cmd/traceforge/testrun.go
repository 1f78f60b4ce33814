package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/receipt"
	"github.com/traceforge/traceforge-go/snapshot"
)

// readRun reads what a run of tests left in the directory left, of the store in dir.
func readRun(ctx context.Context, left, dir string) (*usage, error) {
	u, err := openUsage(ctx, dir)
	if err != nil {
		return nil, err
	}
	const wayOut = "%s holds no receipt: run the tests with %s=%s"
	switch n, err := u.readReceipts(left); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(wayOut+": %w", left, receipt.Env, gotest.Quote(left), err)
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf(wayOut, left, receipt.Env, gotest.Quote(left))
	}
	return u, u.readEvents(left)
}

// openUsage prepares to read what tests used of the store in dir: those of the module that the
// command is called in, and of the one that has the store.
func openUsage(ctx context.Context, dir string) (*usage, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	roots := []string{moduleRoot(dir), moduleRoot(wd)}
	if os.Getenv(dirEnv) != "" { // else the tests of a module use the store in it
		slices.Reverse(roots)
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return root == "" })
	if len(roots) == 0 {
		roots = []string{""}
	}
	src, err := openSources(ctx, slices.Compact(roots)...)
	if err != nil {
		return nil, err
	}
	u := newUsage(realPath(dir), src)
	u.root = roots[0]
	return u, nil
}

// realPath is the path of a directory without symbolic links, where it can be known.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// runAll runs the tests of all packages of the module that can record or have records, and
// returns what they used.
func runAll(ctx context.Context, con *console, store *snapshot.Store, dir string, forwarded []string) (*usage, error) {
	u, err := openUsage(ctx, dir)
	if err != nil {
		return nil, err
	}
	if u.root == "" {
		return nil, noModuleForTests()
	}
	packages, err := testPackages(ctx, u.root, []string{"./..."}, forwarded)
	if err != nil {
		return nil, err
	}
	origins, err := origins(store)
	if err != nil {
		return nil, err
	}
	packages = slices.DeleteFunc(packages, func(p testPackage) bool {
		return !p.records && !slices.ContainsFunc(origins, func(from snapshot.Source) bool { return from.Package == p.path })
	})
	u.all = true
	if len(packages) == 0 {
		return u, nil
	}

	left, err := os.MkdirTemp("", "traceforge-receipt-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(left)
	con.say("running the tests of %s", count(len(packages), "package", "packages"))
	test := goTest{
		dir: u.root, packages: packages,
		flags: append([]string{"-count=1"}, forwarded...),
		env:   []string{updateEnv + "=", receipt.Env + "=" + left},
	}
	if u.ended, err = test.run(ctx, con); err != nil {
		return nil, err
	}
	if _, err = u.readReceipts(left); err != nil {
		return nil, err
	}
	filters := filtering(append(strings.Fields(os.Getenv("GOFLAGS")), forwarded...))
	for _, p := range packages {
		if _, told := u.filters[p.path]; !told { // no test of it had a recorder
			u.filters[p.path] = filters
		}
	}
	return u, nil
}

// filtering returns those of go test's flags that keep tests from running.
func filtering(flags []string) []string {
	var found []string
	for _, flag := range flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimLeft(flag, "-"), "test."), "=")
		if strings.HasPrefix(flag, "-") && slices.Contains([]string{"run", "skip", "short", "list"}, name) {
			found = append(found, flag)
		}
	}
	return found
}
