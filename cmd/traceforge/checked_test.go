package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// TestCheckedMarkdown holds the limit of GitHub, and that nothing quoted is a mention, markup or a command.
func TestCheckedMarkdown(t *testing.T) {
	const hostile = "@octocat `<img src=x>`\n```\n::error::x ##[y]\u202e"
	drifted := usage.Check{Call: "x-1", File: hostile, Number: 1, State: usage.CheckDrifted, LiveModels: []string{hostile},
		Tiers:  []usage.CheckedTier{{Tier: "text", Held: true, Diff: "- " + hostile + "\n+ " + strings.Repeat("long\n", 5000)}, {Tier: "tools"}, {Tier: "finish"}, {Tier: "model"}},
		Accept: "go test " + hostile}
	unchecked := usage.Check{State: usage.CheckUnchecked, Why: hostile}
	for _, n := range []int{1, 5, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var receipts []usage.Receipt
			for range n {
				receipts = append(receipts, usage.Receipt{Package: hostile, Test: hostile, Outcome: "fail", Checks: []usage.Check{drifted, unchecked}})
			}
			ended := coverage.Outcomes{page.Test{Package: hostile}: "fail"}
			text := newChecked(receipts, ended).markdown(page.MarkdownLimit)
			require.LessOrEqual(t, len(text), page.MarkdownLimit)
			require.Contains(t, text, fmt.Sprintf("### traceforge check: %d drifted, %d unchecked\n", n, n))
			require.Equal(t, n == 1000, strings.Contains(text, "more calls are not shown"))
			require.Contains(t, text, "bytes more\n")
			inBlock := ""
			for line := range strings.Lines(text) {
				require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), line)
				require.NotContains(t, line, "##[")
				switch {
				case inBlock != "":
					if line == inBlock+"\n" {
						inBlock = ""
					}
				case strings.HasPrefix(line, "```"):
					inBlock = strings.TrimSuffix(line, "diff\n")
				default:
					outside, ends := pagetest.OutsideCode(line)
					require.True(t, ends, line)
					require.NotContains(t, outside, "@octocat", line)
					require.NotContains(t, outside, "<img", line)
				}
			}
			require.Empty(t, inBlock, "the last block is closed")
		})
	}
}

// TestCheckedFailures tells of tests and packages that failed for other reasons than a check.
func TestCheckedFailures(t *testing.T) {
	receipts := []usage.Receipt{
		{Package: "p", Test: "TestPrompt", Outcome: "fail", Drifts: []usage.Drift{{Kind: "drifted"}}},
		{Package: "p", Test: "TestOther", Outcome: "fail", Checks: []usage.Check{{State: usage.CheckSame}}},
		{Package: "p", Test: "TestDrifted", Outcome: "fail", Checks: []usage.Check{{State: usage.CheckDrifted}}},
		{Package: "p", Test: "TestFine", Outcome: "pass"},
	}
	r := newChecked(receipts, coverage.Outcomes{{Package: "p"}: "fail", {Package: "broken"}: "fail"})
	require.False(t, r.OK)
	require.Equal(t, []page.Test{{Package: "p", Name: "TestOther"}, {Package: "p", Name: "TestPrompt"}, {Package: "broken"}}, r.Failed)
	require.Contains(t, r.text(strings.Clone), "TestOther in p failed, for another reason\n"+
		"TestPrompt in p failed: 1 call is not as recorded, and go test says what changed\nbroken failed\n")

	receipts = []usage.Receipt{{Package: "p", Test: "TestTools", Outcome: "fail", Gone: []string{"m is gone"}, Checks: []usage.Check{
		{Number: 1, State: usage.CheckUnchecked, Why: "no key"}, {State: usage.CheckUncheckable, Why: "imported"},
		{State: usage.CheckUnchecked, Why: "down"}, {State: usage.CheckUnchecked, Why: "no key"}, {State: usage.CheckUnchecked, Why: "m is gone"},
		{Number: 6, State: usage.CheckDrifted, Why: "1 of 3 failed", RecordedModel: "m", Settings: []string{"a", "b"}, Accept: "go test", Tiers: []usage.CheckedTier{
			{Tier: "text", Held: true, Same: true}, {Tier: "finish", Diff: "- c\n"}, {Tier: usage.ResultTier, Held: true, Diff: "- b\n"}}},
		{Number: 7, State: usage.CheckVaried, Different: 2, Runs: 3, LiveModels: []string{"m-1", "m-2"}, Tiers: []usage.CheckedTier{{Tier: "text", Held: true}},
			Input: 30, Output: 4},
		{Number: 8, State: usage.CheckSame, AskedModel: "gpt-5", Tiers: []usage.CheckedTier{{Tier: "text", Held: true, Same: true}, {Tier: "finish", Diff: "- a\n"}}},
	}}}
	r = newChecked(receipts, coverage.Outcomes{})
	require.False(t, r.OK)
	require.Empty(t, r.Failed, "a check that fails explains it")
	require.Equal(t, `TestTools in p, call 6: drifted: result
  finish, which is not held:
- c
  result:
- b
  record: 
  answered by: (not said), recorded by m
  may cause it: a; b
  not all live calls were answered: 1 of 3 failed
  accept: go test

TestTools in p, call 7: non-deterministic behavior detected: 2/3 runs produced different outputs: text
  text:
  record: 
  answered by: m-1, m-2, recorded by (not said)

TestTools in p, call 8: asked gpt-5, which says the same in what is held
  text: the same
  finish, which is not held:
- a
  record: 

2 calls are unchecked: no key
1 call is unchecked: down
1 call is not checkable: imported
`+goneModel("m is gone", 1)+`
text:   2 same, 1 differ
finish: 0 same, 2 differ, not held
1 same, 1 drifted, 1 varied, 4 unchecked, 1 not checkable; the live calls took 30 tokens in and 4 out
`, r.text(strings.Clone))
	markdown := r.markdown(page.MarkdownLimit)
	require.True(t, strings.HasPrefix(markdown, "### traceforge check: 1 same, 1 drifted, 1 varied, 4 unchecked, 1 not checkable\n\n"+
		"| tier | same | differ |\n|---|--:|--:|\n| text | 2 | 1 |\n| tools, not held | 0 | 0 |\n| finish, not held | 0 | 2 |\n"+
		"| model, not held | 0 | 0 |\n| result | 0 | 1 |\n\nThe live calls took 30 tokens in and 4 out.\n\n#### "), markdown)
	require.Contains(t, markdown, "\n\n- 2 calls are unchecked: `no key`\n- 1 call is unchecked: `down`\n")

	for state, ok := range map[string]bool{usage.CheckUnchecked: false, usage.CheckUncheckable: true} {
		require.Equal(t, ok, newChecked([]usage.Receipt{{Checks: []usage.Check{{State: state}}}}, nil).OK, state)
	}

	r = newChecked(nil, coverage.Outcomes{{Package: "p"}: "pass"})
	require.True(t, r.OK)
	require.Contains(t, r.text(strings.Clone), "no call was checked; ")
	require.NotContains(t, r.markdown(page.MarkdownLimit), "- ")
}

// TestUnmet: --from and --model that choose no call are told, unless a sample or a shard may have left them out.
func TestUnmet(t *testing.T) {
	const none = "nothing was checked: --from 9 chooses none of 3 recorded calls"
	for _, tt := range []struct {
		flags string
		calls map[string]int
		want  string
	}{
		{"--from 9", map[string]int{usage.CheckUnchosen: 3}, none},
		{"--from 9 --sample 10%", map[string]int{usage.CheckUnchosen: 3}, ""},
		{"--from 9 --shard 1/2", map[string]int{usage.CheckUnchosen: 3}, ""},
		{"--from 9", map[string]int{usage.CheckUnchosen: 3, usage.CheckSame: 1}, ""},
		{"--from 9", map[string]int{usage.CheckSame: 1}, ""},
		{"--repeat 2", map[string]int{usage.CheckUnchosen: 3}, ""},
	} {
		cmd, _, err := rootCommand(newConsole(nil, io.Discard, io.Discard)).Find([]string{"check"})
		require.NoError(t, err)
		require.NoError(t, cmd.ParseFlags(strings.Fields(tt.flags)))
		c := &call{cmd: cmd}
		require.Equal(t, tt.want, c.unmet(&checkReport{Calls: tt.calls}), tt.flags)
	}
}
