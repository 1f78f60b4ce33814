package traceforgetest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A client that tries again is tested with a recording: the first try of call 1 gets what is asked for, the second the
// recorded answer.
func ExampleRecorder_Fault() {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		injected := tf.Fault(1, traceforgetest.Status(429, time.Second))
		tries := 1
		answer, err := send(tf.Client(), newChat("Say hello"))
		for ; err != nil && tries < 3; tries++ {
			answer, err = send(tf.Client(), newChat("Say hello"))
		}
		fmt.Println(injected, tries, strings.Contains(answer, "hello"), err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// false 1 true <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true 2 true <nil>
	// failed: false
}

// faulted records a stream, replays it with a fault, and prints how many of its events come and how it ends.
func faulted(fault traceforgetest.Fault) {
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, options...)
		tf.Fault(1, fault)
		body := strings.NewReader(`{"model":"gpt-4o-mini","temperature":0,"seed":1,"stream":true,"messages":[{"role":"user","content":"Grüß dich"}]}`)
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", body)
		if err != nil {
			var timeout net.Error
			fmt.Println("reset:", errors.Is(err, syscall.ECONNRESET), "timeout:", errors.As(err, &timeout) && timeout.Timeout())
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, strings.Count(string(text), "data:"), "events", err)
	})
}

func ExampleCutAfter() {
	faulted(traceforgetest.CutAfter(2))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 2 events unexpected EOF
	// failed: false
}

func ExampleEndAfter() {
	faulted(traceforgetest.EndAfter(2))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 2 events <nil>
	// failed: false
}

func ExampleDrop() {
	faulted(traceforgetest.Drop(1))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 6 events <nil>
	// failed: false
}

func ExampleRepeat() {
	faulted(traceforgetest.Repeat(3))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 8 events <nil>
	// failed: false
}

func ExampleSplit() {
	faulted(traceforgetest.Split())
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 7 events <nil>
	// failed: false
}

func ExampleStatus() {
	faulted(traceforgetest.Status(529, 0))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 529 0 events <nil>
	// failed: false
}

func ExampleDisconnect() {
	faulted(traceforgetest.Disconnect(os.ErrDeadlineExceeded))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// reset: false timeout: true
	// failed: false
}

// In a bubble of testing/synctest a delay of an hour takes no time.
func ExampleDelay() {
	faulted(traceforgetest.Delay(time.Millisecond))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 7 events <nil>
	// failed: false
}

func ExampleStall() {
	faulted(traceforgetest.Stall(2, time.Millisecond))
	// Output:
	// TRACEFORGE_UPDATE=1
	// 200 7 events <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// 200 7 events <nil>
	// failed: false
}
