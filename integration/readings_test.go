package integration_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// readRequests has a URL and a body for a call to each API.
var readRequests = map[string][2]string{
	"openai.chat":        {"https://api.openai.com/v1/chat/completions", `{"model":"gpt-4o","stream":STREAM,"messages":[{"role":"user","content":"Hi"}]}`},
	"openai.responses":   {"https://api.openai.com/v1/responses", `{"model":"gpt-4o","stream":STREAM,"input":"Hi"}`},
	"openai.completions": {"https://api.openai.com/v1/completions", `{"model":"gpt-3.5-turbo-instruct","stream":STREAM,"prompt":"Hi"}`},
	"anthropic.messages": {"https://api.anthropic.com/v1/messages",
		`{"model":"claude-sonnet-4-5","max_tokens":99,"stream":STREAM,"messages":[{"role":"user","content":"Hi"}]}`},
	"google.generate": {"https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:METHOD",
		`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`},
	"bedrock.converse": {"https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1:0/METHOD",
		`{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}`},
	"cohere.chat":     {"https://api.cohere.com/v2/chat", `{"model":"command-a","stream":STREAM,"messages":[{"role":"user","content":"Hi"}]}`},
	"cohere.chat.v1":  {"https://api.cohere.com/v1/chat", `{"model":"command-a","stream":STREAM,"message":"Hi"}`},
	"ollama.chat":     {"http://localhost:11434/api/chat", `{"model":"llama3","stream":STREAM,"messages":[{"role":"user","content":"Hi"}]}`},
	"ollama.generate": {"http://localhost:11434/api/generate", `{"model":"llama3","stream":STREAM,"prompt":"Hi"}`},
	"openai.transcriptions": {"https://api.openai.com/v1/audio/transcriptions", "--B\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\ngpt-4o-transcribe\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"stream\"\r\n\r\nSTREAM\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\nx\r\n--B--\r\n"},
}

// readRequest returns the call of an API.
func readRequest(t testing.TB, api string, streamed bool) *http.Request {
	asked := readRequests[api]
	methods := map[string]string{"google.generate": "generateContent", "bedrock.converse": "converse"}
	if streamed {
		methods = map[string]string{"google.generate": "streamGenerateContent?alt=sse", "bedrock.converse": "converse-stream"}
	}
	r, err := http.NewRequest("POST", strings.Replace(asked[0], "METHOD", methods[api], 1),
		strings.NewReader(strings.Replace(asked[1], "STREAM", fmt.Sprint(streamed), 1)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(asked[1], "--B") {
		r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return r
}

// An answerRead is an answer to which all changes are applied.
type answerRead struct {
	api      *readAPI
	name     string
	streamed bool
	resp     *http.Response
	stream   *stream
	readers  []sdkReader
}

// answersRead returns answers of fakes to change: a text, and a text with tool calls, streamed and whole.
func answersRead(t *testing.T) (all []*answerRead) {
	calls := []fakeprovider.ToolCall{{ID: "call_1", Name: "weather", Arguments: `{"city":"Bern"}`}, {ID: "call_2", Name: "pay", Arguments: `{"to":"Ann"}`}}
	for _, streamed := range []bool{true, false} {
		for i := range readAPIs {
			api := &readAPIs[i]
			for name, reply := range map[string]fakeprovider.Reply{
				"text":  fakeprovider.Fragments("Do ", "not ", "delete ", "it."),
				"calls": {Text: "Let me see.", ToolCalls: calls},
			} {
				if name == "calls" && api.callless || !streamed && api.whole == nil {
					continue
				}
				srv := fakeprovider.New(t)
				srv.FixIDs()
				srv.Reply(reply)
				resp, err := srv.Transport().RoundTrip(readRequest(t, api.name, streamed))
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				require.NoError(t, err)
				require.Equal(t, 200, resp.StatusCode, "%s: %s", api.name, body)
				a := &answerRead{api: api, name: name, streamed: streamed, resp: resp, readers: api.stream}
				a.resp.Header = http.Header{"Content-Type": resp.Header["Content-Type"]}
				a.stream, err = parseStream(resp.Header.Get("Content-Type"), body)
				require.NoError(t, err, api.name)
				again, err := parseStream(resp.Header.Get("Content-Type"), a.stream.bytes())
				require.NoError(t, err, api.name)
				require.Equal(t, a.stream, again, "%s: it is put together as it came, but for white space", api.name)
				if !streamed {
					a.readers = api.whole
				}
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b *answerRead) int {
		return cmp.Or(-cmp.Compare(fmt.Sprint(a.streamed), fmt.Sprint(b.streamed)), cmp.Compare(a.api.name, b.api.name), cmp.Compare(a.name, b.name))
	})
	return all
}

// changed returns a changed answer, or nil if the kind does not apply to it.
func (a *answerRead) changed(kind changeKind, r *rand.Rand) (*http.Response, []byte) {
	s := a.stream.clone()
	if !kind.change(s, r) {
		return nil, nil
	}
	resp := *a.resp
	resp.Header = http.Header{"Content-Type": {s.contentType}}
	return &resp, s.bytes()
}

// A verdict is the result for a changed answer.
type verdict int

const (
	same     verdict = iota // the record agrees with each SDK
	noted                   // an SDK differs from the record, and a reading of the record reports it
	silent                  // an SDK differs from the record, and no reading reports it
	refused                 // the recorder refuses the answer
	sdkError                // no SDK can read the answer
	verdicts
)

func (v verdict) String() string {
	return [...]string{"same", "noted", "silent", "refused", "SDK error"}[v]
}

// read reads an answer with each SDK of the API. failed is the number of SDKs that fail.
func (a *answerRead) read(t *testing.T, resp *http.Response, body []byte) (all readings, failed int) {
	all = readings{}
	for _, reader := range a.readers {
		got, err := func() (got readings, err error) {
			defer func() {
				if p := recover(); p != nil { // the SDK panicked
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			return reader(t.Context(), &http.Client{Transport: canned{resp, body}})
		}()
		if err != nil {
			failed++
			continue
		}
		maps.Copy(all, got)
	}
	return all, failed
}

// record records an answer. If the recorder refuses it, stored is nil and why is the reason.
func (a *answerRead) record(t *testing.T, dir string, resp *http.Response, body []byte) (stored *snapshot.Response, why string) {
	tb := tbtest.Run("TestReadings", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(canned{resp, body}),
			traceforgetest.Nondeterministic("changed answers"), traceforgetest.Allow(traceforgetest.CutStreams))
		got, err := tf.RoundTrip(readRequest(tb, a.api.name, a.streamed))
		if err != nil {
			tb.Fatalf("%v", err)
		}
		defer got.Body.Close()
		if served, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(body, served) {
			tb.Errorf("served %q, %v", served, err)
		}
	})
	if tb.Failed() {
		return nil, tb.Logged()
	}
	calls := recorded.Calls(t, dir)
	require.Len(t, calls, 1)
	return &calls[0].Response, ""
}

// compareReadings compares the SDKs' readings of an answer with its record. If they differ, a reading of the record
// must have the same text, name, arguments or finish reason.
func compareReadings(t *testing.T, all readings, stored *snapshot.Response) (v verdict, detail string) {
	says := reading{speech: storedSpeech(t, stored)}
	for _, c := range stored.Candidates[:min(1, len(stored.Candidates))] {
		if says.finish = c.FinishReasonRaw; says.finish == "" && c.FinishReason != "other" {
			says.finish = string(c.FinishReason)
		}
	}
	if stored.Incomplete != "" {
		says.finish = anyFinish // the record reports that the end is missing
	}
	for how, r := range all {
		if r.speech == says.speech && (r.finish == says.finish || r.finish == anyFinish || says.finish == anyFinish) {
			continue
		}
		v = max(v, noted)
		if why := r.untold(says, stored.Readings); why != "" {
			detail += fmt.Sprintf("\n      %s: %s: %s\n      the record: %s\n      readings: %v", how, why, r, says, stored.Readings)
			v = silent
		}
	}
	return v, detail
}

// untold describes the parts of r that neither the record nor one of its readings has.
func (r reading) untold(says reading, told []snapshot.Reading) (why string) {
	has := func(kind, what string) bool {
		return slices.ContainsFunc(told, func(g snapshot.Reading) bool {
			if kind == "arguments" && g.Kind == kind { // compare in one spelling
				var of speech
				of.call("", g.Says)
				return of.calls == " "+what+"\n"
			}
			return g.Kind == kind && g.Says == what
		})
	}
	if r.text != says.text && !has("text", r.text) {
		why = fmt.Sprintf("the text %q", r.text)
	}
	if r.finish != says.finish && r.finish != anyFinish && says.finish != anyFinish && r.finish != "" && !has("finish", r.finish) {
		why += fmt.Sprintf(" the end %q", r.finish)
	}
	for call := range strings.Lines(r.calls) {
		name, arguments, _ := strings.Cut(strings.TrimSuffix(call, "\n"), " ")
		known := strings.Contains(says.calls, name+" ") || has("name", name)
		same := arguments == "" || strings.Contains(says.calls, " "+arguments+"\n")
		if !strings.Contains(says.calls, call) && !has("added-call", name+"("+arguments+")") && !(known && (same || has("arguments", arguments))) {
			why += fmt.Sprintf(" the call %q", call)
		}
	}
	if r.calls != says.calls && len(told) == 0 {
		why += " other calls"
	}
	return why
}

// TestReadings changes answers of all APIs that have an SDK in Go, with each kind of change, and compares the SDKs'
// readings with the record and its readings. It fails if an SDK reads something that neither has, if our code panics,
// and if the recorder refuses an answer that all SDKs read.
func TestReadings(t *testing.T) {
	t.Setenv("TRACEFORGE_UPDATE", "1")
	seed, times := uint64(1), 2
	if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
		times = 6
	}
	if other := os.Getenv("TRACEFORGE_TEST_SEED"); other != "" {
		_, err := fmt.Sscan(other, &seed)
		require.NoError(t, err)
	}
	tables := map[bool]readingsTable{true: {}, false: {}}
	total := tally{}
	var examples []string
	for n, a := range answersRead(t) {
		told := map[string]bool{}
		for k, kind := range changeKinds {
			for i := range times {
				resp, body := a.changed(kind, rand.New(rand.NewPCG(seed, uint64(n*10000+k*100+i))))
				if resp == nil || told[resp.Header.Get("Content-Type")+string(body)] {
					continue
				}
				told[resp.Header.Get("Content-Type")+string(body)] = true
				name := fmt.Sprintf("%s, %s, %s, %d", a.api.name, a.name, kind.name, i)
				v, detail := a.judge(t, name, resp, body)
				if kind.name == "unchanged" && v != same {
					t.Errorf("%s: the record and the SDKs differ%s\n%s", name, detail, body)
				}
				total[v]++
				if tables[a.streamed].count(kind.name, a.api.name, v) == 1 && v == silent {
					examples = append(examples, name+detail)
				}
				if v == silent {
					t.Errorf("%s: an SDK reads what the record has no word of%s", name, detail)
				}
			}
		}
	}
	t.Logf("seed %d: %s\n\nstreams: %s\n%s\nwhole answers:\n%s\nthe first of each that differs without a word:\n%s",
		seed, total, legend, tables[true], tables[false], strings.Join(examples, "\n"))
}

// judge reads an answer with the SDKs, records it, and returns the verdict.
func (a *answerRead) judge(t *testing.T, name string, resp *http.Response, body []byte) (v verdict, detail string) {
	all, failed := a.read(t, resp, body)
	stored, why := a.record(t, filepath.Join(t.TempDir(), ".ai-snapshots"), resp, body)
	switch {
	case stored == nil:
		if strings.Contains(why, "panic") || failed == 0 {
			t.Errorf("%s: it is refused, and %d of %d SDKs read it: %s\n%s", name, len(a.readers)-failed, len(a.readers), why, body)
		}
		return refused, why
	case len(all) == 0:
		return sdkError, ""
	}
	return compareReadings(t, all, stored)
}

// A tally counts verdicts.
type tally [verdicts]int

const legend = "= the record says what each SDK says, ~ a reading does, ! it differs without a word, x refused, e no SDK reads it"

func (c tally) String() string {
	var b strings.Builder
	for v, n := range c {
		if n > 0 {
			fmt.Fprintf(&b, " %d%c", n, "=~!xe"[v])
		}
	}
	return strings.TrimPrefix(b.String(), " ")
}

// A readingsTable holds tallies by kind and API.
type readingsTable map[string]map[string]*tally

// count counts a verdict, and returns its number so far.
func (table readingsTable) count(kind, api string, v verdict) int {
	for _, kind := range []string{kind, "all"} {
		if table[kind] == nil {
			table[kind] = map[string]*tally{}
		}
		if table[kind][api] == nil {
			table[kind][api] = &tally{}
		}
		table[kind][api][v]++
	}
	return table[kind][api][v]
}

func (table readingsTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-36s", "")
	for _, api := range readAPIs {
		fmt.Fprintf(&b, " %-16.16s", api.name)
	}
	for _, kind := range append(slices.Clone(changeKinds), changeKind{name: "all"}) {
		if table[kind.name] == nil {
			continue
		}
		fmt.Fprintf(&b, "\n%-36s", kind.name)
		for _, api := range readAPIs {
			if c := table[kind.name][api.name]; c != nil {
				fmt.Fprintf(&b, " %-16s", c)
			} else {
				fmt.Fprintf(&b, " %-16s", "")
			}
		}
	}
	return b.String() + "\n"
}
