package traceforgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/fault"
)

// A client that tries again is tested with a recording: the first try of call 1 gets what is asked for, the second the
// recorded answer.
func ExampleRecorder_Fault() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}`)
	}))
	defer provider.Close()

	tf := traceforgetest.New(t)
	injected := tf.Fault(1, fault.Status(http.StatusTooManyRequests, 0))
	tries := 0
	for status := 0; status != http.StatusOK && tries < 3; tries++ {
		resp, err := tf.Client().Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"Say hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		status = resp.StatusCode
	}
	if injected && tries != 2 {
		t.Errorf("%d tries", tries)
	}
}
