package recorder

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// What an honest provider answers.
const (
	honest = `{"id":"1","model":"m","choices":[` +
		`{"index":0,"message":{"role":"assistant","content":"four"},"finish_reason":"stop"},` +
		`{"index":1,"message":{"role":"assistant","content":"4"},"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`
	honestOdd  = `{"choices":[{"message":{"content":"four","Content":"five"},"finish_reason":"stop"}]}`
	honestCall = `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"call_x","type":"function","function":{"name":"pay","arguments":"{\"to\":\"Ann\"}"}}]},"finish_reason":"tool_calls"}]}`
	honestPage     = "<html>Sign in</html>"
	honestCitation = `{"choices":[{"index":0,"message":{"content":"four","annotations":[{"type":"url_citation","url_citation":` +
		`{"url":"https://a","start_index":0,"end_index":4}}]},"finish_reason":"stop"}]}`
	honestError  = `{"error":{"message":"no such model","type":"invalid_request_error"}}`
	honestStream = "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"fo\"}}]}\n\n" +
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ur\"},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: [DONE]\n\n"
	honestResponses = `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}}` + "\n\n" +
		`data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"fo"}` + "\n\n" +
		`data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"ur"}` + "\n\n" +
		`data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"four"}` + "\n\n" +
		`data: {"type":"response.completed","response":{"status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"four"}]}]}}` + "\n\n"
)

const (
	chatURL      = "https://api.openai.com/v1/chat/completions"
	responsesURL = "https://api.openai.com/v1/responses"
	askedItems   = `{"model":"m","temperature":0,"input":"a"}`
)

// A forger edits a record and what it serves; what it returns is sealed as it should be.
type forger func(s *snapshot.Snapshot, raw string) string

// rawly replaces a part of what is served.
func rawly(t *testing.T, old, new string) forger {
	return func(_ *snapshot.Snapshot, raw string) string {
		require.Contains(t, raw, old)
		return strings.Replace(raw, old, new, 1)
	}
}

// recordly edits what is read.
func recordly(edit func(*snapshot.Snapshot)) forger {
	return func(s *snapshot.Snapshot, raw string) string {
		edit(s)
		return raw
	}
}

// forge edits the document of TestIt and commits it as a forger would.
func (s *scene) forge(forge func(n int, record *snapshot.Snapshot, raw string) string) {
	s.t.Helper()
	opened, doc := s.open()
	document := *doc.Document
	put := store.Put{Provider: doc.Provider, Name: doc.Name, Document: &document, Beside: map[canon.Hash][]byte{}}
	for i := range document.Snapshots {
		raw, err := doc.Raw(i)
		require.NoError(s.t, err)
		record := &document.Snapshots[i]
		raw = []byte(forge(record.Number(), record, string(raw)))
		record.Response.RawOutputRef = ""
		if len(raw) > 0 {
			record.Response.RawOutputRef = canon.Sum(raw)
			put.Beside[record.Response.RawOutputRef] = raw
		}
	}
	require.NoError(s.t, opened.Commit(store.Change{Put: []store.Put{put}}))
}

func (s *scene) open() (*store.Store, *store.Doc) {
	s.t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(s.t, err)
	doc, err := opened.Load(snapshot.DocumentName("example.com/m", "TestIt"), "openai")
	require.NoError(s.t, err)
	return opened, doc
}

// stored returns the test's document as it is; nil: there is none.
func (s *scene) stored() *store.Doc {
	s.t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(s.t, err)
	doc, err := opened.Load(snapshot.DocumentName("example.com/m", "TestIt"), "openai")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(s.t, err)
	return doc
}

// findings returns what verify finds in the store.
func (s *scene) findings() []snapshot.Finding {
	s.t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(s.t, err)
	result, err := audit.Verify(opened, Proven, Lint.Deterministic)
	require.NoError(s.t, err)
	return result.Findings
}

// posts makes a call and reads its answer; it returns what it got.
func posts(got *string, url, body string) func(*Recorder) {
	return func(r *Recorder) {
		resp, err := (&http.Client{Transport: r}).Post(url, "application/json", strings.NewReader(body))
		if err == nil {
			var read []byte
			read, err = io.ReadAll(resp.Body)
			*got += string(read)
			resp.Body.Close()
		}
		if err != nil {
			*got += "error: " + err.Error()
		}
	}
}

// TestForgeries lets a reviewer read one thing and a test get another, in each way that is known. Every
// hash and the manifest are right: verify finds it, a replay fails, and an update with an honest
// provider does not keep it (C1, C6).
func TestForgeries(t *testing.T) {
	stream := http.Header{"Content-Type": {"text/event-stream"}}
	set := func(name string, values ...string) forger {
		return recordly(func(s *snapshot.Snapshot) { s.Response.Headers[name] = values })
	}
	for _, c := range []struct {
		name, why string
		upstream  upstream
		url       string // empty: that of chat completions
		forge     forger
		pointer   string // in the record
		says      string
	}{
		{"another answer", "the first forgery of the findings", upstream{body: honest}, "", rawly(t, "four", "five"),
			"/response/content", `says "four", and openai/testit-NAME/1.json, which is what replay serves, says "five"`},
		{"order of candidates", "a program takes the first", upstream{body: honest}, "",
			func(_ *snapshot.Snapshot, raw string) string {
				return strings.NewReplacer(`"four"`, `"4"`, `"4"`, `"four"`, `"stop"`, `"length"`, `"length"`, `"stop"`).Replace(raw)
			}, "/response/candidates/0/content", `says "4"`},
		{"further candidate", "a program counts them", upstream{body: honest}, "", rawly(t, `}],"usage"`,
			`},{"index":2,"message":{"content":"hidden"},"finish_reason":"stop"}],"usage"`), "/response/candidates/1", "says nothing"},
		{"fewer candidates", "a program counts them", upstream{body: honest}, "",
			recordly(func(s *snapshot.Snapshot) {
				s.Response.Candidates = append(s.Response.Candidates, s.Response.Candidates[0])
			}), "/response/candidates/1", "says nothing"},
		{"hidden tool call", "a program runs it", upstream{body: honest}, "", rawly(t, `"content":"four"`,
			`"content":"four","tool_calls":[{"id":"c","type":"function","function":{"name":"pay","arguments":"{}"}}]`), "/response/tool_calls", `says nothing`},
		{"other arguments", "a program pays another", upstream{body: honestCall}, "", rawly(t, "Ann", "Eve"), "/response/tool_calls/0/input/to", `says "Ann"`},
		{"other tool", "a program runs another", upstream{body: honestCall}, "", rawly(t, `"pay"`, `"payAll"`), "/response/tool_calls/0/name", `says "pay"`},
		{"hidden part", "a program shows it", upstream{body: honest}, "", rawly(t, `"content":"four"`, `"content":"four","reasoning_content":"hidden"`),
			"/response/parts", "says nothing"},
		{"reason", "a program goes on where it was cut", upstream{body: honest}, "", rawly(t, `"stop"`, `"length"`), "/response/finish_reason", `says "stop"`},
		{"reason's word", "what the provider called it", upstream{body: honest}, "", rawly(t, `"stop"`, `"end_turn"`), "/response/finish_reason_raw", `says "stop"`},
		{"reason's word of another", "of a further candidate", upstream{body: honest}, "", rawly(t, `"length"`, `"max_tokens"`),
			"/response/candidates/0/finish_reason_raw", `says "length"`},
		{"model", "another model answered", upstream{body: honest}, "", rawly(t, `"model":"m"`, `"model":"n"`), "/response/model", `says "m"`},
		{"usage", "it cost more", upstream{body: honest}, "", recordly(func(s *snapshot.Snapshot) { n := int64(1); s.Response.Usage.InputTokens = &n }),
			"/response/usage/input", `says "1"`},
		{"total", "it cost more", upstream{body: honest}, "", recordly(func(s *snapshot.Snapshot) { n := int64(1); s.Response.TokensUsed = &n }),
			"/response/tokens_used", `says "1"`},
		{"error as answer", "a program sees a failure", upstream{body: honest}, "", func(*snapshot.Snapshot, string) string { return honestError },
			"/response/error", "says nothing"},
		{"refused as answered", "a 400 recorded as 200", upstream{body: honestError, status: 400}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.Status = 200 }), "/response/error/status", `says "400"`},
		{"answered as refused", "a 200 recorded as 500", upstream{body: honest}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.Status = 500 }), "/response/error", "says nothing"},
		{"status", "no server answers so", upstream{body: honest}, "", recordly(func(s *snapshot.Snapshot) { s.Response.Status = 99999 }),
			"/response/status", "is 99999, must be from 100 to 599"},
		{"no status", "no server answers so", upstream{body: honest}, "", recordly(func(s *snapshot.Snapshot) { s.Response.Status = 0 }),
			"/response/status", "is 0, must be"},
		{"split header", "one value is two headers on the wire", upstream{body: honest}, "", set("retry-after", "1\r\nx-evil: 1"),
			"/response/headers/retry-after/0", "has a control character"},
		{"name of a header", "one name is two headers on the wire", upstream{body: honest}, "", set("x-a: 1\r\nx-b", "1"),
			"/response/headers/x-a: 1\r\nx-b", "is no name of a header"},
		{"capital header", "two names are one header", upstream{body: honest}, "", set("Content-Type", "text/event-stream"),
			"/response/headers/Content-Type", "is no name of a header"},
		{"content encoding", "a program decodes what is served", upstream{body: honest}, "", set("content-encoding", "gzip"),
			"/response/headers/content-encoding", "says how an answer came"},
		{"cookie", "a secret, or one that a program is made to send", upstream{body: honest}, "", set("set-cookie", "a=b"),
			"/response/headers/set-cookie", "carries a secret, which is never kept"},
		{"length", "a program reads less", upstream{body: honest}, "", set("content-length", "1"), "/response/headers/content-length", "says how an answer came"},
		{"hop", "it is of a connection", upstream{body: honest}, "", set("te", "trailers"), "/response/headers/te", "says how an answer came"},
		{"credential", "a program is led on with it", upstream{body: honest}, "", set("location", "https://a/b?access_token=xyzzy"),
			"/response/headers/location/0", "has a URL with credentials, which are never kept"},
		{"credential of a link", "likewise", upstream{body: honest}, "", set("link", `<https://me:pw@a/b>; rel="next"`),
			"/response/headers/link/0", "has a URL with credentials"},
		{"flood of headers", "no recording keeps so many", upstream{body: honest}, "", set("content-type", make([]string, 10000)...),
			"/response/headers", "has 10000 values of 120000 bytes, and at most 256 values of 262144 bytes are kept"},
		{"long header", "no recording keeps one so long", upstream{body: honest}, "", set("etag", strings.Repeat("a", 1<<20)),
			"/response/headers", "has 2 values of 1048608 bytes"},
		{"two content types", "a program takes the one or the other", upstream{body: honest}, "",
			set("content-type", "application/json", "text/event-stream"), "/response/headers/content-type", "says it 2 times"},
		{"no answer", "the bytes are no answer at all", upstream{body: honest}, "", func(*snapshot.Snapshot, string) string { return "four" },
			"/response/raw_output_ref", "which is no such answer: openai.chat: the answer is no JSON"},
		{"two values", "a decoder of the first value reads another answer than one of chunks", upstream{body: honestStream, header: stream}, "",
			func(s *snapshot.Snapshot, raw string) string {
				s.Response.Headers["content-type"] = []string{"application/json"}
				return strings.Replace(honest, "four", "five", 1) + "\n" +
					`{"choices":[{"index":0,"delta":{"content":"four"},"finish_reason":"stop"}]}`
			}, "/response/readings", "read the text five"},
		{"capital member", "Go's encoding/json takes it for the small one", upstream{body: honest}, "",
			rawly(t, `"content":"four"`, `"content":"four","Content":"five"`), "/response/readings", "read the member Content as one of another name"},
		{"capital member with space", "JSON allows it", upstream{body: honest}, "",
			rawly(t, `"content":"four"`, `"content":"four","cONTENT" : "five"`), "/response/readings", "the member cONTENT as one of another name"},
		{"escaped member", "an escape hides the capital", upstream{body: honest}, "",
			rawly(t, `"content":"four"`, `"content":"four","\u0043ontent":"five"`), "/response/readings", "the member Content as one of another name"},
		{"folded member", "a letter of another script is folded to s", upstream{body: honest}, "",
			rawly(t, `"choices":[`, `"choiceſ":[{"message":{"content":"five"}}],"choices":[`), "/response/readings", "the member choiceſ as one of another name"},
		{"repeated member", "the first or the last counts", upstream{body: honest}, "",
			rawly(t, `"content":"four"`, `"content":"four","content":"five"`), "/response/raw_output_ref", "which is no such answer"},
		{"reading that is none", "a reviewer looks for it in vain", upstream{body: honestOdd}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.Readings[0].Says = "six" }), "/response/readings/0", "is the member six as one of another name, and programs read the member Content"},

		{"note", "the answer is the API's, and would not be shown as one", upstream{body: honest}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.Note = "openai.chat: odd" }),
			"/response/note", "says that openai/testit-NAME/1.json has no answer of openai.chat, and it has"},
		{"noted page", "a page is served that nobody has read", upstream{body: honestPage}, "", rawly(t, "Sign in", "Sign out"),
			"/response/content", `says "<html>Sign in`},
		{"citation", "a program links to another source", upstream{body: honestCitation}, "", rawly(t, "https://a", "https://b"),
			"/response/citations", `https://a`},
		{"place of a citation", "a program links other words", upstream{body: honestCitation}, "",
			recordly(func(s *snapshot.Snapshot) { n := int64(1); s.Response.Candidates[0].Citations[0].Start = &n }),
			"/response/citations", `1-4 `},

		{"stream", "of pieces", upstream{body: honestStream, header: stream}, "", rawly(t, `"ur"`, `"rty"`), "/response/content", `says "four"`},
		{"times of other events", "a replay waits at the wrong ones", upstream{body: honestStream, header: stream}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.TimingMS = []int64{0, 0} }),
			"/response/timing_ms", "has 2 times, and openai/testit-NAME/1.sse has 3 events"},
		{"late event", "a replay waits longer than the recording", upstream{body: honestStream, header: stream}, "",
			recordly(func(s *snapshot.Snapshot) { s.Response.TimingMS = []int64{0, 0, 1 << 40} }),
			"/response/timing_ms", "must rise up to latency_ms at most"},
		{"cut stream", "it ends before its end", upstream{body: honestStream, header: stream}, "",
			func(s *snapshot.Snapshot, raw string) string {
				s.Response.Candidates[0].FinishReason, s.Response.Candidates[0].FinishReasonRaw = "other", ""
				return strings.Replace(strings.Replace(raw, `,"finish_reason":"stop"`, "", 1), "data: [DONE]\n\n", "", 1)
			}, "/response/incomplete", "is missing: openai/testit-NAME/1.sse ends before its end"},
		{"behind the end", "clients stop at [DONE], and the record goes on", upstream{body: honestStream, header: stream}, "",
			func(s *snapshot.Snapshot, raw string) string {
				text := "four, or not"
				s.Response.Candidates[0].Message.Content = []modelio.Part{{Text: &text}}
				return raw + `data: {"choices":[{"index":0,"delta":{"content":", or not"}}]}` + "\n\n"
			}, "/response/readings", "read the text four (event 3)"},
		{"carriage return", "it ends a line for some, and the rest of the line is data for others", upstream{body: honestStream, header: stream}, "",
			rawly(t, "data: [DONE]", `data: `+"\r"+`{"choices":[{"index":0,"delta":{"content":"!"}}]}`+"\n\ndata: [DONE]"),
			"/response/readings", "read no field in the line"},
		{"lines of data", "each is an event for some", upstream{body: honestStream, header: stream}, "",
			rawly(t, `{"model":"m",`, "{\"model\":\"m\",\ndata: "), "/response/readings", `the text "" (event 1)`},
		{"capital in a stream", "Go's encoding/json takes it for the small one", upstream{body: honestStream, header: stream}, "",
			rawly(t, `"content":"ur"`, `"content":"ur","Content":"rty"`), "/response/readings", "the member Content as one of another name (event 2)"},

		{"pieces of a text", "a program prints them, and the record has the whole", upstream{body: honestResponses, header: stream}, responsesURL,
			rawly(t, `"delta":"ur"`, `"delta":"rty"`), "/response/readings", "read the text forty"},
		{"whole text", "a program takes it where it is whole first", upstream{body: honestResponses, header: stream}, responsesURL,
			func(_ *snapshot.Snapshot, raw string) string {
				return strings.NewReplacer(`"delta":"ur"`, `"delta":"rty"`, `"four"}`+"\n", `"forty"}`+"\n").Replace(raw)
			}, "/response/readings", "read the text forty"},
		{"name of an event", "some go by the name, others by the type", upstream{body: honestResponses, header: stream}, responsesURL,
			rawly(t, `data: {"type":"response.output_text.done"`, "event: response.completed\n"+`data: {"type":"response.output_text.done"`),
			"/response/readings", "an event by the name response.completed (event 4)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, url, body := newScene(t), chatURL, askedBody
			if c.url != "" {
				url, body = c.url, askedItems
			}
			from := func(o *Options) { o.Upstream = &c.upstream }
			var recorded, again, replayed string
			failures, _ := s.run(Update, posts(&recorded, url, body), from)
			require.Empty(t, failures)
			require.Equal(t, c.upstream.body, recorded)
			require.Empty(t, s.findings(), "what is honest proves itself")
			failures, _ = s.run(Replay, posts(&replayed, url, body))
			require.Empty(t, failures)
			_, before := s.open()

			s.forge(func(_ int, record *snapshot.Snapshot, raw string) string { return c.forge(record, raw) })
			_, doc := s.open()
			found := s.findings()
			pointer := "/snapshots/0" + c.pointer
			says := strings.ReplaceAll(c.says, "testit-NAME", doc.Name)
			at := -1
			for i, f := range found {
				require.Equal(t, "openai/"+doc.Name+".json", f.File)
				require.Equal(t, snapshot.RuleAnswer, f.Rule, f.String())
				if f.Pointer == pointer {
					at = i
				}
			}
			require.GreaterOrEqual(t, at, 0, "%s: %v", c.why, found)
			require.Contains(t, found[at].Message, says, c.why)

			changed := strings.Replace(body, `"a"`, `"b"`, 1)
			require.NotEqual(t, body, changed)
			failures, _ = s.run(Rekey, posts(&again, url, changed))
			require.Len(t, failures, 1, "no other call adopts it")
			again, replayed = "", ""
			failures, _ = s.run(Replay, posts(&replayed, url, body))
			require.Len(t, failures, 1, c.why)
			require.Contains(t, failures[0].Text, "STORE/openai/"+doc.Name+".json, call 1, says one thing and serves another", c.why)
			require.Contains(t, failures[0].Text, says, c.why)
			require.Contains(t, failures[0].Text, "accept: ACCEPT")
			require.Contains(t, replayed, "says one thing and serves another", "the caller is told")

			failures, _ = s.run(Update, posts(&again, url, body), from)
			require.Empty(t, failures)
			require.Empty(t, s.findings(), "what was forged is not kept")
			_, after := s.open()
			raw, err := after.Raw(0)
			require.NoError(t, err)
			require.Equal(t, c.upstream.body, string(raw))
			require.Equal(t, before.Document.Snapshots[0].ID, after.Document.Snapshots[0].ID)
		})
	}
}

// TestForgedIdentities change what replay needs to find and to serve a record: verify finds what replay fails by, and the
// way out that it names, to record again, mends it.
func TestForgedIdentities(t *testing.T) {
	api := func(name string) forger {
		return recordly(func(s *snapshot.Snapshot) { s.Request.API = name })
	}
	for _, c := range []struct {
		name, why string
		forge     forger
		want      string
	}{
		{"nothing to serve", "a record is there, and no answer", func(*snapshot.Snapshot, string) string { return "" },
			"/response/raw_output_ref: answer: is missing, and there is no error of the transport: replay has nothing to serve"},
		{"API of prompts", "its answers decode alike", api("openai.completions"),
			"/request/api: answer: is openai.completions, and the request is of another API: it has messages, and those of openai.completions have a prompt"},
		{"API of prompts of another provider", "the errors of all APIs decode alike", func(s *snapshot.Snapshot, raw string) string {
			s.Request.API = "ollama.generate"
			return raw
		}, "/request/api: answer: is ollama.generate, and the request is of another API: it has messages"},
		{"generic API", "it decodes what all others do", api(provider.GenericAPI),
			"/request/api: answer: is http.json, and the request is of another API: it has no $url, which each of http.json has"},
		{"unknown API", "nothing can be held", api("acme.chat"), `/response/raw_output_ref: answer: cannot be held against the record, as "acme.chat" is no API`},
		{"no seed", "the API has one, and no reason stands", recordly(func(s *snapshot.Snapshot) { s.Request.Seed = nil }),
			"/request/seed: deterministic: is not set, must be any fixed number, or source.nondeterministic say why it is not: record again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, got := newScene(t), ""
			call, from := posts(&got, chatURL, askedBody), func(o *Options) { o.Upstream = &upstream{body: honest} }
			failures, _ := s.run(Update, call, from)
			require.Empty(t, failures)
			require.Empty(t, s.findings())
			s.forge(func(_ int, record *snapshot.Snapshot, raw string) string { return c.forge(record, raw) })
			require.Contains(t, fmt.Sprint(s.findings()), "/snapshots/0"+c.want, c.why)

			failures, _ = s.run(Replay, call)
			require.NotEmpty(t, failures, c.why)
			failures, _ = s.run(Update, call, from)
			require.Empty(t, failures, "the way out is one")
			require.Empty(t, s.findings())
			failures, _ = s.run(Replay, call)
			require.Empty(t, failures)
		})
	}
}

// TestFloodOfHeaders records no answer whose headers no replay could serve.
func TestFloodOfHeaders(t *testing.T) {
	flood := make([]string, 10000)
	for i := range flood {
		flood[i] = "application/json"
	}
	for _, c := range []struct {
		name   string
		header http.Header
		want   string
	}{
		{"flood", http.Header{"Content-Type": flood}, "response/headers has 10000 values of 280000 bytes, and at most 256 values of 262144 bytes are kept"},
		{"long", http.Header{"Etag": {strings.Repeat("a", 1<<20)}}, "response/headers has 2 values of 1048608 bytes"},
		{"two types", http.Header{"Content-Type": {"application/json", "text/plain"}}, "response/headers/content-type says it 2 times"},
	} {
		s, got := newScene(t), ""
		failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) { o.Upstream = &upstream{body: honest, header: c.header} })
		require.Len(t, failures, 1, c.name)
		require.Contains(t, failures[0].Text, "cannot be kept: "+c.want)
		require.Less(t, len(failures[0].Text), 2000)
		require.Equal(t, honest, got, "the program gets its answer")
		require.Nil(t, s.stored())
	}
}

// TestReadDifferently records answers that programs read differently, as providers send them: none is refused, each replays
// byte for byte, and its record says what they read.
func TestReadDifferently(t *testing.T) {
	for _, c := range []struct{ name, url, contentType, body, reading string }{
		{"lines", chatURL, "application/json", honest + "\n" + strings.Replace(honest, "four", "five", 1), ""},
		{"capital", chatURL, "application/json", strings.Replace(honest, `"content":"four"`, `"content":"four","Content":"five"`, 1), "{0 text five}"},
		{"lines of data", chatURL, "text/event-stream", strings.Replace(honestStream, `{"model":"m",`, "{\"model\":\"m\",\ndata: ", 1), "{1 text }"},
		{"behind the end", chatURL, "text/event-stream", honestStream + `data: {"choices":[{"index":0,"delta":{"content":"!"}}]}` + "\n\n",
			"{3 text four}"},
		{"cut text", responsesURL, "text/event-stream", strings.Replace(honestResponses, `"delta":"ur"`, `"delta":"urteen"`, 1), "{3 text fourteen}"},
		{"carriage return", chatURL, "text/event-stream", strings.Replace(honestStream, "data: [DONE]", `data: `+"\r"+`{"choices":[{"index":0,"delta":{"content":"!"}}]}`+"\n\ndata: [DONE]", 1), "line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, body := newScene(t), askedBody
			if c.url == responsesURL {
				body = askedItems
			}
			var recorded, replayed string
			failures, _ := s.run(Update, posts(&recorded, c.url, body), func(o *Options) {
				o.Upstream, o.Allowed = &upstream{body: c.body, header: http.Header{"Content-Type": {c.contentType}}}, CutStreams
			})
			require.Empty(t, failures)
			require.Empty(t, s.findings())
			_, doc := s.open()
			stored := doc.Document.Snapshots[0].Response.Readings
			require.Contains(t, fmt.Sprint(stored), c.reading)
			failures, _ = s.run(Replay, posts(&replayed, c.url, body))
			require.Empty(t, failures)
			require.Equal(t, c.body, replayed)

			s.forge(func(_ int, record *snapshot.Snapshot, raw string) string {
				record.Response.Readings = stored[:len(stored)-1]
				return raw
			})
			require.Contains(t, fmt.Sprint(s.findings()), "does not say that programs read", "it cannot be taken out")
		})
	}
	s, got := newScene(t), ""
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) { o.Upstream = &upstream{body: honest} })
	require.Empty(t, failures)
	s.forge(func(_ int, record *snapshot.Snapshot, raw string) string {
		record.Response.Readings = []snapshot.Reading{{Kind: "text", Says: "five"}}
		return raw
	})
	require.Contains(t, fmt.Sprint(s.findings()), "and none does")
}

// TestSecretInAReading: a recording that is refused for a secret which only a reading holds names its place and its kind.
func TestSecretInAReading(t *testing.T) {
	const begin, end = "ghp_16C7e42F292c6912E7", "710c838347Ae178b4a"
	chunk := ` data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"rm","arguments":"%s"}}]}}]}` + "\n\n"
	called := fmt.Sprintf(chunk, begin) + strings.Replace(fmt.Sprintf(chunk, end), `"name":"rm",`, "", 1)
	for contentType, body := range map[string]string{
		"application/json":  strings.Replace(honest, `"content":"four"`, `"content":"four","Content":"`+begin+end+`"`, 1),
		"text/event-stream": strings.Replace(honestStream, "data: [DONE]", called+"data: [DONE]", 1),
	} {
		s, got := newScene(t), ""
		failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) {
			o.Upstream, o.Allowed = &upstream{body: body, header: http.Header{"Content-Type": {contentType}}}, CutStreams
		})
		require.NotEmpty(t, failures, contentType)
		require.Contains(t, failures[0].Text, "holds a GitHub token: nothing was recorded\n  /response/readings\n", contentType)
	}
}

// TestReadings puts 10,000 harmless readings in front of one that adds a call: the record tells that first, and verify finds
// it unless its kind is allowed.
func TestReadings(t *testing.T) {
	call := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"rm","arguments":"{}"}}]}}]}` + "\r\r"
	body := strings.Repeat(" x: 1\n", 10) + strings.Replace(honestStream, "data: [DONE]", call+"data: [DONE]", 1)
	for i := range 10_000 {
		body = fmt.Sprintf(" %d\n", i) + body
	}
	s, got := newScene(t), ""
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) {
		o.Upstream, o.Allowed = &upstream{body: "data: {\"choices\":[]}\n\n" + body, header: http.Header{"Content-Type": {"text/event-stream"}}}, CutStreams
	})
	require.Empty(t, failures)
	require.Empty(t, s.findings())
	_, doc := s.open()
	response := &doc.Document.Snapshots[0].Response
	require.Len(t, response.Readings, reading.Most)
	require.Greater(t, response.ReadingsMore, 9_000)
	require.True(t, response.Readings[0].IsOfCall(), response.Readings[0])
	require.Contains(t, fmt.Sprint(Read(nil)(doc)), `config.json say "readings": [`)
	require.Empty(t, Read([]string{"added-call", "arguments", "missing-call", "name"})(doc))
	s.forge(func(_ int, record *snapshot.Snapshot, raw string) string {
		record.Response.ReadingsMore = 1
		return raw
	})
	require.Contains(t, fmt.Sprint(s.findings()), "/snapshots/0/response/readings_more: answer: is 1, must be ")
}

// TestForgedCut drops the flag of an answer that was cut.
func TestForgedCut(t *testing.T) {
	cut, _, _ := strings.Cut(honestStream, "data: {\"choices\"")
	s, got := newScene(t), ""
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) {
		o.Upstream, o.Allowed = &upstream{body: cut, header: http.Header{"Content-Type": {"text/event-stream"}}}, CutStreams
	})
	require.Empty(t, failures)
	require.Empty(t, s.findings())
	s.forge(func(_ int, record *snapshot.Snapshot, raw string) string {
		require.NotEmpty(t, record.Response.Incomplete)
		record.Response.Incomplete = ""
		return raw
	})
	require.Contains(t, fmt.Sprint(s.findings()), "/snapshots/0/response/incomplete: answer: is missing")
	failures, _ = s.run(Replay, posts(&got, chatURL, askedBody))
	require.Len(t, failures, 1)
}

// TestForgedExchange gives each of two calls the raw answer of the other.
func TestForgedExchange(t *testing.T) {
	s := newScene(t)
	s.run(Update, asks("a", "b"))
	raws := map[int]string{}
	s.forge(func(n int, _ *snapshot.Snapshot, raw string) string { raws[n] = raw; return raw })
	require.Empty(t, s.findings())
	s.forge(func(n int, _ *snapshot.Snapshot, raw string) string { return raws[3-n] })
	require.Len(t, s.findings(), 2)
	failures, _ := s.run(Replay, asks("a", "b"))
	require.Len(t, failures, 2)
}

// TestStreamsAreProvenAtTheirEnd serves the events of a stream at once, and fails when its caller reads it
// to its end, closes it, or leaves it open until the test ends.
func TestStreamsAreProvenAtTheirEnd(t *testing.T) {
	for _, c := range []struct {
		name, why string
		rest      func(*testing.T, io.ReadCloser)
	}{
		{"read", "as io.ReadAll does", func(t *testing.T, body io.ReadCloser) {
			rest, err := io.ReadAll(body)
			require.Contains(t, string(rest), "[DONE]")
			require.ErrorContains(t, err, "says one thing and serves another")
		}},
		{"close", "as SDKs do that stop at the last event", func(t *testing.T, body io.ReadCloser) {
			require.ErrorContains(t, body.Close(), "says one thing and serves another")
			require.Error(t, body.Close(), "it stays so")
		}},
		{"nothing", "as a test does that leaves it", func(t *testing.T, body io.ReadCloser) {}},
	} {
		s, got := newScene(t), ""
		s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) {
			o.Upstream = &upstream{body: honestStream, header: http.Header{"Content-Type": {"text/event-stream"}}}
		})
		s.forge(func(_ int, _ *snapshot.Snapshot, raw string) string { return strings.Replace(raw, "ur", "rty", 1) })
		failures, _ := s.run(Replay, func(r *Recorder) {
			resp, err := (&http.Client{Transport: r}).Post(chatURL, "application/json", strings.NewReader(askedBody))
			require.NoError(t, err, "the first event is not late")
			first := make([]byte, 5)
			_, err = io.ReadFull(resp.Body, first)
			require.NoError(t, err)
			c.rest(t, resp.Body)
		})
		require.Len(t, failures, 1, "%s: %s", c.name, c.why)
		require.Contains(t, failures[0].Text, `says "four"`)
	}
}

// TestStreamsAreHashedAtTheirEnd serves the events of a stream before its hash is known. An altered file fails at the
// end; an answer that another process recorded again in the meantime is as good.
func TestStreamsAreHashedAtTheirEnd(t *testing.T) {
	s, got := newScene(t), ""
	other := strings.Replace(askedBody, `"a"`, `"b"`, 1)
	failures, _ := s.run(Update, func(r *Recorder) {
		posts(&got, chatURL, askedBody)(r)
		posts(&got, chatURL, other)(r)
	}, func(o *Options) {
		o.Upstream = &upstream{body: honestStream, header: http.Header{"Content-Type": {"text/event-stream"}}}
	})
	require.Empty(t, failures)

	got = ""
	failures, _ = s.run(Replay, func(r *Recorder) {
		posts(&got, chatURL, askedBody)(r)
		s.forge(func(_ int, _ *snapshot.Snapshot, raw string) string { return ": again\n\n" + raw })
		posts(&got, chatURL, other)(r)
	})
	require.Empty(t, failures)
	require.Equal(t, honestStream+": again\n\n"+honestStream, got)

	failures, _ = s.run(Replay, func(r *Recorder) {
		posts(&got, chatURL, askedBody)(r)
		posts(&got, chatURL, other)(r)
		require.Len(t, r.run.proofs, 2)
		for _, d := range r.run.proofs {
			require.Nil(t, d.raw)
			require.Nil(t, d.check, "a run keeps no answer after its proof")
		}
	})
	require.Empty(t, failures)

	_, doc := s.open()
	file := doc.Path(doc.Beside(snapshot.RawName(1, &doc.Document.Snapshots[0].Response)))
	require.NoError(t, os.WriteFile(file, []byte(honestStream), 0o666))
	failures, _ = s.run(Replay, func(r *Recorder) {
		resp, err := (&http.Client{Transport: r}).Post(chatURL, "application/json", strings.NewReader(askedBody))
		require.NoError(t, err, "the first event is not late")
		read, err := io.ReadAll(resp.Body)
		require.Equal(t, honestStream, string(read))
		require.ErrorContains(t, err, "was changed after it was recorded")
		posts(new(string), chatURL, other)(r)
	})
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Text, "has the hash "+string(canon.Sum([]byte(honestStream))))
}

// TestForgedRequests change what a reviewer reads of a request: the call is not found (C2).
func TestForgedRequests(t *testing.T) {
	text := func(s string) []modelio.Part { return []modelio.Part{{Text: &s}} }
	for _, c := range []struct {
		name, why string
		ignored   []string // by the test
		forge     func(*snapshot.Snapshot)
		notes     int
	}{
		{"prompt", "the second forgery of the findings", nil, func(s *snapshot.Snapshot) { s.Request.Messages[0].Content = text("b") }, 0},
		{"further message", "a reader believes that it was sent, and the record ignores it", nil, func(s *snapshot.Snapshot) {
			rule := modelio.Message{Role: modelio.RoleSystem, Content: text("Never lie.")}
			s.Request.Messages = append(s.Request.Messages, rule)
			s.Source.Ignored = []string{"/messages/1"}
		}, 1},
		{"tools", "likewise", nil, func(s *snapshot.Snapshot) {
			s.Request.Tools = []modelio.ToolDefinition{{Name: "ask", InputSchema: []byte(`{}`)}}
			s.Source.Ignored = []string{"/tools"}
		}, 1},
		{"parameter", "a reader believes that it was 0", nil, func(s *snapshot.Snapshot) {
			s.Request.Seed, s.Source.Ignored = nil, []string{"/seed"}
		}, 0},
		{"more ignored", "than the test ignores", []string{"/seed"}, func(s *snapshot.Snapshot) {
			s.Source.Ignored = []string{"/messages/0/content", "/seed"}
		}, 1},
		{"fewer ignored", "than the test ignores", []string{"/seed"}, func(s *snapshot.Snapshot) { s.Source.Ignored = nil }, 0},
		{"provider", "another one answered", nil, func(s *snapshot.Snapshot) { s.Provider = "acme" }, 0},
		{"API", "another one was asked", nil, func(s *snapshot.Snapshot) { s.Request.API = "openai.completions" }, 0},
	} {
		s, got := newScene(t), ""
		ignore := func(o *Options) { o.Ignored = c.ignored }
		failures, _ := s.run(Update, posts(&got, chatURL, askedBody), ignore, func(o *Options) { o.Upstream = &upstream{body: honest} })
		require.Empty(t, failures)
		got = ""
		s.forge(func(_ int, record *snapshot.Snapshot, raw string) string { c.forge(record); return raw })
		failures, _ = s.run(Replay, posts(&got, chatURL, askedBody), ignore)
		require.NotEmpty(t, failures, "%s: %s", c.name, c.why)
		require.NotContains(t, got, "four", "%s: %s", c.name, c.why)
		_, doc := s.open()
		require.Len(t, Lint.Notes(doc), c.notes, "%s: %s", c.name, c.why)
		for _, note := range Lint.Notes(doc) {
			require.Equal(t, "/snapshots/0/source/ignored/0", note.Pointer)
			require.Contains(t, note.Message, "a request that has another is served this answer too")
		}
	}
}

// TestForgedFiles put documents and files where a reader or a test would take them for others.
func TestForgedFiles(t *testing.T) {
	medium := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff\xd8\x01", 200)))
	body := strings.Replace(askedBody, `"content":"a"`, `"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+medium+`"}}]`, 1)
	for _, c := range []struct {
		name, why string
		forge     func(s *scene, file, dir string)
		rule      string // of verify
		replays   bool
	}{
		{"another provider", "a document that was moved is not that of the calls", func(s *scene, file, dir string) {
			require.NoError(s.t, os.Rename(filepath.Join(s.dir, "openai"), filepath.Join(s.dir, "anthropic")))
		}, "", false},
		{"two providers", "the provider of the call counts, and verify tells of the other", func(s *scene, file, dir string) {
			require.NoError(s.t, os.CopyFS(filepath.Join(s.dir, "anthropic"), os.DirFS(filepath.Join(s.dir, "openai"))))
		}, snapshot.RuleDuplicate, true},
		{"one number twice", "two records of one id", func(s *scene, file, dir string) {
			edit(s.t, file, "-2\"", "-1\"")
		}, snapshot.RuleDuplicate, false},
		{"raw answer of two kinds", "the content type says which is served", func(s *scene, file, dir string) {
			require.NoError(s.t, os.WriteFile(filepath.Join(dir, "1.sse"), []byte(honestStream), 0o644))
		}, snapshot.RuleStray, true},
		{"medium's capitals", "two files where capitals count are one where they do not", func(s *scene, file, dir string) {
			names, err := filepath.Glob(filepath.Join(dir, "*.png"))
			require.NoError(s.t, err)
			require.Len(s.t, names, 1)
			upper := filepath.Join(dir, strings.ToUpper(strings.TrimSuffix(filepath.Base(names[0]), ".png"))+".png")
			if _, err := os.Stat(upper); err == nil {
				s.t.Skip("this file system takes both names for one")
			}
			require.NoError(s.t, os.WriteFile(upper, []byte("other"), 0o644))
		}, snapshot.RuleStray, true},
	} {
		s, got := newScene(t), ""
		both := func(r *Recorder) {
			posts(&got, chatURL, body)(r)
			posts(&got, chatURL, askedBody)(r)
		}
		failures, _ := s.run(Update, both, func(o *Options) { o.Upstream = &upstream{body: honest} })
		require.Empty(t, failures)
		name := snapshot.DocumentName("example.com/m", "TestIt")
		dir := filepath.Join(s.dir, "openai", name)
		c.forge(s, dir+".json", dir)
		got = ""
		failures, _ = s.run(Replay, both)
		require.Equal(t, c.replays, len(failures) == 0, "%s: %s: %v", c.name, c.why, failures)
		rules := map[string]bool{}
		for _, f := range s.findings() {
			rules[f.Rule] = true
		}
		require.True(t, c.rule == "" || rules[c.rule], "%s: %s: %v", c.name, c.why, rules)
	}
}

func edit(t *testing.T, file, old, new string) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), old)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), old, new, 1)), 0o644))
}

// TestSeedThatIsNotTaken records a call without a seed after the provider has refused one: the record says so, since the
// refusal need not be in the store.
func TestSeedThatIsNotTaken(t *testing.T) {
	s, got := newScene(t), ""
	unseeded := strings.Replace(askedBody, `"seed":1,`, "", 1)
	failures, _ := s.run(Update, func(r *Recorder) {
		posts(&got, chatURL, askedBody)(r)
		posts(&got, chatURL, unseeded)(r)
	}, func(o *Options) { o.Upstream = seedless{} })
	require.Empty(t, failures)
	require.Equal(t, "m takes no seed", s.stored().Document.Snapshots[1].Source.Nondeterministic)
	require.Empty(t, s.findings())
}

// seedless refuses calls with a seed.
type seedless struct{}

func (seedless) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err == nil && strings.Contains(string(body), "seed") {
		return (&upstream{status: 400, body: `{"error":{"message":"seed is not supported"}}`}).RoundTrip(req)
	}
	return (&upstream{body: honest}).RoundTrip(req)
}
