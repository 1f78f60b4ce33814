package snapshot

import (
	"cmp"
	"math"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// fileOrder compares names in file order: array indexes first, by number, as JSON.parse orders them, then all others in
// canonical order. So the JavaScript of SF "Hash Calculation" computes the hashes from files.
func fileOrder(a, b string) int { return cmp.Or(textOrder(a, b), jsontext.CompareNames(a, b)) }

// The members that SF defines, in the order of its tables and examples.
var (
	sfSource  = []string{"file", "line", "function"}
	sfRequest = []string{
		"model", "messages", "prompt", "temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed",
		"stop", "tools",
	}
	sfMessage  = []string{"role", "content"}
	sfResponse = []string{"content", "tokens_used", "latency_ms", "finish_reason", "tool_calls"}
)

// textOrder compares names in JSON.parse's order: array indexes by number, and all others in the order of the text.
func textOrder(a, b string) int { return cmp.Compare(arrayIndex(a), arrayIndex(b)) }

// arrayIndex returns the array index in a name, as defined by ECMAScript: an integer in its shortest spelling. For any
// other name it returns a value above all indexes.
func arrayIndex(name string) uint32 {
	const none = math.MaxUint32
	if name == "" || name[0] < '0' || name[0] > '9' || name[0] == '0' && len(name) > 1 {
		return none
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		return none
	}
	return uint32(n)
}
