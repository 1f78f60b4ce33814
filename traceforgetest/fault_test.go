package traceforgetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/fault"
)

// A framed is a stream in the framing of an API.
type framed struct{ name, url, body string }

var framings = []framed{
	{"sse", "https://api.openai.com/v1/chat/completions",
		`{"model":"gpt-4o-mini","temperature":0,"seed":1,"stream":true,"messages":[{"role":"user","content":"hi"}]}`},
	{"ndjson", "http://localhost:11434/api/chat", `{"model":"m","stream":true,"options":{"temperature":0,"seed":1},"messages":[{"role":"user","content":"hi"}]}`},
	{"aws", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse-stream",
		`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"temperature":0}}`},
	{"array", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"temperature":0,"seed":1}}`},
}

// asksFor is a test that makes a call with a fault, and keeps what came of each try.
func asksFor(f framed, tries int, got *[]string, errs *[]error, faults ...traceforgetest.Fault) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, fault := range faults {
			tf.Fault(1, fault)
		}
		*got, *errs = nil, nil
		for range tries {
			resp, err := tf.Client().Post(f.url, "application/json", strings.NewReader(f.body))
			body := []byte(nil)
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			*got, *errs = append(*got, string(body)), append(*errs, err)
		}
	}
}

// TestFaultsOfStreams injects each fault of a stream in each framing. What is left is a stream of that framing still.
func TestFaultsOfStreams(t *testing.T) {
	for _, f := range framings {
		t.Run(f.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Fragments("Grüße ", "an ", "alle") })
			var got []string
			var errs []error
			s.record("TestIt", asksFor(f, 1, &got, &errs))
			whole, files := got[0], s.files()
			for _, c := range []struct {
				name, why string
				fault     traceforgetest.Fault
				holds     func(body string) bool
				err       error
				tries     int
			}{
				{"cut", "it ends behind an event", fault.CutAfter(2), func(b string) bool {
					return len(b) < len(whole) && len(b) > 0 && strings.HasPrefix(whole, b)
				}, io.ErrUnexpectedEOF, 2},
				{"cut_first", "nothing came", fault.CutAfter(0), func(b string) bool { return b == "" }, io.ErrUnexpectedEOF, 2},
				{"end", "it ends as if it were whole", fault.EndAfter(1), func(b string) bool {
					return len(b) < len(whole) && strings.HasPrefix(whole, b)
				}, nil, 2},
				{"drop", "the first", fault.Drop(1), func(b string) bool { return len(b) < len(whole) && isFramed(f.name, b) }, nil, 2},
				{"drop_second", "one in the middle", fault.Drop(2), func(b string) bool { return len(b) < len(whole) && isFramed(f.name, b) }, nil, 2},
				{"repeat", "the first", fault.Repeat(1), func(b string) bool { return len(b) > len(whole) && isFramed(f.name, b) }, nil, 2},
				{"repeat_second", "one in the middle", fault.Repeat(2), func(b string) bool { return len(b) > len(whole) && isFramed(f.name, b) }, nil, 2},
				{"split", "each byte comes", fault.Split(), func(b string) bool { return b == whole }, nil, 1},
				{"stall", "each byte comes", fault.Stall(1, time.Millisecond), func(b string) bool { return b == whole }, nil, 1},
			} {
				t.Run(c.name, func(t *testing.T) {
					requirePass(t, s.replay("TestIt", asksFor(f, c.tries, &got, &errs, c.fault)))
					require.True(t, c.holds(got[0]), "%s: %q of %q", c.why, got[0], whole)
					require.ErrorIs(t, errs[0], c.err)
					if c.tries == 2 {
						require.Equal(t, whole, got[1], "the next try gets the recording")
						require.NoError(t, errs[1])
					}
					requirePass(t, s.replay("TestIt", asksFor(f, 1, &got, &errs, c.fault)))
					s.requireFiles(files)
				})
			}
			tb := s.replay("TestIt", asksFor(f, 1, &got, &errs, fault.CutAfter(99)))
			require.Regexp(t, `fault cannot be injected: .*, call 1, CutAfter\(99\): want an event from 0 to \d+`, tb.Logged())
			require.NotContains(t, tb.Logged(), "injected: call", "it was not")
		})
	}
}

// isFramed reports whether a body is a whole stream of a framing.
func isFramed(framing, body string) bool {
	switch framing {
	case "array":
		var all []json.RawMessage
		return json.Unmarshal([]byte(body), &all) == nil && len(all) > 0
	case "ndjson":
		for line := range strings.Lines(body) {
			if !json.Valid([]byte(line)) {
				return false
			}
		}
		return true
	case "aws":
		for rest := []byte(body); len(rest) > 0; {
			size := int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3])
			if size < 16 || size > len(rest) {
				return false
			}
			rest = rest[size:]
		}
		return true
	}
	for event := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if data, ok := strings.CutPrefix(event, "data: "); !ok || data != "[DONE]" && !json.Valid([]byte(data)) {
			return false
		}
	}
	return true
}

// TestFaultsInstead injects what comes instead of an answer, one a try, and then the recording.
func TestFaultsInstead(t *testing.T) {
	s := newScene(t)
	f := framed{url: framings[0].url, body: strings.Replace(framings[0].body, `"stream":true,`, "", 1)}
	var got []string
	var errs []error
	s.record("TestIt", asksFor(f, 1, &got, &errs))
	whole := got[0]
	requirePass(t, s.replay("TestIt", asksFor(f, 5, &got, &errs, fault.Status(429, 2*time.Second), fault.Disconnect(syscall.ECONNRESET),
		fault.Status(503, 0), fault.Disconnect(os.ErrDeadlineExceeded))))
	require.Equal(t, `{"error":{"message":"a fault of the test, call 1: Status(429)","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, got[0])
	require.ErrorIs(t, errs[1], syscall.ECONNRESET)
	require.Contains(t, got[2], `"type":"server_error"`)
	var timeout net.Error
	require.True(t, errors.As(errs[3], &timeout) && timeout.Timeout())
	require.Equal(t, whole, got[4])

	requirePass(t, s.replay("TestIt", asksFor(f, 2, &got, &errs, fault.Disconnect(nil))))
	require.ErrorIs(t, errs[0], io.ErrUnexpectedEOF)
	require.NotContains(t, errs[0].Error(), "PANIC")

	// A program that gives up has called all the same.
	requirePass(t, s.replay("TestIt", asksFor(f, 1, &got, &errs, fault.Status(529, 0))))

	for _, c := range []struct {
		name, why string
		call      int
		fault     traceforgetest.Fault
		want      string
	}{
		{"no_stream", "a whole answer has no events", 1, fault.CutAfter(1), "CutAfter(1): the answer is no stream"},
		{"no_character", "all is ASCII", 1, fault.Split(), "Split(): the answer has no character of more than one byte"},
		{"no_status", "that is no failure", 1, fault.Status(200, 0), "Status(200): want a status from 400 to 599"},
		{"no_call", "the document has one", 7, fault.Delay(1), "1 fault of the test met no call\n      call 7: Delay(1ns)\n    recorded in "},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				tf.Fault(c.call, c.fault)
				asksFor(f, 1, &got, &errs)(tb, tf)
			})
			require.Contains(t, tb.Logged(), c.want, c.why)
		})
	}

	for _, mode := range []string{"1", "new"} {
		tb := s.update(mode, "TestIt", asksFor(f, 1, &got, &errs, fault.Status(429, 0)))
		requirePass(t, tb)
		require.Equal(t, whole, got[0], "a recording is of the provider's own answers")
		require.Contains(t, tb.Logged(), "faults are injected in replay only: call 1: Status(429)")
	}
	tb := s.update("1", "TestIt", asksFor(f, 1, &got, &errs, fault.Status(429, 0), fault.Status(429, 0), fault.Delay(1)))
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "faults are injected in replay only: call 1: Status(429), 2 times; call 1: Delay(1ns)")
}

// TestFaultsOfModelsAndTools are those of calls that are no HTTP.
func TestFaultsOfModelsAndTools(t *testing.T) {
	s := newScene(t)
	var chunks int
	var said []error
	test := func(faults map[int]traceforgetest.Fault) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			for call, fault := range faults {
				tf.Fault(call, fault)
			}
			chunks, said = 0, nil
			model := tf.Model("test/scripted", scripted(modelio.TextPart("one"), modelio.TextPart("two")))
			_, err := model.Generate(context.Background(), generateRequest("hi"), func(context.Context, *modelio.GenerateResponseChunk) error {
				chunks++
				return nil
			})
			_, err2 := tf.Tool("add", add2)(context.Background(), json.RawMessage(`{}`))
			said = append(said, err, err2)
		}
	}
	s.record("TestIt", test(nil))
	requirePass(t, s.replay("TestIt", test(map[int]traceforgetest.Fault{1: fault.CutAfter(1), 2: fault.Disconnect(syscall.EPIPE)})))
	require.Equal(t, 1, chunks)
	require.ErrorIs(t, said[0], io.ErrUnexpectedEOF)
	require.ErrorIs(t, said[1], syscall.EPIPE)
	requirePass(t, s.replay("TestIt", test(map[int]traceforgetest.Fault{1: fault.Repeat(1)})))
	require.Equal(t, 3, chunks)
	tb := s.replay("TestIt", test(map[int]traceforgetest.Fault{2: fault.Status(429, 0)}))
	require.Contains(t, tb.Logged(), "call 2, Status(429): the call is no HTTP")
}

func add2(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage("2"), nil
}

// TestFaultsTakeTheirTime holds that delays are of the time that the test lives in.
func TestFaultsTakeTheirTime(t *testing.T) {
	s := newScene(t)
	f := framings[0]
	var got []string
	var errs []error
	s.record("TestIt", asksFor(f, 1, &got, &errs))
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		requirePass(t, s.replay("TestIt", asksFor(f, 1, &got, &errs, fault.Delay(time.Hour))))
		require.Equal(t, time.Hour, time.Since(start))
		requirePass(t, s.replay("TestIt", asksFor(f, 1, &got, &errs, fault.Stall(2, time.Hour))))
		require.Equal(t, 2*time.Hour, time.Since(start))
		requirePass(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			tf.Fault(1, fault.Delay(time.Hour))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", f.url, bytes.NewReader([]byte(f.body)))
			require.NoError(t, err)
			_, err = tf.Client().Do(req)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}))
		requirePass(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			tf.Fault(1, fault.Stall(2, time.Hour))
			late := errors.New("the user has left")
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, late)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", f.url, bytes.NewReader([]byte(f.body)))
			require.NoError(t, err)
			resp, err := tf.Client().Do(req)
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			require.ErrorIs(t, err, late)
		}))
	})
}

// TestFaultThatEndsTheProgram holds that a test of what a program does when it gives up needs no recording of it: the
// calls behind the fault are excused, and those before it are not.
func TestFaultThatEndsTheProgram(t *testing.T) {
	s := newScene(t)
	var said []error
	agent := func(calls []string, faults map[int][]traceforgetest.Fault) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			for call, all := range faults {
				for _, fault := range all {
					tf.Fault(call, fault)
				}
			}
			said = nil
			for _, prompt := range calls {
				var err error
				for range 3 { // as openai-go tries
					if _, err = send(tf.Client(), newChat(prompt)); err == nil {
						break
					}
				}
				if said = append(said, err); err != nil {
					return
				}
			}
		}
	}
	all := []string{"one", "two", "three", "four", "five"}
	s.record("TestIt", agent(all, nil))
	busy := fault.Status(429, 0)
	for _, c := range []struct {
		name, why string
		calls     []string
		faults    map[int][]traceforgetest.Fault
		fails     string // "": it passes
		log       string
	}{
		{"gives_up", "the test is of the error", all, map[int][]traceforgetest.Fault{1: {busy, busy, busy}}, "",
			"injected: call 1: Status(429), 3 times; not made behind it: calls 2-5"},
		{"gives_up_late", "the calls before it were made", all, map[int][]traceforgetest.Fault{1: {busy}, 4: {busy, busy, busy}}, "",
			"injected: call 1: Status(429); call 4: Status(429), 3 times; not made behind it: call 5"},
		{"recovers", "all calls are due", all, map[int][]traceforgetest.Fault{1: {busy, busy}}, "", "injected: call 1: Status(429), 2 times"},
		{"recovers_and_stops", "nothing excuses the last", all[:4], map[int][]traceforgetest.Fault{1: {busy}},
			"recorded call was not made: STORE/FILE, call 5", ""},
		{"skips_before", "the fault is no cause of what is before it", all[2:], map[int][]traceforgetest.Fault{3: {busy, busy, busy}},
			"recorded call was not made: STORE/FILE, call 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := s.replay("TestIt", agent(c.calls, c.faults))
			require.Equal(t, c.fails != "", tb.Failed(), "%s: %s", c.why, tb.Logged())
			require.Contains(t, s.said(tb), c.fails)
			require.Contains(t, s.said(tb), c.log)
		})
	}
}

// TestFaultThatChangesWhatFollows names the fault as the cause of a request that is not recorded, as no update accepts it.
func TestFaultThatChangesWhatFollows(t *testing.T) {
	s := newScene(t)
	test := func(tools int, faults ...traceforgetest.Fault) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, fault := range faults {
				tf.Fault(1, fault)
			}
			for range tools {
				sum, err := tf.Tool("add", add2)(context.Background(), json.RawMessage(`{}`))
				send(tf.Client(), newChat(fmt.Sprintf("the tool said: %s %v", sum, err)))
			}
		}
	}
	s.record("TestIt", test(1))
	const wayOut = "call 1 had the fault Disconnect(broken pipe), and what the program does behind it is not recorded: no update accepts it\n" +
		"end the test there, or record a test of its own whose tool or upstream fails so, without the fault"
	tb := s.replay("TestIt", test(1, fault.Disconnect(syscall.EPIPE)))
	require.Contains(t, s.said(tb), "openai request drifted from STORE/tool/")
	require.Contains(t, s.said(tb), wayOut)
	require.NotContains(t, tb.Logged(), "accept:")

	broken := func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := tf.Tool("add", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, syscall.EPIPE })(context.Background(), nil)
		send(tf.Client(), newChat(fmt.Sprintf("the tool said: %v", err)))
	}
	s.record("TestBroken", broken)
	requirePass(t, s.replay("TestBroken", broken))

	tb = s.replay("TestIt", test(2))
	require.Contains(t, tb.Logged(), "tool add was called once too often")
	require.Contains(t, tb.Logged(), "accept: go test", "without a fault")
}
