package genkittraceforge

import (
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// order puts in order what Genkit leaves to chance.
func order(req *modelio.GenerateRequest) {
	slices.SortStableFunc(req.Tools, func(a, b modelio.ToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(req.Messages); i++ {
		if req.Messages[i].Role == modelio.RoleTool {
			orderResults(req.Messages[i-1].Content, req.Messages[i].Content)
		}
	}
}

// orderResults sorts tool responses as the tool requests that they answer. Where it is not
// clear which those are, the order is the application's own.
func orderResults(requests, responses []modelio.Part) {
	position := map[string]int{}
	for i, part := range requests {
		if part.ToolRequest != nil && part.ToolRequest.Ref != "" {
			position[part.ToolRequest.Ref] = i
		}
	}
	for _, part := range responses {
		if part.ToolResponse == nil {
			return
		}
		if _, ok := position[part.ToolResponse.Ref]; !ok {
			return
		}
	}
	slices.SortStableFunc(responses, func(a, b modelio.Part) int {
		return cmp.Compare(position[a.ToolResponse.Ref], position[b.ToolResponse.Ref])
	})
}
