package setups

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestHosts replays a recording from another host. config.json lists the hosts of a provider. A recording from a
// gateway equals one from the provider, so each replays for both.
func TestHosts(t *testing.T) {
	provider := []option.RequestOption{option.WithAPIKey("unused")}
	gateway := []option.RequestOption{option.WithBaseURL("https://llm.example.com/v1"), option.WithAPIKey("unused")}
	onAzure := []option.RequestOption{azure.WithEndpoint("https://mine.openai.azure.com", "2024-10-21"), azure.WithAPIKey("unused")}
	azureV1 := []option.RequestOption{option.WithBaseURL("https://mine.openai.azure.com/openai/v1"), option.WithAPIKey("unused")}
	ownAzure := []option.RequestOption{azure.WithEndpoint("https://ai.example.com", "2024-10-21"), azure.WithAPIKey("unused")}
	for _, c := range []struct {
		name, why     string
		config        string // of the store; "" for none
		record, asked []option.RequestOption
		same          bool
		dir           string // of the recording
	}{
		{"gateway", "it stands for the provider", `{"hosts":{"llm.example.com":"openai"}}`, provider, gateway, true, "openai"},
		{"back", "its records are the provider's", `{"hosts":{"llm.example.com":"openai"}}`, gateway, provider, true, "openai"},
		{"unknown", "a host that nobody names is a provider of its own", "", provider, gateway, false, "openai"},
		{"Azure", "its hosts are known", "", onAzure, onAzure, true, "azure"},
		{"Azure under a name of the company's", "a deployment behind a domain of one's own", `{"hosts":{"ai.example.com":"azure"}}`, onAzure, ownAzure, true, "azure"},
		{"Azure as OpenAI", "another provider unless config.json says otherwise", "", provider, azureV1, false, "openai"},
		{"Azure as OpenAI, said", "as above", `{"hosts":{"mine.openai.azure.com":"openai"}}`, provider, azureV1, true, "openai"},
		{"deployment as OpenAI", "deployment and version are part of what is asked", `{"hosts":{"mine.openai.azure.com":"openai"}}`, provider, onAzure, false, "openai"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			require.NoError(t, os.Mkdir(dir, 0o777))
			if c.config != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o666))
			}
			live := fakeprovider.New(t)
			live.Handle(fakeprovider.Echo())
			run := func(mode string, upstream http.RoundTripper, opts []option.RequestOption) *tbtest.TB {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				return tbtest.Run("TestIt", func(tb *tbtest.TB) {
					tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
					client := openai.NewClient(append(opts, option.WithHTTPClient(tf.Client()))...)
					got, err := client.Chat.Completions.New(t.Context(), question("hello"))
					if err == nil {
						require.Equal(t, "You said: hello", got.Choices[0].Message.Content)
					}
				})
			}
			tb := run("1", live.Transport(), c.record)
			require.False(t, tb.Failed(), tb.Logged())
			calls := recorded.Calls(t, dir)
			require.Len(t, calls, 1)
			require.Equal(t, c.dir, calls[0].Provider, c.why)

			tb = run("", nowhere{}, c.asked)
			require.Equal(t, c.same, !tb.Failed(), "%s: %s", c.why, tb.Logged())
			before, err := os.ReadFile(filepath.Join(dir, calls[0].File))
			require.NoError(t, err)
			if c.same {
				tb = run("all", live.Transport(), c.asked)
				require.False(t, tb.Failed(), tb.Logged())
				after := recorded.Calls(t, dir)
				require.Len(t, after, 1)
				require.Equal(t, calls[0].File, after[0].File)
				same, err := os.ReadFile(filepath.Join(dir, after[0].File))
				require.NoError(t, err)
				require.Equal(t, string(before), string(same), "what the other host answers is kept as the same record")
			}
		})
	}
}
