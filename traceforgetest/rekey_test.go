package traceforgetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// rekey runs a test that adopts stored answers; there is nothing that it could call.
func (s *scene) rekey(name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) *tbtest.TB {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", "rekey")
	defer s.t.Setenv("TRACEFORGE_UPDATE", "")
	return s.run(name, test, append(opts, traceforgetest.Upstream(unreachable{}))...)
}

// TestWithoutKey: where the key of a provider is not in the environment, a failure names the way out without one, and following it
// to the letter passes without a network.
func TestWithoutKey(t *testing.T) {
	const way = "without a key: TRACEFORGE_UPDATE=rekey go test github.com/traceforge/traceforge-go/traceforgetest -run '^TestIt$'"
	town, river := newChat("Name a big town"), newChat("Name a long river")
	small, short := newChat("Name a small town"), newChat("Name a short river")
	offline := traceforgetest.Upstream(roundTripper(func(req *http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: req.URL.Hostname(), IsNotFound: true}}
	}))
	reset := traceforgetest.Upstream(roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }))
	for _, c := range []struct {
		name, why string
		key       string
		mode      string
		upstream  traceforgetest.Option
		now       []chat
		way       bool
		network   bool // the way is named for want of a network
	}{
		{"replay", "no key", "", "", offline, []chat{small, river}, true, false},
		{"replay with a key", "an update can buy it", "mine", "", offline, []chat{small, river}, false, false},
		{"replay of two", "each adopts its own", "", "", offline, []chat{small, short}, true, false},
		{"replay of a stream", "the answer is none", "", "", offline, []chat{town.with("stream", true), river}, false, false},
		{"replay of a new call", "there is nothing to adopt", "", "", offline, []chat{town, river, newChat("xyz")}, false, false},
		{"replay of what is not deterministic", "nothing adopts it", "", "", offline, []chat{small.with("temperature", 0.5), river}, false, false},
		{"update", "neither a key nor a network", "", "1", offline, []chat{small, river}, true, false},
		{"update without a network", "with a key", "mine", "1", offline, []chat{small, river}, false, true},
		{"update, cut", "a network, and no key", "", "1", reset, []chat{small, river}, true, false},
		{"update of a new call", "there is nothing to adopt", "", "1", offline, []chat{town, river, newChat("xyz")}, false, false},
		{"update of two", "each adopts its own", "", "1", offline, []chat{small, short}, true, false},
		{"update of all", "what is recorded stays", "", "all", offline, []chat{town, river}, true, false},
		{"update of all, cut", "what is recorded stays", "", "all", reset, []chat{town, river}, true, false},
		{"update of all with a new call", "there is nothing to adopt", "", "all", offline, []chat{town, river, newChat("xyz")}, false, false},
		{"update of a changed and a new one", "one would adopt nothing", "", "1", offline, []chat{small, short, newChat("xyz")}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(town, river))
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				for _, call := range c.now {
					_, _ = send(tf.Client(), call)
				}
			}
			t.Setenv("OPENAI_API_KEY", c.key)
			t.Setenv("TRACEFORGE_UPDATE", c.mode)
			tb := s.run("TestIt", test, c.upstream)
			require.True(t, tb.Failed())
			named := strings.Contains(tb.Logged(), way) || strings.Contains(tb.Logged(), strings.Replace(way, "a key", "a network", 1))
			require.Equal(t, c.way, strings.Contains(tb.Logged(), way), "%s: %s", c.why, tb.Logged())
			require.Equal(t, c.way || c.network, named, "%s: %s", c.why, tb.Logged())
			require.NotContains(t, tb.Logged(), "TransportErrors", "a missing key or network is no golden")
			if named {
				requirePass(t, s.rekey("TestIt", test))
				t.Setenv("TRACEFORGE_UPDATE", "")
				requirePass(t, s.replay("TestIt", test))
			}
		})
	}
}

// TestStaleWithoutKey: an update buys the answer to a request that adopted one; without a key the way out keeps it.
func TestStaleWithoutKey(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("Name a big town")))
	changed := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = send(tf.Client(), newChat("Name a small town"))
	}
	requirePass(t, s.rekey("TestIt", changed))
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", changed, traceforgetest.Upstream(roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "without a key: TRACEFORGE_UPDATE=rekey go test github.com/traceforge/traceforge-go/traceforgetest -run '^TestIt$'")
	requirePass(t, s.rekey("TestIt", changed))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", changed))
}

// TestWithoutKeyInCI: the way out without a key is the same in CI, where the command that accepts has no flag.
func TestWithoutKeyInCI(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("Name a big town")))
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("CI", "true")
	tb := s.replay("TestIt", asks(newChat("Name a small town")))
	require.Contains(t, tb.Logged(), "accept: TRACEFORGE_UPDATE=1 go test github.com/traceforge/traceforge-go/traceforgetest -run '^TestIt$'\n")
	require.Contains(t, tb.Logged(), "without a key: TRACEFORGE_UPDATE=rekey go test github.com/traceforge/traceforge-go/traceforgetest -run '^TestIt$'")
	require.NotContains(t, tb.Logged(), "-update")
}

// requireProven holds the store to what traceforge verify holds it to.
func (s *scene) requireProven() {
	s.t.Helper()
	all, err := store.Open(s.dir)
	require.NoError(s.t, err)
	result, err := audit.Verify(all, recorder.Proven, lint.Deterministic)
	require.NoError(s.t, err)
	require.Empty(s.t, result.Findings)
}

// coreSum is the hash of a record's request, as exports have it.
func coreSum(t *testing.T, s *snapshot.Snapshot) canon.Hash {
	core, err := snapshot.RequestCore(&s.Request, s.Source.Ignored)
	require.NoError(t, err)
	return canon.Sum(core)
}

// TestRekey adopts the answers of calls that changed, and says of each record what stays and what it answered.
func TestRekey(t *testing.T) {
	town, river, street := newChat("Name a big town"), newChat("Name a long river"), newChat("Name a wide street")
	for _, x := range []struct {
		name, why string
		calls     []chat
		log       string
		stale     []int
	}{
		{"nothing", "what matches is served", []chat{town, river, street}, "", nil},
		{"prompt", "one drifted", []chat{town, newChat("Name a short river"), street}, "2 kept, 1 rekeyed (user message)", []int{2}},
		{"all", "the model is another", []chat{town.with("model", "m"), river.with("model", "m"), street.with("model", "m")}, "3 rekeyed (model)", []int{1, 2, 3}},
		{"stream", "so is how it is asked for", []chat{town, river, street.with("max_tokens", 9)}, "2 kept, 1 rekeyed (parameters: max_tokens)", []int{3}},
		{"order", "each adopts its own, in whichever order they come", []chat{newChat("Name a short river"), newChat("Name a small town"), street},
			"1 kept, 2 rekeyed (user message)", []int{1, 2}},
		{"less", "what is not called goes", []chat{town, newChat("Name a wide street, please")}, "1 kept, 1 rekeyed (user message), 1 removed", []int{3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t)
			calls := s.jitter()
			s.record("TestIt", asks(town, river, street))
			before := map[string]snapshot.Snapshot{}
			for _, record := range s.records("openai") {
				before[record.ID] = record
			}
			tb := s.rekey("TestIt", asks(x.calls...))
			requirePass(t, tb)
			if x.log == "" {
				require.Empty(t, tb.Logged(), x.why)
			} else {
				require.Equal(t, "LINE: traceforge: "+x.log, strings.TrimSpace(s.said(tb)), x.why)
			}
			for _, record := range s.records("openai") {
				was := before[record.ID]
				stale := strings.Contains(fmt.Sprint(x.stale), fmt.Sprint(record.Number()))
				require.Equal(t, was.Timestamp, record.Timestamp, x.why)
				require.Equal(t, stale, was.Hash != record.Hash, "record %d: %s", record.Number(), x.why)
				if stale {
					require.Equal(t, coreSum(t, &was), record.Response.Stale, "what it answered")
				}
				record.Response.Stale = ""
				require.Equal(t, was.Response, record.Response, "the answer, its bytes, latency, usage and headers")
			}
			s.requireProven()
			requirePass(t, s.replay("TestIt", asks(x.calls...)))

			once := s.files()
			require.Empty(t, s.rekey("TestIt", asks(x.calls...)).Logged(), "a second run has nothing to do")
			s.requireFiles(once)
			calls.Store(100)
			requirePass(t, s.update("1", "TestIt", asks(x.calls...)))
			require.EqualValues(t, len(x.stale), calls.Load()-100, "an update buys what is stale")
			for _, record := range s.records("openai") {
				require.Empty(t, record.Response.Stale)
			}
			requirePass(t, s.replay("TestIt", asks(x.calls...)))
		})
	}
}

// TestRekeyTwice keeps what an answer really answered.
func TestRekeyTwice(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("Name a big town")))
	first := coreSum(t, &s.records("openai")[0])
	requirePass(t, s.rekey("TestIt", asks(newChat("Name a small town"))))
	requirePass(t, s.rekey("TestIt", asks(newChat("Name a tiny town"))))
	require.Equal(t, first, s.records("openai")[0].Response.Stale)
	before := s.files()
	requirePass(t, s.rekey("TestIt", asks(newChat("Name a big town"))))
	require.Empty(t, s.records("openai")[0].Response.Stale, "the answer is that to this request")
	requirePass(t, s.rekey("TestIt", asks(newChat("Name a tiny town"))))
	s.requireFiles(before)
	s.provider.Reply(fakeprovider.Text("You said: Name a big town"))
	tb := s.update("1", "TestIt", asks(newChat("Name a tiny town")))
	require.Contains(t, tb.Logged(), "1 changed (stale answer), ", "the same answer clears the mark")
	require.Empty(t, s.records("openai")[0].Response.Stale)
	s.requireProven()
}

// TestRekeyFails holds that nothing is adopted where there is nothing, and that nothing is written then.
func TestRekeyFails(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("Name a big town")))
	before := s.files()
	for _, x := range []struct {
		name, why, says string
		calls           []chat
	}{
		{"more", "one call has nothing left", "openai request has no snapshot that it could adopt\n",
			[]chat{newChat("Name a small town"), newChat("Name a tiny town")}},
		{"a stream", "no stream can be read as one", "openai request has no snapshot that it could adopt\n",
			[]chat{newChat("Name a big town").with("stream", true)}},
		{"undetermined", "a record must hold the rule of determinism, whoever answered it", "openai request is not deterministic",
			[]chat{newChat("Name a small town").with("temperature", 1)}},
	} {
		t.Run(x.name, func(t *testing.T) {
			tb := s.rekey("TestIt", asks(x.calls...))
			require.True(t, tb.Failed(), x.why)
			require.Contains(t, tb.Logged(), x.says)
			s.requireFiles(before)
		})
	}
	tb := s.rekey("TestIt", asks(newChat("Name a small town"), newChat("Name a tiny town")))
	require.Regexp(t, `\n\s+buy it: go test \S+ -run '\^TestIt\$' -update\n`, tb.Logged())

	s.edit(filepath.Join(s.dir, filepath.FromSlash(strings.TrimSuffix(s.document("TestIt"), ".json")), "1.json"),
		func(raw string) string { return strings.Replace(raw, "You said", "You sang", 1) })
	require.True(t, s.rekey("TestIt", asks(newChat("Name a small town"))).Failed(), "an altered answer is nobody's")
}

// TestRekeyOfFailures adopts an error of the transport and an answer that was cut: the program gets them as they were recorded.
func TestRekeyOfFailures(t *testing.T) {
	allowed := traceforgetest.Allow(traceforgetest.TransportErrors | traceforgetest.CutStreams)
	for name, broken := range map[string]roundTripper{
		"no answer": func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"cut": func(req *http.Request) (*http.Response, error) {
			event := `data: {"choices":[{"index":0,"delta":{"content":"four"}}]}` + "\n\n"
			return &http.Response{StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: io.NopCloser(io.MultiReader(strings.NewReader(event), iotest.ErrReader(io.ErrUnexpectedEOF)))}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			town, river := newChat("Name a big town").with("stream", true), newChat("Name a long river").with("stream", true)
			var was, is error
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) { _, was = send(tf.Client(), town) },
				allowed, traceforgetest.Upstream(broken)))
			before := s.records("openai")[0]
			test := func(_ *tbtest.TB, tf *traceforgetest.Recorder) { _, is = send(tf.Client(), river) }
			requirePass(t, s.rekey("TestIt", test, allowed))
			require.ErrorContains(t, is, was.Error())
			after := s.records("openai")[0]
			require.NotEmpty(t, after.Response.Stale)
			after.Response.Stale = ""
			require.Equal(t, before.Response, after.Response)
			s.requireProven()
			requirePass(t, s.replay("TestIt", test, allowed))
		})
	}
}

// TestRekeyNumbersIDs adopts an answer with a tool call for a conversation in which another tool call came before:
// the number of its ref is another one, and the record proves itself.
func TestRekeyNumbersIDs(t *testing.T) {
	s := newScene(t)
	call := fakeprovider.Reply{ToolCalls: []fakeprovider.ToolCall{{ID: "call_abc", Name: "look", Arguments: `{"at":"x"}`}}}
	s.provider.Reply(call)
	ask := newChat("Look at the garden").with("tools", []any{map[string]any{"type": "function", "function": map[string]any{"name": "look"}}})
	s.record("TestIt", asks(ask))
	ref := func() string { return s.records("openai")[0].Response.Candidates[0].Message.Content[0].ToolRequest.Ref }
	require.Equal(t, "call_1", ref())
	longer := ask.with("messages", append([]any{
		map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "call_0", "type": "function", "function": map[string]any{"name": "look", "arguments": "{}"}}}},
		map[string]any{"role": "tool", "tool_call_id": "call_0", "content": "nothing"},
	}, ask["messages"].([]any)...))
	requirePass(t, s.rekey("TestIt", asks(longer)))
	require.Equal(t, "call_2", ref())
	s.requireProven()
	requirePass(t, s.replay("TestIt", asks(longer)))
}

// TestRekeyOfRules writes records again where rules have changed since: nothing is stale then, and -update does
// the same without a call.
func TestRekeyOfRules(t *testing.T) {
	const token = "tok_4f0c3a9b1e77aa"
	rule := traceforgetest.Scrub(traceforgetest.Pattern("token", regexp.MustCompile(`\btok_[0-9a-f]{14}\b`)))
	for _, x := range []struct {
		name, why     string
		before, after traceforgetest.Option
		log           string
		gone          bool
	}{
		{"scrub", "the token goes, from request and answer", traceforgetest.Ignore(), rule, "1 rekeyed (scrub rules)", true},
		{"ignore", "a pointer more", traceforgetest.Ignore(), traceforgetest.Ignore("/provider_options/user"), "1 rekeyed (ignored pointers)", false},
		{"ignore less", "a pointer less", traceforgetest.Ignore("/provider_options/user"), traceforgetest.Ignore(), "1 rekeyed (ignored pointers)", false},
	} {
		for _, mode := range []string{"rekey", "1"} {
			t.Run(x.name+" "+mode, func(t *testing.T) {
				s := newScene(t)
				calls := s.jitter()
				ask := asks(newChat("I am "+token).with("user", "me"))
				s.record("TestIt", ask, x.before)
				was := s.records("openai")[0]
				tb := s.update(mode, "TestIt", ask, x.after)
				requirePass(t, tb)
				require.EqualValues(t, 1, calls.Load(), x.why)
				require.Equal(t, "LINE: traceforge: "+x.log, strings.TrimSpace(s.said(tb)))
				is := s.records("openai")[0]
				require.Empty(t, is.Response.Stale, "the request is the same")
				require.Equal(t, was.Timestamp, is.Timestamp)
				if x.gone {
					s.requireNone(token)
				}
				s.requireProven()
				requirePass(t, s.replay("TestIt", ask, x.after))
				require.Empty(t, s.update(mode, "TestIt", ask, x.after).Logged(), "a second run has nothing to do")
			})
		}
	}
}

// TestRekeyOfAStream and of a model: an answer that is adopted comes as it was recorded.
func TestRekeyOfAStream(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("Count to three").with("stream", true)))
	raw, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(strings.TrimSuffix(s.document("TestIt"), ".json")), "1.sse"))
	require.NoError(t, err)
	var got string
	requirePass(t, s.rekey("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		got, err = send(tf.Client(), newChat("Count to three, please").with("stream", true))
		require.NoError(t, err)
	}))
	require.Equal(t, string(raw), got)
	s.requireProven()
	s.record("TestPlain", asks(newChat("Name a big town").with("stream", false)))
	requirePass(t, s.rekey("TestPlain", asks(newChat("Name a big town"))))

	model := func(text string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			require.Equal(t, tf.Recording(), os.Getenv("TRACEFORGE_UPDATE") == "1", "nothing is called that adopts")
			var live modelio.Model
			if tf.Recording() {
				live = scripted(modelio.TextPart("one thing"))
			}
			request := &modelio.GenerateRequest{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{{Text: &text}}}},
				Config: modelio.Object{"temperature": json.RawMessage("0")}}
			if _, err := tf.Model("test/scripted", live).Generate(t.Context(), request, nil); err != nil {
				tb.Fatalf("%v", err)
			}
		}
	}
	s.record("TestModel", model("Name a big town"))
	requirePass(t, s.rekey("TestModel", model("Name a small town")))
	require.NotEmpty(t, s.records("test")[0].Response.Stale)
	s.requireProven()
	requirePass(t, s.replay("TestModel", model("Name a small town")))
}

// TestRekeyOfEndpoints: of two calls with like bodies, each adopts the answer of its own endpoint, also where it differs more
// from that call.
func TestRekeyOfEndpoints(t *testing.T) {
	s := newScene(t)
	speak := func(text string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			for voice, body := range []map[string]any{{"text": text, "x": 1}, {"text": text}} {
				path := fmt.Sprintf("/v1/text-to-speech/voice%d", voice)
				said, err := post(tf.Client(), "https://api.elevenlabs.io"+path, body)
				if err != nil || !strings.Contains(said, path) {
					tb.Errorf("%s: %s %v", path, said, err)
				}
			}
		}
	}
	upstream := roundTripper(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(`{"said":"` + req.URL.Path + `"}`)), Request: req}, nil
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	reason := traceforgetest.Nondeterministic("speech has no seed")
	requirePass(t, s.run("TestIt", speak("Hello Go"), traceforgetest.Upstream(upstream), reason))
	requirePass(t, s.rekey("TestIt", speak("Hello Rust"), reason))
	requirePass(t, s.replay("TestIt", speak("Hello Rust"), reason))
}
