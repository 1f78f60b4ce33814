package traceforgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A helper of one's own has what all tests of a package need.
func ExampleScrub() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	newRecorder := func(t testing.TB, options ...traceforgetest.Option) *traceforgetest.Recorder {
		t.Helper()
		return traceforgetest.New(t, append(options, traceforgetest.Scrub(
			traceforgetest.Volatile(),
			traceforgetest.Pattern("order", regexp.MustCompile(`\bORD-[0-9]{8}\b`)),
		))...)
	}
	tf := newRecorder(t)
	prompt := fmt.Sprintf("Run aaaaaaaa-0000-4000-8000-%012x: refund ORD-%08d", os.Getpid(), os.Getpid())
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":%q}]}`, prompt)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
	if kept := *tf.Calls()[0].Request.Messages[0].Content[0].Text; kept != "Run {{uuid:1}}: refund {{order:1}}" {
		t.Error(kept)
	}
}

func ExampleValue() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tenant := fmt.Sprint("acme-", os.Getpid()) // in a test of yours: os.Getenv("SHOP_TENANT")
	tf := traceforgetest.New(t, traceforgetest.Scrub(traceforgetest.Value("tenant", tenant)))
	prompt := "Greet " + tenant
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":%q}]}`, prompt)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
	if kept := *tf.Calls()[0].Request.Messages[0].Content[0].Text; kept != "Greet {{tenant:1}}" {
		t.Error(kept)
	}
}

func ExamplePattern() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	today := traceforgetest.Pattern("today", regexp.MustCompile(`Today is (\d{4}-\d\d-\d\d)`))
	tf := traceforgetest.New(t, traceforgetest.Scrub(today))
	prompt := "Today is " + time.Now().Format(time.DateOnly) + ". Closed on 2025-12-24."
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":%q}]}`, prompt)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
	if kept := *tf.Calls()[0].Request.Messages[0].Content[0].Text; kept != "Today is {{today:1}}. Closed on 2025-12-24." {
		t.Error(kept)
	}
}

// The directory of a test is another one in each run.
func ExampleVolatile() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Scrub(traceforgetest.Volatile()))
	prompt := "Write to " + t.TempDir() + "/out.txt"
	resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		fmt.Sprintf(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":%q}]}`, prompt)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}
