package genkittraceforge_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A script is what a scripted model says, call by call.
type script struct {
	ModelResponses []modelio.GenerateResponse
	StreamChunks   [][]*modelio.GenerateResponseChunk
}

// model returns a model of Genkit's that follows the script, with or without refs.
func (s script) model(refs bool) ai.ModelFunc {
	n := -1
	return func(ctx context.Context, _ *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		n++
		if n >= len(s.ModelResponses) {
			return nil, errors.New("the script has no more answers")
		}
		if stream != nil {
			for _, chunk := range s.StreamChunks[n] {
				converted, err := genkittraceforge.ToChunk(chunk)
				if err != nil {
					return nil, err
				}
				if err := stream(ctx, converted); err != nil {
					return nil, err
				}
			}
		}
		resp, err := genkittraceforge.ToResponse(&s.ModelResponses[n])
		if err == nil && !refs {
			for _, part := range resp.Message.Content {
				if part.IsToolRequest() {
					part.ToolRequest.Ref = ""
				}
			}
		}
		return resp, err
	}
}

// TestGenerateVectors: Genkit's own cases of a scripted model come out the same from Genkit's own
// loop, recorded and without the model.
func TestGenerateVectors(t *testing.T) {
	var text any
	require.NoError(t, yaml.Unmarshal(vector.Text(t, "genkit/tests/specs/generate.yaml"), &text))
	cases := *decode[struct {
		Tests []struct {
			Name   string
			Stream bool
			Input  struct {
				Messages []*ai.Message
				Config   map[string]any
				Tools    []string
			}
			script
			ExpectChunks   []*modelio.GenerateResponseChunk
			ExpectResponse struct {
				FinishReason modelio.FinishReason
				Message      modelio.Message
				Request      modelio.GenerateRequest
			}
		}
	}](t, canonical(t, text))
	require.Len(t, cases.Tests, 3)
	for _, tc := range cases.Tests {
		for name, refs := range map[string]bool{"refs": true, "no_refs": false} {
			t.Run(tc.Name+"/"+name, func(t *testing.T) {
				genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
					g := genkit.Init(t.Context())
					genkit.DefineModel(g, scriptedName, genkittest.Everything(), genkittest.LiveOnly(rec, tc.model(refs)))
					tool := genkit.DefineTool(g, "testTool", "description", func(*ai.ToolContext, map[string]any) (string, error) { return "tool called", nil })
					options := []ai.GenerateOption{
						ai.WithModelName(scriptedName),
						ai.WithMessages(tc.Input.Messages...),
						ai.WithConfig(tc.Input.Config),
						ai.WithMiddleware(genkittraceforge.Middleware(rec, scriptedName)),
					}
					if tc.Input.Tools != nil {
						options = append(options, ai.WithTools(tool))
					}
					var chunks []*modelio.GenerateResponseChunk
					if tc.Stream {
						options = append(options, ai.WithStreaming(func(_ context.Context, chunk *ai.ModelResponseChunk) error {
							converted, err := genkittraceforge.FromChunk(chunk)
							if err == nil && converted.Index == 0 {
								converted.Unknown = modelio.Object{"index": json.RawMessage("0")} // as the case spells it
							}
							chunks = append(chunks, converted)
							return err
						}))
					}
					resp, err := genkit.Generate(t.Context(), g, options...)
					require.NoError(t, err)
					require.Equal(t, canonical(t, tc.ExpectChunks), canonical(t, chunks))

					got, err := genkittraceforge.FromResponse(resp)
					require.NoError(t, err)
					require.Equal(t, tc.ExpectResponse.FinishReason, got.FinishReason)
					require.Equal(t, canonical(t, tc.ExpectResponse.Message), canonical(t, got.Message))
					request, err := genkittraceforge.FromRequest(resp.Request)
					require.NoError(t, err)
					want, _ := modelio.NormalizeRefs(tc.ExpectResponse.Request.Messages) // Genkit makes up those that are missing
					messages, _ := modelio.NormalizeRefs(request.Messages)
					require.Equal(t, canonical(t, want), canonical(t, messages))
					require.Equal(t, canonical(t, tc.ExpectResponse.Request.Config), canonical(t, request.Config))
					require.Len(t, request.Tools, len(tc.ExpectResponse.Request.Tools))
				})
			})
		}
	}
}
