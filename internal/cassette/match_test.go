package cassette_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// calls is a cassette of go-vcr v4 that has these requests, "POST url body", the n-th answered with "answer n". v3 adds what
// v3 writes too.
func calls(v3 bool, requests ...string) []byte {
	var b strings.Builder
	b.WriteString("version: 2\ninteractions:\n")
	for i, r := range requests {
		method, rest, _ := strings.Cut(r, " ")
		url, body, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&b, "- request:\n    method: %s\n    url: %s\n    body: '%s'\n", method, url, body)
		if v3 {
			b.WriteString("    remote_addr: \"\"\n")
		}
		fmt.Fprintf(&b, "  response:\n    code: 200\n    body: answer %d\n", i+1)
	}
	return []byte(b.String())
}

// TestMatch: requests are answered as their tool did, in order, and by what they say.
func TestMatch(t *testing.T) {
	const chat, other = "https://a.example/v1/chat", "https://a.example/v1/other"
	for _, tt := range []struct {
		name, reason string
		v3, nearest  bool
		recorded     []string
		asked        []string // "POST url body"
		want         string   // numbers of the answers; - where there is none
	}{
		{"order", "the same request twice has two answers", false, false,
			[]string{"POST " + chat + " {}", "POST " + chat + " {}"}, []string{"POST " + chat + " {}", "POST " + chat + " {}", "POST " + chat + " {}"}, "1 2 -"},
		{"shuffled", "calls made at once come in any order", false, false,
			[]string{"POST " + chat + ` {"n":1}`, "POST " + chat + ` {"n":2}`}, []string{"POST " + chat + ` {"n":2}`, "POST " + chat + ` {"n":1}`}, "2 1"},
		{"json", "an SDK of another version orders members otherwise", false, false,
			[]string{"POST " + chat + ` {"a":1,"b":[1.0]}`}, []string{"POST " + chat + ` { "b": [1], "a": 1 }`}, "1"},
		{"big", "numbers that no double holds are told apart", false, false,
			[]string{"POST " + chat + ` {"seed":9223372036854775807}`}, []string{"POST " + chat + ` {"seed":9223372036854775806}`}, "-"},
		{"drift", "v4 holds the body too", false, false, []string{"POST " + chat + ` {"n":1}`}, []string{"POST " + chat + ` {"n":2}`}, "-"},
		{"byURL", "v3 holds method and URL", true, false,
			[]string{"POST " + chat + ` {"n":1}`, "POST " + chat + ` {"n":2}`}, []string{"POST " + chat + ` {"n":2}`, "POST " + chat + ` {"n":3}`, "POST " + chat + " x"}, "2 1 -"},
		{"nearest", "asked for: the same URL first, then the same path, then once more", false, true,
			[]string{"POST https://b.example/v1/chat x", "POST " + chat + " y", "POST " + other + " z"},
			[]string{"POST " + chat + " new", "POST " + chat + " newer", "POST " + chat + " y", "POST " + chat + " new", "GET " + chat}, "2 1 2 - -"},
		{"credentials", "those in URLs are redacted", false, false, []string{"GET " + chat + "?key=REDACTED&alt=sse"}, []string{"GET " + chat + "?alt=sse&key=secret"}, "1"},
		{"query", "others are compared", false, false, []string{"GET " + chat + "?page=1"}, []string{"GET " + chat + "?page=2"}, "-"},
		{"ports", "a test server has another port each time", false, false, []string{"GET http://127.0.0.1:4001/x"}, []string{"GET http://localhost:5002/x"}, "1"},
		{"method", "another method is another call", true, true, []string{"GET " + chat}, []string{"POST " + chat + " x"}, "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := cassette.Read("f", calls(tt.v3, tt.recorded...))
			require.NoError(t, err)
			r.Nearest = tt.nearest
			var got []string
			for _, asked := range tt.asked {
				got = append(got, answered(t, r, asked, ""))
			}
			require.Equal(t, tt.want, strings.Join(got, " "), tt.reason)
		})
	}
}

// answered returns the number of the answer to a request.
func answered(t *testing.T, r http.RoundTripper, asked, contentType string) string {
	t.Helper()
	method, rest, _ := strings.Cut(asked, " ")
	url, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := r.RoundTrip(req)
	if err != nil {
		return "-"
	}
	return strings.TrimPrefix(heard(t, resp), "200 answer ")
}

// TestForms: bodies that are no JSON are compared by what they say too.
func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, reason, recorded, recordedType, asked, askedType string }{
		{"multipart", "a boundary is random", "--abc x --abc--", "multipart/form-data; boundary=abc", "--xyz x --xyz--", "multipart/form-data; boundary=xyz"},
		{"form", "fields have no order", "a=1&b=2", "application/x-www-form-urlencoded", "b=2&a=1", "application/x-www-form-urlencoded"},
		{"gzip", "a client may compress what it sends", `{"a":1}`, "application/json", string(zipped(`{"a": 1}`)), "application/json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(string(calls(false, "POST https://a.example/x BODY")), "'BODY'",
				"'"+tt.recorded+"'\n    headers: {Content-Type: ['"+tt.recordedType+"']}", 1)
			r, err := cassette.Read("f", []byte(text))
			require.NoError(t, err)
			require.Equal(t, "-", answered(t, r, "POST https://a.example/x other", tt.askedType))
			require.Equal(t, "1", answered(t, r, "POST https://a.example/x "+tt.asked, tt.askedType), tt.reason)
		})
	}
}

// TestRepeated: httprr keeps answers in a map, so that one answers as often as it is asked.
func TestRepeated(t *testing.T) {
	r, err := cassette.Read("f", []byte(trace("\r\n"+said)))
	require.NoError(t, err)
	for range 3 {
		resp, err := r.RoundTrip(post(ask))
		require.NoError(t, err)
		require.Equal(t, "200 "+said, heard(t, resp))
	}
}

// TestRepeatedLast: of several answers to one request httprr serves the last one.
func TestRepeatedLast(t *testing.T) {
	first := trace("\r\nfirst")
	r, err := cassette.Read("f", []byte(first+strings.TrimPrefix(trace("\r\n"+said), "httprr trace v1\n")))
	require.NoError(t, err)
	require.Len(t, r.Calls, 2)
	for range 3 {
		resp, err := r.RoundTrip(post(ask))
		require.NoError(t, err)
		require.Equal(t, "200 "+said, heard(t, resp))
	}
	var l cassette.Library
	l.Add("f", "a", r)
	req, err := json.Marshal(recorder.RecordedCall{Method: "POST", URL: url, Type: "application/json", Body: []byte(ask)})
	require.NoError(t, err)
	l.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", bytes.NewReader(req)))
	require.Empty(t, l.Unasked(nil), "the first is never served")
}

// TestMissing: what is not there names the nearest calls and what is unlike, and no credential.
func TestMissing(t *testing.T) {
	const chat = "https://a.example/v1/chat"
	r, err := cassette.Read("testdata/f.yaml", calls(false, "GET https://b.example/x", "POST "+chat+` {"messages":[{"text":"Hi"}]}`,
		"POST "+chat+"?key=sk-123 text", "POST https://b.example/v1/chat {}", "PUT "+chat))
	require.NoError(t, err)
	for _, tt := range []struct{ name, reason, asked, want string }{
		{"all", "the nearest first", "POST " + chat + ` {"messages":[{"text":"Ho"}]}`,
			`go-vcr testdata/f.yaml has no answer for POST https://a.example/v1/chat
  line 10, interaction 2: POST https://a.example/v1/chat: its body is another at /messages/0/text
  line 17, interaction 3: POST https://a.example/v1/chat: its body is another
  line 24, interaction 4: POST https://b.example/v1/chat: is another URL
  and 2 more
record the call live, without this upstream, or take the nearest answer of its API: cassette.Open(path, cassette.Nearest())`},
		{"longer", "an element that is not there", "POST " + chat + ` {"messages":[{"text":"Hi"},{}]}`, "its body is another at /messages/1\n"},
		{"shorter", "one that is there", "POST " + chat + ` {"messages":[]}`, "its body is another at /messages/0\n"},
		{"member", "a member more", "POST " + chat + ` {"messages":[{"text":"Hi","a/b":1}]}`, "its body is another at /messages/0/a~1b\n"},
		{"root", "another kind", "POST " + chat + ` []`, "its body is another at its root\n"},
		{"kind", "another method", "DELETE " + chat, "is another method"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			method, rest, _ := strings.Cut(tt.asked, " ")
			url, body, _ := strings.Cut(rest, " ")
			req, err := http.NewRequest(method, url, strings.NewReader(body))
			require.NoError(t, err)
			_, err = r.RoundTrip(req)
			require.ErrorContains(t, err, tt.want, tt.reason)
			require.NotContains(t, err.Error(), "sk-123")
		})
	}
	served, err := http.NewRequest(http.MethodGet, "https://b.example/x", nil)
	require.NoError(t, err)
	_, err = r.RoundTrip(served)
	require.NoError(t, err)
	_, err = r.RoundTrip(served)
	require.ErrorContains(t, err, "GET https://b.example/x: has been given already")
	empty, err := cassette.Read("f", []byte("version: 1\ninteractions: []\n"))
	require.NoError(t, err)
	_, err = empty.RoundTrip(served)
	require.ErrorContains(t, err, "go-vcr f has no answer for GET https://b.example/x: it holds no call")
}
