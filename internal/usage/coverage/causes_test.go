package coverage

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// receipts returns those of two tests: the first drifted and made a call that has no snapshot, the second
// drifted in the same way and left out a call.
func receipts() []usage.Receipt {
	before, after := "Never guess.", "Do not guess.\x1b[31m"
	drifted := func(record string) usage.Drift {
		return usage.Drift{Kind: usage.Drifted, Record: record, Call: 1, File: "shop/ask.go", Line: 31, Tokens: 20_500,
			Changes: []usage.DriftChange{{Key: "k", Component: "system", Kind: "system", Removed: 1, Added: 1}}}
	}
	first := drifted("a-1")
	first.Changes[0].Before, first.Changes[0].After = &before, &after
	unrecorded := usage.Drift{Kind: usage.Missing, File: "shop/ask.go", Line: 40, Summary: []string{"user: hello"}}
	uncalled := usage.Drift{Kind: usage.Uncalled, Record: "b-2", Call: 2, Summary: []string{"user: bye"}}
	return []usage.Receipt{
		{Package: "example.com/shop", Test: "TestB", Outcome: "fail", Tags: "x", Missing: 1,
			Drifts: []usage.Drift{drifted("b-1"), uncalled}},
		{Package: "example.com/shop", Test: "TestA", Outcome: "fail", Tags: "x", Missing: 2,
			Drifts: []usage.Drift{first, unrecorded}, Played: []string{"a-2"}},
		{Package: "example.com/shop", Test: "TestC", Outcome: "pass", Played: []string{"c-1", "c-2"}},
	}
}

// TestCallsOf: a test that ran in several processes, or again after it failed, is counted once.
func TestCallsOf(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		receipts     []usage.Receipt
	}{
		{"once", "one process", receipts()},
		{"rerun", "gotestsum runs again what failed", append(receipts(), receipts()[:2]...)},
		{"shards", "two artefacts of the same run are joined, in any order", append(receipts()[1:], receipts()...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := CallsOf(c.receipts)
			require.Equal(t, "3 tests, 3 calls replayed, 2 drifted, 1 without a snapshot, 1 recorded and not made",
				calls.Tally(), c.reason)
			require.Equal(t, []string{
				"system prompt changed in 1 package: 2 calls of 2 tests, 1 line",
				"calls without a snapshot in 1 package: 1 call of 1 test",
				"recorded calls that were not made in 1 package: 1 call of 1 test",
			}, headlines(calls))
			require.Equal(t, "TestA", calls.Causes[0].Calls[0].Test, "the order is that of the names")
			require.Equal(t, "about 41,000 tokens and 1 new call", calls.Price())
			require.Equal(t, "go test -tags=x example.com/shop -run '^(TestA|TestB)$' -update", calls.Accept)
		})
	}
	ended := CallsOf([]usage.Receipt{{Package: "p", Test: "TestAgent", Outcome: "fail", Drifts: []usage.Drift{{Kind: usage.Drifted, Record: "a-1", Tokens: 15}},
		Unplayed: []string{"a-1", "a-2", "a-3"}}})
	require.Equal(t, "at least 15 tokens", ended.Price(), "the other calls of an agent")
	require.Zero(t, CallsOf([]usage.Receipt{{Package: "p", Test: "TestA", Outcome: "skip"}}).Tests)
}

func TestFailedOtherwise(t *testing.T) {
	failed := func(test string, drifts ...usage.Drift) usage.Receipt {
		return usage.Receipt{Package: "p", Test: test, Outcome: "fail", Drifts: drifts}
	}
	calls := CallsOf([]usage.Receipt{
		failed("TestB"), failed("TestDrifted", usage.Drift{Kind: usage.Drifted, Record: "a-1"}),
		failed("TestA"), failed("TestUnrecorded", usage.Drift{Kind: usage.Missing}),
		failed("TestB"), {Package: "p", Test: "TestPassed", Outcome: "pass"},
	})
	require.Equal(t, []page.Test{{Package: "p", Name: "TestA"}, {Package: "p", Name: "TestB"}}, calls.FailedOtherwise())
}

func headlines(c *Calls) (lines []string) {
	for _, b := range page.Blocks(c.Causes) {
		lines = append(lines, b.Headline())
	}
	return lines
}

func reportOf(receipts []usage.Receipt) *Report {
	r := &Report{Calls: *CallsOf(receipts)}
	r.Unanswered = r.unanswered()
	return r
}

func TestJUnit(t *testing.T) {
	skip := usage.Receipt{Package: "example.com/shop", Test: "TestSkipped", Outcome: "skip"}
	text := reportOf(append(receipts(), skip)).JUnit()
	require.NotContains(t, text, "\x1b")
	var got junitReport
	require.NoError(t, xml.Unmarshal([]byte(text), &got))
	require.Equal(t, 4, got.Tests)
	require.Equal(t, 2, got.Failures)
	require.Len(t, got.Suites, 1)
	a, b, c, skipped := got.Suites[0].Cases[0], got.Suites[0].Cases[1], got.Suites[0].Cases[2], got.Suites[0].Cases[3]
	require.Equal(t, "1 call drifted from its snapshot, 1 call had no snapshot", a.Failure.Message)
	require.Contains(t, a.Failure.Text, "- Never guess.\n+ Do not guess.\\u001b[31m\n")
	require.Contains(t, a.Failure.Text, "accept: go test -tags=x example.com/shop -run '^TestA$' -update\n")
	require.Contains(t, b.Failure.Text, "\nas in TestA in example.com/shop\n")
	require.NotContains(t, b.Failure.Text, "Never guess")
	require.Nil(t, c.Failure)
	require.NotNil(t, skipped.Skipped)
}

func TestCodeQuality(t *testing.T) {
	all := receipts()
	text := reportOf(all).CodeQuality()
	var got []violation
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Len(t, got, 3, "one a cause")
	require.Equal(t, "system prompt changed in 1 package: 2 calls of 2 tests, 1 line", got[0].Description)
	require.Equal(t, "shop/ask.go", got[0].Location.Path)
	require.Equal(t, 31, got[0].Location.Lines.Begin)
	require.Equal(t, "go.mod", got[2].Location.Path, "a record without a call has no line")
	text = reportOf(all[:1]).CodeQuality()
	var fewer []violation
	require.NoError(t, json.Unmarshal([]byte(text), &fewer))
	require.Equal(t, got[0].Fingerprint, fewer[0].Fingerprint, "whichever calls have the cause")
}

// TestMarkdownFits: a summary fits the host, and 30 lines where there is one cause.
func TestMarkdownFits(t *testing.T) {
	var one, many []usage.Receipt
	for i := range 100 {
		r := receipts()[1]
		r.Package, r.Test = fmt.Sprintf("example.com/shop/p%d", i), fmt.Sprintf("TestIt%d", i)
		before, after := strings.Repeat("old line of it\n", 40), strings.Repeat("new line of it\n", 40)
		change := usage.DriftChange{Key: "k", Component: "system", Kind: "system", Before: &before, After: &after}
		r.Missing, r.Drifts = 1, []usage.Drift{r.Drifts[0]}
		r.Drifts[0].Changes = []usage.DriftChange{change}
		one = append(one, r)
		r.Drifts = []usage.Drift{r.Drifts[0]}
		large := fmt.Sprint(i, strings.Repeat(" @octocat <b>", 10_000))
		change.Key, change.After = fmt.Sprint(i), &large
		r.Drifts[0].Changes = []usage.DriftChange{change}
		many = append(many, r)
	}
	packages := func(r *Report) *Report {
		for _, u := range r.Unanswered {
			r.Packages = append(r.Packages, PackageReport{Package: u.Package, Drifted: 1})
		}
		return r
	}
	text := packages(reportOf(one)).Markdown(page.MarkdownLimit)
	require.LessOrEqual(t, strings.Count(text, "\n"), 30, text)
	text = packages(reportOf(many)).Markdown(page.MarkdownLimit)
	require.LessOrEqual(t, len(text), page.MarkdownLimit)
	require.Contains(t, text, "parts are left out or cut.\n")
	require.Contains(t, text, "accept all: `")
	text = packages(reportOf(many)).Markdown(4000)
	require.LessOrEqual(t, len(text), 4000)
}

// Receipts may be anyone's: a number in them stands for no calls.
func TestCountedCallsAreNone(t *testing.T) {
	require.Zero(t, CallsOf([]usage.Receipt{{Package: "p", Test: "TestA", Outcome: "fail", Missing: 1 << 30}}).Unrecorded)
}
