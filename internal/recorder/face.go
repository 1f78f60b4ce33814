package recorder

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// A face words what a failure advises: how whoever runs the calls names itself, gives options, and runs again. A Go test has options
// of package traceforgetest; a program under traceforge exec has flags.
type face interface {
	tested() string                   // what makes the calls
	output() string                   // where all of a failure is
	option(name, value string) string // an option with a string as its argument
	given(name, value string) string  // how to give it
	allow(name string) string         // how to allow what was refused
	keepHeaders() string              // how to keep headers
	scrubOf(variable string) string   // how to replace the value of a variable; "" means of one that only a pattern finds
	scrubbing(rules string) string    // how to add rules
	patternRule(name, pattern string) string
	volatileRule() string
	clock(isDate bool) string    // how a time is made the same in each run, for which there may be a rule
	with(mode string) string     // the command that runs it in another mode
	updating(mode string) string // what has the next run record: a flag, whose mode may be ""
	saysWhy() string             // where the reason for a call that is not deterministic stands, the place for most first
	reaches() string             // how calls reach the recorder
	lanes() string               // how equal calls at once are told apart
	notRecorded(skipped bool) string
}

// face returns the face of what makes the calls.
func (o *Options) face() face {
	if o.Program != nil {
		return &programFace{o}
	}
	return &testFace{o}
}

type testFace struct{ o *Options }

const ofTheTest = "the test's output"

func (f *testFace) tested() string { return "the test" }
func (f *testFace) output() string { return ofTheTest }
func (f *testFace) option(name, value string) string {
	return fmt.Sprintf("%s(%q)", name, value)
}
func (f *testFace) given(name, value string) string { return newWith(f.option(name, value)) }
func (f *testFace) allow(name string) string        { return newWith("Allow(traceforgetest." + name + ")") }
func (f *testFace) keepHeaders() string             { return newWith("KeepHeaders(…)") }
func (f *testFace) scrubOf(variable string) string {
	if variable == "" {
		return `traceforgetest.Scrub(traceforgetest.Pattern("key", regexp.MustCompile("…")))`
	}
	return fmt.Sprintf("traceforgetest.Scrub(traceforgetest.Value(%q, os.Getenv(%q)))", strings.ToLower(variable), variable)
}
func (f *testFace) scrubbing(rules string) string { return "add traceforgetest.Scrub(" + rules + ")" }
func (f *testFace) patternRule(name, pattern string) string {
	return fmt.Sprintf("traceforgetest.Pattern(%q, %s)", name, pattern)
}
func (f *testFace) volatileRule() string { return "traceforgetest.Volatile()" }
func (f *testFace) clock(isDate bool) string {
	const now = "give the program the time of the recorder's Now, which is the same in each run"
	if isDate {
		return now + ", or " + f.scrubbing("traceforgetest.Volatile(traceforgetest.Dates)")
	}
	return now
}
func (f *testFace) with(mode string) string {
	return gotest.UpdateEnv + "=" + mode + " " + f.o.TestCommand + f.o.TestFlags
}
func (f *testFace) updating(mode string) string {
	switch {
	case mode != "":
		return gotest.UpdateEnv + "=" + mode
	case gotest.InCI():
		return gotest.UpdateEnv + "=1"
	}
	return "-update"
}
func (f *testFace) saysWhy() string {
	return `once for the package, in a helper that its tests call instead of New:
  func newRecorder(t *testing.T) *traceforgetest.Recorder {
      t.Helper()
      return traceforgetest.New(t, traceforgetest.Nondeterministic("why"))
  }
or once for the repository, in ` + f.o.Shown + `/config.json:
  {"nondeterministic": "why"}`
}
func (f *testFace) reaches() string {
	return "the code under test must use the recorder's Client; a test that makes no call needs no recorder,\n" +
		"and one that may make none says so: " + f.allow("NoCalls")
}
func (f *testFace) lanes() string { return "Give each a client of its own: tf.Lane(\"worker-1\")" }
func (f *testFace) notRecorded(skipped bool) string {
	if skipped {
		return "the test was skipped"
	}
	return "the test failed"
}

// newWith is how a test makes its recorder with an option.
func newWith(option string) string { return "traceforgetest.New(t, traceforgetest." + option + ")" }

type programFace struct{ o *Options }

func (f *programFace) tested() string { return "the program" }
func (f *programFace) output() string { return "what traceforge exec says" }
func (f *programFace) option(name, value string) string {
	return flagOf(name) + " " + gotest.Quote(value)
}
func (f *programFace) given(name, value string) string { return "the flag " + f.option(name, value) }
func (f *programFace) allow(name string) string {
	return "the flag --allow " + strings.TrimPrefix(flagOf(name), "--")
}
func (f *programFace) keepHeaders() string { return "the flag --keep-headers" }
func (f *programFace) scrubOf(variable string) string {
	if variable == "" {
		return f.scrubbing(f.patternRule("key", `"…"`))
	}
	return "the flag --scrub " + variable
}
func (f *programFace) scrubbing(rules string) string {
	return `add to "scrub" in ` + f.o.Shown + "/config.json: " + rules
}
func (f *programFace) patternRule(name, pattern string) string {
	return fmt.Sprintf(`{"name": %q, "pattern": %s}`, name, pattern)
}
func (f *programFace) volatileRule() string { return `{"volatile": true}` }
func (f *programFace) clock(bool) string {
	return "have the program take a fixed time, or " + f.scrubbing(f.patternRule("time", "…"))
}
func (f *programFace) with(mode string) string { return f.o.Program(mode) }
func (f *programFace) updating(mode string) string {
	if mode != "" {
		return "--update=" + mode
	}
	return "--update"
}
func (f *programFace) saysWhy() string {
	return "for this program: the flag --nondeterministic WHY\nor once for the repository, in " + f.o.Shown + `/config.json:
  {"nondeterministic": "why"}`
}
func (f *programFace) reaches() string {
	return "the program must ask what the variables with base URLs say (traceforge help exec lists them),\n" +
		"and one that may make no call says so: " + f.allow("NoCalls")
}
func (f *programFace) lanes() string {
	return "Make them one after the other, or let each say who asks"
}
func (f *programFace) notRecorded(bool) string { return "the run failed" }

// flagOf is the flag of a program that stands for an option: --pass-through for PassThrough.
func flagOf(option string) string {
	var b strings.Builder
	b.WriteString("-")
	for _, c := range option {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('-')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
