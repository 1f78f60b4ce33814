package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommandsKeepNoSecrets: what a program is called with is kept as the way to run it again. Secrets among it are not,
// and what stands for them is a word of a shell.
func TestCommandsKeepNoSecrets(t *testing.T) {
	t.Parallel()
	const key = "corpgw-7f3a91c2d4e5b6"
	for _, tt := range []struct {
		name   string
		env    []string
		flags  []string
		args   []string
		secret string
		kept   string // the words that stand for it
		say    string // by a failure
	}{
		{"quoted", []string{"DB_PASSWORD=pa'ssword-very-secret"}, nil, []string{"--pass", "-pa'ssword-very-secret"}, "ssword-very-secret",
			`--pass '-[the value of DB_PASSWORD]'`,
			"put your own value where it says -[the value of DB_PASSWORD]: credentials are not printed"},
		{"header", []string{"OPENAI_API_KEY="}, nil, []string{"--with", key}, key, `--with '[the value of the header Authorization]'`,
			"where it says [the value of the header Authorization]:"},
		{"option", nil, nil, []string{"--password", "hunter2", "--token=hunter2"}, "hunter2",
			`--password '[the value of --password]' '--token=[the value of --token]'`,
			"where it says [the value of --password] and --token=[the value of --token]:"},
		{"scrubbed", []string{"TENANT=acme-industries-of-old"}, []string{"--scrub", "TENANT"}, []string{"--for", "acme-industries-of-old"},
			"acme-industries", `--for '{{tenant:1}}'`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			provider := httptest.NewServer(http.HandlerFunc(completes))
			defer provider.Close()
			dir := t.TempDir()
			env := slices.Concat(os.Environ(), []string{"TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=" + filepath.Join(dir, "receipts"),
				"OPENAI_BASE_URL=" + provider.URL, "OPENAI_API_KEY=sk-live-0123456789"}, tt.env)
			run := func(words ...string) (said string, code int) {
				cmd := osexec.Command("traceforge", words...)
				var both bytes.Buffer
				cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &both, &both
				_ = cmd.Run() // its code tells
				return both.String(), cmd.ProcessState.ExitCode()
			}
			program := slices.Concat(tt.flags, []string{"--", "asker", "OPENAI_BASE_URL/chat/completions", determined}, tt.args)
			said, code := run(append([]string{"exec", "flow", "--update"}, program...)...)
			require.Equal(t, exitClean, code, said)
			kept := 0
			require.NoError(t, filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := os.ReadFile(file)
				require.NotContains(t, string(text), tt.secret, file)
				kept += strings.Count(string(text), tt.kept)
				return err
			}))
			require.Equal(t, 2, kept, "by the record and by the receipt")
			program[slices.Index(program, determined)] = strings.Replace(determined, "hello", "hello again", 1)
			said, code = run(append([]string{"exec", "flow"}, program...)...)
			require.Equal(t, exitFindings, code, said)
			require.Contains(t, said, tt.say)
			require.Equal(t, tt.say != "", strings.Contains(said, "put your own value"))
			require.Equal(t, tt.say == "", strings.Contains(said, tt.secret), "what is scrubbed is no credential: %s", said)
			said, code = run("verify", "--secrets")
			require.Equal(t, exitClean, code, said)
		})
	}
}
