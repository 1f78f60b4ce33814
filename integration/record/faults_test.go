package record_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	claudeoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	gptoption "github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	injected "github.com/traceforge/traceforge-go/traceforgetest/fault"
)

// TestFaults injects faults into the replay of a good recording. SDKs that retry must do so by themselves; their pauses
// take no time in a bubble. The others must return the error, whose text proves that the SDK understands its shape.
func TestFaults(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"} {
		t.Setenv(name, "unused")
	}
	for _, sdk := range []struct {
		name    string
		retries bool
		open    func(ctx context.Context, client *http.Client) (asker, error)
		limited func(err error) bool // reports whether the error is the SDK's own rate limit error
	}{
		{"openai-go", true, func(_ context.Context, client *http.Client) (asker, error) {
			made := openai.NewClient(gptoption.WithHTTPClient(client))
			return openAIChatAsker(&made), nil
		}, func(err error) bool {
			var failed *openai.Error
			return errors.As(err, &failed) && failed.StatusCode == 429 && failed.Code == "rate_limit_exceeded"
		}},
		{"anthropic-sdk-go", true, func(_ context.Context, client *http.Client) (asker, error) {
			made := anthropic.NewClient(claudeoption.WithHTTPClient(client))
			return claudeAsker(&made), nil
		}, func(err error) bool {
			var failed *anthropic.Error
			return errors.As(err, &failed) && failed.StatusCode == 429 && strings.Contains(failed.RawJSON(), `"type":"rate_limit_error"`)
		}},
		{"genai", false, func(ctx context.Context, client *http.Client) (asker, error) {
			return genaiAsker(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, HTTPClient: client})
		}, func(err error) bool {
			var failed genai.APIError
			return errors.As(err, &failed) && failed.Code == 429 && failed.Status == "RESOURCE_EXHAUSTED"
		}},
	} {
		t.Run(sdk.name, func(t *testing.T) {
			dir := t.TempDir()
			provider := fakeprovider.New(t)
			provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Fragments("Grüße ", "an ", "alle") })
			play := func(t *testing.T, upstream http.RoundTripper, stream bool, faults ...traceforgetest.Fault) (said string, tries int, err error) {
				name := "TestWhole"
				if stream {
					name = "TestStream"
				}
				tb := tbtest.Run(name, func(tb *tbtest.TB) {
					tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream),
						traceforgetest.Nondeterministic("the SDKs are the test's subject"))
					for _, f := range faults {
						tf.Fault(1, f)
					}
					counted := &counter{RoundTripper: tf}
					ask, opened := sdk.open(t.Context(), &http.Client{Transport: counted})
					require.NoError(t, opened)
					var got *answer
					if got, err = ask(t.Context(), question{text: "hi", stream: stream}); got != nil {
						said = got.text
					}
					tries = counted.tries
				})
				require.False(t, tb.Failed(), tb.Logged())
				return said, tries, err
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			for _, stream := range []bool{false, true} {
				said, _, err := play(t, provider.Transport(), stream)
				require.NoError(t, err)
				require.Equal(t, "Grüße an alle", said)
			}
			t.Setenv("TRACEFORGE_UPDATE", "")
			replay := func(stream bool, faults ...traceforgetest.Fault) (said string, tries int, took time.Duration, err error) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					said, tries, err = play(t, unreachable{}, stream, faults...)
					took = time.Since(start)
				})
				return said, tries, took, err
			}

			limit := injected.Status(429, 7*time.Second)
			for _, stream := range []bool{false, true} {
				said, tries, took, err := replay(stream, limit)
				if sdk.retries {
					require.NoError(t, err)
					require.Equal(t, "Grüße an alle", said, "the second try got the recording")
					require.Equal(t, 2, tries)
					require.GreaterOrEqual(t, took, 7*time.Second, "it waited as Retry-After said")
				} else {
					require.Equal(t, 1, tries)
					require.True(t, sdk.limited(err), "%v", err)
				}
				if !sdk.retries {
					_, _, _, err = replay(stream, injected.Disconnect(syscall.ECONNRESET))
					require.ErrorIs(t, err, syscall.ECONNRESET)
					continue
				}
				said, tries, _, err = replay(stream, injected.Disconnect(syscall.ECONNRESET), injected.Status(529, 0))
				require.NoError(t, err)
				require.Equal(t, "Grüße an alle", said)
				require.Equal(t, 3, tries)
				_, _, _, err = replay(stream, limit, limit, limit)
				require.True(t, sdk.limited(err), "it gives up after three: %v", err)
			}

			said, _, _, err := replay(true, injected.CutAfter(2))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.NotEqual(t, "Grüße an alle", said)
			said, _, _, err = replay(true, injected.Split())
			require.NoError(t, err)
			require.Equal(t, "Grüße an alle", said)
			said, _, took, err := replay(true, injected.Stall(2, time.Minute))
			require.NoError(t, err)
			require.Equal(t, "Grüße an alle", said)
			require.Equal(t, time.Minute, took)
		})
	}
}
