package traceforgetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// check runs a test that checks, and returns how many live calls it made. The store must stay as it is.
func (s *scene) check(options, name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) (
	tb *tbtest.TB, calls int) {
	s.t.Helper()
	return s.beside("check", options, name, test, opts...)
}

// beside runs a test in a mode that makes live calls and writes nothing.
func (s *scene) beside(mode, options, name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) (
	tb *tbtest.TB, calls int) {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_CHECK", options)
	defer s.t.Setenv("TRACEFORGE_CHECK", "")
	files, before := s.files(), len(s.provider.Calls())
	tb = s.update(mode, name, test, opts...)
	s.requireFiles(files)
	return tb, len(s.provider.Calls()) - before
}

// said is the text of a failed test without what differs from run to run, and without its indentation.
func (s *scene) said(tb *tbtest.TB) string {
	return strings.ReplaceAll(strings.ReplaceAll(s.text(tb), s.document("TestIt"), "FILE"), "\n    ", "\n")
}

// says has the provider answer with these texts, in turns.
func (s *scene) says(texts ...string) {
	var n atomic.Int64
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.Text(texts[int(n.Add(1)-1)%len(texts)])
	})
}

func TestCheck(t *testing.T) {
	const lives = "say hello"
	tool := func(city string) fakeprovider.Reply {
		return fakeprovider.CallTools(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city": "` + city + `"}`})
	}
	hello := fakeprovider.Text("Hello.\nBye.")
	for _, c := range []struct {
		name, reason   string
		recorded, live fakeprovider.Reply
		options        string
		calls          int
		fails          string // "": it passes
	}{
		{"same", "nothing changed", hello, hello, "", 1, ""},
		{"text", "the model says something else", hello, fakeprovider.Text("Hello.\nCiao."), "", 1,
			"openai answer drifted from STORE/FILE, call 1: text (- recorded, + live)\n  /content, line 2\n- Bye.\n+ Ciao.\n"},
		{"text_not_held", "text jitters, and nothing else is to be known", hello, fakeprovider.Text("Hi."), "tier=tools", 1, ""},
		{"tools", "another argument", tool("Oslo"), tool("Rome"), "tier=tools", 1, "call 1: tools (- recorded, + live)\n  /tool_calls/0/input/city\n"},
		{"tools_spelled", "ids and white space are no difference", tool("Oslo"), fakeprovider.CallTools(fakeprovider.ToolCall{
			ID: "call_another", Name: "weather", Arguments: `{"city":"Oslo"}`}), "", 1, ""},
		{"finish", "it was cut by a limit", hello, fakeprovider.Reply{Text: hello.Text, Finish: "length"}, "tier=finish", 1, "call 1: finish ("},
		{"model", "the alias leads elsewhere", hello, fakeprovider.Reply{Text: hello.Text, Model: "gpt-4o-mini-2025"}, "tier=model", 1,
			"call 1: model (- recorded, + live)\n  /model\n- gpt-4o-mini\n+ gpt-4o-mini-2025\n?            ^^^^^\nanswered by: gpt-4o-mini-2025, recorded by gpt-4o-mini\n"},
		{"refused", "a key that is not valid", hello, fakeprovider.Error(401, "invalid", "Incorrect API key"), "", 1,
			"openai answer could not be checked: STORE/FILE, call 1\n  openai refused the call: 401 Unauthorized: Incorrect API key"},
		{"limited", "one more try, and no third", hello, fakeprovider.Reply{Failure: &fakeprovider.Failure{Status: 429},
			Header: http.Header{"Retry-After": {"0"}}}, "", 2, "openai answered 429 Too Many Requests"},
		{"limited_for_long", "no test waits for ten minutes", hello, fakeprovider.Reply{Failure: &fakeprovider.Failure{Status: 429},
			Header: http.Header{"Retry-After": {"600"}}}, "", 1, "openai answered 429 Too Many Requests"},
		{"cut", "half an answer is none", hello, fakeprovider.Reply{Text: hello.Text, Cut: fakeprovider.CutDrop}, "", 1, "openai answer was cut before its end"},
		{"hung_up", "nor is none", hello, fakeprovider.Reply{Cut: fakeprovider.CutHangup}, "", 1, "openai gave no answer: "},
		{"repeated", "all runs say what is recorded", hello, hello, "repeat=5", 5, ""},
		{"unknown", "a typing error is no check", hello, hello, "repaet=5", 0,
			`TRACEFORGE_CHECK: "repaet" is not known`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return c.recorded })
			var answers []string
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				answer, err := send(tf.Client(), newChat(lives))
				if err != nil {
					tb.Errorf("%v", err)
				}
				answers = append(answers, answer)
			}
			s.record("TestIt", test)
			s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return c.live })
			tb, calls := s.check(c.options, "TestIt", test)
			require.Equal(t, c.calls, calls, c.reason)
			require.Equal(t, c.fails != "", tb.Failed(), tb.Logged())
			text := s.said(tb)
			require.Contains(t, text, c.fails)
			if calls > 0 {
				require.Equal(t, answers[0], answers[1], "the program is served what is stored")
			}
			if strings.Contains(c.fails, "drifted") {
				require.Regexp(t, `accept: TRACEFORGE_UPDATE=all go test .* -run '\^TestIt\$'\n?`, text)
			}
		})
	}
}

func TestCheckOfJitter(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("hi").with("temperature", 1).without("seed")), traceforgetest.Nondeterministic("a reason"))
	s.says("one", "one", "two", "one", "three")
	tb, calls := s.check("repeat=10", "TestIt", asks(newChat("hi").with("temperature", 1).without("seed")), traceforgetest.Nondeterministic("a reason"))
	require.Equal(t, 10, calls)
	text := s.said(tb)
	require.Contains(t, text, "STORE/FILE, call 1: non-deterministic behavior detected: 4/10 runs produced different outputs: text (two of them)\n"+
		"  /content\n- one\n+ three\n")
	require.Contains(t, text, "may cause it: temperature is 1; seed is not set; system_fingerprint changed: fp_")
	require.Contains(t, text, "or hold less: TRACEFORGE_CHECK=tier=tools\n")
	require.NotContains(t, text, "accept", "the next answer is another one again")

	tb, calls = s.check("repeat=10&tier=tools", "TestIt", asks(newChat("hi").with("temperature", 1).without("seed")), traceforgetest.Nondeterministic("a reason"))
	require.Equal(t, 10, calls)
	require.False(t, tb.Failed(), "what it says to do helps: %s", tb.Logged())
}

// TestCheckOfSystems names what the provider says of itself where its answers vary.
func TestCheckOfSystems(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("hi")))
	var n atomic.Int64
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		i := n.Add(1) % 2
		return fakeprovider.Bytes("application/json", fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o-mini-2024",
			"system_fingerprint":"fp_%d","choices":[{"index":0,"message":{"role":"assistant","content":"say %d"},"finish_reason":"stop"}]}`, i, i))
	})
	tb, _ := s.check("repeat=4", "TestIt", asks(newChat("hi")))
	require.Contains(t, tb.Logged(), "2/4 runs produced different outputs: text")
	require.Contains(t, tb.Logged(), "may cause it: gpt-4o-mini is an alias, now of gpt-4o-mini-2024; system_fingerprint changed: fp_0, fp_1\n")
}

// TestCheckGoesOn has callers that give up what they got, and a test that drifts twice.
func TestCheckGoesOn(t *testing.T) {
	s := newScene(t)
	chats := []chat{newChat("one").with("stream", true), newChat("two")}
	s.record("TestIt", asks(chats...))
	s.says("something", "else")
	tb, calls := s.check("", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, c := range chats {
			ctx, cancel := context.WithCancel(t.Context())
			body, err := json.Marshal(c)
			require.NoError(t, err)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.openai.com/v1/chat/completions", bytes.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer mine")
			resp, err := tf.Client().Do(req)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer another") // the request is the caller's again
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			cancel()
		}
	})
	require.Equal(t, 2, calls)
	for _, call := range s.provider.Calls()[2:] {
		require.Equal(t, "Bearer mine", call.Header.Get("Authorization"))
	}
	require.Equal(t, 2, strings.Count(tb.Logged(), "openai answer drifted"), "one drift does not hide the next: %s", tb.Logged())
	require.Contains(t, tb.Logged(), "check: 2 drifted")
}

// TestCheckOfDrift fails as a replay does where the request is another, and checks the other calls.
func TestCheckOfDrift(t *testing.T) {
	s := newScene(t)
	const long = "Summarize the following text in one sentence: it was the best of times"
	s.record("TestIt", asks(newChat(long), newChat("two")))
	s.says("something else")
	tb, calls := s.check("", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		send(tf.Client(), newChat(long+" and the worst"))
		send(tf.Client(), newChat("two"))
	})
	require.Equal(t, 1, calls)
	require.Contains(t, tb.Logged(), "openai request drifted")
	require.Contains(t, tb.Logged(), "openai answer drifted")
}

// TestCheckOfParts has shards that have each call of many tests once, and samples that grow.
func TestCheckOfParts(t *testing.T) {
	s := newScene(t)
	const tests, shards = 20, 3
	name := func(i int) string { return fmt.Sprintf("TestIt%d", i) }
	for i := range tests {
		s.record(name(i), asks(newChat("one"), newChat("two")))
	}
	run := func(options string) map[string]bool {
		made := map[string]bool{}
		for i := range tests {
			before := len(s.provider.Calls())
			tb, _ := s.check(options, name(i), asks(newChat("one"), newChat("two")))
			require.False(t, tb.Failed(), tb.Logged())
			for _, call := range s.provider.Calls()[before:] {
				id := name(i) + " " + call.LastUser()
				require.False(t, made[id], "made twice: %s", id)
				made[id] = true
			}
		}
		return made
	}
	all := map[string]bool{}
	for i := range shards {
		part := run(fmt.Sprintf("shard=%d/%d", i+1, shards))
		require.NotEmpty(t, part)
		require.Less(t, len(part), 2*tests)
		for id := range part {
			require.False(t, all[id], "%s is in two shards", id)
			all[id] = true
		}
	}
	require.Len(t, all, 2*tests)
	half, most := run("sample=50"), run("sample=80")
	require.Subset(t, most, half)
	require.NotEmpty(t, half)
	require.Less(t, len(half), len(most))
	require.Less(t, len(most), 2*tests)
	require.Equal(t, half, run("sample=50"), "the same in each run")
}

// TestCheckOfWhatIsKept makes no call that names what the provider may have forgotten, or that does
// something a second time.
func TestCheckOfWhatIsKept(t *testing.T) {
	const responses = "https://api.openai.com/v1/responses"
	response := chat{"model": "gpt-4o-mini", "temperature": 0, "input": "hi"}
	for _, c := range []struct {
		name, reason string
		make         func(*http.Client) error
		calls        int
		why          string
	}{
		{"response", "it names an answer of 30 days ago", func(client *http.Client) error {
			_, err := post(client, responses, response.with("previous_response_id", "resp_123"))
			return err
		}, 0, "call 1 is not checkable: the request names a response, which the provider looks up"},
		{"reference", "items are kept as long", func(client *http.Client) error {
			_, err := post(client, responses, response.with("input", []any{map[string]any{"type": "item_reference", "id": "msg_1"},
				map[string]any{"role": "user", "content": "hi"}}))
			return err
		}, 0, "call 1 is not checkable: the request names an item, which the provider looks up"},
		{"reasoning", "as is reasoning without its content", func(client *http.Client) error {
			_, err := post(client, responses, response.with("input", []any{map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}},
				map[string]any{"role": "user", "content": "hi"}}))
			return err
		}, 0, "names an item, "},
		{"encrypted", "which can be sent by whoever has it", func(client *http.Client) error {
			_, err := post(client, responses, response.with("input", []any{map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{},
				"encrypted_content": "abc123"}, map[string]any{"role": "user", "content": "hi"}}))
			return err
		}, 1, "check: 1 same"},
		{"tool_call", "the ids have to agree among themselves only", func(client *http.Client) error {
			_, err := send(client, newChat("").with("messages", []any{map[string]any{"role": "user", "content": "hi"},
				map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "call_abc", "type": "function",
					"function": map[string]any{"name": "f", "arguments": "{}"}}}},
				map[string]any{"role": "tool", "tool_call_id": "call_abc", "content": "22"}}))
			return err
		}, 1, "check: 1 same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				if err := c.make(tf.Client()); err != nil {
					tb.Errorf("%v", err)
				}
			}
			s.record("TestIt", test)
			tb, calls := s.check("", "TestIt", test)
			require.False(t, tb.Failed(), tb.Logged())
			require.Equal(t, c.calls, calls, c.reason)
			require.Contains(t, tb.Logged(), c.why)
		})
	}
}

// filing answers uploads, and passes on the rest.
type filing struct{ http.RoundTripper }

func (f filing) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/v1/files" {
		return f.RoundTripper.RoundTrip(req)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	body := io.NopCloser(strings.NewReader(`{"id":"file-abc123","object":"file"}`))
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: body, Request: req}, nil
}

// TestCheckOfUploads uploads nothing twice: the file of the recording may be gone.
func TestCheckOfUploads(t *testing.T) {
	s := newScene(t)
	content := []any{map[string]any{"type": "text", "text": "what is in it?"},
		map[string]any{"type": "file", "file": map[string]any{"file_id": "file-abc123"}}}
	run := func(mode string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			if _, err := post(tf.Client(), "https://api.openai.com/v1/files", map[string]any{"purpose": "user_data"}); err != nil {
				tb.Errorf("%v", err)
			}
			if _, err := send(tf.Client(), newChat("").with("messages", []any{map[string]any{"role": "user", "content": content}})); err != nil {
				tb.Errorf("%v", err)
			}
		}, traceforgetest.Upstream(filing{s.provider.Transport()}))
	}
	require.False(t, run("1").Failed())
	tb := run("check")
	require.False(t, tb.Failed(), tb.Logged())
	require.Len(t, s.provider.Calls(), 1, "of the recording")
	require.Contains(t, tb.Logged(), "call 1 is not checkable: nothing is generated, and what it does must not be done twice")
	require.Contains(t, tb.Logged(), "call 2 is not checkable: the request names what call 1 made, which is not repeated")
}

// TestMaxAgeRenews has everything bought again: an answer that stays is of that time, if its age counts.
func TestMaxAgeRenews(t *testing.T) {
	for _, c := range []struct {
		name, reason, config, mode string
		renews                     bool
	}{
		{"counts", "it is an answer of now", `{"max_age":{"warn_days":60}}`, "all", true},
		{"does_not_count", "what did not change stays", `{}`, "all", false},
		{"update", "nothing was asked", `{"max_age":{"warn_days":60}}`, "1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			require.NoError(t, os.MkdirAll(s.dir, 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.json"), []byte(c.config), 0o666))
			s.record("TestIt", asks(newChat("hi")))
			before := s.records("openai")[0]
			for time.Now().UTC().Truncate(time.Millisecond).Equal(before.Timestamp) {
				time.Sleep(time.Millisecond) // until a clock of milliseconds says another time
			}
			tb := s.update(c.mode, "TestIt", asks(newChat("hi")))
			require.False(t, tb.Failed(), tb.Logged())
			after := s.records("openai")[0]
			require.Equal(t, c.renews, after.Timestamp.After(before.Timestamp), c.reason)
			after.Timestamp, after.Hash = before.Timestamp, before.Hash
			require.Equal(t, before, after, "nothing else changes")
			s.requireWhole()
		})
	}
}

// TestCheckWithoutKey makes no call with what stands for a key in replay.
func TestCheckWithoutKey(t *testing.T) {
	s := newScene(t)
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		body, err := json.Marshal(newChat("hi"))
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions", bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
		resp, err := tf.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	s.record("TestIt", test)
	t.Setenv("TRACEFORGE_UPDATE", "check")
	t.Setenv("OPENAI_API_KEY", "") // as CI has it where there is no secret
	tb := s.run("TestIt", test)
	require.True(t, tb.Failed())
	require.Contains(t, s.said(tb), ", call 1\n  there is no key for openai: set OPENAI_API_KEY")
	require.NoError(t, os.Unsetenv("OPENAI_API_KEY"))
	tb = s.run("TestIt", test)
	require.True(t, tb.Failed())
	require.Contains(t, s.said(tb), ", call 1\n  there is no key for openai: set OPENAI_API_KEY")
	tb, calls := s.check("", "TestIt", test)
	require.Equal(t, 1, calls, "an upstream of the test's own may need no key, as when it records")
	require.False(t, tb.Failed(), tb.Logged())
	t.Setenv("OPENAI_API_KEY", "of mine, which is long enough")
	tb, calls = s.check("", "TestIt", test)
	require.Equal(t, 1, calls)
	require.False(t, tb.Failed(), tb.Logged())
	require.NotContains(t, tb.Logged(), "of mine")
}

// TestCheckHidesSecrets prints neither the key that a provider sends back nor what is scrubbed.
func TestCheckHidesSecrets(t *testing.T) {
	s := newScene(t)
	scrub := traceforgetest.Scrub(traceforgetest.Volatile())
	s.says("order 11111111-1111-4111-8111-111111111111 is fine")
	s.record("TestIt", asks(newChat("hi")), scrub)
	s.says("order 22222222-2222-4222-8222-222222222222 is fine")
	tb, calls := s.check("", "TestIt", asks(newChat("hi")), scrub)
	require.Equal(t, 1, calls)
	require.False(t, tb.Failed(), "only a value differs that changes with every run: %s", tb.Logged())

	t.Setenv("SOME_API_KEY", "correct-horse-battery-staple")
	s.says("your key is correct-horse-battery-staple")
	tb, _ = s.check("", "TestIt", asks(newChat("hi")), scrub)
	require.Contains(t, tb.Logged(), "openai answer drifted")
	require.NotContains(t, tb.Logged(), "horse")

	const key = "tangerine-lighthouse-4096" // only the request has it
	s.says(strings.Repeat(key+" ", 100))    // some of which a short text would cut
	tb, _ = s.check("", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		req, _ := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", bytes.NewReader(must(json.Marshal(newChat("hi")))))
		req.Header.Set("Authorization", "Bearer "+key)
		if resp, err := tf.Client().Do(req); err == nil {
			resp.Body.Close()
		}
	}, scrub)
	require.Contains(t, tb.Logged(), "openai answer drifted")
	require.NotContains(t, tb.Logged(), "tangerine")
	require.NotContains(t, tb.Logged(), "lighthouse")
}

func TestCheckOfModels(t *testing.T) {
	s := newScene(t)
	var asked []string
	var mu sync.Mutex
	live := func(texts ...string) modelio.Model {
		n := 0
		return modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			mu.Lock()
			defer mu.Unlock()
			text := texts[n%len(texts)]
			n++
			asked = append(asked, *req.Messages[0].Content[0].Text)
			if text == "panic" {
				panic("at the disco")
			}
			return scripted(modelio.TextPart(text)).Generate(ctx, req, stream)
		})
	}
	test := func(m modelio.Model, streams bool) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			var got []string
			req := generateRequest("hi")
			generates(&got, m, req, streams)(tb, tf)
			*req.Messages[0].Content[0].Text = "the request is the caller's again"
		}
	}
	for _, streams := range []bool{false, true} {
		name := fmt.Sprintf("TestIt%v", streams)
		s.record(name, test(live("hello"), streams))
		asked = nil
		tb, _ := s.check("repeat=3", name, test(live("hello"), streams))
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, []string{"hi", "hi", "hi"}, asked)

		tb, _ = s.check("", name, test(live("bye"), streams))
		require.Contains(t, tb.Logged(), "test answer drifted from ")
		require.Contains(t, tb.Logged(), "\n    - hello\n    + bye\n")
		tb, _ = s.check("", name, test(live("panic"), streams))
		require.Contains(t, tb.Logged(), "the live call panicked: at the disco")
		tb, _ = s.check("", name, test(nil, streams))
		require.Contains(t, tb.Logged(), "the test gives Recorder.Model no live model")
		require.True(t, tb.Failed())
	}
}

// TestCheckOfAnotherModel asks another model what is recorded, and shows both.
func TestCheckOfAnotherModel(t *testing.T) {
	s := newScene(t)
	chats := asks(newChat("one"), newChat("two"), newChat("three").with("model", "gpt-4o"))
	s.record("TestIt", chats)
	tb, calls := s.check("model=gpt-4o-mini=gpt-9", "TestIt", chats)
	require.Equal(t, 2, calls)
	require.False(t, tb.Failed(), "it says the same, and that it is another is no difference: %s", tb.Logged())
	for _, call := range s.provider.Calls()[3:] {
		require.Equal(t, "gpt-9", call.Model)
	}
	require.Contains(t, tb.Logged(), "check: 2 same, 1 not chosen")

	s.says("something else")
	tb, calls = s.check("model=gpt-4o-mini=gpt-9&from=2", "TestIt", chats)
	require.Equal(t, 1, calls)
	require.Contains(t, tb.Logged(), ", call 2: text (- recorded, + live)")
	require.Contains(t, tb.Logged(), "answered by: gpt-9, recorded by gpt-4o-mini")
	require.NotContains(t, tb.Logged(), "accept:", "there is nothing to accept as long as the code asks the old one")

	gemini := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := post(tf.Client(), "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
			map[string]any{"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hi"}}}},
				"generationConfig": map[string]any{"temperature": 0, "seed": 1}})
		if err != nil {
			tb.Errorf("%v", err)
		}
	}
	s.record("TestGemini", gemini)
	before := len(s.provider.Calls())
	_, calls = s.check("model=gemini-2.5-flash=gemini-3", "TestGemini", gemini)
	require.Equal(t, 1, calls)
	require.Equal(t, "/v1beta/models/gemini-3:generateContent", s.provider.Calls()[before].Path)
}

// TestCheckIsBounded has many calls checked at once, of which four at most are under way.
func TestCheckIsBounded(t *testing.T) {
	s := newScene(t)
	var chats []chat
	for i := range 20 {
		chats = append(chats, newChat(fmt.Sprint("call ", i)))
	}
	s.record("TestIt", asks(chats...))
	var now, most atomic.Int64
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		n := now.Add(1)
		defer now.Add(-1)
		for before := most.Load(); n > before && !most.CompareAndSwap(before, n); before = most.Load() {
		}
		runtime.Gosched()
		return fakeprovider.Text("something else")
	})
	tb, calls := s.check("repeat=2", "TestIt", asks(chats...))
	require.Equal(t, 40, calls)
	require.LessOrEqual(t, most.Load(), int64(4))
	require.Contains(t, tb.Logged(), "check: 20 drifted")
	require.Regexp(t, `15 more failures(?s:.*)accept: TRACEFORGE_UPDATE=all go test `, tb.Logged())
}

// A hurried is a test whose time is over.
type hurried struct{ *tbtest.TB }

func (hurried) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

// TestCheckOfToolThatNeverReturns leaves a tool alone that does not heed the end of its context, so that the others are told of.
func TestCheckOfToolThatNeverReturns(t *testing.T) {
	s := newScene(t)
	hangs := make(chan struct{})
	defer close(hangs)
	look := func(tool func()) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			out, err := tf.Tool("look", func(context.Context, json.RawMessage) (json.RawMessage, error) {
				tool()
				return json.RawMessage(`{}`), nil
			})(t.Context(), json.RawMessage(`{}`))
			require.NoError(t, err)
			require.Equal(t, `{}`, string(out), "as recorded")
		}
	}
	s.record("TestIt", look(func() {}))
	t.Setenv("TRACEFORGE_UPDATE", "check")
	t.Setenv("TRACEFORGE_CHECK", "kind=tools")
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
		tf := traceforgetest.New(hurried{tb}, traceforgetest.Dir(s.dir))
		look(func() { <-hangs })(tb, tf)
	})
	require.Contains(t, tb.Logged(), "result of tool look could not be checked")
	require.Contains(t, tb.Logged(), "it did not return in the time that there was, and is left running")
}

// TestCheckEndsInTime gives up live calls before go test gives up the test.
func TestCheckEndsInTime(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("hi")))
	t.Setenv("TRACEFORGE_UPDATE", "check")
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
		tf := traceforgetest.New(hurried{tb}, traceforgetest.Dir(s.dir), traceforgetest.Upstream(s.provider.Transport()))
		asks(newChat("hi"))(tb, tf)
	})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai gave no whole answer in the time that there was")
}

// TestCheckVariableAlone holds that options of a check fail where no check is made, which they would say nothing of.
func TestCheckVariableAlone(t *testing.T) {
	for _, mode := range []string{"", "1", "all", "tools", "rekey"} {
		t.Run("mode="+mode, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(newChat("hello")))
			t.Setenv("TRACEFORGE_CHECK", "kind=tools")
			tb := s.update(mode, "TestIt", asks(newChat("hello")))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "TRACEFORGE_CHECK=kind=tools counts only with TRACEFORGE_UPDATE=check or live")
		})
	}
}

// TestCheckOfServerMadeAfterNew: a server of the test's own, which is made after the recorder and closed before it, answers
// live calls while it is there.
func TestCheckOfServerMadeAfterNew(t *testing.T) {
	for _, deferred := range []bool{false, true} {
		s := newScene(t)
		test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			server, err := fakeprovider.Start()
			require.NoError(t, err)
			server.Handle(func(fakeprovider.Call) fakeprovider.Reply {
				time.Sleep(50 * time.Millisecond) // the program has long gone on
				return fakeprovider.Text("hello")
			})
			if deferred {
				defer server.Close()
			} else {
				tb.Cleanup(server.Close)
			}
			if _, err := post(tf.Client(), server.URL()+"/v1/chat/completions", newChat("hi")); err != nil {
				tb.Errorf("%v", err)
			}
		}
		run := func(mode string) *tbtest.TB {
			t.Setenv("TRACEFORGE_UPDATE", mode)
			return s.run("TestIt", test)
		}
		requirePass(t, run("1"))
		tb := run("check")
		requirePass(t, tb)
		require.Contains(t, tb.Logged(), "check: 1 same")
	}
}
