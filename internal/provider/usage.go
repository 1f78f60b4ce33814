package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// usageNames says where an API counts what: for each count the members to look at, the first
// that is there counts.
type usageNames struct {
	input, output, total, reasoning, cacheRead, cacheWrite [][]string
}

// decode returns the counts of v, and the members that have no count of their own in Unknown.
// It returns nil for a value that is no object.
func (names usageNames) decode(v jsontext.Value) *modelio.Usage {
	if !v.IsObject() || v.IsEmpty() {
		return nil
	}
	u := &modelio.Usage{Unknown: v.Object()}
	for _, field := range []struct {
		count **int64
		paths [][]string
	}{
		{&u.InputTokens, names.input},
		{&u.OutputTokens, names.output},
		{&u.TotalTokens, names.total},
		{&u.ThoughtsTokens, names.reasoning},
		{&u.CachedContentTokens, names.cacheRead},
		{&u.CacheWriteTokens, names.cacheWrite},
	} {
		for _, path := range field.paths {
			if n, ok := v.Member(path...).Count(); ok {
				*field.count = n
				if len(path) == 1 {
					delete(u.Unknown, path[0])
				}
				break
			}
		}
	}
	u.Unknown = sayingSomething(u.Unknown)
	return u
}

// chatUsage is the usage object of the chat completions API, with the spellings of its many hosts.
var chatUsage = usageNames{
	input:  [][]string{{"prompt_tokens"}},
	output: [][]string{{"completion_tokens"}},
	total:  [][]string{{"total_tokens"}},
	reasoning: [][]string{
		{"completion_tokens_details", "reasoning_tokens"},
		{"reasoning_tokens"},
	},
	cacheRead: [][]string{
		{"prompt_tokens_details", "cached_tokens"},
		{"prompt_cache_hit_tokens"}, // DeepSeek
		{"cached_tokens"},           // Moonshot
		{"cache_read_input_tokens"},
	},
	cacheWrite: [][]string{
		{"prompt_tokens_details", "cache_write_tokens"},
		{"prompt_tokens_details", "cache_creation_input_tokens"},
		{"cache_creation_input_tokens"},
	},
}
