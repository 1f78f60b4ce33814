package cassette_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// vcr is a cassette of go-vcr with the answers of the given statuses to the same request.
func vcr(t *testing.T, statuses ...int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("---\nversion: 2\ninteractions:\n")
	for _, status := range statuses {
		fmt.Fprintf(&b, `- request:
    body: '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}'
    headers: {Authorization: [REDACTED]}
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: '{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o-2024-08-06","choices":[{"index":0,"message":
      {"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}'
    headers: {Content-Type: [application/json], Content-Encoding: [gzip], Date: ['Tue, 14 Jul 2026 10:00:00 GMT']}
    code: %d
    duration: 842ms
`, status)
	}
	file := filepath.Join(t.TempDir(), "TestHi.yaml")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// say makes a call, which has no key.
func say(tb testing.TB, client *http.Client, text string) string {
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"` + text + `"}]}`
	resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		tb.Errorf("%v", err)
		return ""
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Errorf("%v", err)
	}
	return string(got)
}

// A suite is a store that a test is run in.
type suite struct{ dir string }

// run runs a test with an upstream in a mode.
func (s suite) run(t *testing.T, mode string, opts []traceforgetest.Option, test func(*tbtest.TB, *traceforgetest.Recorder)) *tbtest.TB {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", mode)
	return tbtest.Run("TestHi", func(tb *tbtest.TB) {
		test(tb, traceforgetest.New(tb, append(opts, traceforgetest.Dir(s.dir))...))
	})
}

func (s suite) records(t *testing.T) []snapshot.Snapshot {
	t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(t, err)
	files, err := opened.List()
	require.NoError(t, err)
	require.Len(t, files, 1)
	name := strings.TrimSuffix(filepath.Base(files[0]), ".json")
	doc, err := opened.Load(name, "openai")
	require.NoError(t, err)
	return doc.Document.Snapshots
}

func newSuite(t *testing.T) suite { return suite{filepath.Join(t.TempDir(), ".ai-snapshots")} }

func opened(t *testing.T, file string, opts ...cassette.Option) []traceforgetest.Option {
	t.Helper()
	old, err := cassette.Open(file, opts...)
	require.NoError(t, err)
	return []traceforgetest.Option{traceforgetest.Upstream(old)}
}

// TestImport: an update takes the answers of a cassette into the store, and replay needs nothing else. No rule of
// determinism is asked of them, since the record says from what they are (design R7).
func TestImport(t *testing.T) {
	s := newSuite(t)
	t.Setenv("OPENAI_API_KEY", "") // as CI has it where there is no secret
	var said string
	hi := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		require.False(t, tf.Recording(), "no call is made, so a test needs no key")
		require.NotEmpty(t, os.Getenv("OPENAI_API_KEY"), "an SDK that asks for a key finds one")
		said = say(tb, tf.Client(), "Hi")
	}
	tb := s.run(t, "1", opened(t, vcr(t, 200)), hi)
	require.False(t, tb.Failed(), tb.Logged())
	require.Contains(t, tb.Logged(), "1 new")
	require.NotContains(t, tb.Logged(), "10 tokens", "nothing was bought")
	recorded := said
	r := s.records(t)[0]
	require.Equal(t, time.Date(2026, 7, 14, 10, 0, 0, 0, time.UTC), r.Timestamp)
	require.Equal(t, int64(842), r.Response.LatencyMS)
	require.Regexp(t, `^imported from go-vcr \w+/TestHi\.yaml, interaction 1$`, r.Source.Origin)
	require.Equal(t, "Hello", *r.Response.Candidates[0].Message.Content[0].Text)

	tb = s.run(t, "", nil, hi)
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, recorded, said)
}

// TestImportedRekey: a changed prompt adopts the answer of a cassette, whose parameters nobody chose for a test, and says from what
// it is; one that a provider was to be asked for is held to the rules.
func TestImportedRekey(t *testing.T) {
	s := newSuite(t)
	asks := func(text string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) { say(tb, tf.Client(), text) }
	}
	tb := s.run(t, "1", opened(t, vcr(t, 200)), asks("Hi"))
	require.False(t, tb.Failed(), tb.Logged())
	was := s.records(t)[0].Source
	t.Setenv("OPENAI_API_KEY", "")
	tb = s.run(t, "", nil, asks("Hi there"))
	require.Contains(t, tb.Logged(), "without a key: TRACEFORGE_UPDATE=rekey go test", "the way that works is named")
	tb = s.run(t, "rekey", nil, asks("Hi there"))
	require.False(t, tb.Failed(), tb.Logged())
	r := s.records(t)[0]
	require.Equal(t, "Hi there", *r.Request.Messages[0].Content[0].Text)
	require.NotEmpty(t, r.Response.Stale)
	require.Equal(t, was, r.Source)
	tb = s.run(t, "", nil, asks("Hi there"))
	require.False(t, tb.Failed(), tb.Logged())

	none := newSuite(t)
	tb = none.run(t, "rekey", nil, asks("Hi"))
	require.Contains(t, tb.Logged(), "is not deterministic", "there is nothing to adopt")
}

// TestImportDifferently: an answer that programs may read in different ways is taken from a cassette as from a provider.
func TestImportDifferently(t *testing.T) {
	s := newSuite(t)
	file := vcr(t, 200)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), `"content":"Hello"`, `"content":"Hello","Content":"Ho"`, 1)), 0o600))
	hi := func(tb *tbtest.TB, tf *traceforgetest.Recorder) { say(tb, tf.Client(), "Hi") }
	tb := s.run(t, "1", opened(t, file), hi)
	require.False(t, tb.Failed(), tb.Logged())
	require.Contains(t, s.records(t)[0].Response.Readings, snapshot.Reading{Kind: "text", Says: "Ho"})
	tb = s.run(t, "", nil, hi)
	require.False(t, tb.Failed(), tb.Logged())
}

// TestImportSaysWhy: a reason of the test stays, and the origin with it.
func TestImportSaysWhy(t *testing.T) {
	s := newSuite(t)
	opts := append(opened(t, vcr(t, 200)), traceforgetest.Nondeterministic("poems"))
	tb := s.run(t, "1", opts, func(tb *tbtest.TB, tf *traceforgetest.Recorder) { say(tb, tf.Client(), "Hi") })
	require.False(t, tb.Failed(), tb.Logged())
	source := s.records(t)[0].Source
	require.Equal(t, "poems", source.Nondeterministic)
	require.Regexp(t, `^imported from go-vcr `, source.Origin)
}

// TestImportKeeps: what an update keeps is not taken from the cassette again.
func TestImportKeeps(t *testing.T) {
	s := newSuite(t)
	hi := func(tb *tbtest.TB, tf *traceforgetest.Recorder) { say(tb, tf.Client(), "Hi") }
	require.False(t, s.run(t, "1", opened(t, vcr(t, 200)), hi).Failed())
	before := s.records(t)
	tb := s.run(t, "1", opened(t, vcr(t)), hi)
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, before, s.records(t))
}

// TestImportGoesOn: what records of the test were taken from does not answer again.
func TestImportGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name, reason  string
		statuses      []int
		opts          []cassette.Option
		first, second []string // what is said in the first and in the second update
		mode          string
		want          []int // interactions of the records
	}{
		{"alike", "a third call like the two that are kept", []int{200, 200, 200}, nil,
			[]string{"Hi", "Hi"}, []string{"Hi", "Hi", "Hi"}, "1", []int{1, 2, 3}},
		{"new", "the mode that keeps all", []int{200, 200}, nil, []string{"Hi"}, []string{"Hi", "Hi"}, "new", []int{1, 2}},
		{"nearest", "the second changed, and keeps its own answer", []int{200, 200}, []cassette.Option{cassette.Nearest()},
			[]string{"Hi", "Ho"}, []string{"Hi", "He"}, "1", []int{1, 2}},
		{"before", "a try that was left out for a later one", []int{503, 200, 200}, nil,
			[]string{"Hi", "Hi"}, []string{"Hi", "Hi"}, "1", []int{2, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, file := newSuite(t), vcr(t, tt.statuses...)
			update := func(mode string, all []string) {
				tb := s.run(t, mode, opened(t, file, tt.opts...), func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					for _, text := range all {
						say(tb, tf.Client(), text)
					}
				})
				require.False(t, tb.Failed(), tb.Logged())
			}
			update("1", tt.first)
			update(tt.mode, tt.second)
			var got []int
			for _, r := range s.records(t) {
				var n int
				_, after, _ := strings.Cut(r.Source.Origin, ", interaction ")
				_, err := fmt.Sscan(after, &n)
				require.NoError(t, err)
				got = append(got, n)
			}
			require.Equal(t, tt.want, got, tt.reason)
		})
	}
}

// TestMissing: a request that the cassette does not hold fails the test at once, and names the nearest.
func TestMissing(t *testing.T) {
	s := newSuite(t)
	var said string
	tb := s.run(t, "1", opened(t, vcr(t, 200)), func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		said = say(tb, tf.Client(), "Hello")
		say(tb, tf.Client(), "Hello")
	})
	require.True(t, tb.Failed())
	require.Contains(t, said, `"error"`, "the client gets an error of the provider, so that it does not try again")
	for _, want := range []string{
		"openai call is not in what it is imported from", "user: Hello",
		"TestHi.yaml has no answer for POST https://api.openai.com/v1/chat/completions",
		"line 4, interaction 1: POST https://api.openai.com/v1/chat/completions: its body is another at /messages/0/content",
		"cassette.Open(path, cassette.Nearest())",
	} {
		require.Equal(t, 1, strings.Count(tb.Logged(), want), tb.Logged())
	}
	_, err := os.Stat(s.dir)
	require.ErrorIs(t, err, os.ErrNotExist, "nothing is written")
}

// TestNearest: what another request was answered is taken only where that is asked for, and the record says so.
func TestNearest(t *testing.T) {
	s := newSuite(t)
	tb := s.run(t, "1", opened(t, vcr(t, 200), cassette.Nearest()), func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		say(tb, tf.Client(), "Hello")
	})
	require.False(t, tb.Failed(), tb.Logged())
	require.Regexp(t, `interaction 1, the nearest by order: it is of another request$`, s.records(t)[0].Source.Origin)
}

// TestImportOfRetries: the rules of recordings hold: an answer that asks to try again is taken only where that is allowed.
func TestImportOfRetries(t *testing.T) {
	twice := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		say(tb, tf.Client(), "Hi")
		say(tb, tf.Client(), "Hi")
	}
	for _, tt := range []struct {
		name, reason string
		opts         []traceforgetest.Option
		statuses     []int
	}{
		{"better", "only the try that did better is a record", nil, []int{200}},
		{"allowed", "both are", []traceforgetest.Option{traceforgetest.Allow(traceforgetest.RetryableErrors)}, []int{503, 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSuite(t)
			tb := s.run(t, "1", append(opened(t, vcr(t, 503, 200)), tt.opts...), twice)
			require.False(t, tb.Failed(), tb.Logged())
			var got []int
			for _, r := range s.records(t) {
				got = append(got, r.Response.Status)
			}
			require.Equal(t, tt.statuses, got, tt.reason)
		})
	}
}

func TestOpenError(t *testing.T) {
	_, err := cassette.Open("testdata/none.yaml")
	require.ErrorContains(t, err, "open a recording: open testdata/none.yaml")
}
