package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// This is a run of one step: its request, its caller, and its result.
func Example() {
	provider, store, done := world(fakeprovider.Text("Bonjour!"))
	defer done()

	catalog := contract.Catalog{
		"anthropic": {API: contract.AnthropicMessages, Models: []string{"claude-sonnet-4-5"}},
	}
	keys := map[string]string{"anthropic": "from a vault"}
	adapter := &contract.Adapter{
		Store:   store,
		Catalog: catalog,
		Client:  &http.Client{Transport: provider.Transport()},
		Secret: func(_ context.Context, ref contract.SecretRef) (string, error) {
			return keys[ref.Alias], nil
		},
	}

	run, err := contract.Start(catalog, contract.RunConfig{Provider: "anthropic", Model: "claude-sonnet-4-5"}, nil)
	check(err)
	message, err := contract.PutMessage(store, modelio.Message{
		Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Greet me in French")},
	})
	check(err)
	params, err := contract.Materialize(run.Config(), contract.StepContext{
		MessageRefs: []canon.Hash{message},
		Temperature: contract.Some[contract.Decimal]("0"),
		APIKey:      contract.Secret("anthropic", 1),
	})
	check(err)
	receipt, err := adapter.Generate(context.Background(), params)
	check(err)

	var envelope contract.OutputEnvelope
	check(contract.ReadJSON(store, receipt.OutputRef, &envelope))
	fmt.Println(*envelope.AssistantText)
	fmt.Println(receipt.FinishReason.Reason, *receipt.FinishReason.Raw)
	// Output:
	// Bonjour!
	// stop end_turn
}

// This is an agent's loop: the model calls a tool, gets the result, and answers.
func ExampleAdapter_Reply() {
	provider, store, done := world(
		fakeprovider.CallTools(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Paris"}`}),
		fakeprovider.Text("It is 22 degrees in Paris."),
	)
	defer done()
	adapter := &contract.Adapter{
		Store:   store,
		Catalog: contract.Catalog{"openai": {API: contract.OpenAIChat}},
		Client:  &http.Client{Transport: provider.Transport()},
	}
	tool, err := contract.PutJSON(store, modelio.ToolDefinition{Name: "weather", InputSchema: json.RawMessage(`{"type":"object"}`)})
	check(err)
	question, err := contract.PutMessage(store, modelio.Message{
		Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("How warm is it in Paris?")},
	})
	check(err)

	messages := []canon.Hash{question}
	for {
		params, err := contract.Materialize(contract.RunConfig{Provider: "openai", Model: "gpt-4o"}, contract.StepContext{
			MessageRefs: messages, ToolRefs: []canon.Hash{tool},
		})
		check(err)
		receipt, err := adapter.Generate(context.Background(), params)
		check(err)
		var envelope contract.OutputEnvelope
		check(contract.ReadJSON(store, receipt.OutputRef, &envelope))
		if envelope.ToolCallsRef == nil {
			fmt.Println(*envelope.AssistantText)
			return
		}

		reply, err := adapter.Reply(params, receipt)
		check(err)
		messages = append(messages, reply)
		var calls contract.ToolCallList
		check(contract.ReadJSON(store, *envelope.ToolCallsRef, &calls))
		for _, call := range calls {
			var arguments json.RawMessage
			check(contract.ReadJSON(store, call.ArgumentsRef, &arguments))
			fmt.Println(call.CallID, call.ToolName, string(arguments))
			result, err := contract.PutMessage(store, modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{
				{ToolResponse: &modelio.ToolResponse{Name: call.ToolName, Ref: call.CallID, Output: json.RawMessage(`"22 degrees"`)}},
			}})
			check(err)
			messages = append(messages, result)
		}
	}
	// Output:
	// call_1 weather {"city":"Paris"}
	// It is 22 degrees in Paris.
}

// A provider's error gives an error and a receipt.
func ExampleAdapter_Generate() {
	provider, store, done := world(fakeprovider.Error(429, "rate_limit_error", "slow down"))
	defer done()
	adapter := &contract.Adapter{
		Store:   store,
		Catalog: contract.Catalog{"anthropic": {API: contract.AnthropicMessages}},
		Client:  &http.Client{Transport: provider.Transport()},
	}
	message, err := contract.PutMessage(store, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Hello")}})
	check(err)
	receipt, err := adapter.Generate(context.Background(), contract.GenerateParams{
		Provider: "anthropic", Model: "claude-sonnet-4-5", MessageRefs: []canon.Hash{message},
	})
	var reported *contract.ProviderError
	fmt.Println(errors.As(err, &reported), reported.Status, receipt.FinishReason.Reason)
	fmt.Println(err)
	// Output:
	// true 429 error
	// anthropic answered with status 429: rate_limit_error: slow down
}

func ExampleStart() {
	catalog := contract.Catalog{"openai": {API: contract.OpenAIChat, Models: []string{"gpt-4o"}}}
	session := contract.RunConfig{Provider: "openai", Model: "gpt-4o", MaxTokens: contract.Some[uint64](100)}

	run, err := contract.Start(catalog, session, nil)
	check(err)
	session.Model = "gpt-5" // for the next run
	fmt.Println(run.Config().Model)

	_, err = contract.Start(catalog, session, nil)
	fmt.Println(errors.Is(err, contract.ErrUnknown), err)
	// Output:
	// gpt-4o
	// true run config: /model: unknown: "gpt-5" is not known; known are gpt-4o
}

func ExampleMaterialize() {
	config := contract.RunConfig{Provider: "openai", Model: "gpt-4o"}
	params, err := contract.Materialize(config, contract.StepContext{
		MessageRefs: []canon.Hash{canon.Sum([]byte(`{"content":"hi","role":"user"}`))},
	})
	check(err)
	text, err := json.Marshal(params.Runtime)
	check(err)
	fmt.Println(string(text))

	_, err = contract.Materialize(config, contract.StepContext{Temperature: contract.Some[contract.Decimal]("warm")})
	fmt.Println(err)
	// Output:
	// {"temperature":null,"max_tokens":null,"tool_refs":null,"tool_choice":null,"reasoning_effort":null,"stop_sequences":null,"metadata":null,"provider_options_ref":null,"response_format_ref":null}
	// generate params: /message_refs: missing: must name one message at least
	// generate params: /runtime/temperature: decimal: must be a decimal such as 0.2 or 1e-3, is "warm"
}

func ExampleGenerateParams_Hash() {
	params := contract.GenerateParams{
		Provider: "openai", Model: "gpt-4o", MessageRefs: []canon.Hash{canon.Sum([]byte(`{"content":"hi","role":"user"}`))},
	}
	first, err := params.Hash()
	check(err)
	params.CorrelationID = contract.Some("run-7")
	second, err := params.Hash()
	check(err)
	params.Runtime.MaxTokens = contract.Some[uint64](100)
	third, err := params.Hash()
	check(err)
	fmt.Println(first == second, second == third)
	// Output: true false
}

func ExamplePutMessage() {
	_, store, done := world()
	defer done()
	ref, err := contract.PutMessage(store, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}})
	check(err)
	blob, err := store.Blob(ref)
	check(err)
	fmt.Println(string(blob))
	// Output: {"content":"hi","role":"user"}
}

func ExamplePutJSON() {
	_, store, done := world()
	defer done()
	ref, err := contract.PutJSON(store, map[string]any{"openai": map[string]any{"seed": 7, "parallel_tool_calls": false}})
	check(err)
	blob, err := store.Blob(ref)
	check(err)
	fmt.Println(string(blob))
	// Output: {"openai":{"parallel_tool_calls":false,"seed":7}}
}

func ExampleReadJSON() {
	_, store, done := world()
	defer done()
	ref, err := store.PutBlob([]byte(`{"assistant_text":"hi","reasoning_ref":null,"tool_calls_ref":null}`))
	check(err)
	var envelope contract.OutputEnvelope
	check(contract.ReadJSON(store, ref, &envelope))
	fmt.Println(*envelope.AssistantText)

	ref, err = store.PutBlob([]byte(`{"assistant_text":"hi","mood":"good"}`))
	check(err)
	fmt.Println(errors.Is(contract.ReadJSON(store, ref, &envelope), contract.ErrUnknown))
	// Output:
	// hi
	// true
}

// FromSnapshot returns the params, receipt and envelope of a recorded snapshot.
func ExampleFromSnapshot() {
	_, _, done := world()
	defer done()
	recorded, err := contract.FromSnapshot(contract.Record{Provider: "openai", Snapshot: &snapshot.Snapshot{
		Request: modelio.Request{
			API: contract.OpenAIChat, Model: "gpt-4o",
			Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}},
		},
		Response: snapshot.Response{Response: modelio.Response{Candidates: []modelio.Candidate{{
			Message:      modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("Hello!")}},
			FinishReason: modelio.FinishStop,
		}}}},
	}})
	check(err)
	fmt.Println(*recorded.Envelope.AssistantText, recorded.Receipt.FinishReason.Reason)

	message, err := recorded.Blob(recorded.Params.MessageRefs[0])
	check(err)
	fmt.Println(string(message))
	// Output:
	// Hello! stop
	// {"content":"hi","role":"user"}
}

// The journal of a test lists its calls and their results, from the test's document.
func ExampleStore_Journal() {
	dir, done := recorded()
	defer done()
	store, err := contract.OpenStore(dir)
	check(err)
	journal, err := store.Journal("openai", snapshot.DocumentName("example.com/shop", "TestGreet"))
	check(err)
	for _, call := range journal {
		fmt.Println(call.Call, call.Params.Model, call.Receipt.FinishReason.Reason)
	}
	// Output: example-com-shop-testgreet-43e58108f72a-1 gpt-4o stop
}

// Each ref of a call has a blob.
func ExampleRecorded_Refs() {
	dir, done := recorded()
	defer done()
	store, err := contract.OpenStore(dir)
	check(err)
	journal, err := store.Journal("openai", snapshot.DocumentName("example.com/shop", "TestGreet"))
	check(err)
	for _, ref := range journal[0].Refs() {
		blob, err := journal[0].Blob(ref)
		check(err)
		fmt.Println(canon.Sum(blob) == ref)
	}
	// Output:
	// true
	// true
	// true
	// true
	// true
}

// A store opened on .ai-snapshots has the blobs of the recorded calls.
func ExampleOpenStore() {
	dir, done := recorded()
	defer done()
	store, err := contract.OpenStore(dir)
	check(err)
	journal, err := store.Journal("openai", snapshot.DocumentName("example.com/shop", "TestGreet"))
	check(err)
	message, err := store.Blob(journal[0].Params.MessageRefs[0])
	check(err)
	fmt.Println(string(message))
	// Output: {"content":"hi","role":"user"}
}

// The hash of a config shows in records which config a run had.
func ExampleRunConfig_Hash() {
	config := contract.RunConfig{Provider: "openai", Model: "gpt-4o"}
	hash, err := config.Hash()
	check(err)
	ctx := snapshot.WithProvenance(context.Background(), snapshot.Provenance{RunID: "nightly", ConfigHash: hash})
	fmt.Println(snapshot.ProvenanceOf(ctx).ConfigHash == hash)
	// Output: true
}

// recorded returns the directory of a store with a document of one call.
func recorded() (string, func()) {
	dir, err := os.MkdirTemp("", "contract")
	check(err)
	s, err := store.Open(dir)
	check(err)
	name := snapshot.DocumentName("example.com/shop", "TestGreet")
	check(s.Commit(store.Change{Put: []store.Put{{Name: name, Provider: "openai", Document: &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{{
		ID: name + "-1", Timestamp: time.UnixMilli(0).UTC(),
		Source: snapshot.Source{File: "greet_test.go", Line: 9, Function: "TestGreet", Package: "example.com/shop", Test: "TestGreet"},
		Request: modelio.Request{API: contract.OpenAIChat, Model: "gpt-4o",
			Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}}},
		Response: snapshot.Response{Status: 200, Response: modelio.Response{Candidates: []modelio.Candidate{{
			Message:      modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("Hello!")}},
			FinishReason: modelio.FinishStop,
		}}}},
	}}}}}}))
	return dir, func() { os.RemoveAll(dir) }
}

// world returns a provider with these replies, and an empty store.
func world(replies ...fakeprovider.Reply) (*fakeprovider.Server, *contract.Store, func()) {
	provider, err := fakeprovider.Start()
	check(err)
	provider.Reply(replies...)
	dir, err := os.MkdirTemp("", "contract")
	check(err)
	store, err := contract.OpenStore(filepath.Join(dir, ".ai-snapshots"))
	check(err)
	return provider, store, func() {
		provider.Close()
		os.RemoveAll(dir)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
