package traceforgetest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

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

func ExampleRecorder_Calls() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		_, _ = send(tf.Client(), newChat("Say hello"))
		for _, call := range tf.Calls() {
			asked, answered := call.Request.Messages[0], call.Response.Candidates[0].Message
			fmt.Println(call.Provider, *asked.Content[0].Text, len(answered.Content))
		}
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// openai Say hello 1
	// failed: false
	// TRACEFORGE_UPDATE=0
	// openai Say hello 1
	// failed: false
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
