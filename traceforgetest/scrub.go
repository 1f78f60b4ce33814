package traceforgetest

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/scrub"
)

// A Rule tells [Scrub] what to replace. Rules are made by [Value], [Pattern] and [Volatile].
type Rule struct {
	rule scrub.Rule
	of   [3]string // the function that made it, and its arguments: rules are equal where these are
}

// Scrub stores whatever its rules find as placeholders, such as {{uuid:1}}. It searches messages, tool inputs and
// results, schemas, options, answers and their raw bytes, including streams. So the snapshot holds no secrets, and
// values that change with every run are not drift. The provider still gets what the program sends, and the program
// gets its own values back: an answer recorded with the path of one run is replayed with the path of the current run.
// [Recorder.Calls] and [Recorder.Snapshots] show the placeholders.
//
// A value gets the same placeholder in both runs if it appears in the same places of the requests. A value in an answer
// whose own request does not have it is replayed as it was recorded, or as a dummy of the same shape if Value or
// Pattern found it, even if an earlier request had it.
//
// Put rules that all tests of a repository need into .ai-snapshots/config.json (see docs/format.md). Use [Ignore] for a
// value that is a JSON member of its own.
func Scrub(rules ...Rule) Option {
	of, all := make([][3]string, len(rules)), make([]scrub.Rule, len(rules))
	for i, rule := range rules {
		of[i], all[i] = rule.of, rule.rule
	}
	return Option{"Scrub", of, func(r *Recorder) { r.opts.Scrub = append(r.opts.Scrub, all...) }}
}

// Value is the rule for one value, such as a key or a customer's name. It also finds the value escaped in JSON or in a
// URL. The name is used in placeholders: {{customer:1}}. It starts with a lower-case letter and consists of lower-case
// letters, digits, hyphens and underscores. If the value comes from the environment, which replay may lack, give the
// rule and the program the same default: cmp.Or(os.Getenv("TOKEN"), "no-token"). An empty value stands for a dummy.
func Value(name, value string) Rule {
	return Rule{scrub.Value(name, value), [3]string{"Value", name, value}}
}

// Pattern is the rule for whatever re matches or, if re has a group, whatever its first group matches. For the name
// see [Value].
func Pattern(name string, re *regexp.Regexp) Rule {
	return Rule{scrub.Pattern(name, re), [3]string{"Pattern", name, fmt.Sprint(re)}}
}

// Volatile is the rule for values that differ in each run:
//
//   - {{tmp:1}}: a temporary directory, such as [testing.T.TempDir]; the path below it is kept
//   - {{home:1}}: a user's home directory
//   - {{port:1}}: the port of a server on a loopback address, such as one of [net/http/httptest]
//   - {{uuid:1}}: a UUID; one of version 4 also without hyphens
//   - {{time:1}}: a date with a time of day, as in RFC 3339, RFC 1123, ISO 8601 and ctime
//
// A date without a time is kept, because many dates do not come from a clock. Use a Pattern for those that do, take
// them from [Recorder.Now], or pass [Dates] to find them all.
func Volatile(also ...Also) Rule {
	if slices.Contains(also, Dates) {
		return Rule{scrub.VolatileDates(), [3]string{"Volatile", "Dates"}}
	}
	return Rule{scrub.Volatile(), [3]string{"Volatile"}}
}

// Also is a kind of value that [Volatile] finds on request.
type Also int

// Dates are ISO 8601 dates within a text, such as 2026-11-23: {{date:1}}. A text that consists of a date alone is kept,
// since it may be the version of an API. The date in a model's name is kept too.
const Dates Also = 1
