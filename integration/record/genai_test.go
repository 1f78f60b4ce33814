package record_test

import (
	"context"
	"encoding/json"

	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var gemini = sdk{
	name: "genai", api: "google.generate", provider: "google",
	keys: []string{"GEMINI_API_KEY"},
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		return genaiAsker(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, HTTPClient: tf.Client()})
	},
	// The SDK retries only if configured, with pauses of a second.
	lacks: retries | comments,
}

// geminiOnVertex needs no credentials, since the SDK leaves them to a given HTTP client.
var geminiOnVertex = sdk{
	name: "genai on Vertex AI", api: "google.generate", provider: "vertex",
	unkeyed: true,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		return genaiAsker(ctx, &genai.ClientConfig{
			Backend: genai.BackendVertexAI, Project: "mine", Location: "us-central1", HTTPClient: tf.Client(),
		})
	},
	lacks: retries | comments,
}

func genaiAsker(ctx context.Context, config *genai.ClientConfig) (asker, error) {
	client, err := genai.NewClient(ctx, config)
	if err != nil {
		return nil, err
	}
	const model = "gemini-2.5-flash"
	return func(ctx context.Context, q question) (*answer, error) {
		contents, config := genaiRequest(q)
		if !q.stream {
			got, err := client.Models.GenerateContent(ctx, model, contents, config)
			if err != nil {
				return nil, err
			}
			return genaiAnswer(got), nil
		}
		var chunks []*genai.GenerateContentResponse
		for chunk, err := range client.Models.GenerateContentStream(ctx, model, contents, config) {
			if err != nil {
				return genaiAnswer(chunks...), err
			}
			chunks = append(chunks, chunk)
		}
		return genaiAnswer(chunks...), nil
	}, nil
}

func genaiRequest(q question) ([]*genai.Content, *genai.GenerateContentConfig) {
	contents := genai.Text(q.text)
	config := &genai.GenerateContentConfig{
		Temperature:       genai.Ptr[float32](0),
		Seed:              genai.Ptr[int32](42),
		SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser),
	}
	if q.tools {
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name:       "weather",
			Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}},
		}}}}
	}
	if q.schema {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", summarySchema
	}
	if q.after != nil {
		asked := q.after.turn.(*genai.Content)
		answered := &genai.Content{Role: genai.RoleUser}
		for _, part := range asked.Parts {
			if call := part.FunctionCall; call != nil {
				result := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": q.results[len(answered.Parts)]})
				result.FunctionResponse.ID = call.ID
				answered.Parts = append(answered.Parts, result)
			}
		}
		contents = append(contents, asked, answered)
	}
	return contents, config
}

// genaiAnswer joins the chunks of an answer without their HTTP headers. These are the provider's while recording, and
// the stored ones in replay.
func genaiAnswer(chunks ...*genai.GenerateContentResponse) *answer {
	whole := &genai.Content{Role: genai.RoleModel}
	a := &answer{value: chunks, turn: whole}
	for _, chunk := range chunks {
		chunk.SDKHTTPResponse = nil
		for _, candidate := range chunk.Candidates {
			whole.Parts = append(whole.Parts, candidate.Content.Parts...)
		}
	}
	for _, part := range whole.Parts {
		if !part.Thought {
			a.text += part.Text
		}
		if part.FunctionCall != nil {
			arguments, _ := json.Marshal(part.FunctionCall.Args) // it was decoded from JSON
			a.calls = append(a.calls, string(arguments))
		}
	}
	return a
}
