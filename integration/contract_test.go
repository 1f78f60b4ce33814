package integration_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go" // its second version has no settings of sampling, which the contract has
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestContractRequests has the official SDKs decode the requests of the contract's adapter and encode them again. Equal
// results prove that each member is known to them and in its right place.
func TestContractRequests(t *testing.T) {
	for _, sdk := range []struct {
		api    string
		params func() any
	}{
		{contract.OpenAIChat, func() any { return new(openai.ChatCompletionNewParams) }},
		{contract.OpenAIResponses, func() any { return new(responses.ResponseNewParams) }},
		{contract.AnthropicMessages, func() any { return new(anthropic.MessageNewParams) }},
	} {
		for name, step := range contractSteps {
			for _, stream := range []bool{false, true} {
				t.Run(sdk.api+"/"+name+map[bool]string{true: "_streamed"}[stream], func(t *testing.T) {
					w := newContractWorld(t, sdk.api, stream)
					params := contract.GenerateParams{Provider: "provider", Model: "model"}
					step(w, &params)
					sent := w.send(params)

					var body map[string]any
					require.NoError(t, json.Unmarshal(sent, &body))
					if stream {
						require.Equal(t, true, body["stream"])
						delete(body, "stream") // the SDKs have a method for it, not a field
					}
					spellForSDK(t, body)
					text, err := json.Marshal(body)
					require.NoError(t, err)
					requireSame(t, text, sdk.params())
				})
			}
		}
	}
}

// requireSame fails unless params read text and write it again.
func requireSame(t *testing.T, text []byte, params any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, params))
	again, err := json.Marshal(params)
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(again))
}

// spellForSDK changes the spellings that the SDKs write but cannot read.
func spellForSDK(t *testing.T, body map[string]any) {
	// OpenAI's SDK writes messages without a type, but needs one to read them.
	items, _ := body["input"].([]any)
	for _, item := range items {
		if item := item.(map[string]any); item["type"] == nil {
			item["type"] = "message"
		}
	}
	// OpenAI's SDK reads the name of a chosen tool only with the type of that choice.
	if choice, ok := body["tool_choice"].(map[string]any); ok && choice["type"] == "function" {
		text, err := json.Marshal(choice)
		require.NoError(t, err)
		if choice["function"] != nil {
			requireSame(t, text, new(openai.ChatCompletionNamedToolChoiceParam))
		} else {
			requireSame(t, text, new(responses.ToolChoiceFunctionParam))
		}
		delete(body, "tool_choice")
	}
	// Anthropic's SDK reads the text of a tool result only as a block.
	messages, _ := body["messages"].([]any)
	for _, message := range messages {
		blocks, _ := message.(map[string]any)["content"].([]any)
		for _, block := range blocks {
			if block := block.(map[string]any); block["type"] == "tool_result" {
				block["content"] = []any{map[string]any{"type": "text", "text": block["content"]}}
			}
		}
	}
}

// contractSteps set up the kinds of params.
var contractSteps = map[string]func(*contractWorld, *contract.GenerateParams){
	"text": func(w *contractWorld, p *contract.GenerateParams) {
		w.say(p, modelio.RoleSystem, modelio.TextPart("Be brief"))
		w.say(p, modelio.RoleUser, modelio.TextPart("Hello"))
	},
	"media": func(w *contractWorld, p *contract.GenerateParams) {
		w.say(p, modelio.RoleUser, modelio.TextPart("What is this?"), modelio.MediaPart("image/png", "data:image/png;base64,AA=="))
	},
	"controls": func(w *contractWorld, p *contract.GenerateParams) {
		w.say(p, modelio.RoleUser, modelio.TextPart("Hello"))
		p.Runtime = contract.RuntimeArgs{
			Temperature: contract.Some[contract.Decimal]("0.5"), MaxTokens: contract.Some[uint64](100),
			ReasoningEffort: new("low"), Metadata: map[string]string{"user_id": "u"},
			ResponseFormatRef: w.put(contract.ResponseFormat{
				Type: contract.FormatJSONSchema, JSONSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), Strict: new(true),
			}),
			ProviderOptionsRef: w.put(map[string]any{
				"openai": map[string]any{"store": true, "parallel_tool_calls": false}, "anthropic": map[string]any{"top_k": 3},
			}),
		}
		if w.api != contract.OpenAIResponses {
			p.Runtime.StopSequences = []string{"END"}
		}
	},
	"tools": func(w *contractWorld, p *contract.GenerateParams) {
		w.say(p, modelio.RoleUser, modelio.TextPart("Add up 1, 2 and 3"))
		w.say(p, modelio.RoleModel, modelio.TextPart("Let me see."),
			modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "add", Ref: "call_1", Input: json.RawMessage(`{"x":1,"y":2}`)}},
			modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "add", Ref: "call_2", Input: json.RawMessage(`{"x":3}`)}})
		w.say(p, modelio.RoleTool, modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "add", Ref: "call_1", Output: json.RawMessage(`3`)}})
		w.say(p, modelio.RoleTool, modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "add", Ref: "call_2", Output: json.RawMessage(`"three"`)}})
		p.Runtime.ToolRefs = []canon.Hash{*w.put(modelio.ToolDefinition{Name: "add", Description: "adds", InputSchema: json.RawMessage(`{"type":"object"}`)})}
		p.Runtime.ToolChoice = &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "add"}
	},
	"choice_auto":     choiceOf(contract.ChoiceAuto),
	"choice_none":     choiceOf(contract.ChoiceNone),
	"choice_required": choiceOf(contract.ChoiceRequired),
}

func choiceOf(tag string) func(*contractWorld, *contract.GenerateParams) {
	return func(w *contractWorld, p *contract.GenerateParams) {
		w.say(p, modelio.RoleUser, modelio.TextPart("Hello"))
		p.Runtime.ToolRefs = []canon.Hash{*w.put(modelio.ToolDefinition{Name: "add", InputSchema: json.RawMessage(`{"type":"object"}`)})}
		p.Runtime.ToolChoice = &contract.ToolChoice{Tag: tag}
	}
}

// A contractWorld is an adapter with this test as its transport.
type contractWorld struct {
	t       *testing.T
	api     string
	store   *contract.Store
	adapter *contract.Adapter
	body    []byte
}

func newContractWorld(t *testing.T, api string, stream bool) *contractWorld {
	store, err := contract.OpenStore(t.TempDir())
	require.NoError(t, err)
	w := &contractWorld{t: t, api: api, store: store}
	w.adapter = &contract.Adapter{
		Store: store, Catalog: contract.Catalog{"provider": {API: api}}, Stream: stream, Client: &http.Client{Transport: w},
	}
	return w
}

// RoundTrip keeps the body of a request.
func (w *contractWorld) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	w.body, err = io.ReadAll(r.Body)
	return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(`{}`)))}, err
}

// send returns the body of the adapter's request.
func (w *contractWorld) send(p contract.GenerateParams) []byte {
	w.t.Helper()
	_, err := w.adapter.Generate(w.t.Context(), p)
	var reported *contract.ProviderError
	require.ErrorAs(w.t, err, &reported)
	return w.body
}

func (w *contractWorld) put(v any) *canon.Hash {
	w.t.Helper()
	ref, err := contract.PutJSON(w.store, v)
	require.NoError(w.t, err)
	return &ref
}

func (w *contractWorld) say(p *contract.GenerateParams, role modelio.Role, parts ...modelio.Part) {
	w.t.Helper()
	ref, err := contract.PutMessage(w.store, modelio.Message{Role: role, Content: parts})
	require.NoError(w.t, err)
	p.MessageRefs = append(p.MessageRefs, ref)
}
