package snapshot

import (
	"cmp"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// fileOrder compares names in the order of files: array indexes first, by number, as JSON.parse orders them, then all
// others in canonical order. So the JavaScript of SF "Hash Calculation" hashes what files say.
func fileOrder(a, b string) int { return cmp.Or(textOrder(a, b), jsontext.CompareNames(a, b)) }

// The members that SF has, in the order of its tables and examples.
var (
	sfSource  = []string{"file", "line", "function"}
	sfRequest = []string{
		"model", "messages", "prompt", "temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop", "tools",
	}
	sfMessage  = []string{"role", "content"}
	sfResponse = []string{"content", "tokens_used", "latency_ms", "finish_reason", "tool_calls"}
)

// textOrder compares names as JSON.parse orders those of a text: array indexes by number, all others as they stand.
func textOrder(a, b string) int {
	i, isIndex := arrayIndex(a)
	j, both := arrayIndex(b)
	switch {
	case isIndex && both:
		return cmp.Compare(i, j)
	case isIndex:
		return -1
	case both:
		return 1
	}
	return 0
}

// arrayIndex returns the array index that name is, as ECMAScript defines them: an integer
// below 2^32-1 in its shortest spelling.
func arrayIndex(name string) (uint64, bool) {
	const longest = len("4294967294")
	if len(name) == 0 || len(name) > longest || name[0] < '0' || name[0] > '9' || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n < 1<<32-1
}
