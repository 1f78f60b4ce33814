package traceforgetest_test

import (
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleDir() {
	tf := traceforgetest.New(t, traceforgetest.Dir("testdata/goldens"))
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
}

// Live calls go through a transport that trusts the certificate of a gateway.
func ExampleUpstream() {
	gateway := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer gateway.Close()

	tf := traceforgetest.New(t, traceforgetest.Upstream(gateway.Client().Transport))
	resp, err := tf.Client().Post(gateway.URL+"/v1/chat/completions", "application/json", strings.NewReader(
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

func ExampleAllow_cutStreams() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello, wor"}}]}`+"\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Allow(traceforgetest.CutStreams))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleAllow_transportErrors() {
	down := httptest.NewServer(nil)
	down.Close()

	tf := traceforgetest.New(t, traceforgetest.Allow(traceforgetest.TransportErrors))
	_, err := tf.Client().Post(down.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

func ExampleAllow_retryableErrors() {
	tries := 0
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if tries++; tries == 1 {
			http.Error(w, `{"error":{"message":"later"}}`, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Allow(traceforgetest.RetryableErrors))
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Error(resp.Status, err)
		}
	}
}

func ExampleAllow_noCalls() {
	tf := traceforgetest.New(t, traceforgetest.Allow(traceforgetest.NoCalls))
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	if question := ""; question != "" { // there is nothing to ask
		now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
		if err != nil || string(now) != `"12:00"` {
			t.Errorf("%s, %v", now, err)
		}
	}
}

// A page that a program reads is recorded beside the calls of its model. Hosts are named without a port.
func ExampleRecord() {
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Hello</h1>")
	}))
	defer docs.Close()

	tf := traceforgetest.New(t, traceforgetest.Record("127.0.0.1"))
	resp, err := tf.Client().Get(docs.URL + "/go?page=2")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleKeepHeaders() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Cost", "12")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.KeepHeaders("X-Cost"))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if cost := resp.Header.Get("X-Cost"); cost != "12" {
		t.Error(cost)
	}
}

func ExamplePassThrough() {
	telemetry := httptest.NewServer(http.NotFoundHandler())
	defer telemetry.Close()

	tf := traceforgetest.New(t, traceforgetest.PassThrough("127.0.0.1"))
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
	resp, err := tf.Client().Post(telemetry.URL+"/ping", "text/plain", strings.NewReader("used the clock"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // a replay sends no ping: its status is 400
}

func ExampleContentEncoding() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "raw-deflate")
		packed, _ := flate.NewWriter(w, flate.BestSpeed)
		fmt.Fprint(packed, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
		packed.Close()
	}))
	defer provider.Close()

	decode := func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }
	tf := traceforgetest.New(t, traceforgetest.ContentEncoding("raw-deflate", decode))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body) // a replay serves it decoded
	if err != nil {
		t.Error(err)
	}
	if said := tf.Calls()[0].Response.Candidates[0].Message.Content[0]; *said.Text != "Hello" {
		t.Error(*said.Text)
	}
}

// A replay waits before each event as long as the provider did.
func ExampleStreamTiming() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Grüß "}}]}`+"\n\n"+
			`data: {"choices":[{"index":0,"delta":{"content":"dich"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.StreamTiming())
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "[DONE]") {
		t.Errorf("%s, %v", answer, err)
	}
}

// A reason that holds for a package stands in a helper, which its tests call instead of New.
func ExampleNondeterministic() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	newRecorder := func(t testing.TB, options ...traceforgetest.Option) *traceforgetest.Recorder {
		t.Helper()
		return traceforgetest.New(t, append(options, traceforgetest.Nondeterministic("the product needs a temperature of 0.7"))...)
	}
	tf := newRecorder(t)
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0.7,"messages":[{"role":"user","content":"Write a poem"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleIgnore() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Ignore("/provider_options/user"))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"user":"process-%d","messages":[{"role":"user","content":"Say hello"}]}`, os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

// What users say does not matter here, except that they say it once.
func ExampleIgnore_elements() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Ignore("/messages/*/content"))
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"I am process %d"}]}`, os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}
