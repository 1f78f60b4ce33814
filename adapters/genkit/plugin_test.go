package genkittraceforge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/example/forecast"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Tests with Genkit's real OpenAI plugin, whose provider is a fake while the calls are recorded
// and is gone when they are replayed.

const (
	openaiName = "openai/gpt-4o"
	nowhere    = "http://127.0.0.1:1" // where no provider is
)

// withOpenAI returns a Genkit whose OpenAI plugin talks to the provider at url.
func withOpenAI(t *testing.T, url string) *genkit.Genkit {
	t.Helper()
	return genkit.Init(t.Context(), genkit.WithPlugins(&openai.OpenAI{
		APIKey: "unused",
		Opts:   []option.RequestOption{option.WithBaseURL(url + "/v1"), option.WithMaxRetries(0)},
	}))
}

// TestApplication: a flow with a tool, streamed, says the same without its provider.
func TestApplication(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`}))
	rehearse(t, func(t *testing.T, rec genkittraceforge.Recorder, live bool) {
		url := nowhere
		if live {
			url = srv.URL()
		}
		flow := forecast.Define(withOpenAI(t, url), openaiName, genkittraceforge.Middleware(rec, openaiName))
		var words []string
		for value, err := range flow.Stream(t.Context(), "Oslo") {
			require.NoError(t, err)
			if value.Done {
				require.Equal(t, `The tools say: "sunny in Oslo"`, value.Output)
			} else {
				words = append(words, value.Stream)
			}
		}
		require.Equal(t, []string{"The", " tools", " say:", ` "sunny`, " in", ` Oslo"`}, words)
	})
}

// TestConformance: Genkit's conformance cases get the same verdict from recorded answers.
func TestConformance(t *testing.T) {
	cases := *decode[map[string]struct {
		Stream     bool
		Input      modelio.GenerateRequest
		Validators []string
	}](t, string(vectors(t, "model_conformance_test_cases.json")))
	require.Len(t, cases, 12)

	srv := fakeprovider.New(t)
	srv.Handle(func(call fakeprovider.Call) fakeprovider.Reply {
		switch {
		case len(call.Tools) > 0:
			return fakeprovider.CallTools(fakeprovider.ToolCall{Name: call.Tools[0].Name, Arguments: `{"city":"New York"}`})
		case strings.Contains(call.LastUser(), "profile"):
			return fakeprovider.Text(`{"name":"John Doe","age":40}`)
		case strings.Contains(call.LastUser(), "review"):
			return fakeprovider.Text(`{"name":"John Wick","rating":4.5}`)
		}
		return fakeprovider.Text("RESPONSE: Genkit and google")
	})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rehearse(t, func(t *testing.T, rec genkittraceforge.Recorder, live bool) {
				url := nowhere
				if live {
					url = srv.URL()
				}
				model := genkit.LookupModel(withOpenAI(t, url), openaiName)
				supported := modelio.Simulate(&tc.Input, modelio.InfoOf(genkittraceforge.FromModel(model)))
				req, err := genkittraceforge.ToRequest(supported)
				require.NoError(t, err)
				var chunks []*ai.ModelResponseChunk
				var stream ai.ModelStreamCallback
				if tc.Stream {
					stream = func(_ context.Context, chunk *ai.ModelResponseChunk) error {
						chunks = append(chunks, chunk)
						return nil
					}
				}
				resp, err := genkittraceforge.Middleware(rec, openaiName)(model.Generate)(t.Context(), req, stream)
				require.NoError(t, err)
				for _, validator := range tc.Validators {
					// A chat model makes no media; that is the verdict each time.
					require.Equal(t, !strings.HasPrefix(validator, "valid-media"), valid(t, validator, resp, chunks), validator)
				}
			})
		})
	}
}

// valid reports what Genkit's validator of that name says.
func valid(t *testing.T, validator string, resp *ai.ModelResponse, chunks []*ai.ModelResponseChunk) bool {
	t.Helper()
	parts, text := resp.Message.Content, resp.Text()
	rule, argument, _ := strings.Cut(validator, ":")
	if streamed, ok := strings.CutPrefix(rule, "stream-"); ok {
		rule, parts, text = streamed, nil, ""
		for _, chunk := range chunks {
			parts = append(parts, chunk.Content...)
			text += chunk.Text()
		}
	}
	switch rule {
	case "has-tool-request":
		for _, part := range parts {
			if part.IsToolRequest() && part.ToolRequest.Name == argument {
				return true
			}
		}
		return false
	case "valid-json":
		return json.Valid([]byte(text))
	case "text-includes":
		return strings.Contains(strings.ToLower(text), strings.ToLower(argument))
	case "text-starts-with":
		return strings.HasPrefix(strings.TrimSpace(text), argument)
	case "text-not-empty":
		return strings.TrimSpace(text) != ""
	case "valid-media":
		for _, part := range parts {
			if part.IsMedia() && strings.HasPrefix(part.ContentType, argument+"/") {
				return true
			}
		}
		return false
	}
	t.Fatalf("unknown validator %s", validator)
	return false
}
