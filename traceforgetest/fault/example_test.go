package fault_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/fault"
)

func ExampleCutAfter() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.CutAfter(1))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if injected && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%s, %v", text, err)
	}
}

func ExampleEndAfter() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.EndAfter(1))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if injected && (err != nil || strings.Count(string(text), "data:") != 1) {
		t.Errorf("%s, %v", text, err)
	}
}

func ExampleDrop() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Drop(1))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if injected && (err != nil || strings.Count(string(text), "data:") != 2) {
		t.Errorf("%s, %v", text, err)
	}
}

func ExampleRepeat() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Repeat(2))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if injected && (err != nil || strings.Count(string(text), "data:") != 4) {
		t.Errorf("%s, %v", text, err)
	}
}

func ExampleSplit() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Split())
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	split := false
	for piece := make([]byte, 4096); err == nil; {
		var n int
		n, err = resp.Body.Read(piece)
		split = split || !utf8.Valid(piece[:n])
	}
	if split != injected || err != io.EOF {
		t.Error(split, err)
	}
}

func ExampleStatus() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Status(529, 0))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil || injected && resp.StatusCode != 529 {
		t.Error(resp.Status, err)
	}
}

func ExampleDisconnect() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Disconnect(os.ErrDeadlineExceeded))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if injected {
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

// In a bubble of testing/synctest a delay of an hour takes no time.
func ExampleDelay() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	tf.Fault(1, fault.Delay(time.Millisecond))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleStall() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Stall(1, time.Millisecond))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if injected && (err != nil || strings.Count(string(text), "data:") != 3) {
		t.Errorf("%s, %v", text, err)
	}
}
