package traceforgetest_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A helper of one's own has what all tests of a package need.
func ExampleScrub() {
	newRecorder := func(t testing.TB, options ...traceforgetest.Option) *traceforgetest.Recorder {
		return traceforgetest.New(t, append(options, traceforgetest.Scrub(
			traceforgetest.Volatile(),
			traceforgetest.Value("tenant", os.Getenv("SHOP_TENANT")),
			traceforgetest.Pattern("order", regexp.MustCompile(`\bORD-[0-9]{8}\b`)),
		))...)
	}
	run := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		run++
		tf := newRecorder(t, options...)
		prompt := fmt.Sprintf("Run aaaaaaaa-0000-4000-8000-00000000000%d: refund ORD-2025000%d", run, run)
		answer, err := send(tf.Client(), newChat(prompt))
		fmt.Println(strings.Contains(answer, prompt), err)
		for _, call := range tf.Calls() {
			fmt.Println("kept:", *call.Request.Messages[0].Content[0].Text)
		}
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true <nil>
	// kept: Run {{uuid:1}}: refund {{order:1}}
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true <nil>
	// kept: Run {{uuid:1}}: refund {{order:1}}
	// failed: false
}

func ExampleValue() {
	os.Setenv("SHOP_TENANT", "acme-7f3c")
	defer os.Unsetenv("SHOP_TENANT")
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		tf := traceforgetest.New(t, append(options,
			traceforgetest.Scrub(traceforgetest.Value("tenant", os.Getenv("SHOP_TENANT"))))...)
		_, err := send(tf.Client(), newChat("Greet "+os.Getenv("SHOP_TENANT")))
		fmt.Println(*tf.Calls()[0].Request.Messages[0].Content[0].Text, err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// Greet {{tenant:1}} <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// Greet {{tenant:1}} <nil>
	// failed: false
}

func ExamplePattern() {
	run := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		run++
		tf := traceforgetest.New(t, append(options, traceforgetest.Scrub(
			traceforgetest.Pattern("today", regexp.MustCompile(`Today is (\d{4}-\d\d-\d\d)`))))...)
		_, err := send(tf.Client(), newChat(fmt.Sprintf("Today is 2025-11-2%d. Closed on 2025-12-24.", run)))
		fmt.Println(*tf.Calls()[0].Request.Messages[0].Content[0].Text, err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// Today is {{today:1}}. Closed on 2025-12-24. <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// Today is {{today:1}}. Closed on 2025-12-24. <nil>
	// failed: false
}

func ExampleVolatile() {
	run := 0
	exampleRun(func(t *tbtest.TB, options ...traceforgetest.Option) {
		run++
		tf := traceforgetest.New(t, append(options, traceforgetest.Scrub(traceforgetest.Volatile()))...)
		dir := fmt.Sprintf("/tmp/TestAgent10%d/001", run) // as t.TempDir has it
		answer, err := send(tf.Client(), newChat("Write to "+dir+"/out.txt"))
		fmt.Println(strings.Contains(answer, dir+"/out.txt"), err)
	})
	// Output:
	// TRACEFORGE_UPDATE=1
	// true <nil>
	// failed: false
	// TRACEFORGE_UPDATE=0
	// true <nil>
	// failed: false
}
