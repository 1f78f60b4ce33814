package usage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCheckOptions(t *testing.T) {
	all := CheckOptions{Repeat: 1, Percent: 100, Shard: 1, Shards: 1, Tier: "text", From: 1, Kind: "models"}
	for _, c := range []struct {
		name, reason, text string
		want               func(*CheckOptions)
		wrong              string
	}{
		{"nothing", "each call, once, all tiers", "", func(*CheckOptions) {}, ""},
		{"everything", "as the documents have it", "repeat=10&sample=20&shard=1/4&tier=tools&model=OLD=NEW&from=3&kind=all&brief=1", func(o *CheckOptions) {
			*o = CheckOptions{10, 20, 1, 4, "tools", "OLD", "NEW", 3, "all", true}
		}, ""},
		{"escaped", "names of models have any character", "model=a%2Fb%3Ac%3Da%2Bb&sample=0.5%25", func(o *CheckOptions) {
			o.Old, o.New, o.Percent = "a/b:c", "a+b", 0.5
		}, ""},
		{"percent", "people write it as the flag has it", "sample=20%&shard=1/4", func(o *CheckOptions) {
			o.Percent, o.Shards = 20, 4
		}, ""},
		{"percent_last", "with nothing behind it", "sample=20%", func(o *CheckOptions) { o.Percent = 20 }, ""},
		{"unknown", "a typing error", "repaet=2", nil,
			`TRACEFORGE_CHECK: "repaet" is not known: there are brief, from, kind, model, repeat, sample, shard, tier`},
		{"twice", "which one counts?", "repeat=1&repeat=2", nil, "TRACEFORGE_CHECK: repeat is said twice"},
		{"malformed", "no query", "repeat=%zz", nil, "TRACEFORGE_CHECK=repeat=%zz cannot be read: "},
		{"repeat", "no call at all", "repeat=0", nil, "TRACEFORGE_CHECK: repeat=0 is not a number from 1, such as repeat=10"},
		{"sample", "more than all", "sample=101", nil, "sample=101 is not a percentage above 0 and up to 100, such as sample=20"},
		{"sample_nan", "no number", "sample=NaN", nil, "sample=NaN is not a percentage"},
		{"shard", "there is no third of two", "shard=3/2", nil, "shard=3/2 is not one of so many parts, such as shard=1/4"},
		{"shard_half", "of how many?", "shard=1", nil, "shard=1 is not one of so many parts"},
		{"tier", "no tier", "tier=words", nil, "tier=words is not one of text, tools, finish, model"},
		{"model", "what is asked instead?", "model=OLD", nil, "model=OLD is not a recorded model and the one to ask instead, such as model=OLD=NEW"},
		{"kind", "no kind", "kind=tool", nil, "kind=tool is not one of models, tools, all"},
		{"from", "calls count from 1", "from=x", nil, "from=x is not the number of a call, such as from=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseCheckOptions(c.text)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong, c.reason)
				return
			}
			require.NoError(t, err)
			want := all
			c.want(&want)
			require.Equal(t, want, got, c.reason)
		})
	}
}

func TestHolds(t *testing.T) {
	held := CheckOptions{Tier: "tools"}
	require.False(t, held.Holds("text"))
	require.True(t, held.Holds("tools"))
	require.True(t, held.Holds("finish"))
	require.True(t, held.Holds("model"))
}
