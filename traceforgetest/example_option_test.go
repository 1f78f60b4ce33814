package traceforgetest_test

import (
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// answering is an upstream that gives each call the same answer.
func answering(header http.Header, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

func ExampleRecorder_Client() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		fmt.Println(resp.StatusCode, err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 <nil>
	// failed: false
}

func ExampleRecorder_RoundTrip() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		logging := roundTripper(func(r *http.Request) (*http.Response, error) {
			fmt.Println(r.Method, r.URL.Path)
			return tf.RoundTrip(r)
		})
		_, _ = send(&http.Client{Transport: logging}, newChat("Say hello"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// POST /v1/chat/completions
	// failed: false
	// TRACEFORGE_UPDATE=0
	// POST /v1/chat/completions
	// failed: false
}

func ExampleDir() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Dir(filepath.Join(dir, "goldens")))...)
		_, _ = send(tf.Client(), newChat("Say hello"))
	})
	files, _ := filepath.Glob(filepath.Join(dir, "goldens", "openai", "*.json"))
	fmt.Println(len(files))
	// Output:
	// TRACEFORGE_UPDATE=1
	// failed: false
	// TRACEFORGE_UPDATE=0
	// failed: false
	// 1
}

func ExampleUpstream() {
	gateway := roundTripper(func(r *http.Request) (*http.Response, error) {
		fmt.Println("through the gateway")
		return answering(http.Header{"Content-Type": {"application/json"}}, completion).RoundTrip(r)
	})
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(gateway))...)
		_, _ = send(tf.Client(), newChat("Say hello"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// through the gateway
	// failed: false
	// TRACEFORGE_UPDATE=0
	// failed: false
}

func ExampleAllow_cutStreams() {
	stream := answering(http.Header{"Content-Type": {"text/event-stream"}},
		`data: {"choices":[{"index":0,"delta":{"content":"Hello, wor"}}]}`+"\n\n")
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(stream), traceforgetest.Allow(traceforgetest.CutStreams))...)
		answer, _ := send(tf.Client(), newChat("Say hello").with("stream", true))
		fmt.Println(strings.Contains(answer, "Hello, wor"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true
	// failed: false
}

func ExampleAllow_transportErrors() {
	down := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("dialing: %w", syscall.ECONNREFUSED)
	})
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(down), traceforgetest.Allow(traceforgetest.TransportErrors))...)
		_, err := send(tf.Client(), newChat("Say hello"))
		fmt.Println(errors.Is(err, syscall.ECONNREFUSED))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true
	// failed: false
}

func ExampleAllow_retryableErrors() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tries := 0
		overloaded := roundTripper(func(r *http.Request) (*http.Response, error) {
			if tries++; tries == 1 {
				return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("later")), Request: r}, nil
			}
			return answering(http.Header{"Content-Type": {"application/json"}}, completion).RoundTrip(r)
		})
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(overloaded),
			traceforgetest.Allow(traceforgetest.RetryableErrors))...)
		_, first := send(tf.Client(), newChat("Say hello"))
		_, second := send(tf.Client(), newChat("Say hello"))
		fmt.Println(first, second)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// status 503: later <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// status 503: later <nil>
	// failed: false
}

func ExampleAllow_noCalls() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Allow(traceforgetest.NoCalls))...)
		if question := ""; question != "" {
			_, _ = send(tf.Client(), newChat(question))
		}
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// failed: false
	// TRACEFORGE_UPDATE=0
	// failed: false
}

func ExampleRecord() {
	page := answering(http.Header{"Content-Type": {"text/html"}}, "<h1>Go</h1>")
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(page), traceforgetest.Record("example.com"))...)
		resp, err := tf.Client().Get("https://docs.example.com/go?page=2")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		fmt.Println(string(body), err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// <h1>Go</h1> <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// <h1>Go</h1> <nil>
	// failed: false
}

func ExampleKeepHeaders() {
	billed := answering(http.Header{"Content-Type": {"application/json"}, "X-Cost": {"12"}}, completion)
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(billed), traceforgetest.KeepHeaders("X-Cost"))...)
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		fmt.Println(resp.Header.Get("X-Cost"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// 12
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 12
	// failed: false
}

func ExampleRecorder_Lane() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		var workers sync.WaitGroup
		answers := make([]string, 2)
		for i := range answers {
			client := tf.Lane(fmt.Sprint("worker-", i))
			workers.Go(func() { answers[i], _ = send(client, newChat("Pick a number")) })
		}
		workers.Wait()
		fmt.Println(answers[0] != "", answers[1] != "")
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true true
	// failed: false
}

func ExamplePassThrough() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.PassThrough("telemetry.example"))...)
		_, _ = send(tf.Client(), newChat("Say hello"))
		resp, err := tf.Client().Get("https://eu.telemetry.example/ping")
		fmt.Println("the ping was sent:", err == nil && resp.StatusCode != http.StatusBadRequest)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// the ping was sent: true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// the ping was sent: false
	// failed: false
}

func ExampleContentEncoding() {
	var packed strings.Builder
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(w, completion)
	_ = w.Close()
	upstream := answering(http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"raw-deflate"}}, packed.String())
	decode := func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Upstream(upstream), traceforgetest.ContentEncoding("raw-deflate", decode))...)
		answer, err := send(tf.Client(), newChat("Say hello"))
		fmt.Println("readable:", answer == completion, err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// readable: false <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// readable: true <nil>
	// failed: false
}

func ExampleStreamTiming() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.StreamTiming())...)
		answer, err := send(tf.Client(), newChat("Say hello").with("stream", true))
		fmt.Println(strings.Contains(answer, "[DONE]"), err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true <nil>
	// failed: false
}
