package cassette_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// TRACEFORGE_UPDATE=1 go test takes the answer of the cassette into the store. Then the cassette can go.
func ExampleOpen() {
	file := filepath.Join(t.TempDir(), "chat.yaml") // in a test of yours: one that go-vcr recorded, such as testdata/chat.yaml
	if err := os.WriteFile(file, []byte(`---
version: 2
interactions:
- request:
    body: '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}'
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: '{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}'
    headers: {Content-Type: [application/json]}
    code: 200
`), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := cassette.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	tf := traceforgetest.New(t, traceforgetest.Upstream(old))
	resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
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

// The prompt has changed since the cassette was recorded: the test keeps the old answer, and its record says so.
func ExampleNearest() {
	file := filepath.Join(t.TempDir(), "chat.yaml") // in a test of yours: one that go-vcr recorded, such as testdata/chat.yaml
	if err := os.WriteFile(file, []byte(`---
version: 2
interactions:
- request:
    body: '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}'
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: '{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}'
    headers: {Content-Type: [application/json]}
    code: 200
`), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := cassette.Open(file, cassette.Nearest())
	if err != nil {
		t.Fatal(err)
	}
	tf := traceforgetest.New(t, traceforgetest.Upstream(old))
	resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o","messages":[{"role":"user","content":"Hi there"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleAnd() {
	file := func(agent string) string { // in a test of yours: two that are there, such as testdata/planner.yaml
		file := filepath.Join(t.TempDir(), agent+".yaml")
		if err := os.WriteFile(file, []byte(`---
version: 2
interactions:
- request:
    body: '{"model":"gpt-4o","messages":[{"role":"user","content":"I am `+agent+`"}]}'
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: '{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello `+agent+`"}}]}'
    headers: {Content-Type: [application/json]}
    code: 200
`), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	old, err := cassette.Open(file("planner"), cassette.And(file("writer")))
	if err != nil {
		t.Fatal(err)
	}
	tf := traceforgetest.New(t, traceforgetest.Upstream(old))
	for _, agent := range []string{"writer", "planner"} {
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o","messages":[{"role":"user","content":"I am `+agent+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(answer), "Hello "+agent) {
			t.Errorf("%s, %v", answer, err)
		}
	}
}
