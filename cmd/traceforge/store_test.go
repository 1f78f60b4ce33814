package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A recording is a call that tests keep in a store.
type recording struct {
	provider string
	body     string // of the answer
	snapshot snapshot.Snapshot
}

// recorded returns the recordings that scripts and goldens name.
func recorded() map[string]recording {
	return map[string]recording{
		"plain":   plain("example.com/agents", "TestPlain"),
		"other":   plain("example.com/agents/other", "TestPlain"),
		"subtest": plain("example.com/agents", "TestPlain/in_French"),
		"turn1":   turn1(),
		"turn2":   turn2(),
		"stream":  stream(),
		"error":   failure(),
		"media":   media(),
		"prompt":  completion(),
		"choices": choices(),
		"hostile": hostile(),
	}
}

func call(test string, n int) snapshot.Snapshot {
	return callOf("example.com/agents", test, n)
}

func callOf(pkg, test string, n int) snapshot.Snapshot {
	return snapshot.Snapshot{
		ID:        snapshot.ID(pkg, test, n),
		Timestamp: time.Date(2026, 1, 9, 10, 30, n, 0, time.UTC),
		Source:    snapshot.Source{File: "agents/summarizer.go", Line: 12, Function: "Summarize", Package: pkg, Test: test, Ordinal: n},
		Request:   snapshot.Request{API: "openai.chat", Model: "gpt-4o-mini"},
		Response:  snapshot.Response{FinishReason: "stop", LatencyMS: 450, Status: 200, Model: "gpt-4o-mini-2024-07-18"},
	}
}

func number(text string) *snapshot.Number {
	n := snapshot.Number(text)
	return &n
}

func tokenCount(n int64) *int64 { return &n }

// content is a message's content: a string, or parts.
func content(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and raw messages
	}
	return text
}

func said(role, text string) snapshot.Message {
	return snapshot.Message{Role: role, Content: content(text)}
}

func plain(pkg, test string) recording {
	s := callOf(pkg, test, 1)
	s.Request.Messages = []snapshot.Message{
		said("system", "You are a precise summarization assistant."),
		said("user", "Summarize: AI is transforming software development"),
	}
	s.Request.Temperature, s.Request.MaxTokens, s.Request.Seed = number("0"), number("100"), number("42")
	s.Request.Stop = []string{"\n\n", "END"}
	s.Response.Content = "AI is revolutionizing software development through automation."
	s.Response.TokensUsed = tokenCount(42)
	s.Response.Usage = &snapshot.Usage{Input: tokenCount(30), Output: tokenCount(12), Total: tokenCount(42)}
	return recording{"openai", `{"id":"chatcmpl-1"}`, s}
}

var weatherTool = json.RawMessage(`{"name":"get_weather","description":"Returns the current weather of a city, in metric units unless told otherwise; it knows nothing of the day after.","inputSchema":{"type":"object","properties":{"city":{"type":"string"},"units":{"type":"string"}},"required":["city"]}}`)

func turn1() recording {
	s := call("TestAgent", 1)
	s.Request.Messages = []snapshot.Message{said("user", "What is the weather in Paris and in Rome?")}
	s.Request.Tools = []json.RawMessage{weatherTool}
	s.Request.ProviderOptions = map[string]json.RawMessage{
		"tool_choice":     json.RawMessage(`"auto"`),
		"response_format": json.RawMessage(`{"type":"json_schema","json_schema":{"name":"forecast","schema":{"type":"object","properties":{"text":{"type":"string"}}}}}`),
	}
	s.Response.ToolCalls = []snapshot.ToolCall{
		{Ref: "call_1", Name: "get_weather", Input: json.RawMessage(`{"city":"Paris"}`)},
		{Ref: "call_2", Name: "get_weather", Input: json.RawMessage(`{"city":"Rome"}`)},
	}
	s.Response.FinishReasonRaw = "tool_calls"
	return recording{"openai", `{"id":"chatcmpl-2"}`, s}
}

func turn2() recording {
	s := call("TestAgent", 2)
	s.Request.Messages = []snapshot.Message{
		said("user", "What is the weather in Paris and in Rome?"),
		{Role: "model", Content: json.RawMessage(`[{"toolRequest":{"name":"get_weather","ref":"call_1","input":{"city":"Paris"}}},{"toolRequest":{"name":"get_weather","ref":"call_2","input":{"city":"Rome"}}}]`)},
		{Role: "tool", Content: json.RawMessage(`[{"toolResponse":{"name":"get_weather","ref":"call_1","output":"sunny, 21 degrees"}}]`)},
		{Role: "tool", Content: json.RawMessage(`[{"toolResponse":{"name":"get_weather","ref":"call_2","output":{"sky":"cloudy","degrees":24,"wind":{"from":"north","speed":12.5},"humidity":0.61,"source":"station 7"}}}]`)},
	}
	s.Request.Tools = []json.RawMessage{weatherTool}
	s.Response.Content = "It is sunny in Paris and cloudy in Rome."
	return recording{"openai", `{"id":"chatcmpl-3"}`, s}
}

func stream() recording {
	s := call("TestStream", 1)
	s.Source.Nondeterministic = "the API has no seed"
	s.Source.Ignored = []string{"/messages/0/content"}
	s.Request.API, s.Request.Model = "anthropic.messages", "claude-sonnet-4-5"
	s.Request.Messages = []snapshot.Message{said("user", "Count to a hundred.")}
	s.Request.ProviderOptions = map[string]json.RawMessage{"stream": json.RawMessage("true")}
	s.Response.Model = "claude-sonnet-4-5"
	s.Response.Content = "1, 2, 3"
	s.Response.Parts = []json.RawMessage{
		json.RawMessage(`{"reasoning":"The user wants numbers.","metadata":{"signature":"EqQBCkYIARgCIkDa7Q1rB8iWc0mQz4h9mXfV7oJk2sT5uY6pL3nE8wR1aK9dG4bC0vF2xH7jM6tN"}}`),
		json.RawMessage(`{"text":"1, 2, 3"}`),
	}
	s.Response.FinishReason = "other"
	s.Response.Incomplete = "aborted"
	return recording{"anthropic", "event: message_start\n\n", s}
}

func failure() recording {
	s := call("TestError", 1)
	s.Request.Messages = []snapshot.Message{said("user", "Hello")}
	s.Request.Temperature = number("7")
	s.Response.Status, s.Response.Model, s.Response.FinishReason = 400, "", "other"
	s.Response.Error = &snapshot.ProviderError{
		Status: 400, Type: "invalid_request_error", Code: "decimal_above_max_value",
		Message: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 7 instead.",
	}
	return recording{"openai", `{"error":{}}`, s}
}

func media() recording {
	s := call("TestMedia", 1)
	s.Request.Messages = []snapshot.Message{{Role: "user", Content: json.RawMessage(`[
		{"text":"What is in these?"},
		{"media":{"contentType":"image/png","url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}},
		{"media":{"url":"https://example.com/cat.jpg"}},
		{"media":{"url":"data:text/plain,a%20note"}},
		{"custom":{"kind":"cache point"}}]`)}}
	s.Response.Content = "A dot, a cat and a note."
	return recording{"openai", `{"id":"chatcmpl-4"}`, s}
}

func completion() recording {
	s := call("TestCompletion", 1)
	prompt := "Once upon a time"
	s.Request.Prompt = &prompt
	s.Response.Content = "there was a golden snapshot.\n\n    It was indented,\n\tand had a tab."
	s.Response.FinishReason, s.Response.FinishReasonRaw = "length", "max_tokens"
	return recording{"openai", `{"id":"cmpl-1"}`, s}
}

func choices() recording {
	s := call("TestChoices", 1)
	s.Request.Messages = []snapshot.Message{said("user", "Heads or tails?")}
	s.Response.Content = "Heads."
	s.Response.Candidates = []snapshot.Candidate{{Content: "Tails.", FinishReason: "stop"}}
	return recording{"openai", `{"id":"chatcmpl-5"}`, s}
}

// hostile has what drives terminals or hides text, wherever a provider or a caller may put it.
func hostile() recording {
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnirts\u200b\U000e0041\r"
	s := call("TestHostile", 1)
	s.Source.Nondeterministic = "why" + evil
	s.Request.Model = "model" + evil
	s.Request.Messages = []snapshot.Message{said("user", "text"+evil+"\nnext line"), {
		Role:     "model",
		Metadata: content(map[string]string{"name": evil}),
		Content: content([]map[string]any{
			{"reasoning": evil},
			{"media": map[string]string{"contentType": evil, "url": evil}},
			{"toolRequest": map[string]string{"name": "name" + evil, "ref": evil, "input": evil}},
			{"toolResponse": map[string]string{"name": "name" + evil, "ref": evil, "output": evil}},
			{"custom": map[string]string{evil: evil}},
		}),
	}}
	s.Request.Stop = []string{evil}
	s.Request.Tools = []json.RawMessage{content(map[string]any{"name": evil, "description": evil, "inputSchema": map[string]any{"properties": map[string]any{evil: true}}})}
	s.Request.ProviderOptions = map[string]json.RawMessage{"option" + evil: content(evil)}
	s.Response.Model = evil
	s.Response.Content = "answer" + evil
	s.Response.ToolCalls = []snapshot.ToolCall{{Ref: "call_1", Name: "name" + evil, Input: content(evil)}}
	s.Response.FinishReasonRaw = evil
	s.Response.Error = &snapshot.ProviderError{Type: evil, Code: evil, Message: evil}
	return recording{"openai", evil, s}
}

// runRecord is the command that scripts make stores with: record DIR NAME…
func runRecord() {
	if err := makeStore(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// makeStore records the named calls in a store.
func makeStore(dir string, names []string) error {
	store, err := snapshot.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	var change snapshot.Change
	for _, name := range names {
		r, ok := recorded()[name]
		if !ok {
			return fmt.Errorf("no recording is called %q", name)
		}
		r.snapshot.Response.RawOutputRef = canon.Sum([]byte(r.body))
		change.Put = append(change.Put, snapshot.Record{Provider: r.provider, Snapshot: &r.snapshot})
		change.Blobs = append(change.Blobs, []byte(r.body))
	}
	return store.Commit(change)
}
