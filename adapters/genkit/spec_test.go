package genkittraceforge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/modelio"
)

// Genkit's own scripted-model cases: recorded once, and replayed twice without the model.

// vectors returns the text of one of the origin's files, and skips the test where there are none.
func vectors(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("TRACEFORGE_VECTORS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	text, err := os.ReadFile(filepath.Join(root, "genkit", filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("no test vectors: %v; TRACEFORGE_VECTORS says where they are", err)
	}
	return text
}

// spec returns what a YAML file of cases holds.
func spec[T any](t *testing.T, name string) T {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal(vectors(t, name), &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return *decode[T](t, string(text))
}

// A script is what a scripted model says, call by call.
type script struct {
	ModelResponses []modelio.GenerateResponse
	StreamChunks   [][]*modelio.GenerateResponseChunk
}

// withoutRefs returns the script of a model that gives its tool requests no refs.
func (s script) withoutRefs() script {
	bare := script{StreamChunks: s.StreamChunks}
	for _, resp := range s.ModelResponses {
		if resp.Message != nil {
			message := *resp.Message
			message.Content = append([]modelio.Part{}, message.Content...)
			for i, part := range message.Content {
				if part.ToolRequest != nil {
					request := *part.ToolRequest
					request.Ref = ""
					message.Content[i].ToolRequest = &request
				}
			}
			resp.Message = &message
		}
		bare.ModelResponses = append(bare.ModelResponses, resp)
	}
	return bare
}

// model returns a model of Genkit's that follows the script.
func (s script) model() ai.ModelFunc {
	n := -1
	return func(ctx context.Context, _ *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		n++
		if n >= len(s.ModelResponses) {
			return nil, errors.New("the script has no more answers")
		}
		if stream != nil && n < len(s.StreamChunks) {
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
		return genkittraceforge.ToResponse(&s.ModelResponses[n])
	}
}

// normal returns messages as canonical JSON without what Genkit makes up: refs, and the
// explicit index 0 of chunks.
func normal(t *testing.T, messages []modelio.Message) string {
	t.Helper()
	normalized, _ := modelio.NormalizeRefs(messages)
	return canonical(t, normalized)
}

func TestGenerateSpec(t *testing.T) {
	type expectation struct {
		FinishReason modelio.FinishReason
		Message      modelio.Message
		Request      modelio.GenerateRequest
	}
	cases := spec[struct {
		Tests []struct {
			Name   string
			Stream bool
			Input  struct {
				Messages []modelio.Message
				Config   map[string]any
				Tools    []string
			}
			script
			ExpectChunks   []*modelio.GenerateResponseChunk
			ExpectResponse expectation
		}
	}](t, "tests/specs/generate.yaml")
	require.Len(t, cases.Tests, 3)
	for _, tc := range cases.Tests {
		if os.Getenv(withRecorder) != "" { // a snapshot's temperature is at most 2 (SF "Request Fields")
			tc.Input.Config["temperature"] = 1.1
			tc.ExpectResponse.Request.Config["temperature"] = json.RawMessage("1.1")
		}
		run := func(t *testing.T, model ai.ModelFunc, rec genkittraceforge.Recorder) {
			g := genkit.Init(t.Context())
			genkit.DefineModel(g, "programmableModel", everything(), model)
			tool := genkit.DefineTool(g, "testTool", "description", func(*ai.ToolContext, map[string]any) (string, error) { return "tool called", nil })
			input, err := genkittraceforge.ToRequest(&modelio.GenerateRequest{Messages: tc.Input.Messages})
			require.NoError(t, err)
			options := []ai.GenerateOption{
				ai.WithModelName("programmableModel"),
				ai.WithMessages(input.Messages...),
				ai.WithConfig(tc.Input.Config),
				ai.WithMiddleware(genkittraceforge.Middleware(rec, "genkit/programmableModel")),
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
			require.Equal(t, normal(t, tc.ExpectResponse.Request.Messages), normal(t, request.Messages))
			require.Equal(t, canonical(t, tc.ExpectResponse.Request.Config), canonical(t, request.Config))
			require.Len(t, request.Tools, len(tc.ExpectResponse.Request.Tools))
		}
		for name, s := range map[string]script{"refs": tc.script, "no_refs": tc.withoutRefs()} {
			t.Run(tc.Name+"/"+name, func(t *testing.T) {
				rehearse(t, func(t *testing.T, rec genkittraceforge.Recorder, live bool) {
					if live {
						run(t, s.model(), rec)
					} else {
						run(t, gone, rec)
					}
				})
			})
		}
	}
}

// TestAgentSpec: the model calls of Genkit's agent cases. Genkit Go has no agents yet, so the
// conversations are carried on as an agent would.
func TestAgentSpec(t *testing.T) {
	type step struct {
		Inputs []struct{ Message *modelio.Message }
		script
	}
	cases := spec[struct {
		Tests []struct {
			Name  string
			Steps []step
		}
	}](t, "tests/specs/agent.yaml")
	// conversation has the model calls of the steps made, and checks that each says what the
	// script says.
	conversation := func(t *testing.T, steps []step, bare bool, rec genkittraceforge.Recorder, live bool) (calls int) {
		var history []modelio.Message
		for _, step := range steps {
			if bare {
				step.script = step.withoutRefs()
			}
			model := gone
			if live {
				model = step.model()
			}
			call := genkittraceforge.Middleware(rec, "genkit/programmableModel")(model)
			for i, want := range step.ModelResponses {
				if i < len(step.Inputs) && step.Inputs[i].Message != nil {
					history = append(history, *step.Inputs[i].Message)
				}
				req, err := genkittraceforge.ToRequest(&modelio.GenerateRequest{Messages: history})
				require.NoError(t, err)
				var chunks []*modelio.GenerateResponseChunk
				resp, err := call(t.Context(), req, func(_ context.Context, chunk *ai.ModelResponseChunk) error {
					converted, err := genkittraceforge.FromChunk(chunk)
					chunks = append(chunks, converted)
					return err
				})
				require.NoError(t, err)
				var wantChunks []*modelio.GenerateResponseChunk
				if i < len(step.StreamChunks) {
					for _, chunk := range step.StreamChunks[i] {
						chunk := *chunk
						chunk.Unknown = nil // an index of 0, which Genkit Go does not tell from none
						wantChunks = append(wantChunks, &chunk)
					}
				}
				require.Equal(t, canonical(t, wantChunks), canonical(t, chunks))
				got, err := genkittraceforge.FromResponse(resp)
				require.NoError(t, err)
				require.Equal(t, want.FinishReason, got.FinishReason)
				require.Equal(t, canonical(t, want.Message), canonical(t, got.Message))
				calls++
				history = append(history, answered(got.Message)...)
			}
		}
		return calls
	}
	calls := 0
	for _, tc := range cases.Tests {
		if !slices.ContainsFunc(tc.Steps, func(s step) bool { return len(s.ModelResponses) > 0 }) {
			continue
		}
		for name, bare := range map[string]bool{"refs": false, "no_refs": true} {
			t.Run(tc.Name+"/"+name, func(t *testing.T) {
				rehearse(t, func(t *testing.T, rec genkittraceforge.Recorder, live bool) {
					calls += conversation(t, tc.Steps, bare, rec, live)
				})
			})
		}
	}
	require.Greater(t, calls, 80)
}

// answered returns message, if there is one, and the results of the tools that it asks for.
func answered(message *modelio.Message) []modelio.Message {
	if message == nil {
		return nil
	}
	results := modelio.Message{Role: modelio.RoleTool}
	for _, part := range message.Content {
		if part.ToolRequest != nil {
			results.Content = append(results.Content, modelio.Part{ToolResponse: &modelio.ToolResponse{
				Name: part.ToolRequest.Name, Ref: part.ToolRequest.Ref, Output: json.RawMessage(`"tool called"`),
			}})
		}
	}
	if results.Content == nil {
		return []modelio.Message{*message}
	}
	return []modelio.Message{*message, results}
}
