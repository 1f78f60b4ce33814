package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// An api is a wire API for which all tests of the contract run.
type api struct {
	name     string
	provider string // in the catalog
	family   string // in provider options
	model    string
}

var apis = []api{
	{contract.OpenAIChat, "openai", "openai", "gpt-4o-mini"},
	{contract.OpenAIResponses, "openai-responses", "openai", "gpt-5.2"},
	{contract.AnthropicMessages, "anthropic", "anthropic", "claude-sonnet-4-5"},
}

func catalog() contract.Catalog {
	c := contract.Catalog{}
	for _, a := range apis {
		c[a.provider] = contract.Provider{API: a.name, Models: []string{a.model}}
	}
	return c
}

// apiKey must not be in any file.
const apiKey = "sk-live-0123456789abcdefghijklmnop"

// A scene is a store, a provider and an adapter between them.
type scene struct {
	*testing.T
	dir      string // the snapshot store's directory
	store    *watchedStore
	provider *fakeprovider.Server
	adapter  *contract.Adapter
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, dir: filepath.Join(t.TempDir(), ".ai-snapshots"), provider: fakeprovider.New(t)}
	store, err := contract.OpenStore(s.dir)
	require.NoError(t, err)
	s.store = &watchedStore{Store: store}
	s.provider.RequireKey(apiKey)
	s.adapter = &contract.Adapter{
		Store:   s.store,
		Catalog: catalog(),
		Client:  &http.Client{Transport: s.provider.Transport()},
		Secret: func(_ context.Context, ref contract.SecretRef) (string, error) {
			if ref.Alias != "key" {
				return "", errors.New("no such secret")
			}
			return apiKey, nil
		},
	}
	return s
}

// eachAPI runs a test for each API, each time in a new scene.
func eachAPI(t *testing.T, test func(*scene, api)) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) { test(newScene(t), a) })
	}
}

// put stores a value as a JSON blob.
func (s *scene) put(v any) canon.Hash {
	s.Helper()
	ref, err := contract.PutJSON(s.store, v)
	require.NoError(s, err)
	return ref
}

// says stores a message with a text.
func (s *scene) says(role modelio.Role, text string) canon.Hash {
	s.Helper()
	return s.message(modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}})
}

func (s *scene) message(m modelio.Message) canon.Hash {
	s.Helper()
	ref, err := contract.PutMessage(s.store, m)
	require.NoError(s, err)
	return ref
}

// params returns the params of a step with these messages.
func (s *scene) params(a api, messages ...canon.Hash) contract.GenerateParams {
	s.Helper()
	run, err := contract.Start(s.adapter.Catalog, contract.RunConfig{Provider: a.provider, Model: a.model}, nil)
	require.NoError(s, err)
	params, err := contract.Materialize(run.Config(), contract.StepContext{MessageRefs: messages, APIKey: contract.Secret("key", 1)})
	require.NoError(s, err)
	return params
}

// asks returns the params of a step that requests a greeting.
func (s *scene) asks(a api) contract.GenerateParams {
	s.Helper()
	return s.params(a, s.says(modelio.RoleUser, "Say hello"))
}

func (s *scene) generate(p contract.GenerateParams) contract.GenerateReceipt {
	s.Helper()
	receipt, err := s.adapter.Generate(s.Context(), p)
	require.NoError(s, err)

	// Each receipt must be readable.
	text, err := json.Marshal(receipt)
	require.NoError(s, err)
	var again contract.GenerateReceipt
	require.NoError(s, json.Unmarshal(text, &again))
	require.Equal(s, receipt, again)
	return receipt
}

// sent returns the body of the last call.
func (s *scene) sent() map[string]any {
	s.Helper()
	calls := s.provider.Calls()
	require.NotEmpty(s, calls)
	var body map[string]any
	require.NoError(s, json.Unmarshal(calls[len(calls)-1].Body, &body))
	return body
}

// An output is an envelope with the content of its refs.
type output struct {
	text, reasoning string
	calls           []call
}

type call struct{ id, name, arguments string }

func outputOf(t *testing.T, blobs contract.Blobs, ref canon.Hash) (out output) {
	t.Helper()
	var envelope contract.OutputEnvelope
	require.NoError(t, contract.ReadJSON(blobs, ref, &envelope))
	if envelope.AssistantText != nil {
		out.text = *envelope.AssistantText
	}
	if envelope.ReasoningRef != nil {
		text, err := blobs.Blob(*envelope.ReasoningRef)
		require.NoError(t, err)
		out.reasoning = string(text)
	}
	if envelope.ToolCallsRef == nil {
		return out
	}
	var calls contract.ToolCallList
	require.NoError(t, contract.ReadJSON(blobs, *envelope.ToolCallsRef, &calls))
	for _, c := range calls {
		var arguments json.RawMessage
		require.NoError(t, contract.ReadJSON(blobs, c.ArgumentsRef, &arguments))
		out.calls = append(out.calls, call{c.CallID, c.ToolName, string(arguments)})
	}
	return out
}

func (s *scene) output(r contract.GenerateReceipt) output {
	s.Helper()
	return outputOf(s.T, s.store, r.OutputRef)
}

func (s *scene) warnings(r contract.GenerateReceipt) (warnings []contract.Warning) {
	s.Helper()
	if r.WarningsRef != nil {
		require.NoError(s, contract.ReadJSON(s.store, *r.WarningsRef, &warnings))
	}
	return warnings
}

// A watchedStore records its inputs, and can be broken.
type watchedStore struct {
	*contract.Store
	mu      sync.Mutex
	content []byte                // all inputs
	full    error                 // the error for every further input
	altered map[canon.Hash][]byte // wrong contents by ref
}

func (w *watchedStore) PutBlob(blob []byte) (canon.Hash, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full != nil {
		return "", w.full
	}
	w.content = append(w.content, blob...)
	return w.Store.PutBlob(blob)
}

func (w *watchedStore) Blob(ref canon.Hash) ([]byte, error) {
	if blob, ok := w.altered[ref]; ok {
		return blob, nil
	}
	return w.Store.Blob(ref)
}

// stored returns everything that the store was given.
func (s *scene) stored() []byte {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return slices.Clone(s.store.content)
}

// results returns a message with the results of tool calls.
func results(of ...modelio.ToolResponse) modelio.Message {
	m := modelio.Message{Role: modelio.RoleTool}
	for _, r := range of {
		m.Content = append(m.Content, modelio.Part{ToolResponse: &r})
	}
	return m
}

var calc = modelio.ToolDefinition{
	Name: "calc", Description: "adds two numbers",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"number","maximum":9223372036854775807},"y":{"type":"number"}}}`),
}
