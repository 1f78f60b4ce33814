package genkittraceforge

import (
	"cmp"
	"context"
	"slices"

	"github.com/firebase/genkit/go/ai"
)

// Sorted is model middleware that gives a model its tools sorted by name, and the results of parallel tools in the
// order of their calls. Genkit leaves both orders to chance, so that a plugin's requests differ from run to run: an
// application with two or more tools whose HTTP calls are recorded needs this middleware. [Middleware] sorts on its
// own.
//
// It changes nothing else, and does not modify its request, so it can stay installed when nothing is recorded. It is
// safe for concurrent use.
func Sorted(next ai.ModelFunc) ai.ModelFunc { return sortedModel{next}.generate }

// A sortedModel has a method for the same reason as middleware.
type sortedModel struct{ next ai.ModelFunc }

func (m sortedModel) generate(ctx context.Context, req *ai.ModelRequest,
	send ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	return m.next(ctx, inOrder(req), send)
}

// inOrder returns a copy of req in an order that is the same in every run. It shares with req the parts that have that
// order already.
func inOrder(req *ai.ModelRequest) *ai.ModelRequest {
	ordered := *req
	ordered.Tools = slices.Clone(req.Tools)
	slices.SortStableFunc(ordered.Tools, func(a, b *ai.ToolDefinition) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	ordered.Messages = slices.Clone(req.Messages)
	for i := 1; i < len(req.Messages); i++ {
		if calls, results := req.Messages[i-1], req.Messages[i]; calls != nil && results != nil &&
			results.Role == ai.RoleTool {
			ordered.Messages[i] = sortedAs(calls.Content, results)
		}
	}
	return &ordered
}

func nameOf(tool *ai.ToolDefinition) string {
	if tool == nil {
		return ""
	}
	return tool.Name
}

// sortedAs returns results in the order of the calls with the same refs. If the refs are ambiguous, it keeps the
// application's order.
func sortedAs(calls []*ai.Part, results *ai.Message) *ai.Message {
	position := map[string]int{}
	for i, part := range calls {
		if part != nil && part.ToolRequest != nil && part.ToolRequest.Ref != "" {
			position[part.ToolRequest.Ref] = i
		}
	}
	for _, part := range results.Content {
		if part == nil || part.ToolResponse == nil {
			return results
		}
		if _, ok := position[part.ToolResponse.Ref]; !ok {
			return results
		}
	}
	sorted := *results
	sorted.Content = slices.Clone(results.Content)
	slices.SortStableFunc(sorted.Content, func(a, b *ai.Part) int {
		return cmp.Compare(position[a.ToolResponse.Ref], position[b.ToolResponse.Ref])
	})
	return &sorted
}
