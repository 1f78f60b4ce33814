package script_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// An agent of two turns, without a key and without a network: the model asks for a tool, and answers with its result. An
// SDK takes the client where this one posts.
func ExampleNew() {
	answers := script.New(
		script.Call("get_weather", `{"city": "Paris"}`),
		script.Say("It is 21 degrees in Paris."),
	).Check(t)
	ask := func(messages string) string {
		resp, err := answers.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o","messages":[`+messages+`],"tools":[{"type":"function","function":{"name":"get_weather"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	const asked = `{"role":"user","content":"How is the weather in Paris?"}`
	if turn := ask(asked); !strings.Contains(turn, "get_weather") {
		t.Errorf("the model asks for no tool: %s", turn)
	}
	const called = `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{}"}}]}`
	const result = `{"role":"tool","tool_call_id":"call_1","content":"21 degrees"}`
	if turn := ask(asked + "," + called + "," + result); !strings.Contains(turn, "21 degrees in Paris") {
		t.Errorf("the model says %s", turn)
	}
	if requests := answers.Requests(); len(requests) != 2 || len(requests[1].Messages) != 3 {
		t.Errorf("the model was asked %d times", len(requests))
	}
}

// A stream that pauses between its pieces, one that ends in its middle, and one that reached the limit of its tokens.
func ExampleStep_Cut() {
	answers := script.New(
		script.Say("It is ", "21 degrees.").Pause(time.Millisecond),
		script.Say("It is ", "21 degrees.").Cut(1),
		script.Say("It is").Finish(modelio.FinishLength),
	)
	for _, want := range []error{nil, io.ErrUnexpectedEOF, nil} {
		resp, err := answers.Client().Post("http://localhost:11434/api/chat", "application/json", strings.NewReader(
			`{"model":"qwen3","messages":[{"role":"user","content":"How is the weather?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if !errors.Is(err, want) {
			t.Errorf("the stream ends with %v, want %v", err, want)
		}
	}
	if err := answers.Unused(); err != nil { // which Check does by itself
		t.Error(err)
	}
}

// A text in two pieces, as a stream has them, and the tokens that it took.
func ExampleSay() {
	answers := script.New(script.Say("It is ", "21 degrees.").Usage(12, 5)).Check(t)
	resp, err := answers.Client().Post("http://localhost:11434/api/chat", "application/json", strings.NewReader(
		`{"model":"qwen3","messages":[{"role":"user","content":"How is the weather?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || strings.Count(string(answer), "\n") != 3 {
		t.Errorf("%s, %v", answer, err)
	}
}

// Reasoning goes before the text, as far as the API shows it.
func ExampleThink() {
	answers := script.New(script.Think("They ask for Paris.").Say("21 degrees")).Check(t)
	resp, err := answers.Client().Post("http://localhost:11434/api/chat", "application/json", strings.NewReader(
		`{"model":"qwen3","messages":[{"role":"user","content":"How is the weather?"}],"stream":false}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), `"thinking":"They ask for Paris."`) {
		t.Errorf("%s, %v", answer, err)
	}
}

// Two calls of one turn.
func ExampleCall() {
	answers := script.New(
		script.Call("get_weather", `{"city": "Paris"}`).Call("get_weather", `{"city": "Rome"}`),
	).Check(t)
	resp, err := answers.Client().Post("http://localhost:11434/api/chat", "application/json", strings.NewReader(
		`{"model":"qwen3","messages":[{"role":"user","content":"Where is it warmer?"}],"stream":false,
		"tools":[{"type":"function","function":{"name":"get_weather"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || strings.Count(string(answer), "get_weather") != 2 {
		t.Errorf("%s, %v", answer, err)
	}
}

// The model declines.
func ExampleRefuse() {
	answers := script.New(script.Refuse("I cannot help with that.")).Check(t)
	resp, err := answers.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o","messages":[{"role":"user","content":"How do I pick a lock?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), `"refusal": "I cannot help with that."`) {
		t.Errorf("%s, %v", answer, err)
	}
}

// The provider has enough for now, and its next answer is a text.
func ExampleFail() {
	answers := script.New(script.Fail(429, "slow down").RetryAfter(time.Second), script.Say("Hello")).Check(t)
	for _, want := range []int{429, 200} {
		resp, err := answers.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("status %d, Retry-After %s", resp.StatusCode, resp.Header.Get("Retry-After"))
		}
	}
}

// Each request for embeddings gets vectors that depend on nothing but its texts.
func ExampleEmbed() {
	answers := script.New(script.Embed().When(script.Contains(""))).Check(t)
	resp, err := answers.Client().Post("https://api.openai.com/v1/embeddings", "application/json", strings.NewReader(
		`{"model":"text-embedding-3-small","input":["Paris","Rome"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || strings.Count(string(answer), `"embedding":`) != 2 {
		t.Errorf("%s, %v", answer, err)
	}
}

// Answers by what is asked, in any order and number.
func ExampleContains() {
	answers := script.New(
		script.Say("21 degrees").When(script.Contains("weather")),
		script.Say("I cannot say.").When(func(*modelio.Request) bool { return true }),
	).Check(t)
	for question, want := range map[string]string{"How is the weather?": "21 degrees", "Who wins?": "I cannot say."} {
		resp, err := answers.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o","messages":[{"role":"user","content":"`+question+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s, %v", answer, err)
		}
	}
}

// A program that takes a base URL asks a server.
func ExampleScript_ServeHTTP() {
	server := httptest.NewServer(script.New(script.Say("Hello")).Check(t))
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

// A script is a model.
func ExampleScript_Generate() {
	model := script.New(script.Say("Hello")).Check(t)
	resp, err := model.Generate(context.Background(), &modelio.GenerateRequest{Messages: []modelio.Message{
		{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Hi")}},
	}}, nil)
	if err != nil || *resp.Message.Content[0].Text != "Hello" {
		t.Errorf("%+v, %v", resp, err)
	}
}

// With a recorder the answers become snapshots, which TRACEFORGE_UPDATE=1 go test writes. Once the script goes, the next
// update buys what it stood for.
func ExampleNew_recorder() {
	answers := script.New(script.Say("It is 21 degrees."))
	tf := traceforgetest.New(t, traceforgetest.Upstream(answers))
	resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o","messages":[{"role":"user","content":"How is the weather?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "21 degrees") {
		t.Errorf("%s, %v", answer, err)
	}
}

// Fixtures of aimock answer as aimock does.
func ExampleOpen() {
	file := filepath.Join(t.TempDir(), "fixtures.json") // in a test of yours: testdata/fixtures.json
	if err := os.WriteFile(file, []byte(
		`{"fixtures": [{"match": {"userMessage": "weather"}, "response": {"content": "21 degrees"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	answers, err := script.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := answers.Check(t).Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o","messages":[{"role":"user","content":"How is the weather?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "21 degrees") {
		t.Errorf("%s, %v", answer, err)
	}
}
