package script_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// A suite is a store in which one test runs, in a mode and with an upstream.
type suite struct {
	t   *testing.T
	dir string
}

func newSuite(t *testing.T) suite {
	tbtest.Unfiltered(t)
	return suite{t, filepath.Join(t.TempDir(), ".ai-snapshots")}
}

func (s suite) run(mode string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) *tbtest.TB {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", mode)
	return tbtest.Run("TestIt", func(tb *tbtest.TB) {
		test(tb, traceforgetest.New(tb, append(opts, traceforgetest.Dir(s.dir))...))
	})
}

// with runs the test with a script as its upstream.
func (s suite) with(mode string, test func(*tbtest.TB, *traceforgetest.Recorder), steps ...script.Step) *tbtest.TB {
	s.t.Helper()
	return s.run(mode, test, traceforgetest.Upstream(script.New(steps...)))
}

func (s suite) records() []snapshot.Snapshot {
	s.t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(s.t, err)
	files, err := opened.List()
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	doc, err := opened.Load(strings.TrimSuffix(filepath.Base(files[0]), ".json"), "openai")
	require.NoError(s.t, err)
	return doc.Document.Snapshots
}

func green(t *testing.T, tb *tbtest.TB) {
	t.Helper()
	require.False(t, tb.Failed(), tb.Logged())
}

func user(text string) string {
	return `{"model":"gpt-4o","messages":[{"role":"user","content":"` + text + `"}]}`
}

// asks asks for each text, whatever is answered.
func asks(texts ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, text := range texts {
			post(tb, tf.Client(), chat, user(text))
		}
	}
}

// provider answers as a live one, and counts what it sold.
type provider struct{ sold []string }

func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	p.sold = append(p.sold, string(body))
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	resp, err := script.New(script.Say("bought")).RoundTrip(req)
	if err == nil {
		resp.Header.Del("Traceforge-Provenance")
	}
	return resp, err
}

// TestScripted: answers of a script become records that say which step answered, without a key and without a rule of
// determinism; a replay with the script and one without serve them.
func TestScripted(t *testing.T) {
	s := newSuite(t)
	t.Setenv("OPENAI_API_KEY", "")
	steps := []script.Step{script.Say("one"), script.Fail(429).RetryAfter(0), script.Say("two")}
	test := asks("Hi", "again", "again")
	tb := s.with("1", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		require.False(t, tf.Recording(), "no call is made, so a test needs no key")
		test(tb, tf)
	}, steps...)
	green(t, tb)
	require.Contains(t, tb.Logged(), "3 new")
	require.NotContains(t, tb.Logged(), "token", "nothing was bought")
	records := s.records()
	require.Len(t, records, 3, "a failure that is scripted is a record")
	for _, r := range records {
		require.True(t, r.Source.Scripted.Valid())
		require.NotContains(t, r.Response.Headers, "Traceforge-Provenance")
	}
	require.NotEqual(t, records[0].Source.Scripted, records[2].Source.Scripted)
	green(t, s.with("", test, steps...))
	green(t, s.run("", test))
	green(t, s.with("1", test, steps...))
	require.Equal(t, records, s.records(), "what did not change stays as it is")
}

// TestScriptedDrift: a prompt that changed while the script answers is accepted without a key, so no other way is named.
func TestScriptedDrift(t *testing.T) {
	s := newSuite(t)
	t.Setenv("OPENAI_API_KEY", "")
	green(t, s.with("1", asks("Tell me of the fox in the wood"), script.Say("one")))
	tb := s.with("", asks("Tell me of the wolf in the wood"), script.Say("one"))
	require.Contains(t, tb.Logged(), "changed: message 1 (user)")
	require.Contains(t, tb.Logged(), "the script answers, so no call is made")
	require.NotContains(t, tb.Logged(), "without a key")
	green(t, s.with("1", asks("Tell me of the wolf in the wood"), script.Say("one")))
}

// TestScriptedEdited: an edited step is drift, which an update takes without a call, and the others stay.
func TestScriptedEdited(t *testing.T) {
	s := newSuite(t)
	test := asks("Hi", "bye")
	green(t, s.with("1", test, script.Say("one"), script.Say("two")))
	before := s.records()

	tb := s.with("", test, script.Say("one"), script.Say("other"))
	require.True(t, tb.Failed())
	for _, want := range []string{"step 2 of 2 of the script says something else than", "- two", `+ Say("other")`, "the script answers, so no call is made"} {
		require.Contains(t, tb.Logged(), want)
	}
	require.Equal(t, before, s.records())

	tb = s.with("1", test, script.Say("one"), script.Say("other"))
	green(t, tb)
	require.Contains(t, tb.Logged(), "1 kept, 1 changed")
	require.NotContains(t, tb.Logged(), "token")
	after := s.records()
	require.Equal(t, before[0], after[0])
	require.Equal(t, "other", *after[1].Response.Candidates[0].Message.Content[0].Text)
	green(t, s.with("", test, script.Say("one"), script.Say("other")))
}

// A forger is a live provider that claims to be a script or a recording.
type forger string

func (f forger) RoundTrip(*http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Traceforge-Provenance": {string(f)}}
	body := io.NopCloser(strings.NewReader(`{"error":{"message":"later"}}`))
	return &http.Response{StatusCode: 503, Header: header, Body: body, ContentLength: -1}, nil
}

// TestProvidersClaimNoOrigin: a header of a live answer lifts no rule of recording, and does not date the record.
func TestProvidersClaimNoOrigin(t *testing.T) {
	deterministic := traceforgetest.Nondeterministic("the requests are short")
	for _, claim := range []string{
		`{"Scripted":"sha256:` + strings.Repeat("0", 64) + `"}`,
		` {"From":"imported from go-vcr testdata/TestIt.yaml, interaction 1","Time":"1999-01-01T00:00:00Z"}`,
	} {
		s := newSuite(t)
		tb := s.run("1", asks("Hi"), traceforgetest.Upstream(forger(claim)), deterministic)
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), "answered 503 Service Unavailable")

		retried := traceforgetest.Allow(traceforgetest.RetryableErrors)
		green(t, s.run("1", asks("Hi"), traceforgetest.Upstream(forger(claim)), deterministic, retried))
		record := s.records()[0]
		require.True(t, record.Source.IsBought(), record.Source)
		require.Empty(t, record.Source.Origin)
		require.Greater(t, record.Timestamp.Year(), 1999)
	}
}

// TestScriptedBought: without the script the next update buys what it stood for, and nothing else; with it again that is
// drift, since the script would replace what was bought.
func TestScriptedBought(t *testing.T) {
	s := newSuite(t)
	deterministic := traceforgetest.Nondeterministic("the requests are short")
	live := &provider{}
	green(t, s.run("1", asks("Hi"), traceforgetest.Upstream(live), deterministic))
	green(t, s.run("new", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		post(tb, tf.Client(), chat, user("Hi"))
		post(tb, tf.ClientOver(script.New(script.Say("scripted"))), chat, user("bye"))
	}, deterministic))
	records := s.records()
	require.True(t, records[0].Source.IsBought())
	require.True(t, records[1].Source.Scripted.Valid(), "whatever is in between")

	live.sold = nil
	green(t, s.run("", asks("Hi", "bye"), traceforgetest.Upstream(live), deterministic))
	require.Empty(t, live.sold)
	tb := s.run("1", asks("Hi", "bye"), traceforgetest.Upstream(live), deterministic)
	green(t, tb)
	require.Equal(t, []string{user("bye")}, live.sold)
	require.Contains(t, tb.Logged(), "1 kept, 1 changed")
	require.True(t, s.records()[1].Source.IsBought())
	require.Equal(t, records[0], s.records()[0])

	tb = s.with("", asks("Hi"), script.Say("bought"))
	require.Contains(t, tb.Logged(), "bought, which the script would replace: keep it without the script")
}

// TestScriptedStrict: a recorder fails its test by the script alone, and writes nothing.
func TestScriptedStrict(t *testing.T) {
	for _, tt := range []struct {
		name  string
		test  func(*tbtest.TB, *traceforgetest.Recorder)
		steps []script.Step
		want  string
	}{
		{"none left", asks("Hi", "bye"), []script.Step{script.Say("x")}, "openai request has no answer in the script"},
		{"unused", asks("Hi"), []script.Step{script.Say("x"), script.Say("y")}, "no request asked for this, of 1 that came: remove it, or have it asked for"},
		{"not offered", asks("Hi"), []script.Step{script.Call("f", `{}`)}, `it calls "f", and the request offers no tool`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSuite(t)
			tb := s.with("1", tt.test, tt.steps...)
			require.True(t, tb.Failed())
			require.Equal(t, 1, strings.Count(tb.Logged(), tt.want), tb.Logged())
			require.NoDirExists(t, s.dir)
		})
	}
	s := newSuite(t)
	green(t, s.with("1", asks("Hi"), script.Say("x")))
	tb := s.with("", asks("Hi"), script.Say("x"), script.Say("y"))
	require.Contains(t, tb.Logged(), "no request asked for this", "in a replay too")
	require.NotContains(t, tb.Logged(), "was not called")
}

// TestScriptedCut: a stream that is cut where the script says is a record, and is replayed so.
func TestScriptedCut(t *testing.T) {
	s := newSuite(t)
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		resp, err := tf.Client().Post(chat, "application/json", strings.NewReader(streams))
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	steps := script.Say("a ", "b").Cut(2)
	green(t, s.with("1", test, steps))
	require.Equal(t, "error", s.records()[0].Response.Incomplete)
	green(t, s.with("", test, steps))
	green(t, s.run("", test))
}

// TestScriptedFixtures: fixtures are a script too.
func TestScriptedFixtures(t *testing.T) {
	s := newSuite(t)
	answers, err := opened(t, says(`"userMessage": "Hi"`, "A"), says("", "B"))
	require.NoError(t, err)
	green(t, s.run("1", asks("Hi", "Hi"), traceforgetest.Upstream(answers)))
	records := s.records()
	require.Len(t, records, 2)
	require.Equal(t, records[0].Source.Scripted, records[1].Source.Scripted)
}

// TestScriptedModel: a model that is a script is recorded as one.
func TestScriptedModel(t *testing.T) {
	s := newSuite(t)
	test := func(step script.Step, further ...script.Step) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			model := tf.Model("openai/gpt-4o", script.New(append([]script.Step{step}, further...)...))
			_, err := model.Generate(context.Background(), &modelio.GenerateRequest{Messages: []modelio.Message{
				{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Hi")}},
			}}, nil)
			if err != nil && !strings.Contains(err.Error(), "status 500") {
				tb.Errorf("%v", err)
			}
		}
	}
	green(t, s.run("1", test(script.Say("one"))))
	require.True(t, s.records()[0].Source.Scripted.Valid())
	green(t, s.run("", test(script.Say("one"))))
	require.Contains(t, s.run("", test(script.Say("two"))).Logged(), "says something else than")
	require.Contains(t, s.run("", test(script.Say("one"), script.Say("two"))).Logged(), "no request asked for this")
	green(t, s.run("1", test(script.Fail(500))))
	green(t, s.run("", test(script.Fail(500))))
}

// TestScriptedServer: what a recorder hears of a script behind a server is scripted too.
func TestScriptedServer(t *testing.T) {
	s := newSuite(t)
	server := httptest.NewServer(script.New(script.Say("one")).Check(t))
	defer server.Close()
	green(t, s.run("1", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		post(tb, tf.Client(), server.URL+"/v1/chat/completions", user("Hi"))
	}, traceforgetest.Nondeterministic("it is no model")))
}

// TestTwoScripts: a recorder has one.
func TestTwoScripts(t *testing.T) {
	s := newSuite(t)
	one := script.New(script.Say("one"))
	tb := s.run("1", asks("Hi"), traceforgetest.Upstream(one), traceforgetest.Upstream(script.New()))
	require.Contains(t, tb.Logged(), "Upstream: a recorder has one script: give its steps to one script.New")
	green(t, s.run("1", asks("Hi"), traceforgetest.Upstream(one), traceforgetest.Upstream(one)))
}
