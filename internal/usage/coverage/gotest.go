package coverage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
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

// A TestName names a test of a package; of the package itself Test is empty.
type TestName struct{ Package, Test string }

// Outcomes are how tests and packages ended: "pass", "fail" or "skip".
type Outcomes map[TestName]string

// add notes an event, if something ended with it.
func (o Outcomes) add(e testEvent) {
	if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return
	}
	name := TestName{e.Package, e.Test}
	if o[name] != "fail" { // with -count a test ends several times
		o[name] = e.Action
	}
}

// Failed returns the packages that failed, sorted.
func (o Outcomes) Failed() []string {
	var failed []string
	for name, action := range o {
		if name.Test == "" && action == "fail" {
			failed = append(failed, name.Package)
		}
	}
	slices.Sort(failed)
	return failed
}

// A Say takes a line that is said beside the answer, without its end.
type Say func(format string, args ...any)

// A GoTest is a run of go test that is to be.
type GoTest struct {
	Dir      string // empty: the working directory
	Packages []Package
	Flags    []string // behind the packages
	Env      []string // besides the environment
	Say      Say
}

// Run runs the tests. It says how each package went when it is done, and of one that failed all
// that go test would print. That tests fail is no error.
func (g *GoTest) Run(ctx context.Context) (Outcomes, error) {
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
	p := progress{
		say: g.Say, of: len(g.Packages), ended: Outcomes{}, printed: map[string][]testEvent{}, verbose: isVerbose(g.Flags),
	}
	err = p.follow(stdout)
	waitErr := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading what go test prints: %w", err)
	case errors.As(waitErr, &exit) && exit.ExitCode() == 1 && len(p.ended.Failed()) > 0:
		return p.ended, nil
	case waitErr != nil:
		return nil, fmt.Errorf("go test: %w", waitErr)
	}
	return p.ended, nil
}

func isVerbose(flags []string) bool {
	return slices.Contains(flags, "-v") || slices.Contains(flags, "-v=true")
}

// A progress follows the packages of a run.
type progress struct {
	say     Say
	of      int // packages
	done    int
	ended   Outcomes
	printed map[string][]testEvent // what the packages that run have printed
	verbose bool
}

func (p *progress) follow(stdout io.Reader) error {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			p.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *progress) line(line string) {
	var e testEvent
	if json.Unmarshal([]byte(line), &e) != nil {
		p.say("%s", strings.TrimSuffix(line, "\n")) // go's own speech
		return
	}
	p.ended.add(e)
	switch {
	case e.Action == "build-output":
		p.say("%s", strings.TrimSuffix(e.Output, "\n"))
	case e.Action == "output":
		p.printed[e.Package] = append(p.printed[e.Package], e)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		p.packageEnded(e)
	}
}

// packageEnded says how a package went.
func (p *progress) packageEnded(e testEvent) {
	p.done++
	printed := p.printed[e.Package]
	delete(p.printed, e.Package)
	if text := p.text(printed); text != "" && (p.verbose || e.Action == "fail") {
		p.say("%s", strings.TrimSuffix(text, "\n"))
	}
	word := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "?   "}[e.Action]
	note := fmt.Sprintf("%.2fs", e.Elapsed)
	if e.FailedBuild != "" {
		note = "[build failed]"
	}
	p.say("%s %s %s (%d of %d)", word, e.Package, note, p.done, p.of)
}

// text returns what go test would have printed: all of it, or what is of failed tests.
func (p *progress) text(printed []testEvent) string {
	var b strings.Builder
	for _, e := range printed {
		framing := strings.HasPrefix(e.Output, "=== ") || e.Test == "" && isSummary(e)
		if p.verbose || !framing && (e.Test == "" || p.ended[TestName{e.Package, e.Test}] == "fail") {
			b.WriteString(e.Output)
		}
	}
	return b.String()
}

// isSummary reports whether a package printed a line that packageEnded says in its own way.
func isSummary(e testEvent) bool {
	for _, begin := range []string{"PASS\n", "FAIL\n", "ok  \t", "FAIL\t", "?   \t"} {
		if strings.HasPrefix(e.Output, begin) {
			return true
		}
	}
	return false
}
