package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/recorder"
)

// TestLibrary: a test gets answers from its own recording, in order, where others have the same question.
func TestLibrary(t *testing.T) {
	volume := func(file, pkg, said string, times int) (string, string, *Recording) {
		var text strings.Builder
		text.WriteString("version: 2\ninteractions:\n")
		for n := range times {
			text.WriteString(fmt.Sprintf("- request: {method: POST, url: 'https://a.example/v1', body: hi, headers: {}}\n"+
				"  response: {code: 200, body: %s %d, headers: {}}\n", said, n+1))
		}
		r, err := Read(file, []byte(text.String()))
		require.NoError(t, err)
		return file, pkg, r
	}
	var l Library
	l.Add(volume("a/testdata/9f.yaml", "a", "digest", 1))
	l.Add(volume("a/testdata/TestX-one.yaml", "a", "one", 2))
	l.Add(volume("b/testdata/TestX-two.yaml", "b", "other package", 1))
	l.Add(volume("a/testdata/TestShared.yaml", "a", "shared", 1))
	l.Add(volume("a/testdata/left.yaml", "a", "left", 1))

	for _, c := range []struct{ name, why, pkg, test, want string }{
		{"first", "its path has the test's name, with another sign", "a", "TestX/one", "one 1"},
		{"second", "the recording has two answers", "a", "TestX/one", "one 2"},
		{"parent", "its path has the name of the test around it", "a", "TestShared/a", "shared 1"},
		{"shared", "each test has a copy of its own", "a", "TestShared/b", "shared 1"},
		{"package", "a recording of its package comes before a name", "a", "TestX/two", "digest 1"},
		{"elsewhere", "no path is like it: one that no other test has", "a", "TestOther", "left 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(ask(t, &l, c.pkg, c.test, "https://a.example/v1").Body), c.why)
		})
	}
	took := "imported from go-vcr a/testdata/TestX-one.yaml, interaction 1"
	require.Equal(t, "one 2", string(ask(t, &l, "a", "TestNew", "https://a.example/v1", took).Body), "a record has the first")
	require.Contains(t, ask(t, &l, "a", "TestX", "https://a.example/other").Missing, "no recording has an answer for POST https://a.example/other")
	require.Equal(t, []string{"b/testdata/TestX-two.yaml: no test asked for 1 of its 1 calls"}, l.Unasked(nil))
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequest("POST", "/", bytes.NewReader([]byte("{"))))
	require.Equal(t, http.StatusBadRequest, w.Code)
}

func ask(t *testing.T, l *Library, pkg, test, url string, taken ...string) (said recorder.RecordedAnswer) {
	t.Helper()
	of := recorder.Recordings{Package: pkg, Test: test}
	call, err := json.Marshal(recorder.RecordedCall{Of: of, Method: "POST", URL: url, Body: []byte("hi"), Taken: taken})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequest("POST", "/", bytes.NewReader(call)))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &said))
	return said
}

// TestWithoutPairs: a backslash that is escaped begins no escape.
func TestWithoutPairs(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: `"😀"`, `"\\ud83d\\ude00"`: `"\\ud83d\\ude00"`, `"\\\uD83D\uDE00\n"`: `"\\😀\n"`, `"\ud83d"`: `"\ud83d"`,
	} {
		require.Equal(t, want, string(withoutPairs([]byte(text))))
	}
}
