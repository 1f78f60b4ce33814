package recorder

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// words returns a failure's advice for whoever makes the calls. A Go test has options of package traceforgetest; a
// program under traceforge exec has flags.
func (o *Options) words(ofTest, ofProgram string) string {
	if o.Program != nil {
		return ofProgram
	}
	return ofTest
}

const ofTheTest = "the test's output"

// tested names what makes the calls.
func (o *Options) tested() string { return o.words("the test", "the program") }

// output names where the whole failure is.
func (o *Options) output() string { return o.words(ofTheTest, "what traceforge exec says") }

// option writes an option with a string argument.
func (o *Options) option(name, value string) string {
	return o.words(fmt.Sprintf("%s(%q)", name, value), flagOf(name)+" "+gotest.Quote(value))
}

// given says how to set such an option.
func (o *Options) given(name, value string) string {
	return o.words(newWith(o.option(name, value)), "the flag "+o.option(name, value))
}

// allow says how to allow what was refused.
func (o *Options) allow(name string) string {
	return o.words(newWith("Allow(traceforgetest."+name+")"), "the flag --allow "+strings.TrimPrefix(flagOf(name), "--"))
}

// keepHeaders says how to keep headers.
func (o *Options) keepHeaders() string {
	return o.words(newWith("KeepHeaders(…)"), "the flag --keep-headers")
}

// scrubOf says how to replace the value of a variable, or for "" a value that only a pattern finds.
func (o *Options) scrubOf(variable string) string {
	if variable == "" {
		return o.words(`traceforgetest.Scrub(traceforgetest.Pattern("key", regexp.MustCompile("…")))`,
			o.scrubbing(o.patternRule("key", `"…"`)))
	}
	value := fmt.Sprintf("traceforgetest.Scrub(traceforgetest.Value(%q, os.Getenv(%q)))",
		strings.ToLower(variable), variable)
	return o.words(value, "the flag --scrub "+variable)
}

// scrubbing says how to add rules.
func (o *Options) scrubbing(rules string) string {
	return o.words("add traceforgetest.Scrub("+rules+")", `add to "scrub" in `+o.Shown+"/config.json: "+rules)
}

func (o *Options) patternRule(name, pattern string) string {
	return o.words(fmt.Sprintf("traceforgetest.Pattern(%q, %s)", name, pattern),
		fmt.Sprintf(`{"name": %q, "pattern": %s}`, name, pattern))
}

func (o *Options) volatileRule() string {
	return o.words("traceforgetest.Volatile()", `{"volatile": true}`)
}

// clock says how to make a time the same in each run; if it is a date, a rule may do it.
func (o *Options) clock(isDate bool) string {
	now := "give the program the time of the recorder's Now, which is the same in each run"
	if isDate {
		now += ", or " + o.scrubbing("traceforgetest.Volatile(traceforgetest.Dates)")
	}
	return o.words(now, "have the program take a fixed time, or "+o.scrubbing(o.patternRule("time", "…")))
}

// with is the command that runs the test or program in another mode.
func (o *Options) with(mode string) string {
	if o.Program != nil {
		return o.Program(mode)
	}
	return gotest.UpdateEnv + "=" + mode + " " + o.TestCommand + o.TestFlags
}

// updating names what makes the next run record: a flag with the mode, which may be "".
func (o *Options) updating(mode string) string {
	switch {
	case mode != "":
		return o.words(gotest.UpdateEnv+"=", "--update=") + mode
	case gotest.InCI():
		return o.words(gotest.UpdateEnv+"=1", "--update")
	}
	return o.words("-update", "--update")
}

// saysWhy names the places for a reason why a call is not deterministic, the most common first.
func (o *Options) saysWhy() string {
	const inPackage = `once for the package, in a helper that its tests call instead of New:
  func newRecorder(t *testing.T) *traceforgetest.Recorder {
      t.Helper()
      return traceforgetest.New(t, traceforgetest.Nondeterministic("why"))
  }`
	return o.words(inPackage, "for this program: the flag --nondeterministic WHY") + `
or once for the repository, in ` + o.Shown + `/config.json:
  {"nondeterministic": "why"}`
}

// reaches says how calls reach the recorder.
func (o *Options) reaches() string {
	return o.words("the code under test must use the recorder's Client; a test that makes no call needs no recorder,\n"+
		"and one that may make none says so: ",
		"the program must ask what the variables with base URLs say (traceforge help exec lists them),\n"+
			"and one that may make no call says so: ") + o.allow("NoCalls")
}

// lanes says how to tell equal concurrent calls apart.
func (o *Options) lanes() string {
	return o.words("Give each a client of its own: tf.Lane(\"worker-1\")",
		"Make them one after the other, or let each say who asks")
}

func (o *Options) notRecorded(skipped bool) string {
	if skipped {
		return o.words("the test was skipped", "the run failed")
	}
	return o.words("the test failed", "the run failed")
}

// newWith shows how a test makes its recorder with an option.
func newWith(option string) string { return "traceforgetest.New(t, traceforgetest." + option + ")" }

// flagOf returns a program's flag for an option: --pass-through for PassThrough.
func flagOf(option string) string {
	return "--" + strings.ToLower(innerCapital.ReplaceAllString(option, "-$0"))
}

var innerCapital = regexp.MustCompile(`\B[A-Z]`)
