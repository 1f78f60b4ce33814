package traceforgetest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestLentKeys: while a test replays, SDKs find a key where none is set. An empty variable is not set: it is what
// CI makes of a secret that a fork's pull request does not get.
func TestLentKeys(t *testing.T) {
	const lent = "lent"
	all := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "CO_API_KEY", "COHERE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for _, c := range []struct {
		name, why string
		set, want map[string]string // by variable; set: those that are not named are not set
	}{
		{"unset", "SDKs refuse to work without a key", nil,
			map[string]string{"OPENAI_API_KEY": lent, "CO_API_KEY": lent, "COHERE_API_KEY": lent, "AWS_ACCESS_KEY_ID": lent, "AWS_SECRET_ACCESS_KEY": lent}},
		{"empty", "an SDK sees no difference", map[string]string{"OPENAI_API_KEY": "", "CO_API_KEY": ""},
			map[string]string{"OPENAI_API_KEY": lent, "CO_API_KEY": lent}},
		{"set", "a key of the user's own stays", map[string]string{"OPENAI_API_KEY": "mine"},
			map[string]string{"OPENAI_API_KEY": "mine", "COHERE_API_KEY": lent}},
		{"lent before", "a go test under traceforge exec has what that lent", map[string]string{"OPENAI_API_KEY": provider.NoKey("OPENAI_API_KEY")},
			map[string]string{"OPENAI_API_KEY": lent}},
		{"one of two", "genai warns where it finds both", nil, map[string]string{"GEMINI_API_KEY": lent, "GOOGLE_API_KEY": ""}},
		{"one of two, empty", "as above", map[string]string{"GEMINI_API_KEY": "", "GOOGLE_API_KEY": ""},
			map[string]string{"GEMINI_API_KEY": lent, "GOOGLE_API_KEY": ""}},
		{"token", "some SDKs read no token, and no call is made", map[string]string{"ANTHROPIC_AUTH_TOKEN": "mine"},
			map[string]string{"ANTHROPIC_API_KEY": lent, "ANTHROPIC_AUTH_TOKEN": "mine"}},
		{"the other is set", "genai would warn of one that the user has not set", map[string]string{"GOOGLE_API_KEY": "mine"},
			map[string]string{"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "mine"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			for _, name := range all {
				value, set := c.set[name]
				t.Setenv(name, value) // brings it back at the end
				if !set {
					require.NoError(t, os.Unsetenv(name))
				}
			}
			tb := s.replay("TestIt", func(*tbtest.TB, *traceforgetest.Recorder) {
				for name, want := range c.want {
					if want == lent {
						want = provider.NoKey(name)
					}
					require.Equal(t, want, os.Getenv(name), "%s: %s", name, c.why)
				}
			}, traceforgetest.Allow(traceforgetest.NoCalls))
			require.False(t, tb.Failed(), tb.Logged())
			for _, name := range all {
				was, wasSet := c.set[name]
				value, set := os.LookupEnv(name)
				require.Equal(t, was, value, name)
				require.Equal(t, wasSet, set, "%s is as it was before the test", name)
			}
		})
	}
}

// TestTokenInPlaceOfKey: where live calls are made, no placeholder hides the token that is set in place of a key, because
// SDKs read the token only if they find no key.
func TestTokenInPlaceOfKey(t *testing.T) {
	s := newScene(t)
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "mine")
	t.Setenv("AZURE_OPENAI_API_KEY", "")
	t.Setenv("AZURE_OPENAI_AD_TOKEN", "")
	t.Setenv("TRACEFORGE_UPDATE", "check")
	tb := s.run("TestIt", func(*tbtest.TB, *traceforgetest.Recorder) {
		require.Empty(t, os.Getenv("ANTHROPIC_API_KEY"))
		require.Equal(t, provider.NoKey("AZURE_OPENAI_API_KEY"), os.Getenv("AZURE_OPENAI_API_KEY"), "without a token a key is lent")
	}, traceforgetest.Allow(traceforgetest.NoCalls))
	require.False(t, tb.Failed(), tb.Logged())
}

// TestKeysHaveTheirForm holds that programs which look at a key before they make a client take what is lent, and that it is
// no secret.
func TestKeysHaveTheirForm(t *testing.T) {
	for variable, form := range map[string]string{
		"ANTHROPIC_API_KEY":  `^sk-ant-[\w-]{50,}$`,
		"AWS_ACCESS_KEY_ID":  `^[\w-]{16,128}$`,
		"DEEPSEEK_API_KEY":   `^sk-[\w-]{40,}$`,
		"GEMINI_API_KEY":     `^AIza[\w-]{35}$`,
		"GROQ_API_KEY":       `^gsk_[\w-]{50,}$`,
		"MISTRAL_API_KEY":    `^[\w-]{32,}$`,
		"OPENAI_API_KEY":     `^sk-[\w-]{40,}$`,
		"OPENROUTER_API_KEY": `^sk-or-[\w-]{50,}$`,
		"XAI_API_KEY":        `^xai-[\w-]{50,}$`,
	} {
		key := provider.NoKey(variable)
		require.Regexp(t, form, key)
		require.Contains(t, key, "traceforge-replay")
	}
}

// TestKeysAreNoSecrets holds it of each variable in which a key is lent, wherever the key stands.
func TestKeysAreNoSecrets(t *testing.T) {
	for _, p := range provider.Providers() {
		for _, variable := range p.Keys {
			key := provider.NoKey(variable)
			t.Setenv(variable, key)
			secrets := secret.New()
			for _, text := range []string{
				`{"api_key": "` + key + `"}`, "Authorization: Bearer " + key, variable + "=" + key,
				"Incorrect API key provided: " + key, "https://api.example.com/v1?key=" + key,
			} {
				hit, found := secrets.Find([]byte(text))
				require.False(t, found, "%s in %s", hit.What, text)
				require.Equal(t, text, secrets.Mask(text))
			}
		}
	}
}

// TestKeysOfTheTest: a key that a test sets itself outlasts what was lent.
func TestKeysOfTheTest(t *testing.T) {
	s := newScene(t)
	t.Setenv("OPENAI_API_KEY", "")
	tb := s.replay("TestIt", func(*tbtest.TB, *traceforgetest.Recorder) {
		require.NoError(t, os.Setenv("OPENAI_API_KEY", "set while the test ran"))
	}, traceforgetest.Allow(traceforgetest.NoCalls))
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, "set while the test ran", os.Getenv("OPENAI_API_KEY"))
}
