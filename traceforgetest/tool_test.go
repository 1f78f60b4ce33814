package traceforgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/rehearsal"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// add is a tool that adds two numbers, and counts its runs.
func add(runs *atomic.Int32) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
		runs.Add(1)
		var in struct{ A, B int }
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		if in.A < 0 {
			return nil, errors.New("a is negative")
		}
		return fmt.Appendf(nil, `{"sum": %d, "in": "<km>"}`, in.A+in.B), nil
	}
}

// callsTool is a test that calls the tool add with inputs, in order, and keeps what it got.
func callsTool(got *[]string, run func(context.Context, json.RawMessage) (json.RawMessage, error), inputs ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		tool := tf.Tool("add", run)
		for _, input := range inputs {
			output, err := tool(context.Background(), json.RawMessage(input))
			*got = append(*got, fmt.Sprint(string(output), " ", err))
		}
	}
}

func TestToolReplay(t *testing.T) {
	for _, c := range []struct {
		name, why string
		inputs    []string
		want      []string
	}{
		{"output", "as the tool spells it", []string{`{"a":1,"b":2}`}, []string{`{"sum":3,"in":"<km>"} <nil>`}},
		{"error", "its text comes back", []string{`{"a":-1}`}, []string{` a is negative`}},
		{"twice", "equal calls are two records", []string{`{"a":1}`, `{"a":1}`}, []string{`{"sum":1,"in":"<km>"} <nil>`, `{"sum":1,"in":"<km>"} <nil>`}},
		{"spelling", "the order of members is no difference", []string{`{"b":2,"a":1}`}, []string{`{"sum":3,"in":"<km>"} <nil>`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var runs atomic.Int32
			var recorded, replayed []string
			s.record("TestIt", callsTool(&recorded, add(&runs), c.inputs...))
			require.Equal(t, c.want, recorded, c.why)
			requirePass(t, s.replay("TestIt", callsTool(&replayed, nil, c.inputs...)))
			require.Equal(t, recorded, replayed, c.why)
			require.EqualValues(t, len(c.inputs), runs.Load())
			s.requireWhole()
		})
	}
}

func TestToolRecord(t *testing.T) {
	s := newScene(t)
	var runs atomic.Int32
	var got []string
	s.record("TestIt", callsTool(&got, add(&runs), `{"a":1,"b":2}`))
	require.Len(t, s.documents("tool"), 1)
	record := s.records("tool")[0]
	require.Equal(t, modelio.ToolAPI, record.Request.API)
	require.Equal(t, "add", record.Request.Model)
	require.Equal(t, modelio.RoleModel, record.Request.Messages[0].Role)
	require.JSONEq(t, `{"a":1,"b":2}`, string(record.Request.Messages[0].Content[0].ToolRequest.Input))
	require.JSONEq(t, `{"sum":3,"in":"<km>"}`, string(record.Response.Candidates[0].Message.Content[0].ToolResponse.Output))
	for name, text := range s.files() {
		if strings.HasSuffix(name, "/1.json") {
			require.Equal(t, `{"message":{"content":[{"toolResponse":{"name":"add","output":{"sum":3,"in":"<km>"}}}],"role":"tool"}}`+"\n", text)
		}
	}
}

func TestToolDrift(t *testing.T) {
	s := newScene(t)
	var runs atomic.Int32
	var got []string
	s.record("TestIt", callsTool(&got, add(&runs), `{"a":1,"b":2}`))
	tb := s.replay("TestIt", callsTool(&got, nil, `{"a":1,"b":3}`))
	require.Equal(t, `LINE: traceforge: tool add drifted from STORE/tool/`+filepath.Base(s.documents("tool")[0])+
		`, call 1 (- recorded, + got)
      input of tool add
    - add({"a":1,"b":2})
    + add({"a":1,"b":3})
    ?                ^
    changed: input of tool add
    accept: `, s.text(tb)[:strings.Index(s.text(tb), "accept: ")+len("accept: ")])
	require.Contains(t, got[len(got)-1], "traceforge: tool add drifted from")

	other := func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		tf.Tool("sub", nil)(context.Background(), json.RawMessage(`{"a":1,"b":2}`))
	}
	tb = s.replay("TestIt", other)
	require.Contains(t, tb.Logged(), "tool sub has no snapshot: the test has 1 recorded call, and none fits it\n"+
		"      tool sub: {\"a\":1,\"b\":2}\n    not called so far: call 1: tool add: {\"a\":1,\"b\":2}")
	require.NotContains(t, tb.Logged(), "bought")
}

func TestToolUpdate(t *testing.T) {
	s := newScene(t)
	var runs atomic.Int32
	var got []string
	s.record("TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":2}`))
	require.EqualValues(t, 2, runs.Load())
	tb := s.update("1", "TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":3}`))
	require.EqualValues(t, 3, runs.Load(), "what did not change is kept, and its tool not run")
	require.Contains(t, tb.Logged(), "1 kept, 1 changed (input of tool add, result of tool add)")
	tb = s.update("rekey", "TestIt", callsTool(&got, nil, `{"a":1}`, `{"a":4}`))
	require.False(t, tb.Failed(), tb.Logged())
	require.EqualValues(t, 3, runs.Load())
	tb = s.update("all", "TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":4}`))
	require.EqualValues(t, 5, runs.Load())
	require.Contains(t, tb.Logged(), "1 kept, 1 changed (result of tool add)")
	s.requireWhole()
	// A test that fails keeps what its tools said, as their work must not be done twice.
	s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		callsTool(&got, add(&runs), `{"a":1}`, `{"a":5}`)(t, tf)
		t.Fail()
	})
	require.EqualValues(t, 6, runs.Load())
	s.record("TestIt", callsTool(&got, add(&runs), `{"a":1}`, `{"a":5}`))
	require.EqualValues(t, 6, runs.Load(), "the pending answer was used")
}

// TestToolUpdateTools: a tool that returns something else now is accepted without buying models whose requests are the same.
func TestToolUpdateTools(t *testing.T) {
	s := newScene(t)
	price, runs, asked := 5, 0, 0
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		asked++
		return fakeprovider.Text("I see")
	})
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("hello"))
		require.NoError(t, err)
		output, err := tf.Tool("price", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			runs++
			return fmt.Appendf(nil, `{"eur":%d}`, price), nil
		})(context.Background(), json.RawMessage(`{}`))
		require.NoError(t, err)
		_, err = send(tf.Client(), newChat("it costs "+string(output)))
		require.NoError(t, err)
	}
	s.record("TestIt", test)
	require.Equal(t, 2, asked)
	price = 6
	requirePass(t, s.replay("TestIt", test))
	s.update("1", "TestIt", test)
	require.Equal(t, 1, runs, "an update runs no tool whose input is the same")
	tb := s.update("tools", "TestIt", test)
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, 2, runs)
	require.Equal(t, 3, asked, "the first call is the same, the last one says the new price")
	require.Contains(t, tb.Logged(), "1 kept, 2 changed (")
	requirePass(t, s.replay("TestIt", test))
	require.Equal(t, 2, runs)
	s.requireWhole()
}

// TestToolPairsByName holds that a changed call of a tool takes the record of that tool, whatever order they come in.
func TestToolPairsByName(t *testing.T) {
	s := newScene(t)
	both := func(first, second string, n int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, name := range []string{first, second} {
				run := func(context.Context, json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(`"` + name + `"`), nil
				}
				tf.Tool(name, run)(context.Background(), json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)))
			}
		}
	}
	s.record("TestIt", both("add", "sub", 1))
	tb := s.update("1", "TestIt", both("sub", "add", 2))
	require.Contains(t, tb.Logged(), "2 changed (input of tool sub, input of tool add)")
	require.NotContains(t, tb.Logged(), "answer")
}

func TestToolMistakes(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		name, why string
		run       func(context.Context, json.RawMessage) (json.RawMessage, error)
		input     string
		want      string
	}{
		{"input", "no JSON was sent", add(new(atomic.Int32)), `{"a":`, "tool add: the request cannot be kept: "},
		{"output", "no JSON came back", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage("3 km"), nil
		}, `{}`, "tool add returned no JSON: 3 km: it was not recorded"},
		{"cancelled", "the test's own doing", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, fmt.Errorf("adding: %w", context.Canceled)
		}, `{}`, "tool add gave no answer: adding: context canceled: it was not recorded"},
		{"secret", "a tool's output is a place for keys", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"sk-proj-` + strings.Repeat("aB3dE5", 8) + `"`), nil
		}, `{}`, "tool add call holds "},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := s.update("1", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
				tf.Tool("add", c.run)(context.Background(), json.RawMessage(c.input))
			})
			require.True(t, tb.Failed(), c.why)
			require.Contains(t, tb.Logged(), c.want, c.why)
			require.Empty(t, s.documents("tool"))
		})
	}
	tb := s.update("1", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) { tf.Tool("add", nil) })
	require.Contains(t, tb.Logged(), "recording tool add needs the tool itself")
	tb = s.replay("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) { tf.Tool("", nil) })
	require.Contains(t, tb.Logged(), "the tool has no name")
}

// TestToolsAndModelsOnOneTape records an agent's turns: its document has the calls in their order, and tools that run
// at once are in the order of what they were asked, however they end.
func TestToolsAndModelsOnOneTape(t *testing.T) {
	s := newScene(t)
	agent := func(run func(context.Context, json.RawMessage) (json.RawMessage, error)) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			tool := tf.Tool("add", run)
			if _, err := send(tf.Client(), newChat("go")); err != nil {
				t.Fatalf("%v", err)
			}
			var group sync.WaitGroup
			for n := range 8 {
				group.Go(func() { tool(context.Background(), json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))) })
			}
			group.Wait()
			if _, err := send(tf.Client(), newChat("went")); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	together := func() func(context.Context, json.RawMessage) (json.RawMessage, error) { // all of them are under way before one ends
		var all sync.WaitGroup
		all.Add(8)
		return func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
			all.Done()
			all.Wait()
			return input, nil
		}
	}
	s.record("TestIt", agent(together()))
	require.Len(t, s.documents("openai"), 1)
	require.Empty(t, s.documents("tool"))
	for n, record := range s.records("tool") {
		require.Equal(t, n+2, record.Number())
		require.JSONEq(t, fmt.Sprintf(`{"n":%d}`, n), string(record.Request.Messages[0].Content[0].ToolRequest.Input))
	}
	require.Len(t, s.records("tool"), 8)
	requirePass(t, s.replay("TestIt", agent(nil)))
	before := s.files()
	s.record("TestIt", agent(forbiddenTool))
	s.requireFiles(before)
}

func forbiddenTool(context.Context, json.RawMessage) (json.RawMessage, error) {
	panic("a tool was run whose call is recorded")
}

func TestToolOtherRules(t *testing.T) {
	s := newScene(t)
	run := func(_ context.Context, input json.RawMessage) (json.RawMessage, error) { return input, nil }
	calls := func(input string, got *string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			output, err := tf.Tool("add", run)(context.Background(), json.RawMessage(input))
			*got = fmt.Sprint(string(output), err)
		}
	}
	var got string
	scrub := traceforgetest.Scrub(traceforgetest.Volatile())
	s.record("TestScrub", calls(`{"id":"6f1f9d2e-0c7b-4a55-9d3e-1b2c3d4e5f60"}`, &got), scrub)
	requirePass(t, s.replay("TestScrub", calls(`{"id":"7a1f9d2e-0c7b-4a55-9d3e-1b2c3d4e5f61"}`, &got), scrub))
	require.Equal(t, `{"id":"7a1f9d2e-0c7b-4a55-9d3e-1b2c3d4e5f61"}<nil>`, got, "the value of the run stands in the output")

	ignore := traceforgetest.Ignore("/messages/0/content/0/toolRequest/input/at")
	s.record("TestIgnore", calls(`{"at":1,"n":2}`, &got), ignore)
	requirePass(t, s.replay("TestIgnore", calls(`{"at":5,"n":2}`, &got), ignore))
	tb := s.replay("TestIgnore", calls(`{"at":5,"n":3}`, &got), ignore)
	require.Contains(t, tb.Logged(), "changed: input of tool add")
}

func TestClientOver(t *testing.T) {
	s := newScene(t)
	var asked atomic.Int32
	own := roundTripper(func(req *http.Request) (*http.Response, error) {
		asked.Add(1)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(`{"from":"its own"}`)), Request: req}, nil
	})
	calls := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		got, err := post(tf.ClientOver(own), "http://server.internal/v1/x", map[string]int{"n": 1})
		if err != nil || got != `{"from":"its own"}` {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := send(tf.Client(), newChat("hi")); err != nil {
			t.Errorf("%v", err)
		}
	}
	s.record("TestIt", calls)
	requirePass(t, s.replay("TestIt", calls))
	require.EqualValues(t, 1, asked.Load())
}

// priced is a program that asks a model, then a tool for a price, and the model again with what that said; the model
// answers the second time only while it is up.
type priced struct {
	s           *scene
	price, runs int
	down        bool
	got         string // the price that the program got
}

func newPriced(t *testing.T) *priced {
	p := &priced{s: newScene(t), price: 99}
	p.s.provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
		if p.down {
			return fakeprovider.Error(503, "server_error", "busy")
		}
		return fakeprovider.Text("I see")
	})
	return p
}

func (p *priced) test(tb *tbtest.TB, tf *traceforgetest.Recorder) {
	asks(newChat("hello"))(tb, tf)
	output, err := tf.Tool("price", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		p.runs++
		return fmt.Appendf(nil, `{"eur":%d}`, p.price), nil
	})(context.Background(), json.RawMessage(`{}`))
	p.got = fmt.Sprint(string(output), err)
	asks(newChat("it costs "+string(output)))(tb, tf)
}

// TestToolUpdateToolsThatFails follows the way out of a run that could not ask the model: it names the mode of that run,
// another update does not throw the tool's result away, and the next run of the tools does not use it.
func TestToolUpdateToolsThatFails(t *testing.T) {
	p := newPriced(t)
	p.s.record("TestIt", p.test)
	p.price, p.down = 100, true
	failed := p.s.text(p.s.update("tools", "TestIt", p.test))
	require.Contains(t, failed, "record again: TRACEFORGE_UPDATE=tools go test ")
	require.NotContains(t, failed, "-update")
	require.Contains(t, failed, "1 new answer waits in STORE/.pending: the next TRACEFORGE_UPDATE=tools uses those of models, and runs the tools again; ")

	waiting := p.s.waiting()
	plain := p.s.update("1", "TestIt", p.test)
	requirePass(t, plain)
	require.Contains(t, p.s.text(plain), "1 answer still waits in STORE/.pending, as the calls are kept as they were recorded; accept or reject it: traceforge accept ")
	require.Equal(t, waiting, p.s.waiting())
	require.Equal(t, `{"eur":99}<nil>`, p.got)

	p.price, p.down = 101, false
	runs := p.runs
	requirePass(t, p.s.update("tools", "TestIt", p.test))
	require.Equal(t, `{"eur":101}<nil>`, p.got, "the tool runs again")
	require.Equal(t, runs+1, p.runs)
	require.Empty(t, p.s.waiting())
	requirePass(t, p.s.replay("TestIt", p.test))
	require.Equal(t, `{"eur":101}<nil>`, p.got)
	p.s.requireWhole()
}

// TestToolRepairedAfterFailure follows the way out of a tool that was wrong while its test was recorded: an update uses its
// result, which waits, so that the run names the command that runs the tool again.
func TestToolRepairedAfterFailure(t *testing.T) {
	for _, c := range []struct {
		name string
		busy bool // the model fails because of what the tool said
	}{{"asserted", false}, {"model", true}} {
		t.Run(c.name, func(t *testing.T) {
			p := newPriced(t)
			p.s.provider.Handle(func(call fakeprovider.Call) fakeprovider.Reply {
				if c.busy && strings.Contains(string(call.Body), "-1") {
					return fakeprovider.Error(500, "server_error", "bad price")
				}
				return fakeprovider.Text("I see")
			})
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				p.test(tb, tf)
				if p.got != `{"eur":12}<nil>` {
					tb.Errorf("got %s", p.got)
				}
			}
			p.price = -1
			p.s.update("1", "TestIt", test)
			p.price = 12
			again := p.s.text(p.s.update("1", "TestIt", test))
			require.Equal(t, `{"eur":-1}<nil>`, p.got)
			require.Regexp(t, `new answers wait in STORE/\.pending: .*
 +a tool whose result waits is not run again; to run the tools again: TRACEFORGE_UPDATE=tools go test .* -run '\^TestIt\$'\n`, again)
			requirePass(t, p.s.update("tools", "TestIt", test))
			require.Equal(t, 2, p.runs)
			requirePass(t, p.s.replay("TestIt", test))
		})
	}
}

// TestToolResultsThatWaitOnce holds that a new call of a tool waits once, however often its test fails.
func TestToolResultsThatWaitOnce(t *testing.T) {
	s := newScene(t)
	var got []string
	s.record("TestIt", callsTool(&got, add(new(atomic.Int32)), `{"a":1}`))
	for range 3 {
		s.update("tools", "TestIt", fails(callsTool(&got, add(new(atomic.Int32)), `{"a":1}`, `{"a":2}`)))
		require.Len(t, s.waiting(), 2)
	}
}

// TestToolAcceptedWithoutModel accepts what a tool returns now and buys nothing: the model's answer is adopted.
func TestToolAcceptedWithoutModel(t *testing.T) {
	p := newPriced(t)
	p.s.record("TestIt", p.test)
	asked := len(p.s.provider.Calls())
	p.price, p.down = 100, true
	require.True(t, p.s.update("tools", "TestIt", p.test).Failed())
	st, _ := p.s.open()
	name := strings.TrimSuffix(filepath.Base(p.s.document("TestIt")), ".json")
	_, err := audit.Accept(st, []string{name + "-2"})
	require.NoError(t, err)
	asked = len(p.s.provider.Calls()) - asked
	requirePass(t, p.s.rekey("TestIt", p.test))
	requirePass(t, p.s.replay("TestIt", p.test))
	require.Equal(t, `{"eur":100}<nil>`, p.got)
	require.Equal(t, 1, asked, "only the try that was refused")
	p.s.requireWhole()
}

// A myTool is a program's own type of tools.
type myTool func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)

// TestToolOfAnyType holds that what Tool returns is of any such type, and takes one.
func TestToolOfAnyType(t *testing.T) {
	s := newScene(t)
	own := myTool(func(_ context.Context, input json.RawMessage) (json.RawMessage, error) { return input, nil })
	s.record("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		var tool myTool = tf.Tool("own", own)
		output, err := tool(context.Background(), json.RawMessage(`1`))
		require.NoError(t, err)
		require.Equal(t, "1", string(output))
	})
}

// TestToolThatPanics holds that what no replay can do again is not recorded, and said.
func TestToolThatPanics(t *testing.T) {
	for _, allowed := range []traceforgetest.Allowance{0, traceforgetest.TransportErrors} {
		s := newScene(t)
		tb := s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			recovered(tf.Tool("add", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("it is broken") }))(context.Background(), nil)
		}, traceforgetest.Allow(allowed))
		require.Contains(t, tb.Logged(), "tool add gave no answer: it panicked, or ended its goroutine: it was not recorded")
		require.NotContains(t, tb.Logged(), "keep the error")
		require.Empty(t, s.documents("tool"))
	}
}

// TestToolThatIsCancelled holds that of a turn in which a tool failed only what the answer asked for is cancelled, once for
// each time that it asked, and at once.
func TestToolThatIsCancelled(t *testing.T) {
	s := newScene(t)
	fails := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("closed") }
	test := func(inputs ...int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			asks(newChat("go"))(tb, tf)
			tf.Tool("fail", fails)(context.Background(), failing[2].Input())
			for _, n := range inputs {
				_, err := tf.Tool("wait", fails)(context.Background(), rehearsal.Tool{N: n}.Input())
				if err != context.Canceled {
					tb.Errorf("%d: %v", n, err)
				}
			}
		}
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", test(), traceforgetest.Upstream(failing)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", test(1)))
	for _, c := range []struct {
		why    string
		inputs []int
	}{{"another input", []int{7}}, {"once more than the answer asked", []int{1, 1}}} {
		tb := s.replay("TestIt", test(c.inputs...))
		require.Contains(t, tb.Logged(), "tool wait has no snapshot", c.why)
	}
}

// firstError runs functions at once, and cancels none. told is called when the first error has come.
func firstError(told func()) func([]func(context.Context) error) error {
	return func(do []func(context.Context) error) (first error) {
		errs := make(chan error, len(do))
		for _, f := range do {
			go func() { errs <- f(context.Background()) }()
		}
		for range do {
			if err := <-errs; err != nil && first == nil {
				first = err
				told()
			}
		}
		return first
	}
}

// TestErrorOfAFailingTool: a replay gives a program the error of the tool that failed, and not that of a tool which was
// cancelled for it, whether the program cancels the others or leaves them.
func TestErrorOfAFailingTool(t *testing.T) {
	model := rehearsal.Model{{Name: "wait", N: 1}, {Name: "fail", N: 2}, {Name: "wait", N: 3}}
	for _, name := range []string{"group", "first"} {
		t.Run(name, func(t *testing.T) {
			s, over, run := newScene(t), make(chan bool), inGroup
			if name == "first" {
				run = firstError(sync.OnceFunc(func() { close(over) }))
			}
			tools := map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
				"wait": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
					select {
					case <-ctx.Done():
					case <-over: // after the recording, replays run no tool
					}
					return nil, context.Canceled
				},
				"fail": func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("closed") },
			}
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				asks(newChat("go"))(tb, tf)
				var do []func(context.Context) error
				for _, asked := range model {
					tool := tf.Tool(asked.Name, tools[asked.Name])
					do = append(do, func(ctx context.Context) error {
						_, err := tool(ctx, asked.Input())
						return err
					})
				}
				if err := run(do); err == nil || err.Error() != "closed" {
					tb.Errorf("the first error: %v", err)
				}
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(model)))
			require.Len(t, s.records("tool"), 1)
			for _, mode := range []string{"", "1", "rekey"} {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				for range 30 {
					synctest.Test(t, func(t *testing.T) { // where no grace is over before the failed tool's caller knows
						requirePass(t, s.replay("TestIt", test))
					})
				}
			}
		})
	}
}

// TestToolFailureIsToldOnce: an agent tells the model that its tool failed, which is no drift of its own.
func TestToolFailureIsToldOnce(t *testing.T) {
	s := newScene(t)
	test := func(input string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			price := tf.Tool("price", func(context.Context, json.RawMessage) (json.RawMessage, error) { return []byte(`"12 EUR"`), nil })
			said, err := price(context.Background(), []byte(input))
			if err != nil {
				said = []byte("error: " + err.Error())
			}
			_, _ = send(tf.Client(), newChat("it costs "+string(said)))
			_, _ = send(tf.Client(), newChat("and now, as it costs "+string(said)+", what?"))
		}
	}
	s.record("TestIt", test(`{"of":"a"}`))
	tb := s.replay("TestIt", test(`{"of":"b"}`))
	require.True(t, tb.Failed())
	require.Equal(t, 1, strings.Count(tb.Logged(), "drifted"), tb.Logged())
	requirePass(t, s.update("1", "TestIt", test(`{"of":"b"}`)))
}
