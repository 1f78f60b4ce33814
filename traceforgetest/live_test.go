package traceforgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An agentRun is a test of an agent that asks a model, then two tools for what it was told to, and then the model
// with what they said.
type agentRun struct {
	asks   string // what the first tool is asked for
	last   string // what the model is asked at the end
	counts func(n int) int
	runs   []string // of the tools
	said   []string // what the program got
}

func (a *agentRun) test(t *tbtest.TB, tf *traceforgetest.Recorder) {
	a.runs, a.said = nil, nil
	tool := func(name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return tf.Tool(name, func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
			a.runs = append(a.runs, name+string(input))
			return fmt.Appendf(nil, `{"count":%d}`, a.counts(len(a.runs))), nil
		})
	}
	say := func(said []byte, err error) { a.said = append(a.said, fmt.Sprint(string(said), err)) }
	first, err := send(tf.Client(), newChat("plan"))
	say([]byte(first), err)
	stock, err := tool("stock")(context.Background(), json.RawMessage(a.asks))
	say(stock, err)
	price, err := tool("price")(context.Background(), json.RawMessage(`{"sku":"b"}`))
	say(price, err)
	last, err := send(tf.Client(), newChat(fmt.Sprintf("%s from %s and %s", a.last, stock, price)))
	say([]byte(last), err)
}

func newAgentRun() *agentRun {
	return &agentRun{asks: `{"sku":"a"}`, last: "answer", counts: func(n int) int { return n }}
}

func TestCheckOfTools(t *testing.T) {
	s := newScene(t)
	a := newAgentRun()
	s.record("TestIt", a.test)
	recorded := a.said

	tb, calls := s.check("kind=tools", "TestIt", a.test)
	requirePass(t, tb)
	require.Zero(t, calls, "no model is asked")
	require.Equal(t, []string{`stock{"sku":"a"}`, `price{"sku":"b"}`}, a.runs, "the tools are run in the order of their calls")
	require.Contains(t, tb.Logged(), "check: 2 same, 2 not chosen")

	a.counts = func(n int) int { return n * 10 }
	tb, _ = s.check("kind=tools&tier=model", "TestIt", a.test)
	require.True(t, tb.Failed())
	require.Equal(t, recorded, a.said, "the program stays on the tape")
	require.Contains(t, s.said(tb), `2 results of tools drifted from STORE/FILE: tool stock, tool price (- recorded, + live)
call 2: tool stock: {"sku":"a"}
  /parts/0/toolResponse/output/count
- 1
+ 10
call 3: tool price: {"sku":"b"}
  /parts/0/toolResponse/output/count
- 2
+ 20
accept: TRACEFORGE_UPDATE=tools go test `)

	tb, calls = s.check("", "TestIt", a.test)
	requirePass(t, tb)
	require.Equal(t, 2, calls)
	require.Empty(t, a.runs, "a check of models runs no tool")
	tb, calls = s.check("kind=all", "TestIt", a.test)
	require.True(t, tb.Failed())
	require.Equal(t, 2, calls)
	require.Len(t, a.runs, 2)
}

// TestCheckOfToolThatFails says in two lines that a tool fails now, or does not any more, and in words that it returns no
// JSON.
func TestCheckOfToolThatFails(t *testing.T) {
	for _, c := range []struct {
		name, why string
		was, is   string // what it returns; "!…" is an error
		want      string
	}{
		{"fails_now", "the members of an error and of an output have nothing in common", `{"eur":49.9}`, "!price service is down",
			"call 1: tool price: {}\n- {\"eur\":49.9}\n+ error: price service is down\naccept: TRACEFORGE_UPDATE=tools"},
		{"works_now", "the other way", "!price service is down", `{"eur":49.9}`,
			"call 1: tool price: {}\n- error: price service is down\n+ {\"eur\":49.9}\naccept: TRACEFORGE_UPDATE=tools"},
		{"fails_otherwise", "both are errors", "!down", "!up", "call 1: tool price: {}\n  /error/message\n- down\n+ up\naccept:"},
		{"no_json", "it cannot be held against the record", `{"eur":49.9}`, "oops",
			"result of tool price could not be checked: STORE/tool/FILE, call 1\n  tool price returned no JSON: oops"},
		{"nothing", "as no_json", `{"eur":49.9}`, "", "  tool price returned no JSON, but nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			returns := func(said string) func(*tbtest.TB, *traceforgetest.Recorder) {
				return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
					tf.Tool("price", func(context.Context, json.RawMessage) (json.RawMessage, error) {
						if text, fails := strings.CutPrefix(said, "!"); fails {
							return nil, errors.New(text)
						}
						return json.RawMessage(said), nil
					})(context.Background(), json.RawMessage(`{}`))
				}
			}
			s.record("TestIt", returns(c.was))
			tb, _ := s.check("kind=tools", "TestIt", returns(c.is))
			require.True(t, tb.Failed())
			require.Contains(t, strings.ReplaceAll(s.said(tb), path.Base(s.document("TestIt")), "FILE"), c.want, c.why)
		})
	}
	s := newScene(t)
	tb := s.update("1", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		tf.Tool("price", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("oops"), nil })(
			context.Background(), nil)
	})
	require.Contains(t, s.said(tb), "tool price returned no JSON: oops: it was not recorded")
}

// TestCheckOfToolsByOption runs the tools in each replay of a test, whatever else the run is asked for.
func TestCheckOfToolsByOption(t *testing.T) {
	s := newScene(t)
	a := newAgentRun()
	option := traceforgetest.Check(traceforgetest.Tools)
	s.record("TestIt", a.test, option)
	requirePass(t, s.replay("TestIt", a.test, option))
	require.Len(t, a.runs, 2)
	a.counts = func(int) int { return 7 }
	tb := s.replay("TestIt", a.test, option)
	require.Contains(t, tb.Logged(), "2 results of tools drifted from")
	a.counts = func(n int) int { panic("no room") }
	tb = s.replay("TestIt", a.test, option)
	require.Contains(t, tb.Logged(), "result of tool stock could not be checked")
	require.Contains(t, tb.Logged(), "the live call panicked: no room")
	s.record("TestIt", a.test, option)
}

func TestCheckOfToolThatIsNotThere(t *testing.T) {
	s := newScene(t)
	var runs atomic.Int32
	var got []string
	s.record("TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":-1}`))
	tb, _ := s.check("kind=tools", "TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":-1}`))
	requirePass(t, tb)
	tb, _ = s.check("kind=tools", "TestIt", callsTool(&got, nil, `{"a":1}`, `{"a":-1}`))
	require.Contains(t, tb.Logged(), "the test gives Recorder.Tool no tool to run")
}

func TestLive(t *testing.T) {
	for _, c := range []struct {
		name, why, kind string
		calls, runs     int
		change          func(*scene, *agentRun)
		said            []string // parts of what the program got, of the model and of the first tool
		fails           string   // "": it passes
		note            string
	}{
		{"models", "the model says something else, and the program gets it", "", 2, 0, func(s *scene, _ *agentRun) { s.says("ho") },
			[]string{"ho", `{"count":1}`}, "", "live: 2 calls of models, 14 tokens, 2 calls answered by the tape"},
		{"tool_asked_otherwise", "the tape does not have what the model wants", "kind=models", 2, 0, func(_ *scene, a *agentRun) { a.asks = `{"sku":"z"}` },
			[]string{"plan", "tool stock was asked for"}, "tool stock was asked for what is not on the tape\n  tool stock: {\"sku\":\"z\"}\n" +
				"recorded: tool stock: {\"sku\":\"a\"}\nrun the tools too: TRACEFORGE_CHECK=kind=all TRACEFORGE_UPDATE=live go test ", ""},
		{"tools", "the tools say what they said", "kind=tools", 0, 2, func(*scene, *agentRun) {}, []string{"plan", `{"count":1}`}, "",
			"live: 2 calls of tools, 2 calls answered by the tape"},
		{"tools_otherwise", "the next request has what they say now", "kind=tools", 0, 2, func(_ *scene, a *agentRun) { a.counts = func(int) int { return 9 } },
			[]string{"plan", `{"count":9}`}, "changed: message 1 (user)\naccept: TRACEFORGE_UPDATE=tools go test ", ""},
		{"tools_prompt", "the tools say what they said, so that no update has to run them", "kind=tools", 0, 2, func(_ *scene, a *agentRun) { a.last = "reply" },
			[]string{"plan", `{"count":1}`}, "changed: message 1 (user)\naccept: go test ", ""},
		{"all", "nothing is of the tape", "kind=all", 2, 2, func(s *scene, a *agentRun) {
			s.says("ho")
			a.asks, a.counts = `{"sku":"z"}`, func(int) int { return 9 }
		}, []string{"ho", `{"count":9}`}, "", "live: 2 calls of models, 2 calls of tools, 14 tokens"},
		{"other_options", "they are of a check", "kind=all&repeat=2", 0, 0, func(*scene, *agentRun) {}, nil,
			"TRACEFORGE_CHECK=kind=all&repeat=2: with TRACEFORGE_UPDATE=live it says kind, from and model, and nothing else", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			a := newAgentRun()
			s.record("TestIt", a.test)
			a.runs = nil
			c.change(s, a)
			tb, calls := s.beside("live", c.kind, "TestIt", a.test)
			require.Equal(t, c.fails != "", tb.Failed(), tb.Logged())
			require.Contains(t, s.said(tb), c.fails)
			require.Contains(t, s.said(tb), c.note)
			require.Equal(t, c.calls, calls, c.why)
			require.Len(t, a.runs, c.runs, c.why)
			for i, said := range c.said {
				require.Contains(t, a.said[i], said, c.why)
			}
		})
	}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }

// TestLiveCountsCallsNotTries tells tries that came to nothing from the calls that were answered.
func TestLiveCountsCallsNotTries(t *testing.T) {
	s := newScene(t)
	tries := func(n int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			for range n {
				if _, err := send(tf.Client(), newChat("hi")); err == nil {
					return
				}
			}
		}
	}
	s.record("TestIt", tries(1))
	require.Regexp(t, "live: 3 tries failed$", s.run("TestIt", tries(3), traceforgetest.Live(), traceforgetest.Upstream(refusing{})).Logged())
	var asked int
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		if asked++; asked == 1 {
			return fakeprovider.Error(503, "server_error", "busy")
		}
		return fakeprovider.Text("hi")
	})
	tb := s.run("TestIt", tries(3), traceforgetest.Live(), traceforgetest.Upstream(s.provider.Transport()))
	require.Contains(t, tb.Logged(), "live: 1 call of models, 1 try failed, ")
}

// TestLiveAsksAgain holds that the tape answers what a live model asks once more, and says what it did not ask.
func TestLiveAsksAgain(t *testing.T) {
	s := newScene(t)
	inputs := []string{`{"a":1}`, `{"a":2}`}
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat("hi")); err != nil {
			tb.Errorf("%v", err)
		}
		var got []string
		callsTool(&got, add(new(atomic.Int32)), inputs...)(tb, tf)
		for _, said := range got {
			require.NotContains(t, said, "traceforge")
		}
	}
	s.record("TestIt", test)
	inputs = []string{`{"a":1}`, `{"a":1}`}
	tb := s.run("TestIt", test, traceforgetest.Live(), traceforgetest.Upstream(s.provider.Transport()))
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "live: 1 call of models, 7 tokens, 2 calls answered by the tape, not made: call 3")
	// It stays a golden test: without the option the second call is one too many.
	require.Contains(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		send(tf.Client(), newChat("hi"))
		callsTool(new([]string), nil, inputs...)(tb, tf)
	}).Logged(), "tool add was called once too often: there is 1 recording of it")
}

// TestToolThatCallsModels says while recording that a recorded tool must not make recorded calls: replay would miss them.
func TestToolThatCallsModels(t *testing.T) {
	s := newScene(t)
	tb := s.update("1", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		inner := tf.Tool("inner", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		tf.Tool("plan", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return inner(ctx, nil)
		})(context.Background(), nil)
	})
	require.Contains(t, tb.Logged(), "tool inner was called by tool plan, which is recorded itself\n"+
		"    replay does not run a recorded tool, so that this call would not be made: record the tool, or what it calls")
}

// TestLiveMayCall holds that a test is told to have ready what live calls need, be they of tools or of models.
func TestLiveMayCall(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", newAgentRun().test)
	for _, kind := range []traceforgetest.Kind{traceforgetest.Models, traceforgetest.Tools} {
		s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) { require.True(t, tf.Recording(), kind) }, traceforgetest.Live(kind))
	}
	s.run("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) { require.False(t, tf.Recording()) })
}

// TestUnknownKind: a name that is no kind fails at once, in whatever mode and beside whatever else, as it would change
// nothing.
func TestUnknownKind(t *testing.T) {
	s := newScene(t)
	for _, opt := range []traceforgetest.Option{
		traceforgetest.Live("typo"), traceforgetest.Live(traceforgetest.Models, "typo"), traceforgetest.Check("typo"),
		traceforgetest.Check(traceforgetest.Tools, traceforgetest.Tools, "typo"),
	} {
		for _, mode := range []string{"", "1", "check"} {
			tb := s.update(mode, "TestIt", func(*tbtest.TB, *traceforgetest.Recorder) { t.Error("it went on") }, opt)
			require.Contains(t, tb.Logged(), `"typo" is no kind of calls, for Check and Live: use traceforgetest.Models, traceforgetest.Tools or both`)
			require.True(t, tb.Failed())
		}
	}
}

// TestLiveNeedsWhatIsLive needs the model, or the tool, only where its calls are live.
func TestLiveNeedsWhatIsLive(t *testing.T) {
	tool := func(_ *tbtest.TB, tf *traceforgetest.Recorder) { tf.Tool("weather", nil) }
	model := func(_ *tbtest.TB, tf *traceforgetest.Recorder) { tf.Model("google/gemini-2.5-flash", nil) }
	const needsTool, needsModel = "recording tool weather needs the tool itself", "recording google/gemini-2.5-flash needs the model itself"
	s := newScene(t)
	for _, c := range []struct {
		live  traceforgetest.Kind
		test  func(*tbtest.TB, *traceforgetest.Recorder)
		text  string
		needs bool
	}{
		{traceforgetest.Models, tool, needsTool, false}, {traceforgetest.Tools, tool, needsTool, true},
		{traceforgetest.Tools, model, needsModel, false}, {traceforgetest.Models, model, needsModel, true},
	} {
		tb := s.replay("TestIt", c.test, traceforgetest.Live(c.live), traceforgetest.Allow(traceforgetest.NoCalls))
		require.Equal(t, c.needs, strings.Contains(tb.Logged(), c.text), "%s: %s", c.live, tb.Logged())
	}
}
