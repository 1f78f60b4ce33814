package scenes_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// persistent returns a program that asks Gemini and retries like applications do: after every failure that is not about
// the request, with a pause.
func persistent(prompt string, pauses *int) program {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			Backend: genai.BackendGeminiAPI, APIKey: "unused", HTTPClient: tf.Client(),
		})
		if err != nil {
			tb.Fatalf("%v", err)
		}
		config := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), Seed: genai.Ptr[int32](1)}
		for range 5 {
			_, err = client.Models.GenerateContent(context.Background(), "gemini-2.5-flash", genai.Text(prompt), config)
			var refused genai.APIError
			if err == nil || errors.As(err, &refused) && refused.Code < 500 && refused.Code != http.StatusTooManyRequests {
				break
			}
			*pauses++ // of a second each
		}
		if err != nil {
			tb.Errorf("%v", err)
		}
	}
}

// TestDriftIsTriedOnce (K2) checks that applications do not retry a drift, since it looks like Gemini's own refusal of
// a request.
func TestDriftIsTriedOnce(t *testing.T) {
	r := newRepo(t, fakeprovider.Echo())
	pauses := 0
	r.record("TestMergeOfOneTest", persistent("Be kind.", &pauses))
	tb := r.fails("TestMergeOfOneTest", persistent("Be brief.", &pauses))
	require.True(t, tb.Failed())
	require.Zero(t, pauses)
	require.Equal(t, 1, strings.Count(tb.Logged(), "(- recorded, + got)"), tb.Logged())
	require.Contains(t, tb.Logged(), "Error 400", "the SDK has read the refusal")
}

// TestRateLimit (K5) tests a program's handling of a 429 after its client's retries.
func TestRateLimit(t *testing.T) {
	r := newRepo(t, func(fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.Reply{
			Failure: &fakeprovider.Failure{Status: http.StatusTooManyRequests, Type: "requests", Message: "slow down"},
			Header:  http.Header{"Retry-After-Ms": {"1"}, "X-Ratelimit-Remaining-Requests": {"0"}},
		}
	})
	r.options = []traceforgetest.Option{traceforgetest.Allow(traceforgetest.RetryableErrors), traceforgetest.KeepHeaders("x-ratelimit-*")}
	limited := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		c := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey("unused"), option.WithMaxRetries(2))
		_, err := c.Chat.Completions.New(context.Background(), params(openai.UserMessage("Hi")))
		var refused *openai.Error
		if !errors.As(err, &refused) || refused.StatusCode != http.StatusTooManyRequests ||
			refused.Response.Header.Get("X-Ratelimit-Remaining-Requests") != "0" {
			tb.Errorf("%v", err)
		}
	}
	r.record("TestMergeOfOneTest", limited) // record replays it too
	require.Equal(t, 3, strings.Count(r.document(), `"id": "`), "each try is a call")
}

// TestFindingsAreShown checks that the tests in the package's table exist.
func TestFindingsAreShown(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(K\d+) .*$`).FindAllStringSubmatch(string(page), -1)
	shown := map[string]bool{}
	for _, row := range rows {
		shown[row[1]] = true
		tests := regexp.MustCompile(`([a-z/]+)\.(Test\w+)(?:/(\w+))?`).FindAllStringSubmatch(row[0], -1)
		require.NotEmpty(t, tests, row[0])
		for _, test := range tests {
			dir := filepath.Join("../..", test[1])
			require.True(t, declares(t, dir, test[2]), "%s has no %s", test[1], test[2])
			if test[3] != "" {
				scripts, err := filepath.Glob(filepath.Join(dir, "testdata", "*", test[3]+".txt"))
				require.NoError(t, err)
				require.NotEmpty(t, scripts, test[0])
			}
		}
	}
	require.Len(t, shown, 16)
}

// declares reports whether a package declares a test.
func declares(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == test {
				return true
			}
		}
	}
	return false
}
