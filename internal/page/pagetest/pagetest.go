// Package pagetest holds recorded calls for tests.
package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Recording is a call that tests keep in a store.
type Recording struct {
	Provider string
	Body     string // of the answer
	Snapshot snapshot.Snapshot
}

// Recordings returns the recordings that scripts and goldens name.
func Recordings() map[string]Recording {
	return map[string]Recording{
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
		"hostile": Hostile(),
		"forged":  forged(),
		"warm":    warm(),
		"bought":  bought(1, "Summarize in French: AI is transforming software development", "L'IA transforme le logiciel."),
		"another": bought(2, "And in a word?", "Transforming."),
	}
}

// Document returns the named calls, which are of one test, as its document.
func Document(names ...string) *snapshot.Document {
	doc := &snapshot.Document{Version: snapshot.Version}
	for _, name := range names {
		r := Recordings()[name]
		r.Snapshot.Response.RawOutputRef = canon.Sum([]byte(r.Body))
		doc.Snapshots = append(doc.Snapshots, r.Snapshot)
	}
	return doc
}

// MakeStore records the named calls in a store: those of one test in their order.
func MakeStore(dir string, names ...string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	var c store.Change
	at := map[string]int{} // by document
	for _, name := range names {
		r, ok := Recordings()[name]
		if !ok {
			return fmt.Errorf("no recording is called %q", name)
		}
		document, _, _ := snapshot.ParseID(r.Snapshot.ID)
		i, ok := at[document]
		if !ok {
			i = len(c.Put)
			at[document] = i
			doc := &snapshot.Document{Version: snapshot.Version}
			c.Put = append(c.Put,
				store.Put{Provider: r.Provider, Name: document, Document: doc, Beside: map[canon.Hash][]byte{}})
		}
		r.Snapshot.Response.RawOutputRef = canon.Sum([]byte(r.Body))
		c.Put[i].Document.Snapshots = append(c.Put[i].Document.Snapshots, r.Snapshot)
		c.Put[i].Beside[r.Snapshot.Response.RawOutputRef] = []byte(r.Body)
	}
	return s.Commit(c)
}

func call(test string, n int) snapshot.Snapshot { return callOf("example.com/agents", test, n) }

func callOf(pkg, test string, n int) snapshot.Snapshot {
	s := snapshot.Snapshot{
		ID:        snapshot.ID(snapshot.DocumentName(pkg, test), n),
		Timestamp: time.Date(2026, 1, 9, 10, 30, n, 0, time.UTC),
		Source:    snapshot.Source{File: "agents/summarizer.go", Line: 12, Function: "Summarize", Package: pkg, Test: test},
		Request:   modelio.Request{API: "openai.chat", Model: "gpt-4o-mini"},
	}
	s.Response = snapshot.Response{
		LatencyMS: 450, Status: 200, Headers: map[string][]string{"content-type": {"application/json"}},
	}
	s.Response.Complete, s.Response.Model = true, "gpt-4o-mini-2024-07-18"
	return s
}

func number(text string) *json.Number {
	n := json.Number(text)
	return &n
}

func count(n int64) *int64 { return &n }

// Said is a message of one text.
func Said(role modelio.Role, text string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
}

func answered(s *snapshot.Snapshot, reason modelio.FinishReason, raw string, parts ...modelio.Part) {
	message := modelio.Message{Role: modelio.RoleModel, Content: parts}
	candidate := modelio.Candidate{Message: message, FinishReason: reason, FinishReasonRaw: raw}
	s.Response.Candidates = append(s.Response.Candidates, candidate)
}

// completionOf returns the chat completion that a response was read from.
func completionOf(s *snapshot.Snapshot) string {
	var choices []any
	for i, c := range s.Response.Candidates {
		message := map[string]any{"role": "assistant"}
		var calls []any
		for _, p := range c.Message.Content {
			if p.Text != nil {
				message["content"] = *p.Text
			}
			if call := p.ToolRequest; call != nil {
				function := map[string]any{"name": call.Name, "arguments": string(call.Input)}
				calls = append(calls, map[string]any{"id": call.Ref, "type": "function", "function": function})
				message["tool_calls"] = calls
			}
		}
		choices = append(choices, map[string]any{"index": i, "message": message, "finish_reason": c.FinishReasonRaw})
	}
	body := map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "model": s.Response.Model, "choices": choices}
	if u := s.Response.Usage; u != nil {
		body["usage"] = map[string]any{
			"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.TotalTokens,
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // texts and numbers can be written
	}
	return string(text)
}

func plain(pkg, test string) Recording {
	s := callOf(pkg, test, 1)
	s.Request.Messages = []modelio.Message{
		Said("system", "You are a precise summarization assistant."),
		Said("user", "Summarize: AI is transforming software development"),
	}
	s.Request.Temperature, s.Request.MaxTokens, s.Request.Seed = number("0"), number("100"), number("42")
	s.Request.Stop = []string{"\n\n", "END"}
	answered(&s, "stop", "stop", modelio.TextPart("AI is revolutionizing software development through automation."))
	s.Response.TokensUsed = count(42)
	s.Response.Usage = &modelio.Usage{InputTokens: count(30), OutputTokens: count(12), TotalTokens: count(42)}
	return Recording{"openai", completionOf(&s), s}
}

// forged serves another answer than a reader sees.
func forged() Recording {
	r := plain("example.com/agents", "TestForged")
	r.Body = strings.Replace(r.Body, "automation", "layoffs", 1)
	return r
}

// bought is what a test that failed bought an hour after the call of "plain".
func bought(n int, asked, said string) Recording {
	r := plain("example.com/agents", "TestPlain")
	s := &r.Snapshot
	s.ID, s.Timestamp = snapshot.ID(snapshot.DocumentName("example.com/agents", "TestPlain"), n),
		s.Timestamp.Add(time.Hour)
	s.Request.Messages = append(s.Request.Messages[:1:1], Said("user", asked))
	s.Response.Candidates = nil
	answered(s, modelio.FinishStop, "stop", modelio.TextPart(said))
	r.Body = completionOf(s)
	return r
}

// warm has a temperature, and no reason for it.
func warm() Recording {
	r := plain("example.com/agents", "TestWarm")
	r.Snapshot.Request.Temperature = number("0.7")
	return r
}

var weatherTool = modelio.ToolDefinition{
	Name:        "get_weather",
	Description: "Returns the current weather of a city, in metric units unless told otherwise; it knows nothing of the day after.",
	InputSchema: json.RawMessage(
		`{"properties":{"city":{"type":"string"},"units":{"type":"string"}},"required":["city"],"type":"object"}`),
}

func toolCall(ref, input string) modelio.Part {
	return modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "get_weather", Ref: ref, Input: json.RawMessage(input)}}
}

func toolResult(ref, output string) modelio.Message {
	result := &modelio.ToolResponse{Name: "get_weather", Ref: ref, Output: json.RawMessage(output)}
	return modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: result}}}
}

func turn1() Recording {
	s := call("TestAgent", 1)
	deterministic(&s)
	s.Request.Messages = []modelio.Message{Said("user", "What is the weather in Paris and in Rome?")}
	s.Request.Tools = []modelio.ToolDefinition{weatherTool}
	s.Request.Options = weatherOptions()
	answered(&s, "stop", "tool_calls", toolCall("call_1", `{"city":"Paris"}`), toolCall("call_2", `{"city":"Rome"}`))
	return Recording{"openai", completionOf(&s), s}
}

func deterministic(s *snapshot.Snapshot) {
	s.Request.Temperature, s.Request.Seed = number("0"), number("42")
}

func weatherOptions() modelio.Object {
	return modelio.Object{
		"tool_choice":     json.RawMessage(`"auto"`),
		"response_format": json.RawMessage(`{"json_schema":{"name":"forecast","schema":{"properties":{"text":{"type":"string"}},"type":"object"}},"type":"json_schema"}`),
	}
}

func turn2() Recording {
	s := call("TestAgent", 2)
	deterministic(&s)
	s.Request.Messages = []modelio.Message{
		Said("user", "What is the weather in Paris and in Rome?"),
		{Role: "model",
			Content: []modelio.Part{toolCall("call_1", `{"city":"Paris"}`), toolCall("call_2", `{"city":"Rome"}`)}},
		toolResult("call_1", `"sunny, 21 degrees"`),
		toolResult("call_2",
			`{"degrees":24,"humidity":0.61,"sky":"cloudy","source":"station 7","wind":{"from":"north","speed":12.5}}`),
	}
	s.Request.Tools = []modelio.ToolDefinition{weatherTool}
	s.Request.Options = weatherOptions()
	answered(&s, "stop", "stop", modelio.TextPart("It is sunny in Paris and cloudy in Rome."))
	return Recording{"openai", completionOf(&s), s}
}

func stream() Recording {
	s := call("TestStream", 1)
	s.Source.Nondeterministic = "the API has no seed"
	s.Source.Ignored = []string{"/messages/0/content"}
	s.Request.API, s.Request.Model = "anthropic.messages", "claude-sonnet-4-5"
	s.Request.Messages = []modelio.Message{Said("user", "Count to a hundred.")}
	s.Request.Options = modelio.Object{"stream": json.RawMessage("true")}
	s.Response.Model = "claude-sonnet-4-5"
	s.Response.Headers = map[string][]string{"content-type": {"text/event-stream"}}
	reasoning := modelio.ReasoningPart("The user wants numbers.")
	signature := `"EqQBCkYIARgCIkDa7Q1rB8iWc0mQz4h9mXfV7oJk2sT5uY6pL3nE8wR1aK9dG4bC0vF2xH7jM6tN"`
	reasoning.Metadata = modelio.Object{"signature": json.RawMessage(signature)}
	answered(&s, "other", "", reasoning, modelio.TextPart("1, 2, 3"))
	s.Response.Incomplete, s.Response.Complete = "aborted", false
	event := func(kind, rest string) string {
		return fmt.Sprintf("event: %[1]s\ndata: {\"type\":%[1]q,%[2]s}\n\n", kind, rest)
	}
	body := event("message_start",
		`"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[]}`) +
		event("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":""}`) +
		event("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":"The user wants numbers."}`) +
		event("content_block_delta", `"index":0,"delta":{"type":"signature_delta","signature":`+signature+`}`) +
		event("content_block_stop", `"index":0`) +
		event("content_block_start", `"index":1,"content_block":{"type":"text","text":""}`) +
		event("content_block_delta", `"index":1,"delta":{"type":"text_delta","text":"1, 2, 3"}`)
	return Recording{"anthropic", body, s}
}

func failure() Recording {
	s := call("TestError", 1)
	s.Source.Nondeterministic = "it is refused"
	s.Request.Messages = []modelio.Message{Said("user", "Hello")}
	s.Request.Temperature = number("2")
	s.Response.Status, s.Response.Model = 400, ""
	s.Response.Error = &modelio.ProviderError{
		Status: 400, Type: "invalid_request_error", Code: "decimal_above_max_value", Param: "temperature",
		Message: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 7 instead.",
	}
	e := s.Response.Error
	body := fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q,"param":%q}}`, e.Message, e.Type, e.Code, e.Param)
	return Recording{"openai", body, s}
}

func media() Recording {
	s := call("TestMedia", 1)
	deterministic(&s)
	s.Request.Messages = []modelio.Message{{Role: "user", Content: []modelio.Part{
		modelio.TextPart("What is in these?"),
		modelio.MediaPart("image/png", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"),
		modelio.MediaPart("", "https://example.com/cat.jpg"),
		modelio.MediaPart("", "data:text/plain,a%20note"),
		{Custom: modelio.Object{"kind": json.RawMessage(`"cache point"`)}},
	}}}
	answered(&s, "stop", "stop", modelio.TextPart("A dot, a cat and a note."))
	return Recording{"openai", completionOf(&s), s}
}

func completion() Recording {
	s := call("TestCompletion", 1)
	deterministic(&s)
	prompt := "Once upon a time"
	s.Request.Prompt = &prompt
	answered(&s, "length", "max_tokens",
		modelio.TextPart("there was a golden snapshot.\n\n    It was indented,\n\tand had a tab."))
	return Recording{"openai", completionOf(&s), s}
}

func choices() Recording {
	s := call("TestChoices", 1)
	deterministic(&s)
	s.Request.Messages = []modelio.Message{Said("user", "Heads or tails?")}
	answered(&s, "stop", "stop", modelio.TextPart("Heads."))
	answered(&s, "stop", "stop", modelio.TextPart("Tails."))
	return Recording{"openai", completionOf(&s), s}
}

// Hostile has what drives terminals or hides text, wherever a provider or a caller may put it.
func Hostile() Recording {
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202egnirts\u200b\U000e0041\r ::stop-commands::x ##[add-mask]y\n\t::error::z"
	text := func(v any) json.RawMessage {
		data, err := canon.Marshal(v)
		if err != nil {
			panic(err) // strings have a canonical form
		}
		return data
	}
	s := call("TestHostile", 1)
	s.Source.Nondeterministic = "why" + evil
	s.Request.Model = "model" + evil
	s.Request.Messages = []modelio.Message{Said("user", "text"+evil+"\nnext line"), {
		Role:     "model",
		Metadata: modelio.Object{"name": text(evil)},
		Content: []modelio.Part{
			modelio.ReasoningPart(evil),
			modelio.MediaPart(evil, evil),
			{ToolRequest: &modelio.ToolRequest{Name: "name" + evil, Ref: evil, Input: text(evil)}},
			{ToolResponse: &modelio.ToolResponse{Name: "name" + evil, Ref: evil, Output: text(evil)}},
			{Custom: modelio.Object{evil: text(evil)}},
		},
	}}
	s.Request.Stop = []string{evil}
	s.Request.Tools = []modelio.ToolDefinition{{
		Name: evil, Description: evil, InputSchema: text(map[string]any{"properties": map[string]any{evil: true}}),
	}}
	s.Request.Options = modelio.Object{"option" + evil: text(evil)}
	s.Response.Model = evil
	call := modelio.Part{ToolRequest: &modelio.ToolRequest{Ref: "call_1", Name: "name" + evil, Input: text(evil)}}
	answered(&s, "stop", evil, modelio.TextPart("answer"+evil), call)
	s.Response.Error = &modelio.ProviderError{Type: evil, Code: evil, Message: evil}
	return Recording{"openai", evil, s}
}
