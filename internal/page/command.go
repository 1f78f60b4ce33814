package page

import (
	"cmp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/commandline"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// OfProgram reports whether a test is a program that traceforge exec runs.
func (t Test) OfProgram() bool { return t.Package == snapshot.ProgramPackage }

// ProgramAgain returns the command that records the calls of a program again in a mode of --update, which may be "". of
// is the source.function of its records: the program's command, after flags of traceforge exec, if there are any.
func ProgramAgain(name, of, mode string) string {
	return ProgramCommand(name, of, strings.TrimSuffix("--update="+mode, "="))
}

// ProgramCommand returns the command that runs a program with flags of traceforge exec, which may be "". People copy it
// into a shell, and of may come from a file that others wrote: if it is not such a command, it is left out.
func ProgramCommand(name, of, flags string) string {
	if flags != "" {
		flags += " "
	}
	switch words, ok := commandline.Words(of); {
	case !ok || !isRun(words):
		of = "-- COMMAND" // unknown
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

// isRun reports whether words are a program's command, optionally after flags of RunFlags and --.
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

// Again returns the command that runs the tests of calls again in a mode of TRACEFORGE_UPDATE. The mode "" is -update,
// which buys no unchanged call. The command is empty if the calls have no test.
func Again(calls []Place, mode string) string {
	const mostPackages, mostTests = 4, 12 // limits, so that people can read the command
	var packages, tests, programs []string
	patterned := true // go test can select the tests by name
	for _, at := range calls {
		if at.Package == snapshot.ProgramPackage {
			programs = append(programs, ProgramAgain(at.Test, at.Command, mode))
			continue
		}
		if strings.HasPrefix(at.Package, "-") { // a flag and not an import path
			continue
		}
		top := gotest.Function(at.Test)
		packages, tests = append(packages, gotest.Quote(at.Package)), append(tests, top)
		kind := gotest.Kind(top)
		patterned = patterned && kind != "" && kind != "Benchmark"
	}
	packages, tests, programs = Distinct(packages), Distinct(tests), Distinct(programs)
	if len(packages) == 0 || packages[0] == gotest.Quote("") {
		return strings.Join(programs, "; ")
	}
	run := ""
	if len(tests) <= mostTests && patterned {
		run = " -run " + gotest.Quote(RunPattern(tests))
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

// RunPattern returns the -run pattern that matches the named tests; empty without any. For several tests it matches
// their functions: -run has one pattern per level, so it cannot select different subtests of different tests.
func RunPattern(tests []string) string {
	if len(tests) == 1 {
		return gotest.Pattern(tests[0])
	}
	var functions []string
	for _, test := range tests {
		functions = append(functions, gotest.Function(test))
	}
	if functions = Distinct(functions); len(functions) == 0 {
		return ""
	}
	return "^(" + strings.Join(functions, "|") + ")$"
}
