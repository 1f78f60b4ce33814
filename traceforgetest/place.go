package traceforgetest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/snapshot"
)

const (
	self     = "github.com/traceforge/traceforge-go/traceforgetest"
	recorded = "github.com/traceforge/traceforge-go/internal/recorder"
)

// A place is where a test stands: its module and its package (design R13).
type place struct {
	root   string // the module's directory; empty where no go.mod is found
	module string // the main module's path
	pkg    string // import path of the package under test
	dir    string // the package's directory below root, with forward slashes; "." for the root
	tags   string // build tags of the test binary
	moved  bool   // the binary was built from files that are elsewhere
}

// build is what the binary knows of itself; it cannot change while the binary runs.
var build = sync.OnceValue(func() (p place) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	p.module = info.Main.Path
	if pkg, isTest := strings.CutSuffix(info.Path, ".test"); isTest && pkg != "command-line-arguments" {
		p.pkg = pkg
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			p.tags = s.Value
		}
	}
	return p
})

// started is where the process started: under go test the package's directory, which a test may leave before it asks
// for a recorder.
var started, _ = os.Getwd() // empty means not known

// packageDir returns the directory of the package under test, and its module's. A binary that was started in no module
// is where its tests go.
func packageDir() (dir, module string, err error) {
	if module, err = gotest.Module(started); module != "" || err != nil {
		return started, module, err
	}
	return gotest.Here()
}

func findPlace(asking stack) (place, error) {
	wd, root, err := packageDir()
	if err != nil {
		return place{}, err
	}
	p := build()
	p.root, p.dir = root, "."
	if p.root != "" {
		if p.module == "" || p.module == "command-line-arguments" {
			p.module = gotest.ModulePath(p.root)
		}
		rel, _ := filepath.Rel(p.root, wd) // the root is at or above it
		p.dir = filepath.ToSlash(rel)
		if p.pkg == "" {
			p.pkg = path.Join(p.module, p.dir)
		}
	}
	if p.pkg == "" {
		p.pkg = testPackage(asking)
	}
	p.moved = p.builtElsewhere(asking.frames())
	return p, nil
}

// testPackage reads the package off the test function's name on the stack, where neither the
// binary nor a go.mod tells it.
func testPackage(asking stack) string {
	last := ""
	for frame := range asking.frames() {
		if frame.Function == "testing.tRunner" {
			break
		}
		last = frame.Function
	}
	pkg, _ := splitFunction(last)
	return strings.TrimSuffix(pkg, "_test")
}

// storeDir returns the directory of the store, and how messages name it.
func (p place) storeDir(option string) (dir, shown string, err error) {
	named := cmp.Or(option, os.Getenv(gotest.StoreEnv))
	if named == "" && p.root == "" {
		return "", "", errors.New("no go.mod was found from the working directory upwards: " +
			"name the store with the option Dir or with " + gotest.StoreEnv)
	}
	if dir = cmp.Or(named, gotest.StoreName); option == "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(p.root, dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", fmt.Errorf("finding the store: %w", err)
	}
	shown = filepath.ToSlash(dir)
	if rel, _ := filepath.Rel(p.root, dir); filepath.IsLocal(rel) {
		shown = filepath.ToSlash(rel)
	}
	return dir, shown, nil
}

// sourceIn finds the code that makes a call: the innermost frame of the main module's non-test code, else the outermost
// of its tests. It is fallback where the stack has neither, as in another goroutine. Frames below a RoundTrip, or
// below a Do that something calls, are the way to the model and nobody's call.
func (p place) sourceIn(frames iter.Seq[runtime.Frame], fallback snapshot.Source) snapshot.Source {
	var code, inside, test snapshot.Source // inside: in a Do
	for frame := range frames {
		if pkg, function := splitFunction(frame.Function); pkg != recorded && isIn(function, "RoundTrip") {
			code, inside, test = snapshot.Source{}, snapshot.Source{}, snapshot.Source{}
			continue
		}
		source, own := p.own(frame)
		switch {
		case !own:
		case isIn(source.Function, "Do"):
			if code.File != "" {
				code, inside = snapshot.Source{}, code
			}
		case isTestFile(source):
			test = source
		case code.File == "":
			code = source
		}
	}
	for _, found := range []snapshot.Source{code, inside, test} {
		if found.File != "" {
			return found
		}
	}
	return fallback
}

// isIn reports whether a function is the named one, or method, or a function in it.
func isIn(function, name string) bool {
	return slices.Contains(strings.Split(strings.TrimSuffix(function, "-fm"), "."), name)
}

// origin finds the line of the test that asks for a recorder, maybe by a helper. It is the outermost line of a test
// file, else the innermost of the module's other code.
func (p place) origin(asking stack) (asked snapshot.Source) {
	for frame := range asking.frames() {
		source, own := p.own(frame)
		if own && (asked.File == "" || isTestFile(source)) {
			asked = source
		}
	}
	return asked
}

// shown returns a line of the module as it is printed, with its file relative to the package's directory, or whole
// with -fullpath.
func (p place) shown(s snapshot.Source) string {
	file := s.File
	if !p.moved && p.root != "" {
		whole := filepath.Join(p.root, filepath.FromSlash(file))
		rel, err := filepath.Rel(filepath.Join(p.root, filepath.FromSlash(p.dir)), whole)
		if flagText("test.fullpath") == "true" || err != nil {
			rel = whole
		}
		file = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}

func isTestFile(s snapshot.Source) bool { return strings.HasSuffix(s.File, "_test.go") }

// own returns the place of a frame of the main module; false where it is another's.
func (p place) own(frame runtime.Frame) (snapshot.Source, bool) {
	pkg, function := splitFunction(frame.Function)
	if !p.owns(pkg) {
		return snapshot.Source{}, false
	}
	file, here := p.relative(frame.File)
	return snapshot.Source{File: file, Line: frame.Line, Function: function}, here || p.moved
}

// builtElsewhere reports whether the stack of a test has none of its test files where they are now.
func (p place) builtElsewhere(frames iter.Seq[runtime.Frame]) bool {
	found := false
	for frame := range frames {
		if pkg, _ := splitFunction(frame.Function); p.owns(pkg) && strings.HasSuffix(frame.File, "_test.go") {
			if _, here := p.relative(frame.File); here {
				return false
			}
			found = true
		}
	}
	return found
}

// owns reports whether the package is the main module's own and no part of the harness.
func (p place) owns(pkg string) bool {
	return pkg != self && pkg != recorded &&
		(pkg == p.module || strings.HasPrefix(pkg, p.module+"/") || pkg == p.pkg || pkg == p.pkg+"_test")
}

// relative returns a source file's path below the module's root, and whether it is there. It may not be: closures of
// another module's function that is inlined into one of this module are named as if they were of this one. Under
// -trimpath files are named by import path instead of by directory, and those of other modules have a version.
func (p place) relative(file string) (rel string, here bool) {
	file = filepath.ToSlash(file)
	rel, here = strings.CutPrefix(file, filepath.ToSlash(p.root)+"/")
	if here = here && p.root != ""; !here {
		rel, here = strings.CutPrefix(file, p.module+"/")
		here = here && !strings.Contains(rel, "@")
	}
	if !here || strings.HasPrefix(rel, "vendor/") {
		return path.Base(file), false
	}
	return rel, true
}

// A stack is what a goroutine is in. Its frames are looked up when they are asked for, which takes longer than to note
// it.
type stack []uintptr

// callers returns the stack of the calling goroutine, above its caller.
func callers() stack {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(3, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*len(pcs))
		n = runtime.Callers(3, pcs)
	}
	return pcs[:n]
}

// frames yields the frames of a stack, innermost first.
func (s stack) frames() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		frames := runtime.CallersFrames(s)
		for more := len(s) > 0; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); !yield(frame) {
				return
			}
		}
	}
}

// splitFunction splits a qualified function name as the runtime spells it:
// "example.com/m/pkg.(*T).Method".
func splitFunction(name string) (pkg, function string) {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name, ""
	}
	pkg = strings.ReplaceAll(name[:slash+dot], "%2e", ".") // as the linker escapes dots of a path's last element
	return pkg, name[slash+dot+1:]
}

// unwinding reports whether the function that a cleanup runs for is being left by a panic or by
// runtime.Goexit. Package testing runs the cleanups before it marks a test that panicked as
// failed, so only the stack tells.
func unwinding() bool {
	for frame := range callers().frames() {
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return true
		}
	}
	return false
}

// testCommand is the command that runs the tests of the package, from anywhere in the module or its workspace.
func (p place) testCommand() string {
	var tags string
	if p.tags != "" {
		tags = " -tags " + gotest.Quote(p.tags)
	}
	return fmt.Sprintf("go test%s %s", tags, gotest.Quote(p.pkg))
}

// selection is the flags of go test that run the named test or benchmark alone. Nothing selects
// what a framework named otherwise: then all tests of the package run.
func selection(name string) string {
	switch gotest.Kind(gotest.Function(name)) {
	case "":
		return ""
	case "Benchmark":
		return " -run '^$' -bench " + gotest.Quote(gotest.Pattern(name))
	default:
		return " -run " + gotest.Quote(gotest.Pattern(name))
	}
}
