package scenes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// isHash reports whether a line of a diff is one of SF's hashes.
func isHash(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), `"hash": "sha256:`) }

// words returns the lines without SF's hashes.
func words(lines []string) (rest []string) {
	for _, line := range lines {
		if !isHash(line) {
			rest = append(rest, strings.TrimSpace(line))
		}
	}
	return rest
}

// TestSharedSystemPrompt changes one line of a system prompt that 100 tests of one call share.
func TestSharedSystemPrompt(t *testing.T) {
	r := newRepo(t, answers)
	const tests = 100
	prompt := rules(5)
	recordAll := func(prompt string) {
		for i := range tests {
			r.record(fmt.Sprintf("TestCase%d", i), asks(prompt, fmt.Sprintf("question %d", i)))
		}
	}
	recordAll(prompt)
	r.commit("record")
	recordAll(edited(prompt, "answer shortly and kindly", "be kind"))
	got := r.changed()
	require.Equal(t, tests, got.files)
	require.Len(t, got.added, 3*tests, "a line of the prompt, and SF's two hashes")
	require.Len(t, got.removed, 3*tests)
	require.Len(t, words(got.added), tests)
	require.Contains(t, words(got.added)[0], "be kind")
	r.requireSound()
}

// TestAgentsSystemPrompt changes a word of the system prompt of an agent of 100 turns.
func TestAgentsSystemPrompt(t *testing.T) {
	r := newRepo(t, answers)
	a := agent{system: rules(5), turns: 100}
	r.record("TestAgent", a.run)
	r.commit("record")
	document := r.document()
	calls := r.provider.Calls()
	said := len(calls[len(calls)-1].Body) // the last request repeats every turn
	t.Logf("the document has %d bytes for %d that were said: %d a call", len(document), said, (len(document)-said)/(a.turns+1))
	require.LessOrEqual(t, len(document), said+1500*(a.turns+1), "1,300 bytes a call, and the id of the request")

	a.system = edited(a.system, "kindly", "firmly")
	r.record("TestAgent", a.run)
	got := r.changed()
	require.Equal(t, 1, got.files)
	require.LessOrEqual(t, got.lines(), 6, "%q\n%q", got.removed, got.added)
	require.Len(t, words(got.added), 1)
	r.requireSound()
}

// TestCasesOfOneTest changes a word of a system prompt that 100 cases of one test share.
func TestCasesOfOneTest(t *testing.T) {
	r := newRepo(t, answers)
	var questions []string
	for i := range 100 {
		questions = append(questions, fmt.Sprintf("question %d", i))
	}
	r.record("TestCases", asks(rules(5), questions...))
	r.commit("record")
	require.Equal(t, 1, strings.Count(r.document(), "Rule 3"), "what the cases share stands once")
	r.record("TestCases", asks(edited(rules(5), "kindly", "firmly"), questions...))
	got := r.changed()
	require.Equal(t, 1, got.files)
	require.LessOrEqual(t, got.lines(), 6, "%q\n%q", got.removed, got.added)
	r.requireSound()
}

// TestLongPrompt changes two words of a prompt of 300 lines.
func TestLongPrompt(t *testing.T) {
	r := newRepo(t, answers)
	prompt := rules(300)
	r.record("TestLong", asks(prompt, "question"))
	r.commit("record")
	changed := edited(edited(prompt, "Rule 7: when", "Rule 7: if"), "Rule 200: when", "Rule 200: if")
	r.record("TestLong", asks(changed, "question"))
	got := r.changed()
	require.Equal(t, 1, got.files)
	require.Len(t, words(got.added), 2)
	require.Len(t, got.added, 4)
	for _, line := range got.added {
		require.Less(t, len(line), 200)
	}
}
