package coverage

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
)

// A testEvent is a line of go test -json (go doc test2json).
type testEvent struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// Outcomes are the results of tests and packages: "pass", "fail" or "skip". A package is a test without a name.
type Outcomes map[page.Test]string

// add notes an event, and reports whether a test or package ended with it.
func (o Outcomes) add(e testEvent) bool {
	if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return false
	}
	name := page.Test{Package: e.Package, Name: e.Test}
	if o[name] != "fail" { // with -count a test ends several times
		o[name] = e.Action
	}
	return true
}

// Failed returns the packages that failed, sorted.
func (o Outcomes) Failed() []string {
	var failed []string
	for name, action := range o {
		if name.Name == "" && action == "fail" {
			failed = append(failed, name.Package)
		}
	}
	slices.Sort(failed)
	return failed
}

// A Say prints a line of progress, without its newline.
type Say func(format string, args ...any)

// A GoTest is a run of go test, with its results.
type GoTest struct {
	Dir      string // empty for the working directory
	Packages []Package
	Flags    []string // flags after the packages
	Env      []string // variables in addition to the environment
	Say      Say

	Elapsed map[page.Test]float64 // seconds, by test
	Said    map[page.Test]string  // of failed tests, the first line with a file and a line number that they printed

	done    int
	ended   Outcomes
	printed map[string][]testEvent // output of packages that are still running
}

// Run runs the tests once. It prints the result of each package when it is done, and for a failed package everything
// that go test would print. A failed test is not an error.
func (g *GoTest) Run(ctx context.Context) (Outcomes, error) {
	g.ended, g.printed = Outcomes{}, map[string][]testEvent{}
	g.Elapsed, g.Said = map[page.Test]float64{}, map[page.Test]string{}
	args := []string{"test", "-json"}
	for _, p := range g.Packages {
		args = append(args, p.Path)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, g.Flags...)...)
	cmd.Dir, cmd.Stderr = g.Dir, os.Stderr
	cmd.Env = append(os.Environ(), g.Env...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("go test: %w", err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, math.MaxInt)
	for lines.Scan() {
		g.line(lines.Text())
	}
	err = cmd.Wait()
	if lines.Err() != nil {
		return nil, fmt.Errorf("reading what go test prints: %w", lines.Err())
	}
	if testsFailed := cmd.ProcessState.ExitCode() == 1 && len(g.ended.Failed()) > 0; err != nil && !testsFailed {
		return nil, fmt.Errorf("go test: %w", err)
	}
	return g.ended, nil
}

// line handles a line that go test prints.
func (g *GoTest) line(line string) {
	var e testEvent
	switch err := json.Unmarshal([]byte(line), &e); {
	case err != nil:
		g.Say("%s", line) // printed by go itself
	case e.Action == "build-output":
		g.Say("%s", strings.TrimSuffix(e.Output, "\n"))
	case e.Action == "output":
		g.printed[e.Package] = append(g.printed[e.Package], e)
	case g.ended.add(e) && e.Test == "":
		g.packageEnded(e)
	default:
		g.testEnded(e)
	}
}

var sourceLine = regexp.MustCompile(`^ +\S+\.go:\d+: (.*)\n`)

// testEnded notes how long a test took and, if it failed, the first location that it printed.
func (g *GoTest) testEnded(e testEvent) {
	name := page.Test{Package: e.Package, Name: e.Test}
	g.Elapsed[name] = e.Elapsed
	for _, printed := range g.printed[e.Package] {
		if e.Action == "fail" && printed.Test == e.Test && g.Said[name] == "" {
			if m := sourceLine.FindStringSubmatch(printed.Output); m != nil { // each line is matched at most once
				g.Said[name] = m[1]
			}
		}
	}
}

// packageEnded prints the result of a package.
func (g *GoTest) packageEnded(e testEvent) {
	g.done++
	printed := g.printed[e.Package]
	delete(g.printed, e.Package)
	verbose := slices.Contains(g.Flags, "-v") || slices.Contains(g.Flags, "-v=true")
	if text := g.text(printed, verbose); text != "" && (verbose || e.Action == "fail") {
		g.Say("%s", strings.TrimSuffix(text, "\n"))
	}
	word := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "?   "}[e.Action]
	note := fmt.Sprintf("%.2fs", e.Elapsed)
	if e.FailedBuild != "" {
		note = "[build failed]"
	}
	g.Say("%s %s %s (%d of %d)", word, e.Package, note, g.done, len(g.Packages))
}

// summary matches a package's line that packageEnded replaces.
var summary = regexp.MustCompile(`^((PASS|FAIL)\n|(ok  |FAIL|\?   )\t)`)

// text returns what go test would have printed: everything, or only the output of failed tests.
func (g *GoTest) text(printed []testEvent, verbose bool) string {
	var b strings.Builder
	for _, e := range printed {
		framing := strings.HasPrefix(e.Output, "=== ") || e.Test == "" && summary.MatchString(e.Output)
		failed := e.Test == "" || g.ended[page.Test{Package: e.Package, Name: e.Test}] == "fail"
		if verbose || failed && !framing {
			b.WriteString(e.Output)
		}
	}
	return b.String()
}
