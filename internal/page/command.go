package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// OfProgram reports whether a test is a program that traceforge exec runs.
func (t Test) OfProgram() bool { return t.Package == snapshot.ProgramPackage }

// ProgramAgain returns the command that records the calls of a program again in a mode of --update, which may be "". of
// is the function of its records: the program's command, with the flags that it is run with in front, if there are some.
func ProgramAgain(name, of, mode string) string {
	if mode != "" {
		mode = "=" + mode
	}
	return ProgramCommand(name, of, "--update"+mode)
}

// ProgramCommand returns the command that runs a program with flags of traceforge exec, which may be "". People copy it
// into a shell, and of may be from a file that others wrote: where that is no such command, it is left out.
func ProgramCommand(name, of, flags string) string {
	if flags != "" {
		flags += " "
	}
	switch words, ok := gotest.Words(of); {
	case !ok || !isRun(words):
		of = "-- COMMAND" // nobody knows it
	case !strings.HasPrefix(of, "-"):
		of = "-- " + of
	}
	return "traceforge exec " + gotest.Quote(name) + " " + flags + of
}

// RunFlags are the flags of traceforge exec that each run of a program needs again, and whether they have a value.
var RunFlags = map[string]bool{
	"dir": true, "nondeterministic": true, "allow": true, "ignore": true, "keep-headers": true, "pass-through": true,
	"record": true, "scrub": true, "stream-timing": false,
}

// isRun reports whether words are a program's command, with flags of RunFlags and -- in front, if there are some.
func isRun(words []string) bool {
	if !strings.HasPrefix(words[0], "-") {
		return true
	}
	for len(words) > 2 && words[0] != "--" {
		name, _ := strings.CutPrefix(words[0], "--")
		valued, known := RunFlags[name]
		if !known || words[0] == name {
			return false
		}
		if words = words[1:]; valued {
			words = words[1:]
		}
	}
	return len(words) > 1 && words[0] == "--"
}

// programsAgain returns the commands that record the programs again that have causes, in a mode of --update.
func programsAgain(causes []*Cause, mode string) (commands []string) {
	for _, c := range causes {
		for _, at := range c.Calls {
			if at.Package == snapshot.ProgramPackage {
				commands = append(commands, ProgramAgain(at.Test, at.Command, mode))
			}
		}
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// Accept returns the command that accepts causes: it records the tests again that have them. Unchanged calls are not
// bought. It is empty where the causes have no test.
func Accept(causes []*Cause) string { return again(causes, "") }

// Adopt returns the command that keeps the stored answers for requests that changed, without a call. Empty: they have no test.
func Adopt(causes []*Cause) string { return again(causes, "rekey") }

// Again returns the command that buys the calls of one test again in a mode of TRACEFORGE_UPDATE; "": with -update.
// function is that of its records.
func Again(test Test, function, mode string) string {
	return again([]*Cause{{Calls: []Place{{Package: test.Package, Test: test.Test, Command: function}}}}, mode)
}

// again returns the command that runs the tests of causes again in a mode of TRACEFORGE_UPDATE; "": with -update.
func again(causes []*Cause, mode string) string {
	const mostPackages, mostTests = 4, 12 // of a command that people can read
	var packages, tests []string
	patterned := true // go test can select the tests by name
	programs := programsAgain(causes, mode)
	for _, c := range causes {
		for _, t := range testsOf(c.Calls) {
			if t.Test.OfProgram() {
				continue
			}
			top, _, _ := strings.Cut(t.Test.Test, "/")
			packages, tests = append(packages, gotest.Quote(t.Package)), append(tests, top)
			kind := gotest.Kind(top)
			patterned = patterned && kind != "" && kind != "Benchmark"
		}
	}
	slices.Sort(packages)
	slices.Sort(tests)
	packages, tests = slices.Compact(packages), slices.Compact(tests)
	if len(packages) == 0 || packages[0] == gotest.Quote("") {
		return strings.Join(programs, "; ")
	}
	run := ""
	if len(tests) <= mostTests && patterned {
		run = " -run " + gotest.Quote(gotest.Patterns(tests))
	}
	command := "go test " + strings.Join(packages, " ") + run
	switch few := len(packages) <= mostPackages; {
	case few && mode == "":
		command = gotest.Updating(command)
	case few:
		command = gotest.UpdateEnv + "=" + mode + " " + command
	default: // some of the packages may not know -update
		command = gotest.UpdateEnv + "=" + cmp.Or(mode, "1") + " go test ./..." + run
	}
	return strings.Join(append([]string{command}, programs...), "; ")
}
