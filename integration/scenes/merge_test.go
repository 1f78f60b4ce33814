package scenes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

// branches records on two branches and merges them.
func (r *repo) branches(ours, theirs func()) (out string, err error) {
	r.t.Helper()
	r.commit("record")
	r.git("branch", "theirs")
	ours()
	r.commit("ours")
	r.git("checkout", "--quiet", "theirs")
	theirs()
	r.commit("theirs")
	r.git("checkout", "--quiet", "main")
	return r.tryGit("merge", "--quiet", "--message", "merge", "theirs")
}

// TestMergeOfDifferentTests records different tests on two branches. git merges them without a driver.
func TestMergeOfDifferentTests(t *testing.T) {
	r := newRepo(t, answers)
	r.record("TestBoth", asks(rules(3), "both"))
	out, err := r.branches(
		func() { r.record("TestOurs", asks(rules(3), "ours")) },
		func() { r.record("TestTheirs", asks(rules(3), "theirs")) },
	)
	require.NoError(t, err, out)
	r.requireSound()
	r.replay("TestOurs", asks(rules(3), "ours"))
	r.replay("TestTheirs", asks(rules(3), "theirs"))
}

// TestMergeOfASharedPrompt changes prompts that four tests share, one on each of two branches.
func TestMergeOfASharedPrompt(t *testing.T) {
	r := newRepo(t, answers)
	record := func(name, prompt string) {
		for i := range 4 {
			r.record(fmt.Sprintf("Test%s%d", name, i), asks(prompt, "question"))
		}
	}
	record("Left", rules(3))
	record("Right", rules(4))
	out, err := r.branches(
		func() { record("Left", edited(rules(3), "kindly", "firmly")) },
		func() { record("Right", edited(rules(4), "kindly", "briefly")) },
	)
	require.NoError(t, err, out)
	r.requireSound()
}

// TestMergeOfOneTest appends calls to one test on two branches. Its document conflicts, and Repair merges the calls.
func TestMergeOfOneTest(t *testing.T) {
	r := newRepo(t, answers)
	r.record("TestIt", asks(rules(3), "one"))
	out, err := r.branches(
		func() { r.record("TestIt", asks(rules(3), "one", "ours")) },
		func() { r.record("TestIt", asks(rules(3), "one", "theirs")) },
	)
	require.Error(t, err, out)
	failed := r.fails("TestIt", asks(rules(3), "one", "ours"))
	require.True(t, failed.Failed())
	require.Contains(t, failed.Logged(), "conflict")
	require.Contains(t, failed.Logged(), "traceforge repair")

	s, err := store.Open(r.store())
	require.NoError(t, err)
	report, err := audit.Repair(s)
	require.NoError(t, err)
	t.Log(report.String())
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", "merge")
	r.requireSound()
	r.replay("TestIt", asks(rules(3), "one", "ours", "theirs"))
	require.Equal(t, 1, strings.Count(r.document(), "Rule 2"), "each turn stands once")
}
