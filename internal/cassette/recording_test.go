package cassette_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// ask is what all recordings of the tests were asked, said is what they were answered.
const (
	ask  = `{"model":"m","n":1}`
	said = `{"text":"Grüße"}`
	url  = "https://api.example.com/v1/say"
)

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

func binary(data []byte) string { return "!!binary " + base64.StdEncoding.EncodeToString(data) }

// goVCR is a cassette of a version of its format, with members of the request and of the answer.
func goVCR(version int, request, response string) string {
	return fmt.Sprintf(`---
version: %d
interactions:
- request:
    body: '%s'
    url: %s
    method: POST
    headers:
      Content-Type:
      - application/json
    %s
  response:
    status: 200 OK
    code: 200
    headers:
      Date:
      - Tue, 14 Jul 2026 10:00:00 GMT
      Content-Type:
      - application/json
    %s
`, version, ask, url, request, response)
}

// vcrpy is a cassette with an answer's members.
func vcrpy(response string) string {
	return `interactions:
- request:
    body: '` + ask + `'
    headers:
      content-type: [application/json]
    method: POST
    uri: ` + url + `
  response:
    headers:
      Date: ['Tue, 14 Jul 2026 10:00:00 GMT']
      ` + response + `
    status: {code: 200, message: OK}
version: 1
`
}

// trace is a trace of httprr of one call; answer is what follows the status line.
func trace(answer string) string {
	asked := "POST " + url + " HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: u\r\nContent-Length: 19\r\n" +
		"Content-Type: application/json\r\n\r\n" + ask
	answer = "HTTP/1.1 200 OK\r\nDate: Tue, 14 Jul 2026 10:00:00 GMT\r\n" + answer
	return fmt.Sprintf("httprr trace v1\n%d %d\n%s%s", len(asked), len(answer), asked, answer)
}

// chunkedRequest is a trace whose request was sent in chunks.
func chunkedRequest() string {
	asked := "POST " + url + " HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n" +
		"Content-Type: application/json\r\n\r\n13\r\n" + ask + "\r\n0\r\n\r\n"
	answer := "HTTP/1.1 200 OK\r\nDate: Tue, 14 Jul 2026 10:00:00 GMT\r\n\r\n" + said
	return fmt.Sprintf("httprr trace v1\n%d %d\n%s%s", len(asked), len(answer), asked, answer)
}

func post(body string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// heard returns the status and the body of an answer.
func heard(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

// TestLayouts: every layout gives the answer as a client reads it, with its date, and with the latency that it has.
func TestLayouts(t *testing.T) {
	const v3 = "remote_addr: \"\"\n    form: {}\n    transfer_encoding: []"
	half := int64(len(said))
	for _, tt := range []struct {
		name, reason, tool, text string
		latency                  time.Duration
	}{
		{"vcr1", "v1 has no time of its own", "go-vcr", goVCR(1, "form: {}", "body: '"+said+"'\n    duration: \"\""), 0},
		{"vcr2", "v2 has one", "go-vcr", goVCR(1, "form: {}", "body: '"+said+"'\n    duration: 1.5s"), 1500 * time.Millisecond},
		{"vcr3", "v3 names all members", "go-vcr", goVCR(2, v3, "body: '"+said+"'\n    duration: 842.5ms"), 842500 * time.Microsecond},
		{"vcr4", "v4 leaves out what is empty", "go-vcr", goVCR(2, "proto: HTTP/1.1", "body: '"+said+"'\n    duration: 2s"), 2 * time.Second},
		{"nanoseconds", "a Duration may be a number", "go-vcr", goVCR(2, "host: h", "body: '"+said+"'\n    duration: 1000000"), time.Millisecond},
		{"vcrgzip", "go-vcr stores what came", "go-vcr", goVCR(2, "host: h", "body: "+binary(zipped(said))+"\n    duration: 0s"), 0},
		{"decoded", "go-vcr keeps the header of what the transport decoded", "go-vcr",
			strings.Replace(goVCR(2, "host: h", "body: '"+said+"'"), "      Date:", "      Content-Encoding: [gzip]\n      Date:", 1), 0},
		{"brotli", "vcrpy decodes what there is no decoder for here", "vcrpy", vcrpy("Content-Encoding: [br]\n    body: {string: '" + said + "'}"), 0},
		{"vcrpy", "a text", "vcrpy", vcrpy("X: [y]\n    body:\n      string: '" + said + "'"), 0},
		{"single", "older ones have headers that are no lists", "vcrpy", vcrpy("Content-Length: '5'\n    body:\n      string: '" + said + "'"), 0},
		{"vcrpygzip", "bytes", "vcrpy", vcrpy("Content-Encoding: [gzip]\n    body:\n      string: " + binary(zipped(said))), 0},
		{"parsed", "pydantic-ai's serializer keeps JSON as YAML", "vcrpy", vcrpy("X: [y]\n    parsed_body:\n      text: Grüße"), 0},
		{"parsed request", "also what was sent", "vcrpy", strings.Replace(vcrpy("X: [y]\n    body: {string: '"+said+"'}"),
			"body: '"+ask+"'", "body: null\n    parsed_body: {model: m, n: 1}", 1), 0},
		{"mapping", "what Python was given to send", "vcrpy", strings.Replace(vcrpy("X: [y]\n    body: {string: '"+said+"'}"), "'"+ask+"'", ask, 1), 0},
		{"json", "vcrpy's JSON serializer", "vcrpy", `{"version": 1, "interactions": [{"request": {"method": "POST", "uri": "` + url + `", "body": "",
			"headers": {}}, "response": {"status": {"code": 200, "message": "OK"}, "headers": {"Date": ["Tue, 14 Jul 2026 10:00:00 GMT"]},
			"body": {"string": "{\"text\":\"Gr\u00fc\u00dfe\"}"}}}]}`, 0},
		{"surrogates", "JSON has pairs where YAML has none", "vcrpy", `{"version": 1, "interactions": [{"request": {"method": "POST", "uri": "` + url + `", "body": "\ud83d\ude00",
			"headers": {}}, "response": {"status": {"code": 200, "message": "OK"}, "headers": {"Date": ["Tue, 14 Jul 2026 10:00:00 GMT"]},
			"body": {"string": "{\"text\":\"Gr\u00fc\u00dfe\"}"}}}]}`, 0},
		{"httprr", "as it was on the wire", "httprr", trace(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", half, said)), 0},
		{"scrubbed", "a scrubber leaves the length of before", "httprr", trace("Content-Length: 999\r\n\r\n" + said), 0},
		{"lengthened", "or makes it longer", "httprr", trace("Content-Length: 3\r\n\r\n" + said), 0},
		{"chunked request", "so is the body of a request of which nobody said how long it is", "httprr", chunkedRequest(), 0},
		{"chunked", "chunks are of the wire", "httprr", trace(fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", half, said)), 0},
		{"httprrgzip", "an encoded answer", "httprr",
			trace(fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(zipped(said)), zipped(said))), 0},
		{"gz", "langchaingo compresses traces", "httprr", string(zipped(trace("\r\n" + said))), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := cassette.Read("testdata/"+tt.name, []byte(tt.text))
			require.NoError(t, err, tt.reason)
			require.Equal(t, tt.tool, r.Tool)
			require.Len(t, r.Calls, 1)
			resp, err := r.RoundTrip(post(ask))
			require.NoError(t, err)
			from := saidFrom(t, resp)
			require.Equal(t, "200 "+said, heard(t, resp), tt.reason)
			require.Empty(t, resp.Header.Get("Content-Encoding"), "what is served is decoded")
			require.Equal(t, recorder.Provenance{
				From: "imported from " + tt.tool + " testdata/" + tt.name + ", interaction 1" + body(tt.name),
				Time: time.Date(2026, 7, 14, 10, 0, 0, 0, time.UTC), Latency: tt.latency,
			}, from)
		})
	}
}

// saidFrom returns what an answer says it is from.
func saidFrom(t *testing.T, resp *http.Response) recorder.Provenance {
	t.Helper()
	from := recorder.ProvenanceIn(resp.Header)
	require.NotNil(t, from)
	return *from
}

// body says what a record says of the cassettes whose requests have other bodies.
func body(name string) string {
	if name == "json" || name == "surrogates" {
		return ", which has the same method and URL, and another body"
	}
	return ""
}

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\n      X-%d: [a]", i)
	}
	return b.String()
}

// TestUnknownLayout: an error names file, line, what was expected, and the way out.
func TestUnknownLayout(t *testing.T) {
	v4 := goVCR(2, "host: h", "body: x")
	for _, tt := range []struct{ name, reason, text, want string }{
		{"empty", "nothing", "", "f:1: is empty; traceforge reads cassettes of go-vcr v1 to v4 (YAML), of httprr, and of vcrpy (YAML, JSON): " +
			"convert it to one of them, or record the calls again with -update"},
		{"text", "neither", "hello", "f:1: has no interactions; traceforge reads"},
		{"yaml", "no YAML", "a: b\n\tc: d\n", "f:2: is no YAML: "},
		{"unanswered", "it was cut at the end of a line", v4[:strings.Index(v4, "  response:")],
			"f:4: is cut short: interaction 1, the last one, has no response; get the whole file, or take the cassette from the test and record the calls again with -update"},
		{"conflict", "git could not merge it", "<<<<<<< HEAD\n" + v4 + "=======\n" + v4 + ">>>>>>> other\n",
			"f:1: is a conflict marker of a merge; check one side out, or record the calls again with -update"},
		{"ruby", "another VCR", "---\nhttp_interactions: []\n", "f:2: is a cassette of Ruby's VCR; traceforge reads"},
		{"nolist", "interactions are a list", "version: 2\ninteractions: x\n", "f:2: interactions are no list; "},
		{"version", "it does not exist yet", strings.Replace(v4, "version: 2", "version: 3", 1), `f:2: is version "3" of go-vcr: want 1 (go-vcr v1, v2) or 2 (v3, v4); `},
		{"noversion", "go-vcr always writes one", strings.Replace(v4, "version: 2", "x: 2", 1), "f:2: has no version: want 1 (go-vcr v1, v2) or 2 (v3, v4); "},
		{"sockets", "a recorder of web sockets writes neither", "version: 1\ninteractions:\n- request: {}\n", "f:3: interaction 1 has neither request.url (go-vcr) nor request.uri (vcrpy); "},
		{"body", "a body is a text", strings.Replace(v4, "body: x", "body: [x]", 1), "interaction 1 is not as go-vcr stores one: "},
		{"inner", "or has one", vcrpy("X: [y]\n    body: {string: [x]}"), "a body is a text"},
		{"keys", "no JSON", vcrpy("X: [y]\n    parsed_body: {[1]: x}"), "f:2: interaction 1 is not as vcrpy stores one: "},
		{"headers", "headers are lists", strings.Replace(v4, "- application/json", "- [x]", 1), "interaction 1 is not as go-vcr stores one: "},
		{"members", "a thousand headers are none of a call", strings.Replace(v4, "headers:", "headers:"+manyHeaders(1001), 1),
			"f:9: interaction 1 has a mapping of more than 1000 members; correct or remove the interaction"},
		{"duration", "a time", strings.Replace(v4, "body: x", "duration: soon", 1), `f:4: interaction 1: response.duration is "soon": want a time such as 1.2s; correct it`},
		{"status", "an answer has one", strings.Replace(v4, "code: 200", "code: 0", 1), "f:4: interaction 1 has the status 0: want an HTTP status, 100 to 599; correct or remove the interaction"},
		{"url", "a request has one", strings.Replace(v4, url, "/v1/say", 1), "f:4: interaction 1 names no request: want its method and its whole URL; correct or remove the interaction"},
		{"badurl", "and it is one", strings.Replace(v4, url, `"https://[::1"`, 1), "f:4: interaction 1 names no request"},
		{"newer", "the next httprr", "httprr trace v2\n", `f:1: is a trace of httprr of another version, "httprr trace v2": want "httprr trace v1"; record its calls again`},
		{"lengths", "git changed line ends", "httprr trace v1\n5 x\n", `f:2: want the lengths of a request and of its answer, as in "1927 1910", and so many bytes: the trace is corrupt, maybe by line ends that git changed`},
		{"cut", "it ends early", trace("\r\n" + said)[:200], "f:2: want the lengths of a request"},
		{"wire", "no HTTP", "httprr trace v1\n2 2\nabcd", "f:2: want an HTTP request and its answer as they are on the wire: "},
		{"answer", "no answer", strings.Replace(trace("\r\n"+said), "HTTP/1.1 200", "HTTX/1.1 200", 1), "the answer: malformed HTTP"},
		{"chunks", "no chunks", trace("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "the answer's chunks: "},
		{"gzip", "cut", string(zipped("x")[:12]), "f: decompress: unexpected EOF"},
		{"nojson", "no JSON", "{", "f:1: is no JSON: "},
		{"otherjson", "none of ours", "{}", "f:1: has no interactions (vcrpy); traceforge reads"},
		{"fixtures", "another package", `{"fixtures": []}`, "f:1: holds fixtures of aimock, which have answers and no requests: script.Open of traceforgetest/script answers from them"},
		{"traceforge", "another way", `{"cassette_version": "1.0"}`, "f:1: is a cassette of TraceForge: traceforge import --from cassettes brings it into the store"},
		{"starter", "or one of a starter kit", `{"metadata": {"cassette_version": "1.0"}}`, "f:1: is a cassette of TraceForge: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cassette.Read("f", []byte(tt.text))
			require.ErrorContains(t, err, tt.want, tt.reason)
		})
	}
}

// TestBounds: what is read is bounded (design R16), also what is compressed.
func TestBounds(t *testing.T) {
	const want = "more than 64 MB: split the recording, or record its calls again"
	file := filepath.Join(t.TempDir(), "long.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, 64<<20+1))
	_, err := cassette.Open(file)
	require.EqualError(t, err, file+": "+want)
	_, err = cassette.Read("f", zipped(strings.Repeat("x", 64<<20+1)))
	require.EqualError(t, err, "f: decompress: "+want)
}

// TestCutCassette: a cassette that was cut short anywhere is told to be so, unless all its calls are whole.
func TestCutCassette(t *testing.T) {
	for _, text := range []string{goVCR(2, "host: h", "body: x"), vcrpy("X: [y]\n    body: {string: \"a text\"}")} {
		start := strings.Index(text, "uest:") // before it nothing says what the file is
		require.Positive(t, start)
		cut := 0
		for i := start; i < len(text); i++ {
			if _, err := cassette.Read("f", []byte(text[:i])); err != nil {
				if !strings.Contains(err.Error(), "is cut short") {
					require.Equal(t, byte('\n'), text[i-1], "%q: %v", text[:i], err)
					continue
				}
				cut++
			}
		}
		require.Greater(t, cut, (len(text)-start)/2)
	}
}

func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "say.yaml")
	_, err := cassette.Open(file)
	require.ErrorContains(t, err, "open a recording: ")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = cassette.Open(filepath.Dir(file))
	require.ErrorContains(t, err, "read "+filepath.Dir(file))
	require.NoError(t, os.WriteFile(file, []byte(goVCR(2, "host: h", "body: x")), 0o600))
	r, err := cassette.Open(file)
	require.NoError(t, err)
	resp, err := r.RoundTrip(post(ask))
	require.NoError(t, err)
	from := saidFrom(t, resp)
	require.NotContains(t, from.From, filepath.Dir(filepath.Dir(file)), "records do not say where others keep their files")
	require.Contains(t, from.From, "/say.yaml, interaction 1")
}

// TestSameAs holds that two recordings are the same upstream where their file is, and how they answer.
func TestSameAs(t *testing.T) {
	dir := t.TempDir()
	open := func(name string) *cassette.Recording {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("version: 2\ninteractions: []\n"), 0o600))
		r, err := cassette.Open(file)
		require.NoError(t, err)
		return r
	}
	a, again, b := open("a.yaml"), open("a.yaml"), open("b.yaml")
	require.True(t, a.SameAs(again))
	require.False(t, a.SameAs(b))
	require.False(t, a.SameAs(http.DefaultTransport))
	again.Nearest = true
	require.False(t, a.SameAs(again))
}
