package modelio_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// The tests in this file use Genkit's own data: its JSON Schema, its scripted-model cases, its conformance requests,
// and parts that its Go module does not keep completely.

// TestGenkit_Schema checks that Genkit's schema accepts the JSON of these types.
func TestGenkit_Schema(t *testing.T) {
	schema := genkitSchema(t)
	for _, tc := range []struct{ definition, what, text string }{
		{"TextPart", "part", `{"metadata":{"thoughtSignature":"g"},"text":""}`},
		{"MediaPart", "part", `{"media":{"contentType":"image/png","url":"data:image/png;base64,"},"metadata":{}}`},
		{"ToolRequestPart", "part", `{"metadata":{},"toolRequest":{"input":{},"name":"t","partial":true,"ref":"r"}}`},
		{"ToolResponsePart", "part", `{"metadata":{},"toolResponse":{"content":[{"text":"a"}],"name":"t","output":null,"ref":"r"}}`},
		{"ReasoningPart", "part", `{"metadata":{},"reasoning":""}`},
		{"CustomPart", "part", `{"custom":{},"data":1,"metadata":{}}`},
		{"DataPart", "part", `{"data":[]}`},
		{"ResourcePart", "part", `{"resource":{"uri":"u"}}`},
		{"Part", "part", `{}`},
		{"Media", "media", `{"url":""}`},
		{"ToolRequest", "tool request", `{"name":""}`},
		{"ToolResponse", "tool response", `{"name":""}`},
		{"ToolDefinition", "tool definition", `{"description":"d","inputSchema":{"type":"object"},"key":"k","metadata":{},"name":"t","outputSchema":null}`},
		{"OutputConfig", "output config", `{"constrained":true,"contentType":"application/json","format":"json","schema":{}}`},
		{"Message", "message", `{"content":[{"text":"a"}],"metadata":{},"role":"tool"}`},
		{"GenerateRequest", "request", `{"candidates":1,"config":{"temperature":0},"docs":[],"messages":[{"content":[],"role":"user"}],"output":{},"toolChoice":"none","tools":[]}`},
		{"ModelRequest", "request", `{"messages":[]}`},
		{"GenerateResponse", "response", `{}`},
		{"ModelResponse", "response", `{"custom":1,"finishMessage":"m","finishReason":"blocked","latencyMs":1.5,"message":{"content":[],"role":"model"},"raw":{},"request":{"messages":[]},"usage":{}}`},
		{"GenerationUsage", "usage", `{"cachedContentTokens":1,"custom":{"c":1.5},"inputCharacters":1,"inputTokens":0,"outputTokens":2,"thoughtsTokens":3,"totalTokens":4}`},
		{"GenerateResponseChunk", "chunk", `{"aggregated":false,"content":[],"custom":{},"index":1,"role":"model"}`},
		{"ModelResponseChunk", "chunk", `{"content":[{"text":"a"}]}`},
		{"ModelInfo", "model info", `{"configSchema":{},"label":"l","stage":"stable","supports":{"constrained":"no-tools","contentType":["text/plain"],"context":true,"longRunning":false,"media":true,"multiturn":true,"output":["text"],"systemRole":true,"toolChoice":true,"tools":true},"versions":["1"]}`},
	} {
		t.Run(tc.definition, func(t *testing.T) {
			require.Equal(t, tc.text, roundTrip(t, tc.what, tc.text))
			require.NoError(t, schema.validate(tc.definition, tc.text))
		})
	}
	for _, tc := range []struct {
		definition string
		value      json.Marshaler
	}{
		{"Message", modelio.Message{Role: modelio.RoleModel}},
		{"Part", modelio.Part{}},
		{"Part", modelio.TextPart("")},
		{"Part", modelio.ReasoningPart("")},
		{"Part", modelio.MediaPart("image/png", "data:,")},
		{"Part", modelio.Part{Custom: modelio.Object{}}},
		{"Part", modelio.Part{ToolRequest: &modelio.ToolRequest{}}},
		{"Part", modelio.Part{ToolResponse: &modelio.ToolResponse{}}},
		{"ModelRequest", modelio.GenerateRequest{}},
		{"GenerateResponse", modelio.GenerateResponse{}},
		{"ModelResponseChunk", modelio.GenerateResponseChunk{}},
		{"GenerationUsage", modelio.Usage{}},
		{"OutputConfig", modelio.OutputConfig{}},
		{"ModelInfo", modelio.InfoOf(nil)},
	} {
		require.NoError(t, schema.validate(tc.definition, rawJSON(t, tc.value)))
	}
}

// TestGenkit_SchemaDifferences proves the list in docs/specs/genkit-model.md: the texts that only one side accepts.
func TestGenkit_SchemaDifferences(t *testing.T) {
	schema := genkitSchema(t)
	for _, tc := range []struct{ why, definition, what, text string }{
		{"Genkit has no count for cache writes", "GenerationUsage", "usage", `{"cacheWriteTokens":1}`},
		{"providers' tools need no description", "ToolDefinition", "tool definition", `{"name":"t"}`},
		{"members that nobody knows are kept", "ToolRequest", "tool request", `{"extra":1,"name":"t"}`},
		{"null is kept", "Message", "message", `{"content":[],"metadata":null,"role":"user"}`},
		{"roles of other systems are kept", "Message", "message", `{"content":[],"role":"assistant"}`},
		{"finish reasons of other systems are kept", "GenerateResponse", "response", `{"finishReason":"end_turn"}`},
		{"Genkit's own scripted models give none", "ModelResponse", "response", `{"message":{"content":[],"role":"model"}}`},
		{"a schema may be a boolean", "OutputConfig", "output config", `{"schema":true}`},
	} {
		require.Equal(t, tc.text, roundTrip(t, tc.what, tc.text), tc.why)
		require.Error(t, schema.validate(tc.definition, tc.text), tc.why)
	}
	for _, tc := range []struct{ why, definition, what, text string }{
		{"GK has a configuration object", "ModelRequest", "request", `{"messages":[],"config":"none"}`},
		{"an index is a whole number", "ModelResponseChunk", "chunk", `{"content":[],"index":0.5}`},
		{"so is a count of tokens", "GenerationUsage", "usage", `{"inputTokens":0.5}`},
		{"a tool's content is of parts", "ToolResponse", "tool response", `{"content":[1],"name":"t"}`},
	} {
		require.Error(t, newByType[tc.what]().(json.Unmarshaler).UnmarshalJSON([]byte(tc.text)), tc.why)
		require.NoError(t, schema.validate(tc.definition, tc.text), tc.why)
	}
}

// TestGenkit_Parts checks that we keep the parts that Genkit's Go module does not keep completely.
func TestGenkit_Parts(t *testing.T) {
	var vectors struct{ Cases []struct{ In string } }
	vector.Read(t, "genkit/go_v1.4.0_part_roundtrip.json", &vectors)
	require.NotEmpty(t, vectors.Cases)
	for _, tc := range vectors.Cases {
		require.Equal(t, canonical(t, tc.In), canonical(t, roundTrip(t, "part", tc.In)))
	}
}

// TestGenkit_ConformanceRequests checks that Genkit's conformance requests survive a round trip, and that a model
// without capabilities takes those that need only text.
func TestGenkit_ConformanceRequests(t *testing.T) {
	schema := genkitSchema(t)
	var cases map[string]struct{ Input json.RawMessage }
	vector.Read(t, "genkit/model_conformance_test_cases.json", &cases)
	require.Len(t, cases, 12)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := roundTrip(t, "request", string(tc.Input))
			require.Equal(t, canonical(t, string(tc.Input)), canonical(t, text))
			require.NoError(t, schema.validate("ModelRequest", text))

			simulated := modeltest.Simulate(ptr(decode[modelio.GenerateRequest](t, text)), modelio.ModelInfo{})
			require.NoError(t, schema.validate("ModelRequest", rawJSON(t, *simulated)))
			for _, message := range simulated.Messages {
				require.NotEqual(t, modelio.RoleSystem, message.Role)
			}
			if simulated.Output != nil {
				require.Nil(t, simulated.Output.Schema)
			}
		})
	}
}

// TestGenkit_Specs checks that every message, chunk, request and response of Genkit's scripted-model cases survives a
// round trip, and that every stream has an aggregate.
func TestGenkit_Specs(t *testing.T) {
	schema := genkitSchema(t)
	for _, file := range []string{"generate.yaml", "agent.yaml"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(vector.File(t, "genkit/tests/specs/"+file))
			require.NoError(t, err)
			var specs any
			require.NoError(t, yaml.Unmarshal(data, &specs))

			seen := map[string]int{}
			check := func(what, definition string, value any) {
				text := encode(t, value)
				require.Equal(t, canonical(t, text), canonical(t, roundTrip(t, what, text)))
				require.NoError(t, schema.validate(definition, text))
				seen[what]++
			}
			walk(specs, func(name string, value any) {
				switch name {
				case "messages", "modelResponses", "streamChunks":
				case "modelChunk":
					check("chunk", "ModelResponseChunk", value)
					return
				case "expectResponse":
					check("response", "GenerateResponse", value)
					check("request", "ModelRequest", value.(map[string]any)["request"])
					return
				default:
					return
				}
				list, ok := value.([]any)
				if !ok {
					return // the state is wrong on purpose
				}
				for _, value := range list {
					switch name {
					case "messages":
						check("message", "Message", value)
					case "modelResponses":
						check("response", "GenerateResponse", value)
					case "streamChunks":
						stream := decode[[]*modelio.GenerateResponseChunk](t, encode(t, value))
						message, err := modeltest.Aggregate(stream)
						require.NoError(t, err)
						var text strings.Builder
						for i, chunk := range stream {
							check("chunk", "ModelResponseChunk", value.([]any)[i])
							for _, part := range chunk.Content {
								text.WriteString(*part.Text)
							}
						}
						var joined strings.Builder
						for _, part := range message.Content {
							if part.Text != nil {
								joined.WriteString(*part.Text)
							}
						}
						require.Equal(t, text.String(), joined.String())
						seen["stream"]++
					}
				}
			})
			for _, what := range []string{"message", "response", "chunk", "stream"} {
				require.NotZero(t, seen[what], what)
			}
			t.Log(seen)
		})
	}
}

// walk calls visit with every member below v.
func walk(v any, visit func(name string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			visit(name, value)
			walk(value, visit)
		}
	case []any:
		for _, value := range v {
			walk(value, visit)
		}
	}
}

// A schemaSet validates JSON texts by the definitions of Genkit's schema.
type schemaSet struct{ compiler *jsonschema.Compiler }

func genkitSchema(t *testing.T) schemaSet {
	t.Helper()
	f, err := os.Open(vector.File(t, "genkit/genkit-schema.json"))
	require.NoError(t, err)
	defer f.Close()
	document, err := jsonschema.UnmarshalJSON(f)
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("genkit.json", document))
	return schemaSet{compiler}
}

func (s schemaSet) validate(definition, text string) error {
	schema, err := s.compiler.Compile("genkit.json#/$defs/" + definition)
	if err != nil {
		return fmt.Errorf("no schema: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// roundTrip reads text as a value of the type named what, and writes it.
func roundTrip(t *testing.T, what, text string) string {
	t.Helper()
	v := newByType[what]()
	require.NoError(t, v.(json.Unmarshaler).UnmarshalJSON([]byte(text)))
	return rawJSON(t, v.(json.Marshaler))
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	data, err := canon.KeepNumbers([]byte(text))
	require.NoError(t, err)
	return string(data)
}

func ptr[T any](v T) *T { return &v }
