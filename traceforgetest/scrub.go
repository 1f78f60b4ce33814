package traceforgetest

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/scrub"
)

// A Rule says what [Scrub] replaces. Rules are made by [Value], [Pattern] and [Volatile].
type Rule struct {
	rule scrub.Rule
	of   [3]string // the function that made it, and its arguments: rules are equal where these are
}

// Scrub keeps what its rules find inside texts as placeholders, such as {{uuid:1}}. It looks in messages, tool inputs
// and results, schemas and options, and in answers and their raw bytes, streams too. So the snapshot holds nothing
// secret, and what varies with every run is no drift. A provider gets what the program sends, and the program gets
// its own values back: an answer that was recorded with the path of one run is replayed with that of another.
// [Recorder.Calls] and [Recorder.Snapshots] show the placeholders.
//
// A value has the same placeholder in both runs if the requests have it in the same places. A value that the answer
// is the first to say is replayed as it was recorded, or as a dummy of the same shape if Value or Pattern found it.
//
// Rules that all tests of a repository need stand in .ai-snapshots/config.json, as docs/format.md has it. A value
// that is a member of its own is better left out with [Ignore].
func Scrub(rules ...Rule) Option {
	of := make([][3]string, len(rules))
	for i, rule := range rules {
		of[i] = rule.of
	}
	return Option{"Scrub", of, func(r *Recorder) {
		for _, rule := range rules {
			r.opts.Scrub = append(r.opts.Scrub, rule.rule)
		}
	}}
}

// Value is the rule for one value, such as a key or a customer's name. It finds the value where it is escaped in JSON
// or in a URL too. The name stands in placeholders: {{customer:1}}. It begins with a lower-case letter, and has such
// letters, digits, hyphens and underscores. Where the value is from the environment, which replay may not have, give
// the rule and the program the same stand-in: cmp.Or(os.Getenv("TOKEN"), "no-token"). An empty value stands for a dummy.
func Value(name, value string) Rule {
	return Rule{scrub.Value(name, value), [3]string{"Value", name, value}}
}

// Pattern is the rule for what re matches or, if re has a group, for what its first group matches. For the name
// see [Value].
func Pattern(name string, re *regexp.Regexp) Rule {
	return Rule{scrub.Pattern(name, re), [3]string{"Pattern", name, fmt.Sprint(re)}}
}

// Volatile is the rule for what is another value in each run:
//
//   - {{tmp:1}}: a temporary directory of one run, such as that of [testing.T.TempDir]; what is below it stays
//   - {{home:1}}: the directory of a user
//   - {{port:1}}: the port of a server on a loopback address, as [net/http/httptest] has them
//   - {{uuid:1}}: a UUID, one of version 4 also without hyphens
//   - {{time:1}}: a date with a time of day, as RFC 3339, RFC 1123, ISO 8601 and ctime have them
//
// A date alone stays, since many are no part of any clock: a Pattern tells which, or [Recorder.Now] keeps them as they are.
// With [Dates] it is found too.
func Volatile(also ...Also) Rule {
	if slices.Contains(also, Dates) {
		return Rule{scrub.VolatileDates(), [3]string{"Volatile", "Dates"}}
	}
	return Rule{scrub.Volatile(), [3]string{"Volatile"}}
}

// Also is a kind of values that [Volatile] finds where it is asked for.
type Also int

// Dates are dates of ISO 8601 within a text, such as 2026-11-23: {{date:1}}. A text that is nothing but a date stays, as the
// version of an API does, and the date in a model's name stays.
const Dates Also = 1
