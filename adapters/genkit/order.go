package genkittraceforge

import (
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// sortTools sorts tools by name: Genkit takes them out of a map, in an order that differs from
// run to run.
func sortTools(tools []modelio.ToolDefinition) {
	slices.SortStableFunc(tools, func(a, b modelio.ToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
}

// sortResults sorts the tool responses of each message as the tool requests of the message
// before it: Genkit runs tools in parallel and takes the results as they come.
func sortResults(messages []modelio.Message) {
	for i := 1; i < len(messages); i++ {
		if messages[i].Role == modelio.RoleTool {
			sortAs(messages[i-1].Content, messages[i].Content)
		}
	}
}

// sortAs sorts responses as the requests with the same refs. Where it is not clear which those
// are, the order is the application's own.
func sortAs(requests, responses []modelio.Part) {
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
