package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

func ExampleSession() {
	s := session.New("mock_a1b2c3d4", "mock")
	s.Append("Say hello", "Hello, World!")
	data, err := s.Encode()
	if err != nil {
		panic(err)
	}
	fmt.Print(string(data))
	// Output:
	// {"adapter_id":"mock_a1b2c3d4","interactions":[
	// {"i":0,"prompt_hash":"sha256:6d995dba1af0373913b98421f7b825327673d9870e4227386600e9d929f2c90c","response_content":"Hello, World!","response_hash":"sha256:dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f"}
	// ],"mode":"record","model_id":"mock","model_io_schema_version":"1.0.0"}
}

func ExampleSession_Hash() {
	s := session.New("mock_a1b2c3d4", "mock")
	s.Append("Say hello", "Hello, World!")
	hash, err := s.Hash()
	if err != nil {
		panic(err)
	}
	s.CreatedAt = "2026-01-05T00:00:00.000Z" // not in the core
	later, err := s.Hash()
	if err != nil {
		panic(err)
	}
	fmt.Println(later == hash)
	// Output: true
}

func ExampleSession_UnmarshalJSON() {
	const file = `{"model_io_schema_version":"1.0.0","adapter_id":"a","model_id":"m","mode":"record","interactions":[],"note":"kept"}`
	var s session.Session
	if err := json.Unmarshal([]byte(file), &s); err != nil {
		panic(err)
	}
	s.Append("Say hello", "Hello, World!")
	fmt.Println(s.Mode, len(s.Interactions), string(s.Unknown["note"]))
	// Output: record 1 "kept"
}

func ExampleVerify() {
	const text = `{"model_io_schema_version": "1.0", "adapter_id": "a", "model_id": "m", "mode": "record", "interactions": [{"i": 1}]}`
	for _, v := range session.Verify([]byte(text)) {
		fmt.Printf("%s: %s: %s\n", session.Path(v), v.Rule, v.Message)
	}
	// Output:
	// $.model_io_schema_version: MI1: model_io_schema_version must be semver format, got 1.0
	// $.interactions[0].i: MI5: index must be 0, got 1
	// $.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got undefined
	// $.interactions[0].response_content: MI7: response_content must be a string, got undefined
	// $.interactions[0].response_hash: MI7: response_hash must be sha256:<64 hex chars>, got undefined
}

func ExampleVerifyReader() {
	const text = `{"model_io_schema_version": "1.0.0", "adapter_id": "a", "model_id": "m", "mode": "record", "interactions": []}`
	report, err := session.VerifyReader(strings.NewReader(text), session.VerifyOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(report)
	fmt.Println(report.OK())
	// Output:
	// {"interactions_count":0,"model_io_hash":"sha256:574e199332380eb2e1ffcf39853e4a241db58756c27a00cf73650e55b6f8a12b","ok":true}
	// true
}

// A conversation is recorded once and then replayed without the model.
func ExampleReplay() {
	echo := modelio.ModelFunc(func(_ context.Context, req *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		return &modelio.GenerateResponse{
			Message:      &modelio.Message{Role: modelio.RoleModel, Content: last.Content},
			FinishReason: modelio.FinishStop,
		}, nil
	})
	ask := func(m modelio.Model, text string) {
		resp, err := m.Generate(context.Background(), &modelio.GenerateRequest{
			Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}},
		}, nil)
		switch {
		case errors.Is(err, session.ErrNotFound):
			fmt.Println("not in the session")
		case err != nil:
			panic(err)
		default:
			fmt.Println(*resp.Message.Content[0].Text)
		}
	}

	recorder := session.Record(echo, "echo_1", "echo")
	ask(recorder, "hello")

	replayer := session.Replay(recorder.Session(), session.ReplayOptions{})
	ask(replayer, "hello")
	ask(replayer, "good bye")
	// Output:
	// hello
	// hello
	// not in the session
}

func ExampleRecord() {
	model := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return &modelio.GenerateResponse{
			Message:      &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("4")}},
			FinishReason: modelio.FinishStop,
		}, nil
	})
	recorder := session.Record(model, "calculator_1", "calculator")
	if _, err := recorder.Generate(context.Background(), &modelio.GenerateRequest{}, nil); err != nil {
		panic(err)
	}
	fmt.Println(recorder.Session().Interactions[0].ResponseContent)
	// Output: {"content":"4","finish_reason":"stop"}
}

func ExampleRequestCore() {
	core, err := session.RequestCore(&modelio.GenerateRequest{
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}},
		Config:   modelio.Object{"temperature": json.RawMessage("0.0")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(core))
	// Output: {"config":{"temperature":0},"messages":[{"content":[{"text":"hi"}],"role":"user"}]}
}

func ExampleResponseCore() {
	core, err := session.ResponseCore(&modelio.GenerateRequest{}, &modelio.GenerateResponse{
		Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{
			{ToolRequest: &modelio.ToolRequest{Name: "weather", Ref: "toolu_01A9x", Input: json.RawMessage(`{"city": "Seattle"}`)}},
		}},
		FinishReason: modelio.FinishStop,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(core))
	// Output: {"content":"","finish_reason":"stop","tool_calls":[{"input":{"city":"Seattle"},"name":"weather","ref":"call_1"}]}
}

func ExampleSession_CheckLimits() {
	s := session.New("adapter", "model")
	s.Append("prompt", strings.Repeat("x", session.MaxResponseBytes+1))
	err := s.CheckLimits()
	fmt.Println(errors.Is(err, session.ErrLimit))
	fmt.Println(err)
	// Output:
	// true
	// $.interactions[0].response_content: MI11: response_content size (1000001 bytes) exceeds limit (1000000)
}

func ExampleSession_Summarize() {
	s := session.New("adapter", "model")
	s.Append("prompt", "response")
	latency := int64(1500)
	s.Interactions[0].LatencyMS = &latency
	began := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s.Summarize(began, began.Add(1500*time.Millisecond))
	fmt.Println(s.CreatedAt, s.EndedAt, s.Stats.TotalLatencyMS)
	// Output: 2026-01-05T12:00:00.000Z 2026-01-05T12:00:01.500Z 1500
}

// A played is a replayed test's calls, like those of a *traceforgetest.Recorder.
type played []snapshot.Snapshot

func (p played) Snapshots() ([]snapshot.Snapshot, bool) { return p, true }

// In a test, the test's recorder is the recording: session.Of(tf, "openai", "gpt-4o").
func ExampleOf() {
	tf := played{{Provider: "openai", Request: modelio.Request{
		API: "openai.chat", Model: "gpt-4o",
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}},
	}}}
	s, err := session.Of(tf, "openai", "gpt-4o")
	fmt.Println(s.Mode, len(s.Interactions), err)
	// Output: replay 1 <nil>
}

// Records of several models can be a session too.
func ExampleOfRecords() {
	s, err := session.OfRecords("traceforge", "gpt-4o", []snapshot.Snapshot{{Request: modelio.Request{API: "openai.chat", Model: "gpt-4o"}}})
	fmt.Println(s.Mode, len(s.Interactions), err)
	// Output: record 1 <nil>
}
