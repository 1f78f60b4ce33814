package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// TestShardsThatDisagree: a call is as the shard says that was to check it, and two that say something else disagree.
func TestShardsThatDisagree(t *testing.T) {
	checked := func(test string, states ...string) usage.Receipt {
		r := usage.Receipt{Package: "p", Test: test}
		for i, state := range states {
			r.Checks = append(r.Checks, usage.Check{Call: string(rune('a' + i)), Number: i + 1, State: state})
		}
		return r
	}
	receipts, conflicts := joinChecks([]usage.Receipt{
		checked("TestB", usage.CheckSame),
		checked("TestA", usage.CheckSame, usage.CheckUnchosen, usage.CheckUnchosen),
		{Package: "p", Test: "TestNone"},
		checked("TestA", usage.CheckDrifted, usage.CheckDrifted, usage.CheckUnchosen),
		checked("TestB", usage.CheckDrifted),
		checked("TestA", usage.CheckUnchosen, usage.CheckDrifted, usage.CheckUnchosen),
	})
	j := shardReport{Conflicts: conflicts}
	require.Equal(t, []string{
		"conflict: TestA in p: call 1 is same in one shard and drifted in another",
		"conflict: TestB in p: call 1 is same in one shard and drifted in another",
	}, j.lines())
	require.False(t, j.ok())
	require.Equal(t, map[string]int{usage.CheckSame: 2, usage.CheckDrifted: 1, usage.CheckUnchosen: 1}, newChecked(receipts, nil).Calls)
}

// TestShardsOfTransportErrors: answers without bytes differ by their texts.
func TestShardsOfTransportErrors(t *testing.T) {
	t.Parallel()
	one := refused(1, "connection refused").Document
	require.True(t, saysTheSame(one, refused(2, "connection refused").Document))
	require.False(t, saysTheSame(one, refused(1, "no such host").Document))
}
