package recorder

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// A Program is what runs the calls of a recorder that is no Go test, as traceforge exec does. Failures tell whoever
// runs it to use flags, where they tell a test to use options of package traceforgetest.
type Program struct {
	Again func(mode string) string // the command that runs it in another mode, one of --update
}

// tested is how a text names what makes the calls.
func (o *Options) tested() string {
	if o.Program != nil {
		return "the program"
	}
	return "the test"
}

// Hosts are the providers of hosts that the repository's configuration names.
func (r *Recorder) Hosts() map[string]string { return r.config.Hosts }

// option is how a text names an option with an argument that is a string.
func (o *Options) option(name, value string) string {
	if o.Program != nil {
		return o.flag(name) + " " + gotest.Quote(value)
	}
	return fmt.Sprintf("%s(%q)", name, value)
}

// flag is the flag of a program that stands for an option: --pass-through for PassThrough.
func (o *Options) flag(option string) string {
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

// given is how a failure says to give an option to New, or to the command.
func (r *Recorder) given(name, value string) string {
	if r.Program != nil {
		return "the flag " + r.option(name, value)
	}
	return "traceforgetest.New(t, traceforgetest." + r.option(name, value) + ")"
}

// keepHeaders is how a text says to keep headers.
func (r *Recorder) keepHeaders() string {
	if r.Program != nil {
		return "the flag --keep-headers"
	}
	return "traceforgetest.New(t, traceforgetest.KeepHeaders(…))"
}

// scrubOf is how a failure says to replace the value of a variable; "": of one that only a pattern finds.
func (r *Recorder) scrubOf(variable string) string {
	switch {
	case r.Program != nil && variable != "":
		return "the flag --scrub " + variable
	case r.Program != nil:
		return r.scrubbing(r.patternRule("key", `"…"`))
	case variable != "":
		return fmt.Sprintf("traceforgetest.Scrub(traceforgetest.Value(%q, os.Getenv(%q)))", strings.ToLower(variable), variable)
	}
	return `traceforgetest.Scrub(traceforgetest.Pattern("key", regexp.MustCompile("…")))`
}

// scrubbing is how a failure says to add rules.
func (r *Recorder) scrubbing(rules string) string {
	if r.Program != nil {
		return `add to "scrub" in ` + r.Shown + "/config.json: " + rules
	}
	return "add traceforgetest.Scrub(" + rules + ")"
}

func (r *Recorder) patternRule(name, pattern string) string {
	if r.Program != nil {
		return fmt.Sprintf(`{"name": %q, "pattern": %s}`, name, pattern)
	}
	return fmt.Sprintf("traceforgetest.Pattern(%q, %s)", name, pattern)
}

func (r *Recorder) volatileRule() string {
	if r.Program != nil {
		return `{"volatile": true}`
	}
	return "traceforgetest.Volatile()"
}

// with returns the command that runs the test in another mode.
func (r *Recorder) with(mode string) string {
	if r.Program != nil {
		return r.Program.Again(mode)
	}
	return gotest.UpdateEnv + "=" + mode + " " + strings.TrimPrefix(strings.TrimSuffix(r.Accept, " -update"), gotest.UpdateEnv+"=1 ")
}

// again returns the command that records the test in the mode of this run; -update where that records nothing.
func (r *Recorder) again() string {
	if r.Mode == UpdateNew || r.Mode == UpdateTools || r.Mode == UpdateAll {
		return r.with(modes[r.Mode])
	}
	return r.Accept
}

// updating is how a text names what has the next run record: a flag, whose mode may be "".
func (r *Recorder) updating(mode string) string {
	switch {
	case r.Program == nil && mode != "":
		return gotest.UpdateEnv + "=" + mode
	case r.Program == nil && gotest.InCI():
		return gotest.UpdateEnv + "=1"
	case r.Program == nil:
		return "-update"
	case mode != "":
		return "--update=" + mode
	}
	return "--update"
}
