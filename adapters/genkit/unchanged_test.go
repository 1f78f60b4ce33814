package genkittraceforge_test

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
)

// TestRequestsStayUnchanged holds that neither sorting nor a model changes the request of an application, whose next turn has its
// messages again.
func TestRequestsStayUnchanged(t *testing.T) {
	request := func() *ai.ModelRequest {
		return &ai.ModelRequest{
			Tools: []*ai.ToolDefinition{{Name: "b"}, {Name: "a"}},
			Messages: []*ai.Message{
				ai.NewModelMessage(ai.NewToolRequestPart(&ai.ToolRequest{Name: "a", Ref: "1"}), ai.NewTextPart(""), ai.NewToolRequestPart(&ai.ToolRequest{Name: "b", Ref: "2"})),
				ai.NewMessage(ai.RoleTool, nil, ai.NewToolResponsePart(&ai.ToolResponse{Name: "b", Ref: "2"}), ai.NewToolResponsePart(&ai.ToolResponse{Name: "a", Ref: "1"})),
				ai.NewUserMessage(ai.NewToolResponsePart(&ai.ToolResponse{Name: "b", Ref: "2"})), // no result
			},
		}
	}
	for name, middleware := range map[string]ai.ModelMiddleware{
		"sorted": genkittraceforge.Sorted, "recorded": genkittraceforge.Middleware(passing{}, "a/model"),
	} {
		t.Run(name, func(t *testing.T) {
			var got *ai.ModelRequest
			req := request()
			_, err := middleware(func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
				got = req
				require.Equal(t, "a", req.Tools[0].Name)
				require.Equal(t, "1", req.Messages[1].Content[0].ToolResponse.Ref)
				if name == "recorded" { // as Genkit does with documents, and with media
					req.Messages[0].Content[1] = ai.NewTextPart("changed")
					req.Messages[2].Content = append(req.Messages[2].Content, ai.NewTextPart("more"))
					req.Messages = append(req.Messages[:1], ai.NewUserTextMessage("another"))
				}
				return &ai.ModelResponse{Message: ai.NewModelTextMessage("")}, nil
			})(t.Context(), req, nil)
			require.NoError(t, err)
			require.NotSame(t, req, got)
			require.Equal(t, request(), req)
		})
	}
}
