package integration_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestContentEncodings records answers in encodings that the standard library does not know, for SDK clients that
// decode them. The store contains the decoded answers.
func TestContentEncodings(t *testing.T) {
	for _, c := range []struct {
		name   string
		why    string
		encode func(io.Writer) (io.WriteCloser, error)
		decode func(io.Reader) (io.Reader, error)
	}{
		{"br", "CDNs prefer it", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }, brotliReader},
		{"zstd", "browsers and CDNs take it up", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }, zstdReader},
	} {
		for _, stream := range []bool{false, true} {
			name := c.name
			if stream {
				name += " stream"
			}
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), ".ai-snapshots")
				provider := fakeprovider.New(t)
				provider.Handle(fakeprovider.Echo())
				var encoded int
				upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
					resp, err := provider.Transport().RoundTrip(r)
					require.NoError(t, err)
					var body bytes.Buffer
					w, err := c.encode(&body)
					require.NoError(t, err)
					_, err = io.Copy(w, resp.Body)
					require.NoError(t, err)
					require.NoError(t, w.Close())
					resp.Body.Close()
					resp.Header.Set("Content-Encoding", c.name)
					resp.Body, resp.ContentLength, encoded = io.NopCloser(&body), int64(body.Len()), body.Len()
					return resp, nil
				})
				play := func() *tbtest.TB {
					return tbtest.Run("TestIt", func(tb *tbtest.TB) {
						tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream),
							traceforgetest.ContentEncoding(c.name, c.decode))
						said, err := hello(t, decoding{tf, c.name, c.decode}, stream)
						if err != nil || said != "You said: Hello" {
							tb.Errorf("said %q: %v", said, err)
						}
					})
				}
				t.Setenv("TRACEFORGE_UPDATE", "1")
				tb := play()
				require.False(t, tb.Failed(), tb.Logged())
				require.NotZero(t, encoded)
				t.Setenv("TRACEFORGE_UPDATE", "")
				upstream = nil
				tb = play()
				require.False(t, tb.Failed(), tb.Logged())
				requireReadable(t, dir)
			})
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// decoding is the transport of a client that decodes a content encoding.
type decoding struct {
	http.RoundTripper
	name   string
	decode func(io.Reader) (io.Reader, error)
}

func (d decoding) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	if err != nil || resp.Header.Get("Content-Encoding") != d.name {
		return resp, err
	}
	decoded, err := d.decode(resp.Body)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{decoded, resp.Body}
	return resp, err
}

// hello asks a model with OpenAI's SDK.
func hello(t *testing.T, transport http.RoundTripper, stream bool) (said string, err error) {
	client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: transport}), option.WithAPIKey("unused"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: "gpt-4o", Temperature: openai.Float(0), Seed: openai.Int(42),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	}
	if !stream {
		got, err := client.Chat.Completions.New(t.Context(), params)
		if err != nil {
			return "", err
		}
		return got.Choices[0].Message.Content, nil
	}
	chunks := client.Chat.Completions.NewStreaming(t.Context(), params)
	defer chunks.Close()
	for chunks.Next() {
		for _, choice := range chunks.Current().Choices {
			said += choice.Delta.Content
		}
	}
	return said, chunks.Err()
}

// requireReadable checks that the raw answers of a store are text.
func requireReadable(t *testing.T, dir string) {
	for _, call := range recorded.Calls(t, dir) {
		require.Contains(t, string(call.Raw), "chat.completion")
	}
}
