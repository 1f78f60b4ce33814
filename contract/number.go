package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// numberCalls returns an answer whose tool calls continue the numbers of the history, as in a snapshot (design R8):
// call_3, call_4. It also returns the provider's refs of these calls. No ref of the history is used again, even if the
// history was cut and starts with call_7. The arguments are not changed.
func numberCalls(history []modelio.Message, answer modelio.Message) (numbered modelio.Message, ids map[string]string) {
	whole, originals := modelio.NormalizeRefs(append(slices.Clip(history), answer))
	numbered = whole[len(history)]
	last := max(lastNumber(history), lastNumber(whole[:len(history)]))
	ids = map[string]string{}
	refs := map[string]string{}
	numbered.Content = slices.Clone(numbered.Content)
	for i, part := range numbered.Content {
		switch {
		case part.ToolRequest != nil:
			request := *part.ToolRequest
			last++
			ref := "call_" + strconv.Itoa(last)
			if id, ok := originals[request.Ref]; ok {
				ids[ref] = id
			}
			refs[request.Ref], request.Ref = ref, ref
			numbered.Content[i].ToolRequest = &request
		case part.ToolResponse != nil:
			result := *part.ToolResponse
			result.Ref = cmp.Or(refs[result.Ref], originals[result.Ref], result.Ref) // a call of the history keeps its ref
			numbered.Content[i].ToolResponse = &result
		}
	}
	return numbered, ids
}

// lastNumber returns the highest n of the refs call_n; 0 if there are none.
func lastNumber(history []modelio.Message) int {
	last := 0
	for _, m := range history {
		for _, part := range m.Content {
			if part.ToolRequest != nil {
				last = max(last, callNumber(part.ToolRequest.Ref))
			}
			if part.ToolResponse != nil {
				last = max(last, callNumber(part.ToolResponse.Ref))
			}
		}
	}
	return last
}

// callNumber returns the n of a ref call_n, which may be negative. It is 0 for any other ref, and for one with too many
// digits for a count.
func callNumber(ref string) int {
	digits, _ := strings.CutPrefix(ref, "call_")
	n, _ := strconv.Atoi(digits)
	if n > 1e9 || "call_"+strconv.Itoa(n) != ref {
		return 0
	}
	return n
}
