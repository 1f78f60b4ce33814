package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestCost(t *testing.T) {
	t.Parallel()
	n := func(n int64) *int64 { return &n }
	cached := 0.5
	prices := Prices{
		"gpt-4o": {Input: 2, Output: 10, CachedInput: &cached}, "gpt-4o-2024-05-13": {Input: 5, Output: 15}, "plain": {Input: 1, Output: 1},
	}
	for _, c := range []struct {
		name, reason, asked, answered string
		used                          *modelio.Usage
		want                          float64
		unknown                       bool
	}{
		{"asked", "the price of the name that was asked", "gpt-4o", "", &modelio.Usage{InputTokens: n(1e6), OutputTokens: n(1e5)}, 3, false},
		{"answered", "who answered is who is paid", "gpt-4o", "gpt-4o-2024-05-13", &modelio.Usage{InputTokens: n(1e6), OutputTokens: n(0)}, 5, false},
		{"undated", "one price stands for all of a name", "gpt-4o", "gpt-4o-2024-08-06", &modelio.Usage{InputTokens: n(1e6)}, 2, false},
		{"cached", "cached input is part of the input", "gpt-4o", "", &modelio.Usage{InputTokens: n(1e6), CachedContentTokens: n(4e5)}, 1.4, false},
		{"cached-as-input", "without a price of its own", "plain", "", &modelio.Usage{InputTokens: n(1e6), CachedContentTokens: n(4e5)}, 1, false},
		{"other", "nothing is guessed", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", &modelio.Usage{InputTokens: n(1)}, 0, true},
		{"uncounted", "a provider that counts nothing says nothing", "gpt-4o", "", nil, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &snapshot.Snapshot{Request: modelio.Request{Model: c.asked}}
			s.Response.Model, s.Response.Usage = c.answered, c.used
			cost, ok := prices.Cost(s)
			require.Equal(t, !c.unknown, ok, c.reason)
			require.InDelta(t, c.want, cost, 1e-9, c.reason)
		})
	}
}

func TestUndated(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"gpt-4o-2024-08-06": "gpt-4o", "claude-3-5-haiku-20241022": "claude-3-5-haiku", "gpt-4-0613": "gpt-4", "gemini-2.0-flash-001": "gemini-2.0-flash",
		"command-r-08-2024": "command-r", "claude-3-5-sonnet@20240620": "claude-3-5-sonnet",
		"gpt-4": "gpt-4", "claude-sonnet-4-5": "claude-sonnet-4-5", "llama-3.1-70b": "llama-3.1-70b", "o1": "o1",
	} {
		require.Equal(t, want, undated(model))
	}
}
