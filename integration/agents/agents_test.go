package agents

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// asked is the client side of an agent's model: a recorder or a script.
type asked interface{ Client() *http.Client }

// A framework runs an agent with the tool weather, and returns the agent's last answer.
type framework struct {
	name, api string
	ask       func(ctx context.Context, tf asked, instruction, question string) (string, error)
}

// TestAgents records each framework's agent, replays it without a network and a key, and reports a changed instruction.
func TestAgents(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(name, "") // like on the pull request of a fork
	}
	for _, f := range []framework{
		{"eino", "openai.chat", askEino},
		{"ADK", "google.generate", askADK},
		{"ADK, streams", "google.generate", streamADK},
		{"fantasy", "openai.chat", askFantasy},
	} {
		t.Run(f.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			provider := fakeprovider.New(t)
			provider.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`}))
			run := func(mode, instruction string, upstream http.RoundTripper) (said string, tb *tbtest.TB) {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				return said, tbtest.Run("TestIt", func(tb *tbtest.TB) {
					if mode != "" {
						t.Setenv("OPENAI_API_KEY", "a key of the recording")
						t.Setenv("GEMINI_API_KEY", "a key of the recording")
						defer t.Setenv("OPENAI_API_KEY", "")
						defer t.Setenv("GEMINI_API_KEY", "")
					}
					var err error
					said, err = f.ask(t.Context(), traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream)),
						instruction, "What is the weather in Bern?")
					if err != nil {
						tb.Errorf("the agent failed: %v", err)
					}
				})
			}
			recorded, tb := run("1", "Be brief.", provider.Transport())
			require.False(t, tb.Failed(), tb.Logged())
			require.Contains(t, recorded, "22 degrees")
			require.Len(t, provider.Calls(), 2, "one that calls the tool, and one with its result")
			require.Equal(t, []string{f.api, f.api}, apis(t, dir))

			replayed, tb := run("", "Be brief.", nowhere{})
			require.False(t, tb.Failed(), tb.Logged())
			require.Equal(t, recorded, replayed)

			_, tb = run("", "Be polite.", nowhere{})
			require.True(t, tb.Failed())
			require.Regexp(t, `- Be brief\.(?s:.*)\+ Be polite\.(?s:.*)changed: system`, tb.Logged())
			require.Len(t, provider.Calls(), 2)

			_, tb = run("1", "Be brief.", provider.Transport())
			require.False(t, tb.Failed(), tb.Logged())
			require.Len(t, provider.Calls(), 2, "an update buys nothing that is as it was")
		})
	}
}

// A nowhere is the upstream of a replay, which sends no request.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("a replay called " + r.URL.String())
}

// apis returns the API names of the calls in the store in dir.
func apis(t *testing.T, dir string) (all []string) {
	s, err := store.Open(dir)
	require.NoError(t, err)
	files, err := s.List()
	require.NoError(t, err)
	for _, file := range files {
		doc, err := s.Load(filepath.Base(file[:len(file)-len(".json")]), filepath.Dir(file))
		require.NoError(t, err)
		for _, record := range doc.Document.Snapshots {
			all = append(all, record.Request.API)
		}
	}
	return all
}

// A place is the tool's input.
type place struct {
	City string `json:"city" jsonschema:"required" jsonschema_description:"the city" description:"the city"`
}

const weather = "tells the weather of a city"
