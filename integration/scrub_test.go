package integration_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// volatileForms match values that change with every run, independently of the code under test. The first group is the
// part that changes.
var volatileForms = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`),
	regexp.MustCompile(`(?i)\b([0-9a-f]{12})4[0-9a-f]{3}[89ab][0-9a-f]{15}\b`),
	regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:(\d\d):\d\d`),
	regexp.MustCompile(`[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:(\d\d):\d\d`),
	regexp.MustCompile(`/home/(\w+)`),
	regexp.MustCompile(`/tmp/\w*?(\d+)\b`),
	regexp.MustCompile(`(?:localhost|127\.0\.0\.1):([3-6]\d{4})\b`),
}

// otherRun maps the volatile values of a text to their values in another run. Equal values give equal results.
func otherRun(text []byte) (values map[string]string) {
	values = map[string]string{}
	if !utf8.Valid(text) {
		return values // an image that contains its creation time
	}
	for _, form := range volatileForms {
		for _, m := range form.FindAllSubmatchIndex(text, -1) {
			changed := bytes.Clone(text[m[0]:m[1]])
			part := changed[m[2]-m[0] : m[3]-m[0]]
			part[len(part)-1] = otherChar(part[len(part)-1])
			values[string(text[m[0]:m[1]])] = string(changed)
		}
	}
	return values
}

// otherChar returns another digit or letter. A hexadecimal digit stays one.
func otherChar(c byte) byte {
	const digits, letters = "01234567890", "abcdefabcghijklmnopqrstuvwxyzg"
	if i := strings.IndexByte(digits, c); i >= 0 {
		return digits[i+1]
	}
	lower := c | 0x20
	return letters[strings.IndexByte(letters, lower)+1] - lower + c
}

func substitute(text []byte, values map[string]string) []byte {
	var pairs []string
	for value, other := range values {
		pairs = append(pairs, value, other)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// planted are a run's values, for a prompt and for an answer that repeats them.
type planted struct{ dir, id, at, port string }

func plantedOf(run int) planted {
	return planted{fmt.Sprintf("/tmp/TestAgent%d/001", 1000+run), fmt.Sprintf("6fa459ea-ee8a-4ca4-894e-db77e160%04d", run),
		fmt.Sprintf("2025-11-21T10:%02d:00Z", run), strconv.Itoa(40000 + run)}
}

func (p planted) String() string {
	return fmt.Sprintf("[%s/a %s %s http://127.0.0.1:%s/v1]", p.dir, p.id, p.at, p.port)
}

var (
	promptText = regexp.MustCompile(`"(?:content|text|prompt|input|inputText)" ?: ?"`)
	answerText = regexp.MustCompile(`"(?:content|text|response|thinking|partial_json|delta)" ?: ?"`)
)

// plant inserts a text into the first string after a form.
func plant(body []byte, form *regexp.Regexp, text string) ([]byte, bool) {
	at := form.FindIndex(body)
	if at == nil {
		return body, false
	}
	return slices.Concat(body[:at[1]], []byte(text), body[at[1]:]), true
}

// split inserts a text at the border of the first two strings in a stream that are pieces of one text. beginning goes
// to the end of the first string, rest to the start of the second.
func split(body []byte, beginning, rest string) ([]byte, bool) {
	for _, name := range []string{`"content":"`, `"text":"`, `"partial_json":"`} {
		pieces := regexp.MustCompile(name+`(?:[^"\\]|\\.)+"`).FindAllIndex(body, 2)
		lineOf := func(at int) string { return string(body[bytes.LastIndexByte(body[:at], '\n')+1 : at]) }
		if len(pieces) < 2 || lineOf(pieces[0][0]) != lineOf(pieces[1][0]) {
			continue // pieces of different texts
		}
		end, start := pieces[0][1]-1, pieces[1][0]+len(name)
		return slices.Concat(body[:end], []byte(beginning), body[end:start], []byte(rest), body[start:]), true
	}
	return body, false
}

// TestScrubCorpus records the corpus with Volatile. A replay must return the same bytes. With other volatile values it
// must return an answer with these values. Calls without volatile values get planted ones.
func TestScrubCorpus(t *testing.T) {
	var current *interaction // of the current call: the request body, its URL, and the answer
	var sent, answer []byte
	var to string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", current.header("Content-Type"))
		w.WriteHeader(current.Status)
		w.Write(answer)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	live := toInteraction{http.DefaultTransport, base, 0}

	var dir string
	scrub := traceforgetest.Scrub(traceforgetest.Volatile())
	run := func(mode, name string, opts ...traceforgetest.Option) ([]byte, *tbtest.TB) {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		var body []byte
		asked := *current
		asked.URL = to
		asked.RequestBody, asked.RequestBodyEncoding, asked.RequestFidelity = string(sent), "utf8", ""
		tb := tbtest.Run(name, func(tb *tbtest.TB) {
			_, body = asked.call(tb, traceforgetest.New(tb, append(opts, trafficOptions(dir, live)...)...))
		})
		return body, tb
	}
	count := map[string]int{}
	for n, i := range sampled(slices.Concat(traffic(t, "corpus.jsonl"), traffic(t, "sequences.jsonl"))) {
		if n%200 == 0 {
			dir = filepath.Join(t.TempDir(), ".ai-snapshots")
		}
		current, sent, answer, to = i, i.request(), i.response(), i.URL
		name := fmt.Sprintf("TestScrub/%d", n)
		if _, tb := run("1", name, scrub); tb.Failed() {
			_, tb = run("1", name)
			require.True(t, tb.Failed(), "%s: it is recorded without the rule", i.Origin)
			count["not recorded, with and without the rule"]++
			continue
		}
		count["recorded"]++
		body, tb := run("", name, scrub)
		require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
		require.Equal(t, string(answer), string(body), "%s: byte for byte", i.Origin)

		values := otherRun(sent)
		maps.Copy(values, otherRun([]byte(strings.Replace(i.URL, ":", "", 2)))) // ports are not part of the identity
		if len(values) > 0 {
			count["volatile"]++
			sent, to = substitute(sent, values), string(substitute([]byte(to), values))
			body, tb = run("", name, scrub)
			require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
			told := string(substitute(answer, values))
			count["volatile, replayed with others"]++

			sent, to = i.request(), i.URL
			_, tb = run("1", name+"/without")
			require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
			sent, to = substitute(sent, values), string(substitute([]byte(to), values))
			_, tb = run("", name+"/without")
			if tb.Failed() {
				count["volatile, drifts without the rule"]++
				require.Equal(t, told, string(body), i.Origin)
			} else { // an id is always numbered and replayed as recorded
				require.Contains(t, []string{told, string(answer)}, string(body), i.Origin)
			}
			if strings.Contains(tb.Logged(), "only values that change every run differ: add traceforgetest.Scrub(traceforgetest.Volatile())") {
				count["volatile, named in the drift without the rule"]++
			}
		}

		to = i.URL
		first, second := plantedOf(1), plantedOf(2)
		asked, ok := plant(i.request(), promptText, first.String())
		if !ok || bytes.HasPrefix(i.response(), []byte{0}) { // internal/scrub tests frames, which have checksums
			continue
		}
		sent = asked
		half := len(first.dir) / 2
		told, isSplit := split(i.response(), " "+first.dir[:half], first.dir[half:]+" "+first.id+" ")
		if !isSplit {
			told, ok = plant(told, answerText, first.String())
		}
		if answer = told; !ok {
			continue
		}
		_, tb = run("1", name+"/planted", scrub)
		require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
		sent, _ = plant(i.request(), promptText, second.String())
		want, _ := plant(i.response(), answerText, second.String())
		if isSplit {
			count["planted in two events"]++
			want, _ = split(i.response(), " "+second.dir, " "+second.id+" ")
		}
		body, tb = run("", name+"/planted", scrub)
		require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
		require.Equal(t, string(want), string(body), i.Origin)
		count["planted, replayed with others"]++
	}
	for _, what := range []string{"not recorded, with and without the rule", "recorded", "volatile", "volatile, replayed with others",
		"volatile, drifts without the rule", "volatile, named in the drift without the rule", "planted, replayed with others", "planted in two events"} {
		t.Logf("%6d %s", count[what], what)
	}
	require.Equal(t, count["volatile"], count["volatile, replayed with others"])
	require.NotZero(t, count["volatile"])
}
