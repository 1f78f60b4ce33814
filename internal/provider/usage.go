package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// usageNames says where an API counts what: of the members that one count has, the first that is there
// counts.
type usageNames struct {
	input, output, total, reasoning, cacheRead, cacheWrite paths
}

// paths are names of members, those of inner objects after a slash.
type paths []string

// decode returns the counts of v, and the members that have no count of their own in Unknown.
// It returns nil for a value that is no object.
func (names usageNames) decode(v jsontext.Value) *modelio.Usage {
	if !v.IsObject() || v.IsEmpty() {
		return nil
	}
	u := &modelio.Usage{Unknown: v.Object()}
	for _, field := range []struct {
		count **int64
		paths
	}{
		{&u.InputTokens, names.input},
		{&u.OutputTokens, names.output},
		{&u.TotalTokens, names.total},
		{&u.ThoughtsTokens, names.reasoning},
		{&u.CachedContentTokens, names.cacheRead},
		{&u.CacheWriteTokens, names.cacheWrite},
	} {
		for _, path := range field.paths {
			if n, ok := v.Member(strings.Split(path, "/")...).Count(); ok {
				*field.count = n
				delete(u.Unknown, path)
				break
			}
		}
	}
	u.Unknown = sayingSomething(u.Unknown)
	return u
}

// among returns the counts of a body that has them among its other members; nil if there are none.
func (names usageNames) among(body jsontext.Value) *modelio.Usage {
	u := names.decode(body)
	if u == nil || u.InputTokens == nil && u.OutputTokens == nil {
		return nil
	}
	u.Unknown = nil
	return u
}

// chatUsage is the usage object of the chat completions API, with the spellings of its many hosts.
var chatUsage = usageNames{
	input:     paths{"prompt_tokens"},
	output:    paths{"completion_tokens"},
	total:     paths{"total_tokens"},
	reasoning: paths{"completion_tokens_details/reasoning_tokens", "reasoning_tokens"},
	cacheRead: paths{
		"prompt_tokens_details/cached_tokens",
		"prompt_cache_hit_tokens", // DeepSeek
		"cached_tokens",           // Moonshot
		"cache_read_input_tokens",
	},
	cacheWrite: paths{
		"prompt_tokens_details/cache_write_tokens",
		"prompt_tokens_details/cache_creation_input_tokens",
		"cache_creation_input_tokens",
	},
}
