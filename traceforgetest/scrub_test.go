package traceforgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

var volatileToo = traceforgetest.Scrub(traceforgetest.Volatile())

// runID makes the n-th uuid of a run.
func runID(run, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", run, n) }

// requireNone fails the test if a file of the store has one of these.
func (s *scene) requireNone(texts ...string) {
	s.t.Helper()
	for name, data := range s.files() {
		for _, text := range texts {
			require.NotContains(s.t, data, text, name)
		}
	}
}

// TestScrubAgent holds that a program works on with its own values: what a model was told of one run's
// directory is replayed with that of another.
func TestScrubAgent(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s := newScene(t)
		agent := func(dir string, run int) func(*tbtest.TB, *traceforgetest.Recorder) {
			return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				ask := newChat(fmt.Sprintf("job %s: write to %s/out.txt", runID(run, 1), dir)).with("stream", stream).
					with("user", runID(run, 2)).with("metadata", map[string]any{"started": fmt.Sprintf("2025-11-21T10:00:%02dZ", run)})
				answer, err := send(tf.Client(), ask)
				require.NoError(t, err)
				path := regexp.MustCompile(`/tmp/[^"\\ ]+/out\.txt`).FindString(joined(answer))
				require.Equal(t, dir+"/out.txt", path, "the program goes on with what it gets")
				ask["messages"] = append(ask["messages"].([]any), map[string]any{"role": "assistant", "content": path},
					map[string]any{"role": "user", "content": "and " + runID(run, 1)})
				_, err = send(tf.Client(), ask)
				require.NoError(t, err)
			}
		}
		s.record("TestX", agent("/tmp/TestX111/001", 1), volatileToo)
		s.requireNone("/tmp/", runID(1, 1), runID(1, 2), "2025-11-21T10:00:01Z")
		s.requireWhole()
		document := s.files()[s.document("TestX")]
		require.Contains(t, document, "job {{uuid:2}}: write to {{tmp:1}}/out.txt", "the options are counted first")
		require.Contains(t, document, `"user": "{{uuid:1}}"`)
		require.Contains(t, document, `"started": "{{time:1}}"`)

		require.Empty(t, s.replay("TestX", agent("/tmp/TestX222/001", 2), volatileToo).Logged())
		before := s.files()
		s.record("TestX", agent("/tmp/TestX333/001", 3), volatileToo)
		s.requireFiles(before)
	}
}

// joined returns the text of a streamed chat.
func joined(answer string) string {
	var all strings.Builder
	for _, m := range regexp.MustCompile(`"content": ?"([^"]*)"`).FindAllStringSubmatch(answer, -1) {
		all.WriteString(m[1])
	}
	return all.String()
}

func TestScrubConcurrentCalls(t *testing.T) {
	s := newScene(t)
	const calls = 12
	ask := func(run int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			var wait sync.WaitGroup
			for n := range calls {
				wait.Go(func() {
					answer, err := send(tf.Client(), newChat(fmt.Sprintf("%s is task %d of %s", runID(run, n), n, runID(run, 99))))
					if err != nil || !strings.Contains(answer, runID(run, n)) {
						tb.Errorf("%d: %v, %s", n, err, answer)
					}
				})
			}
			wait.Wait()
		}
	}
	s.record("TestX", ask(1), volatileToo)
	for run := 2; run < 6; run++ {
		require.Empty(t, s.replay("TestX", ask(run), volatileToo).Logged())
	}
	before := s.files()
	s.record("TestX", ask(7), volatileToo)
	s.requireFiles(before)
}

// TestScrubSecrets holds that nothing of a secret is kept, wherever it is said, that what is kept is no
// secret any more, and that replay needs none.
func TestScrubSecrets(t *testing.T) {
	s := newScene(t)
	const token, order = "tok_4f0c3a9b1e77aa", "ORD-20251121"
	tenant := "acme \"corp\"/eu"
	t.Setenv("SHOP_TOKEN", token)
	rules := func() traceforgetest.Option {
		return traceforgetest.Scrub(traceforgetest.Value("token", os.Getenv("SHOP_TOKEN")), traceforgetest.Value("tenant", tenant),
			traceforgetest.Pattern("order", regexp.MustCompile(`\bORD-[0-9]{8}\b`)))
	}
	prompts := func(token, order string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, text := range []string{"as " + token, tenant, `{"tenant":"acme \"corp\"/eu"}`, "https://shop.example.com/?t=acme+%22corp%22%2Feu", order} {
				answer, err := send(tf.Client(), newChat(text))
				require.NoError(t, err)
				require.Contains(t, answer, strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`))
			}
			answer, err := send(tf.Client(), newChat("which order?").with("user", order))
			require.NoError(t, err)
			if answer = regexp.MustCompile(`ORD-\d+`).FindString(answer); answer == "" {
				tb.Errorf("no order")
			}
			_, err = send(tf.Client(), newChat("cancel "+answer))
			require.NoError(t, err)
		}
	}
	s.provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
		if strings.Contains(c.LastUser(), "which order") {
			return fakeprovider.Reply{Text: "it is ORD-99999999"}
		}
		return fakeprovider.Echo()(c)
	})
	s.record("TestX", prompts(token, order), rules())
	s.requireNone(token, order, "ORD-99999999", "acme")
	s.requireWhole()
	t.Setenv("SHOP_TOKEN", "")
	require.Empty(t, s.replay("TestX", prompts("traceforge-token", "ORD-11111111"), rules()).Logged())

	tb := s.replay("TestX", asks(newChat("as "+token)))
	require.Contains(t, s.text(tb), "- as {{token:1}}\n")
	require.Contains(t, s.text(tb), `it was recorded with rules that the test has not: add traceforgetest.Scrub(traceforgetest.Pattern("token", …))`)
}

// TestScrubAnswersOnly holds that an answer is not served with placeholders in it.
func TestScrubAnswersOnly(t *testing.T) {
	s := newScene(t)
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text("it is ORD-99999999") })
	rule := traceforgetest.Scrub(traceforgetest.Pattern("order", regexp.MustCompile(`\bORD-[0-9]{8}\b`)))
	s.record("TestX", asks(newChat("which order?")), rule)
	require.Empty(t, s.replay("TestX", asks(newChat("which order?")), rule).Logged())
	tb := s.replay("TestX", asks(newChat("which order?")))
	require.Contains(t, s.text(tb), "STORE/"+s.document("TestX")+`, call 1: the answer has placeholders: no value is known for {{order:+1}}
    it was recorded with rules that the test has not: add traceforgetest.Scrub(traceforgetest.Pattern("order", …))
    or record it as it is: go test`)
}

// TestScrubLater holds that a rule is for records that were made without it, too: they are written again, without a call.
func TestScrubLater(t *testing.T) {
	s := newScene(t)
	ask := func(run int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			answer, err := send(tf.Client(), newChat("task "+runID(run, 1)))
			if err != nil || !strings.Contains(answer, runID(run, 1)) {
				tb.Errorf("%v %s", err, answer)
			}
		}
	}
	s.record("TestX", ask(1))
	before := s.files()
	require.Contains(t, s.text(s.replay("TestX", ask(2), volatileToo)), "recorded under other rules: go test")
	s.requireFiles(before)
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { panic("a call is made") })
	s.record("TestX", ask(3), volatileToo)
	s.requireNone(runID(1, 1), runID(3, 1))
	require.Empty(t, s.replay("TestX", ask(4), volatileToo).Logged())
}

// TestScrubIsNamed holds that a drift and an update name the rule that would help.
func TestScrubIsNamed(t *testing.T) {
	s := newScene(t)
	test := func(ids ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
		var chats []chat
		for _, id := range ids {
			chats = append(chats, newChat("task "+id))
		}
		return asks(chats...)
	}
	s.record("TestX", test(runID(1, 1), runID(1, 2)))
	before := s.files()

	tb := s.replay("TestX", test(runID(2, 1), runID(1, 2)))
	require.Contains(t, s.text(tb), `
      message 1 (user)
    - task 00000001-0000-4000-8000-000000000001
    + task 00000002-0000-4000-8000-000000000001
    ?      ^^^^^^^^
    changed: message 1 (user)
    only values that change every run differ: add traceforgetest.Scrub(traceforgetest.Volatile())
    or, if they were changed on purpose, delete STORE/`+s.document("TestX")+` and record the test again
`)
	require.NotContains(t, tb.Logged(), "accept: ", "an update helps once, or refuses to buy")

	asked := len(s.provider.Calls())
	tb = s.update("1", "TestX", test(runID(2, 1), runID(1, 2)))
	require.Contains(t, s.text(tb), `openai request was not sent: only values that change every run differ from those of STORE/`+
		s.document("TestX")+`, call 1, so each run would record it again
      model: gpt-4o-mini
      user: task 00000002-0000-4000-8000-000000000001
    add traceforgetest.Scrub(traceforgetest.Volatile())
    or, if they were changed on purpose, delete STORE/`+s.document("TestX")+" and record the test again")
	s.requireFiles(before)
	tb = s.update("new", "TestX", test(runID(2, 1), runID(1, 2)))
	require.Contains(t, s.text(tb), "    only values that change every run differ: add traceforgetest.Scrub(traceforgetest.Volatile())\n    or, if they were changed on purpose, ")
	s.requireFiles(before)
	require.LessOrEqual(t, len(s.provider.Calls()), asked+1, "the call that did not change may be made again")

	s.record("TestX", test(runID(1, 1), runID(1, 2), runID(1, 3)))
	require.Len(t, s.records("openai"), 3, "one call more with a value of its own is one call more")

	tb = s.replay("TestX", asks(newChat("job "+runID(2, 1)), newChat("task "+runID(1, 2)), newChat("task "+runID(1, 3))))
	require.NotContains(t, tb.Logged(), "only values", "it explains nothing where something else differs")
}

// TestScrubIsNamedOnce holds that further calls which drifted by such a value name no update either.
func TestScrubIsNamedOnce(t *testing.T) {
	s := newScene(t)
	test := func(run int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, text := range []string{"a", "b"} {
				_, _ = send(tf.Client(), newChat(text).with("messages", []any{
					map[string]any{"role": "system", "content": "run " + runID(run, 1)}, map[string]any{"role": "user", "content": text},
				}))
			}
		}
	}
	s.record("TestX", test(1))
	tb := s.replay("TestX", test(2))
	require.Contains(t, s.text(tb), "1 request more drifted in the same way: STORE/"+s.document("TestX")+", call 2")
	require.NotContains(t, tb.Logged(), "accept: ")
}

// TestScrubMissing holds that a record with placeholders is no record of a call without the rules.
func TestScrubMissing(t *testing.T) {
	s := newScene(t)
	s.record("TestX", asks(newChat("task "+runID(1, 1))), volatileToo)
	tb := s.replay("TestX", asks(newChat("task "+runID(1, 1))))
	require.Contains(t, s.text(tb), "    - task {{uuid:1}}\n    + task 00000001-0000-4000-8000-000000000001\n    changed: message 1 (user)\n"+
		"    only values that change every run differ: add traceforgetest.Scrub(traceforgetest.Volatile())\n")
	tb = s.replay("TestX", asks(newChat("task {{uuid:1}}")))
	require.Contains(t, s.text(tb), "    - task {{uuid:1}}\n    + task {{}}{{uuid:1}}\n", "who says what stands for a value does not say the value")
	require.Contains(t, s.text(tb), "it was recorded with rules that the test has not: add traceforgetest.Scrub(traceforgetest.Volatile())")
}

// TestScrubLiteral holds that what a prompt says stays what it says.
func TestScrubLiteral(t *testing.T) {
	s := newScene(t)
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, text := range []string{"{{uuid:1}}", "{{}}{{uuid:1}}", "Dear {{name}}", "{{ x }}"} {
			answer, err := send(tf.Client(), newChat(text))
			require.NoError(t, err)
			require.Contains(t, answer, `said: `+text+`"`)
		}
	}
	s.record("TestX", test)
	require.Contains(t, s.files()[s.document("TestX")], `"Dear {{name}}"`)
	require.Contains(t, s.files()[s.document("TestX")], `"{{}}{{uuid:1}}"`)
	require.Empty(t, s.replay("TestX", test).Logged())
	require.Empty(t, s.replay("TestX", test, volatileToo).Logged())
}

func TestScrubModel(t *testing.T) {
	s := newScene(t)
	echo := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		text := *req.Messages[0].Content[0].Text
		for _, piece := range []string{text[:12], text[12:]} {
			if stream != nil {
				if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart(piece)}}); err != nil {
					return nil, err
				}
			}
		}
		message := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(text)}}
		return &modelio.GenerateResponse{Message: message, FinishReason: modelio.FinishStop}, nil
	})
	test := func(run int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			var said string
			req := &modelio.GenerateRequest{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("task " + runID(run, 1))}}}}
			resp, err := tf.Model("acme/m", echo).Generate(t.Context(), req, func(_ context.Context, c *modelio.GenerateResponseChunk) error {
				said += *c.Content[0].Text
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, "task "+runID(run, 1), said)
			require.Equal(t, said, *resp.Message.Content[0].Text)
		}
	}
	s.record("TestX", test(1), volatileToo, traceforgetest.Nondeterministic("it echoes"))
	s.requireNone(runID(1, 1))
	require.Empty(t, s.replay("TestX", test(2), volatileToo).Logged())
}

// TestConfig holds that config.json is for all tests of its store.
func TestConfig(t *testing.T) {
	s := newScene(t)
	require.NoError(t, os.MkdirAll(s.dir, 0o777))
	config := `{"scrub":[{"name":"order","pattern":"ORD-[0-9]+"},{"volatile":true}],"nondeterministic":"our models take no temperature","hosts":{"llm.example.com":"groq"}}`
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.json"), []byte(config), 0o666))
	test := func(run int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			ask := newChat(fmt.Sprintf("ORD-%d of %s", run, runID(run, 1))).without("temperature").without("seed")
			_, err := post(tf.Client(), "https://LLM.example.com/v1/chat/completions", ask)
			require.NoError(t, err)
		}
	}
	s.record("TestX", test(1))
	require.Len(t, s.records("groq"), 1)
	require.Empty(t, s.records("groq")[0].Source.Nondeterministic, "it stands in one place")
	require.Equal(t, "{{order:1}} of {{uuid:1}}", *s.records("groq")[0].Request.Messages[0].Content[0].Text)
	require.Empty(t, s.replay("TestX", test(2), volatileToo).Logged(), "a test may say it too")
	s.requireWhole()

	s = newScene(t)
	require.NoError(t, os.MkdirAll(s.dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "config.json"), []byte(`{"ignore":[]}`), 0o666))
	tb := s.replay("TestX", test(1))
	require.True(t, tb.Failed())
	require.Contains(t, s.text(tb), "STORE/config.json: /ignore: unknown: ")
}

func TestScrubRefuses(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		rule         traceforgetest.Rule
		want         string
	}{
		{"zero", "it says nothing", traceforgetest.Rule{}, "Scrub(Rule{}): make rules with Value, Pattern and Volatile"},
		{"name", "it is in placeholders", traceforgetest.Value("My Key", "12345678"), `Scrub(Value("My Key", …): a name begins with`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			tb := s.replay("TestX", asks(), traceforgetest.Scrub(c.rule))
			require.Contains(t, tb.Logged(), c.want, c.reason)
		})
	}
}

// TestIgnoreEach holds that * stands for every element of a list.
func TestIgnoreEach(t *testing.T) {
	s := newScene(t)
	each := traceforgetest.Ignore("/messages/*/content")
	talk := func(texts ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
		var messages []any
		for _, text := range texts {
			messages = append(messages, map[string]any{"role": "user", "content": text})
		}
		return asks(newChat("").with("messages", messages))
	}
	s.record("TestX", talk("a", "b"), each)
	require.Empty(t, s.replay("TestX", talk("c", "d"), each).Logged())
	tb := s.replay("TestX", talk("c", "d", "e"), each)
	require.Contains(t, s.text(tb), "      message 3 (user) added\n", "that there are more is no content")
	tb = s.replay("TestX", asks(newChat("").with("messages", []any{map[string]any{"role": "user", "content": "a"},
		map[string]any{"role": "assistant", "content": "b"}})), each)
	require.Contains(t, s.text(tb), "    changed: message 2 (user) removed, message 2 (model) added\n")
	require.NotContains(t, s.text(tb), "/content\n-")
}

// TestHostsOfConfig holds that a host which config.json gives a provider keeps its records, and buys nothing again.
func TestHostsOfConfig(t *testing.T) {
	for _, mode := range []string{"1", "rekey"} {
		t.Run(mode, func(t *testing.T) {
			s := newScene(t)
			calls := s.jitter()
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				_, _ = post(tf.Client(), "https://llm.example.com/v1/chat/completions", newChat("a"))
				_, _ = post(tf.Client(), "https://llm.example.com/v1/chat/completions", newChat("b"))
			}
			s.record("TestX", test)
			require.EqualValues(t, 2, calls.Load())
			s.configured(`{"hosts":{"llm.example.com":"openai"}}`)
			tb := s.replay("TestX", test)
			require.True(t, tb.Failed())
			require.Regexp(t, "openai request is answered by STORE/llm-example-com/.*, call 1, a call of llm-example-com before config.json gave its host to openai", s.text(tb))
			require.Contains(t, s.text(tb), "(no call is made)")

			requirePass(t, s.update(mode, "TestX", test))
			require.EqualValues(t, 2, calls.Load(), "nothing is bought")
			require.Len(t, s.records("openai"), 2)
			require.Empty(t, s.documents("llm-example-com"))
			s.requireWhole()
			requirePass(t, s.replay("TestX", test))
			require.Empty(t, s.update("1", "TestX", test).Logged(), "a second run has nothing to do")
		})
	}
}

// TestScrubHintIsTrue holds that a drift of placeholders is not called one of dates.
func TestScrubHintIsTrue(t *testing.T) {
	s := newScene(t)
	test := func(first, second string) func(*tbtest.TB, *traceforgetest.Recorder) {
		ask := newChat("in " + first)
		ask["messages"] = append(ask["messages"].([]any), map[string]any{"role": "user", "content": "and " + second})
		return asks(ask)
	}
	s.record("TestX", test(runID(1, 1), runID(1, 1)), volatileToo)
	tb := s.replay("TestX", test(runID(2, 1), runID(2, 2)), volatileToo)
	require.Contains(t, s.text(tb), "only placeholders differ: values that were equal are not, or the reverse. "+
		"Value gives one a placeholder of its own")
	require.NotContains(t, tb.Logged(), "dates")
}

// TestValueOfNoRequest: an answer may have a value of the test that its own request has not, such as a tool's directory.
func TestValueOfNoRequest(t *testing.T) {
	s := newScene(t)
	test := func(dir string) (func(*tbtest.TB, *traceforgetest.Recorder), traceforgetest.Option) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			list := tf.Tool("list", func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return json.Marshal([]string{dir + "/a.txt"})
			})
			found, err := list(context.Background(), []byte(`{}`))
			require.NoError(t, err)
			require.JSONEq(t, `["`+dir+`/a.txt"]`, string(found))
			_, err = send(tf.Client(), newChat("read "+string(found)))
			require.NoError(t, err)
		}, traceforgetest.Scrub(traceforgetest.Volatile(), traceforgetest.Value("dir", dir))
	}
	one, scrubbed := test("/tmp/TestX111/001")
	s.record("TestX", one, scrubbed)
	s.requireNone("/tmp/TestX111")
	two, scrubbed := test("/tmp/TestX222/001")
	require.Empty(t, s.replay("TestX", two, scrubbed).Logged())
}
