package traceforgetest_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestCallsThatGenerateNothing proves that the other calls of an SDK are kept too: embeddings,
// moderations, an upload with another boundary each time, a list without a body. None of them is
// asked for a temperature.
func TestCallsThatGenerateNothing(t *testing.T) {
	const answer = `{"text":"hello","data":[],"object":"list","model":"m"}`
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	})
	sound := bytes.Repeat([]byte{0xff, 0xfb, 0x90, 0}, 300)
	calls := func(sound []byte) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, path := range []string{"embeddings", "moderations"} {
				if _, err := post(tf.Client(), "https://api.openai.com/v1/"+path, map[string]any{"model": "m", "input": "x"}); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
			var form bytes.Buffer
			parts := multipart.NewWriter(&form) // its boundary is random
			file, _ := parts.CreateFormFile("file", "hello.mp3")
			file.Write(sound)
			parts.WriteField("model", "whisper-1")
			parts.WriteField("temperature", "0")
			parts.Close()
			for _, ask := range []func() (*http.Response, error){
				func() (*http.Response, error) {
					return tf.Client().Post("https://api.openai.com/v1/audio/transcriptions", parts.FormDataContentType(), &form)
				},
				func() (*http.Response, error) { return tf.Client().Get("https://api.openai.com/v1/models") },
			} {
				resp, err := ask()
				if err != nil {
					t.Fatalf("%v", err)
				}
				got, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(got) != answer {
					t.Errorf("got %s", got)
				}
			}
		}
	}
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", calls(sound), traceforgetest.Upstream(live)))
	before := s.files()
	requirePass(t, s.run("TestIt", calls(sound), traceforgetest.Upstream(live)))
	s.requireFiles(before)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", calls(sound)))
	require.Len(t, s.records("openai"), 4)
	s.requireWhole()

	tb := s.replay("TestIt", calls(append(sound, 1)))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "drifted", "another sound is another request")
}

// TestSpellingIsNoChange: bodies are compared as canonical JSON (RFC 8785), of APIs that no codec knows too.
func TestSpellingIsNoChange(t *testing.T) {
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
	})
	asks := func(body string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			resp, err := tf.Client().Post("https://api.shop.example/v1/find", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatalf("%v", err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", asks(`{"most": 1.0, "name": "shoes"}`), traceforgetest.Upstream(live)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", asks(`{"name":"shoes","most":1}`)))
	require.Contains(t, s.replay("TestIt", asks(`{"name":"shoes","most":1.5}`)).Logged(), "drifted")
}
