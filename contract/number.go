package contract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// numberCalls returns an answer with the refs of its tool calls replaced by call_1, call_2, … on from
// those of the history, as a snapshot has them (design R8), and what the provider called them.
// No ref of the history is used again, also if that starts with a call_7 because it was cut.
// What was passed is not changed.
func numberCalls(history []modelio.Message, answer modelio.Message) (numbered modelio.Message, ids map[string]string) {
	whole, originals := modelio.NormalizeRefs(append(slices.Clip(history), answer))
	numbered = whole[len(history)]
	requests := requestsOf(numbered)
	if len(requests) == 0 && !hasResults(numbered) {
		return numbered, nil
	}
	shift := 0
	if len(requests) > 0 {
		shift = max(0, lastNumber(history)+1-callNumber(requests[0].Ref))
	}
	ids = map[string]string{}
	refs := map[string]string{}
	for _, request := range requests {
		ref := "call_" + strconv.Itoa(callNumber(request.Ref)+shift)
		refs[request.Ref] = ref
		if id, ok := originals[request.Ref]; ok {
			ids[ref] = id
		}
		request.Ref = ref
	}
	for _, part := range numbered.Content {
		result := part.ToolResponse
		if result == nil {
			continue
		}
		if ref, ok := refs[result.Ref]; ok {
			result.Ref = ref
		} else if id, ok := originals[result.Ref]; ok {
			result.Ref = id // of a call in the history, which has its ref still
		}
	}
	return numbered, ids
}

func requestsOf(m modelio.Message) (requests []*modelio.ToolRequest) {
	for _, part := range m.Content {
		if part.ToolRequest != nil {
			requests = append(requests, part.ToolRequest)
		}
	}
	return requests
}

func hasResults(m modelio.Message) bool {
	return slices.ContainsFunc(m.Content, func(p modelio.Part) bool { return p.ToolResponse != nil })
}

// lastNumber returns the highest n of the refs call_n; 0 if there are none.
func lastNumber(history []modelio.Message) int {
	last := 0
	for _, m := range history {
		for _, part := range m.Content {
			switch {
			case part.ToolRequest != nil:
				last = max(last, callNumber(part.ToolRequest.Ref))
			case part.ToolResponse != nil:
				last = max(last, callNumber(part.ToolResponse.Ref))
			}
		}
	}
	return last
}

// callNumber returns the n of a ref call_n; 0 for any other ref, also for one with more digits than
// a count of calls has.
func callNumber(ref string) int {
	digits, ok := strings.CutPrefix(ref, "call_")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || len(digits) > 9 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}
