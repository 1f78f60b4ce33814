package traceforgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Agents that ask for a recorder each share that of the test.
func ExampleNew_again() {
	tf := traceforgetest.New(t)
	agent := func() *traceforgetest.Recorder { return traceforgetest.New(t) }
	if agent() != tf {
		t.Error("an agent has a recorder of its own")
	}
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
}

func ExampleRecorder_Client() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
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

// A client with settings of its own has the recorder as its transport.
func ExampleRecorder_RoundTrip() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	client := &http.Client{Transport: tf, Timeout: time.Minute}
	resp, err := client.Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
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

func ExampleRecorder_Recording() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	key := "none is needed"
	if tf.Recording() {
		key = "looked up in a vault"
	}
	req, err := http.NewRequest("POST", provider.URL+"/v1/chat/completions", strings.NewReader(
		`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := tf.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "Hello") {
		t.Errorf("%s, %v", answer, err)
	}
}

func ExampleRecorder_URL() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	// What the recorder sends to api.openai.com comes to this provider.
	dial := func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("tcp", provider.Listener.Addr().String())
	}
	tf := traceforgetest.New(t, traceforgetest.Upstream(&http.Transport{DialTLSContext: dial}))
	base := tf.URL("openai") + "/v1" // a child process would get it as OPENAI_BASE_URL
	resp, err := http.Post(base+"/chat/completions", "application/json", strings.NewReader(
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

func ExampleRecorder_Model() {
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		hello := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("Hello")}}
		return &modelio.GenerateResponse{Message: hello, FinishReason: modelio.FinishStop}, nil
	})
	tf := traceforgetest.New(t)
	model := tf.Model("acme/chatter-1", live)
	resp, err := model.Generate(context.Background(), &modelio.GenerateRequest{
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Say hello")}}},
		Config:   modelio.Object{"temperature": json.RawMessage("0")},
	}, nil)
	if err != nil || *resp.Message.Content[0].Text != "Hello" {
		t.Error(resp, err)
	}
}

// An embedder has the form of a model, and no model's API.
func ExampleRecorder_Action() {
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		vector := modelio.Part{Custom: modelio.Object{"embedding": json.RawMessage(`[0.5,-1]`)}}
		answer := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{vector}}
		return &modelio.GenerateResponse{Message: answer, FinishReason: modelio.FinishStop}, nil
	})
	tf := traceforgetest.New(t)
	embedder := tf.Action("embed", "acme/vectors-1", live)
	resp, err := embedder.Generate(context.Background(), &modelio.GenerateRequest{
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Say hello")}}},
	}, nil)
	if err != nil || string(resp.Message.Content[0].Custom["embedding"]) != `[0.5,-1]` {
		t.Error(resp, err)
	}
}

// A tool's calls are recorded beside those of the model that asks for them. In replay the tool is not run.
func ExampleRecorder_Tool() {
	tf := traceforgetest.New(t)
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
}

// A prompt with a date says the same in a recording and in its replays.
func ExampleRecorder_Now() {
	tf := traceforgetest.New(t)
	ask := tf.Tool("ask", func(_ context.Context, prompt json.RawMessage) (json.RawMessage, error) { return prompt, nil })
	today := tf.Now().Format("Monday, 2 January 2006")
	said, err := ask(context.Background(), json.RawMessage(`"Today is `+today+`."`))
	if err != nil || string(said) != `"Today is `+today+`."` {
		t.Errorf("%s, %v", said, err)
	}
}

// What a program did is asserted on with plain Go: here the tools that it used, its turns, what they cost, how long the
// models took and why the last turn ended.
func ExampleRecorder_Calls() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}],"usage":{"prompt_tokens":8,"completion_tokens":6,"total_tokens":14}}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
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

	var tools, models []string
	var tokens int64
	var latency time.Duration
	for _, call := range tf.Calls() {
		if tool := call.Tool(); tool != "" {
			tools = append(tools, tool)
			continue
		}
		models = append(models, call.Request.Model)
		if used := call.Response.Usage.Used(); used != nil { // nil: the provider did not say
			tokens += *used
		}
		latency += call.Latency
	}
	last := tf.Calls()[1]
	if len(tools) != 1 || tools[0] != "clock" || len(models) != 1 || tokens != 14 || latency > time.Minute || last.FinishReason() != modelio.FinishStop {
		t.Error(tools, models, tokens, latency, last.FinishReason())
	}
}

func ExampleRecorder_Snapshots() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
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
	records, replayed := tf.Snapshots()
	if len(records) != 1 {
		t.Error(records, replayed)
	}
}

// Workers ask the same at once. Each gets in replay what it got in the recording.
func ExampleRecorder_Lane() {
	var calls atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"%d"}}]}`, calls.Add(1))
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	var workers sync.WaitGroup
	for i := range 2 {
		client := tf.Lane(fmt.Sprint("worker-", i))
		workers.Go(func() {
			resp, err := client.Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
				`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Pick a number"}]}`))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			if err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
}

// A server may need a transport of its own.
func ExampleRecorder_ClientOver() {
	inventory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"count":12}`)
	}))
	defer inventory.Close()

	tf := traceforgetest.New(t)
	client := tf.ClientOver(inventory.Client().Transport) // it trusts the server's certificate
	resp, err := client.Post(inventory.URL+"/v1/count", "application/json", strings.NewReader(
		`{"sku":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(answer), "12") {
		t.Errorf("%s, %v", answer, err)
	}
}

// The tool runs in each replay too. The test fails where it returns something else than recorded, which is what the
// program is served.
func ExampleCheck() {
	tf := traceforgetest.New(t, traceforgetest.Check(traceforgetest.Tools))
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"12:00"`), nil
	})
	now, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(now) != `"12:00"` {
		t.Errorf("%s, %v", now, err)
	}
}

// Models are served from the tape, and tools are not: the clock tells the time of the run.
func ExampleLive() {
	tf := traceforgetest.New(t, traceforgetest.Live(traceforgetest.Tools))
	clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(time.Now().Year())
	})
	year, err := clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
	if err != nil || string(year) < "2025" {
		t.Errorf("%s, %v", year, err)
	}
}

// The flag that records rewrites the golden files of a test too.
func ExampleUpdating() {
	if traceforgetest.Updating() {
		if err := os.WriteFile("summary.golden", []byte("Hello"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("summary.golden")
	if err != nil || string(want) != "Hello" {
		t.Errorf("%s, %v", want, err)
	}
}
