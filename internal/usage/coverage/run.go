package coverage

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
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// UpdateEnv is the variable that has the harness record.
const UpdateEnv = "TRACEFORGE_UPDATE"

// ReadRun returns what a run of tests left in the directory left, of the store in dir.
func ReadRun(ctx context.Context, left, dir string) (*Run, error) {
	r, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	const wayOut = "%s holds no receipt: run the tests with %s=%s"
	switch n, err := r.readReceipts(left); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(wayOut+": %w", left, usage.ReceiptEnv, gotest.Quote(left), err)
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf(wayOut, left, usage.ReceiptEnv, gotest.Quote(left))
	}
	return r, r.readEvents(left)
}

// openRun prepares to read what tests used of the store in dir: those of the module that the
// process works in, and of the one that has the store.
func openRun(ctx context.Context, dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	roots := []string{place.ModuleRoot(dir), place.ModuleRoot(wd)}
	if os.Getenv(place.DirEnv) != "" { // else the tests of a module use the store in it
		slices.Reverse(roots)
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return root == "" })
	if len(roots) == 0 {
		roots = []string{""}
	}
	src, err := OpenSources(ctx, slices.Compact(roots)...)
	if err != nil {
		return nil, err
	}
	r := newRun(realPath(dir), src)
	r.root = roots[0]
	return r, nil
}

// realPath is the path of a directory without symbolic links, where it can be known.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// RunAll runs the tests of all packages of the module that can record or have records in the store
// in dir, and returns what they used.
func RunAll(ctx context.Context, say Say, s *store.Store, dir string, flags []string) (*Run, error) {
	r, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	if r.root == "" {
		return nil, place.NoModuleForTests()
	}
	packages, err := Packages(ctx, r.root, []string{"./..."}, flags)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for doc, err := range place.Documents(s) {
		if err == nil { // what cannot be read is for others to say
			have[doc.Document.Snapshots[0].Source.Package] = true
		}
	}
	packages = slices.DeleteFunc(packages, func(p Package) bool { return !p.Records && !have[p.Path] })
	r.all = true
	if len(packages) == 0 {
		return r, nil
	}

	left, err := os.MkdirTemp("", "traceforge-receipt-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(left)
	say("running the tests of %s", page.Count(len(packages), "package", "packages"))
	test := GoTest{
		Dir: r.root, Packages: packages, Say: say,
		Flags: append([]string{"-count=1"}, flags...),
		Env:   []string{UpdateEnv + "=", usage.ReceiptEnv + "=" + left},
	}
	if r.Ended, err = test.Run(ctx); err != nil {
		return nil, err
	}
	if _, err = r.readReceipts(left); err != nil {
		return nil, err
	}
	filters := filtering(append(strings.Fields(os.Getenv("GOFLAGS")), flags...))
	for _, p := range packages {
		if _, told := r.filters[p.Path]; !told { // no test of it had a recorder
			r.filters[p.Path] = filters
		}
	}
	return r, nil
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
