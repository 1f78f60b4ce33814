package provider

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

func at(t testing.TB, host string) *Wire {
	u, err := url.Parse("https://" + host + "/v1/chat/completions")
	require.NoError(t, err)
	return &Wire{Method: http.MethodPost, URL: u, Body: []byte(`{"messages":[]}`)}
}

func TestProviderOf(t *testing.T) {
	long := "a.very.long.name.of.a.host.that.is.not.known.to.anybody.at.all.example.com"
	for _, test := range []struct{ name, why, host, want string }{
		{"home", "the API's own", "api.openai.com", "openai"},
		{"spelling", "hosts have no case, and a port is no identity", "API.OpenAI.com:443", "openai"},
		{"final_dot", "so is the root's name", "api.openai.com.", "openai"},
		{"another", "who speaks the API of another", "api.groq.com", "groq"},
		{"under", "a customer's own host", "my-res.openai.azure.com", "azure"},
		{"longer", "the longest name counts", "models.inference.ai.azure.com", "github"},
		{"bedrock", "regions are no identity", "bedrock-runtime.us-east-1.amazonaws.com", "bedrock"},
		{"mantle", "another name for it", "bedrock-mantle.us-east-1.api.aws", "bedrock"},
		{"vertex", "regions are no identity", "us-east5-aiplatform.googleapis.com", "vertex"},
		{"global", "without a region", "aiplatform.googleapis.com", "vertex"},
		{"gemini", "Google's other", "generativelanguage.googleapis.com", "google"},

		{"localhost", "a gateway or a local server", "localhost:8080", "openai"},
		{"loopback", "so here", "127.0.0.1:11434", "openai"},
		{"loopback6", "so here", "[::1]:8080", "openai"},
		{"private", "so here", "10.1.2.3:80", "openai"},
		{"home_network", "so here", "192.168.1.7", "openai"},
		{"mapped", "so here", "[::ffff:172.16.0.1]", "openai"},
		{"link_local", "so here", "169.254.0.9", "openai"},
		{"container", "no public host has a name without a dot", "vllm:8000", "openai"},
		{"docker", "the machine outside of the container", "host.docker.internal:1234", "openai"},
		{"none", "a request without a host", "", "openai"},

		{"unknown", "a provider of its own, named after the host", "llm.example.com:8443", "llm-example-com"},
		{"hyphen", "another host, another name", "llm-example.com", "llm--example-com"},
		{"evil", "only the end of a name counts", "openai.azure.com.evil.example", "openai-azure-com-evil-example"},
		{"not_under", "a dot is between names", "notopenrouter.ai", "notopenrouter-ai"},
		{"short", "so here", "max.ai", "max-ai"},
		{"public_address", "is an unknown host", "8.8.8.8", "8-8-8-8"},
		{"long", "what is cut off is in the hash", long, "a-very-long-name-of-a-host-that-is-not-known-to-any-781e633e0e2f"},
		{"other_characters", "they are in the hash", "a_b.example.com", "a--b-example-com-c91c532ecff4"},
		{"public_address6", "so here", "[2001:db8::1]", "2001--db8----1-5afd19e856d1"},

		{"configured", "a company's gateway", "gw.corp.example:444", "anthropic"},
		{"configured_known", "also of a host that is known", "my.openai.azure.com", "openai"},
	} {
		t.Run(test.name, func(t *testing.T) {
			hosts := map[string]string{"gw.corp.example": "anthropic", "my.openai.azure.com": "openai"}
			for range 2 { // the second time, a host without a name in the configuration is known already
				got := ProviderOf(at(t, test.host), byName(t, chatAPI), hosts)
				require.Equal(t, test.want, got, test.why)
			}
		})
	}
	require.Equal(t, "anthropic", ProviderOf(at(t, "localhost"), byName(t, messagesAPI), nil))
	require.Equal(t, "http", ProviderOf(at(t, "localhost"), generic, nil))
}

// TestTwoHostsAreTwoProviders covers a fault that an examination found: the same request to two hosts, in another
// order, silently got the other's answer.
func TestTwoHostsAreTwoProviders(t *testing.T) {
	a, b := at(t, "llm.a.example"), at(t, "llm.b.example")
	codec, ok := Match(a)
	require.True(t, ok)
	require.NotEqual(t, ProviderOf(a, codec, nil), ProviderOf(b, codec, nil))
}

// FuzzHostName proves that an unknown host's name is valid for a directory, and that different hosts have different
// names.
func FuzzHostName(t *testing.F) {
	f := mutation.New(t)
	f.Add("a.b", "a-b")
	f.Add("a--b.c", "a-.-b.c")
	f.Fuzz(func(t *testing.T, a, b string) {
		name := hostName(a)
		require.Regexp(t, `^[a-z0-9-]{0,64}$`, name)
		labels := regexp.MustCompile(`^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$`)
		if a != b && labels.MatchString(a) && labels.MatchString(b) {
			require.NotEqual(t, name, hostName(b))
		}
	})
}

// TestProviders checks the declarations of providers.
func TestProviders(t *testing.T) {
	var names, hosts []string
	for _, p := range Providers() {
		require.Regexp(t, `^[a-z0-9-]{1,64}$`, p.Name)
		names, hosts = append(names, p.Name), append(hosts, p.Hosts...)
		require.Equal(t, p.Hosts, Facts(p.Name).Hosts)
		if p.Home != "" {
			home, err := url.Parse(p.Home)
			require.NoError(t, err)
			require.Equal(t, p.Home, home.String())
			require.Contains(t, []string{p.Name, "http"}, ProviderOf(&Wire{URL: home}, generic, nil), "its home is one of its hosts, or this machine")
		}
		for _, key := range p.Keys {
			require.Regexp(t, `^[A-Z_]+$`, key)
		}
	}
	require.True(t, slices.IsSorted(names))
	require.Len(t, slices.Compact(slices.Clone(names)), len(names), "each provider is declared once")
	slices.Sort(hosts)
	require.Len(t, slices.Compact(slices.Clone(hosts)), len(hosts), "each host is of one provider")
	for _, c := range Codecs() {
		if c != generic && !c.Tools { // each provider has tools
			require.Contains(t, names, c.Provider, "the provider of %s is known", c.API)
		}
	}
	require.Zero(t, Facts("nobody"))
	require.Empty(t, Facts("bedrock").Home, "each customer has a host of its own")
}
