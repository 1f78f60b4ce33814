package traceforgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// exampleRun runs a test twice, recorded from a provider and replayed without, in a store of its own.
func exampleRun(test func(t *tbtest.TB, options ...traceforgetest.Option)) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	provider, err := fakeprovider.Start()
	if err != nil {
		panic(err)
	}
	provider.Handle(fakeprovider.Echo())
	upstream := traceforgetest.Upstream(provider.Transport())
	defer os.Unsetenv("TRACEFORGE_UPDATE")
	for _, mode := range []string{"1", "0"} {
		os.Setenv("TRACEFORGE_UPDATE", mode)
		fmt.Println("TRACEFORGE_UPDATE=" + mode)
		t := tbtest.Run("TestExample", func(t *tbtest.TB) { test(t, traceforgetest.Dir(dir), upstream) })
		fmt.Println("failed:", t.Failed())
		if mode == "1" {
			provider.Close()
		}
	}
}

func ExampleNew() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		answer, err := send(tf.Client(), newChat("Say hello"))
		fmt.Println(strings.Contains(answer, "hello"), err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true <nil>
	// failed: false
}

// Agents that ask for a recorder each share that of the test.
func ExampleNew_again() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		agent := func() *traceforgetest.Recorder { return traceforgetest.New(t) }
		fmt.Println(agent() == tf)
		_, _ = send(tf.Client(), newChat("Say hello"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true
	// failed: false
}

func ExampleRecorder_Recording() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		key := "none is needed"
		if tf.Recording() {
			key = "looked up in the vault"
		}
		fmt.Println(key)
		_, _ = send(tf.Client(), newChat("Say hello"))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// looked up in the vault
	// failed: false
	// TRACEFORGE_UPDATE=0
	// none is needed
	// failed: false
}

func ExampleRecorder_URL() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		// A child process would get this as its OPENAI_BASE_URL.
		base := tf.URL("openai") + "/v1"
		_, err := post(nil, base+"/chat/completions", newChat("Say hello"))
		fmt.Println(err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// <nil>
	// failed: false
}

func ExampleRecorder_Model() {
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		fmt.Println("the model is called")
		answer := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("hello")}}
		return &modelio.GenerateResponse{Message: answer, FinishReason: modelio.FinishStop}, nil
	})
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		model := tf.Model("acme/chatter-1", live)
		resp, err := model.Generate(context.Background(), generateRequest("Say hello"), nil)
		fmt.Println(*resp.Message.Content[0].Text, err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// the model is called
	// hello <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// hello <nil>
	// failed: false
}

// An embedder has the form of a model, and no model's API.
func ExampleRecorder_Action() {
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		fmt.Println("the embedder is called")
		vector := modelio.Part{Custom: modelio.Object{"embedding": json.RawMessage(`[0.5,-1]`)}}
		answer := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{vector}}
		return &modelio.GenerateResponse{Message: answer, FinishReason: modelio.FinishStop}, nil
	})
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		resp, err := tf.Action("embed", "acme/vectors-1", live).Generate(context.Background(), generateRequest("Say hello"), nil)
		fmt.Println(string(resp.Message.Content[0].Custom["embedding"]), err)
		fmt.Println(tf.Calls()[0].Request.API)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// the embedder is called
	// [0.5,-1] <nil>
	// genkit.embed
	// failed: false
	// TRACEFORGE_UPDATE=0
	// [0.5,-1] <nil>
	// genkit.embed
	// failed: false
}

func ExampleRecorder_Session() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		_, _ = send(tf.Client(), newChat("Say hello"))
		session := tf.Session("openai", "gpt-4o-mini")
		fmt.Println(session.Mode, len(session.Interactions))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// record 1
	// failed: false
	// TRACEFORGE_UPDATE=0
	// replay 1
	// failed: false
}

// What a program did is asserted on with plain Go: here the tools that it used in order, its turns, why the last one
// ended, what all cost and how long the models took.
func ExampleRecorder_Calls() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"12:00"`), nil
		})
		_, _ = send(tf.Client(), newChat("What time is it?"))
		_, _ = clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))
		_, _ = send(tf.Client(), newChat("It is 12:00 in Oslo."))

		var tools, models []string
		var tokens int64
		var latency time.Duration
		for _, call := range tf.Calls() {
			if tool := call.Tool(); tool != "" {
				tools = append(tools, tool)
				continue
			}
			models = append(models, call.Request.Model)
			tokens += *call.Response.Usage.Used()
			latency += call.Latency
		}
		last := tf.Calls()[2]
		fmt.Println(tools, len(models), "turns", tokens, "tokens", last.FinishReason(), latency < time.Minute)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// [clock] 2 turns 28 tokens stop true
	// failed: false
	// TRACEFORGE_UPDATE=0
	// [clock] 2 turns 28 tokens stop true
	// failed: false
}

// A tool's calls are recorded beside those of the model that asks for them. In replay it is not run.
func ExampleRecorder_Tool() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		clock := tf.Tool("clock", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			fmt.Println("running")
			return json.RawMessage(`"12:00"`), nil
		})
		fmt.Println(printed(clock(context.Background(), json.RawMessage(`{"city":"Oslo"}`))))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// running
	// "12:00" <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// "12:00" <nil>
	// failed: false
}

func printed(output json.RawMessage, err error) string { return fmt.Sprint(string(output), " ", err) }

// The tool is run in each replay too. The test fails where it returns something else than recorded, which is what the
// program is served.
func ExampleCheck() {
	runs := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Check(traceforgetest.Tools))...)
		count := tf.Tool("count", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			runs++
			return json.RawMessage(fmt.Sprint(runs)), nil
		})
		fmt.Println(printed(count(context.Background(), nil)))
	})
	fmt.Println(runs, "runs")
	// Output:
	// TRACEFORGE_UPDATE=1
	// 1 <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 1 <nil>
	// failed: true
	// 2 runs
}

// The model is served from the tape, and the tool is not.
func ExampleLive() {
	runs := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options, traceforgetest.Live(traceforgetest.Tools))...)
		count := tf.Tool("count", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			runs++
			return json.RawMessage(fmt.Sprint(runs)), nil
		})
		answer, err := send(tf.Client(), newChat("Say hello"))
		fmt.Println(strings.Contains(answer, "hello"), err)
		fmt.Println(printed(count(context.Background(), nil)))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true <nil>
	// 1 <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true <nil>
	// 2 <nil>
	// failed: false
}

// An exchange may have an upstream of its own, such as a server in the test's process.
func ExampleRecorder_ClientOver() {
	server := handler(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Println("asked")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	})
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		fmt.Println(post(tf.ClientOver(server), "http://inventory.internal/v1/count", map[string]string{"sku": "a"}))
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// asked
	// {"ok":true} <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// {"ok":true} <nil>
	// failed: false
}

// A handler is a server that is reached without a network.
type handler func(http.ResponseWriter, *http.Request)

func (h handler) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, req)
	return w.Result(), nil
}

func ExampleUpdating() {
	os.Setenv("TRACEFORGE_UPDATE", "1")
	defer os.Unsetenv("TRACEFORGE_UPDATE")
	if traceforgetest.Updating() {
		fmt.Println("rewrite the golden files of this test too")
	}
	// Output: rewrite the golden files of this test too
}

func ExampleTestModel() {
	silent := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return &modelio.GenerateResponse{FinishReason: modelio.FinishStop}, nil
	})
	fmt.Println(traceforgetest.TestModel(silent) != nil)
	// Output: true
}

// A reason that holds for a package stands in a helper, which its tests call instead of New.
func ExampleNondeterministic() {
	newRecorder := func(t testing.TB, options ...traceforgetest.Option) *traceforgetest.Recorder {
		t.Helper()
		return traceforgetest.New(t, append(options, traceforgetest.Nondeterministic("the product needs a temperature of 0.7"))...)
	}
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := newRecorder(t, options...)
		_, err := send(tf.Client(), newChat("Write a poem").with("temperature", 0.7))
		fmt.Println(err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// <nil>
	// failed: false
}

func ExampleIgnore() {
	run := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		run++
		tf := traceforgetest.New(t, append(options, traceforgetest.Ignore("/provider_options/user"))...)
		_, err := send(tf.Client(), newChat("Say hello").with("user", fmt.Sprint("session-", run)))
		fmt.Println(err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// <nil>
	// failed: false
}

func ExampleIgnore_elements() {
	run := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		run++
		// What users say does not matter here, but that they say it three times.
		tf := traceforgetest.New(t, append(options, traceforgetest.Ignore("/messages/*/content"))...)
		said := map[string]any{"role": "user", "content": fmt.Sprint("I am guest ", run)}
		_, err := send(tf.Client(), newChat("").with("messages", []any{said, said, said}))
		fmt.Println(err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// <nil>
	// failed: false
}
