package main

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// requirePlain fails the test where what a command printed drives a terminal or a runner, but by an
// annotation of its own.
func requirePlain(t *testing.T, printed string) {
	t.Helper()
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "::error file=") {
			require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "a workflow command: %q", line)
		}
		require.NotContains(t, line, "##[", "an old workflow command")
		for _, r := range line {
			require.True(t, plaintext.Shown(r) || r == '\t', "%q in %q", r, line)
		}
	}
}

// TestOutputIsPlain has commands print a record in which all strings are hostile, into a pipe.
func TestOutputIsPlain(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("CLICOLOR_FORCE", "1")
	dir, empty := filepath.Join(t.TempDir(), ".ai-snapshots"), filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "hostile"))
	require.NoError(t, os.MkdirAll(empty, 0o777))
	for _, args := range [][]string{
		{"show", "--dir", dir, "testhostile"}, {"show", "--dir", dir, "--json", "testhostile"}, {"show", "--dir", dir, "--sf", "testhostile"},
		{"show", "--dir", dir, "--receipt", "testhostile"}, {"show", "--dir", dir, "no\n::error::x\x1b##[y]"},
		{"diff", empty, dir}, {"diff", dir, empty}, {"diff", "--json", empty, dir}, {"verify", "--secrets", "--dir", dir}, {"verify", "--json", "--dir", dir},
		{"no\n::error::x\x1b"}, {"verify", "--dir", "no\n::error::x"},
		{"ls", "--dir", dir}, {"ls", "--dir", dir, "--json"}, {"ls", "--dir", dir, "no\n::error::x\x1b("},
	} {
		t.Run(strings.ToValidUTF8(plaintext.Line(args[0]+" "+args[len(args)-1]), ""), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			traceforge(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			requirePlain(t, stdout.String())
			requirePlain(t, stderr.String())
			require.NotEmpty(t, stdout.String()+stderr.String())
		})
	}
}

// TestRemediesWorkForHostileNames follows what verify says of files that are named to be obeyed.
func TestRemediesWorkForHostileNames(t *testing.T) {
	bash, err := osexec.LookPath("bash")
	if err != nil {
		t.Skip("this system has no bash")
	}
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	names := []string{"\n::stop-commands::x\n.json", "##[add-mask]y", "a ::error::b.json", "it's \x1b[2J\u202e.txt", "$(touch x)`y`\\"}
	for _, name := range names {
		if os.WriteFile(filepath.Join(dir, "openai", name), nil, 0o666) != nil {
			t.Skipf("this file system has no names such as %q", name)
		}
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitFindings, traceforge(t.Context(), []string{"verify", "--dir", dir}, nil, &stdout, &stderr))
	requirePlain(t, stdout.String())
	requirePlain(t, stderr.String())
	_, words, ok := strings.Cut(stderr.String(), "delete what does not belong in a store: ")
	require.True(t, ok, stderr.String())
	words, _, _ = strings.Cut(words, "\n")
	out, err := osexec.Command(bash, "-c", "rm -- "+words).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, exitClean, traceforge(t.Context(), []string{"verify", "--dir", dir}, nil, &stdout, &stderr), "%s", &stderr)
}

// TestWaysOutHaveNoFlags: a package that is called like a flag of go test is in none of the commands that verify prints.
func TestWaysOutHaveNoFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	var change store.Change
	for _, pkg := range []string{"--", "-exec=touch x", "example.com/agents"} {
		name := snapshot.DocumentName(pkg, "TestPlain")
		doc := pagetest.Document("plain")
		call := &doc.Snapshots[0]
		call.ID, call.Source.Package = snapshot.ID(name, 1), pkg
		call.Response.RawOutputRef, call.Response.Stale = "", canon.Sum([]byte("other"))
		change.Put = append(change.Put, store.Put{Provider: "openai", Name: name, Document: doc})
	}
	require.NoError(t, s.Commit(change))
	rules := `{"scrub": [{"name": "t", "pattern": "assistant"}]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, store.ConfigName), []byte(rules), 0o666))
	for _, inCI := range []string{"", "true"} {
		t.Setenv("CI", inCI)
		var out bytes.Buffer
		require.Equal(t, exitFindings, traceforge(t.Context(), []string{"verify", "--max-stale", "0", "--dir", dir}, nil, &out, &out))
		for _, what := range []string{"buy them again", "hides text of it now, .*"} {
			require.Regexp(t, map[string]string{
				"": what + `: go test example.com/agents -run '\^TestPlain\$' -update`, "true": what + `: TRACEFORGE_UPDATE=1 go test example.com/agents -run `,
			}[inCI], out.String())
		}
		require.NotRegexp(t, `(go test|traceforge update).* '?-(-|exec)`, out.String())
	}
}

// TestAnnotationsAreOneCommandEach has verify annotate a finding whose file is named as a command.
func TestAnnotationsAreOneCommandEach(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	if os.WriteFile(filepath.Join(dir, "openai", "\n::stop-commands::x\n.json"), nil, 0o666) != nil {
		t.Skip("this file system has no such names")
	}
	var stdout, stderr bytes.Buffer
	traceforge(t.Context(), []string{"verify", "--dir", dir}, nil, &stdout, &stderr)
	commands := 0
	for line := range strings.Lines(stdout.String() + stderr.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			require.True(t, strings.HasPrefix(line, "::error file="+filepath.ToSlash(dir)+`/openai/%0A\u003a%3Astop-commands`), line)
			commands++
		}
	}
	require.Equal(t, 1, commands, "%s%s", &stdout, &stderr)
}

// TestVerifySecrets finds what was recorded before there were rules, and prints none of it.
func TestVerifySecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := traceforge(t.Context(), append(args, "--dir", dir), nil, &out, &out)
		return code, out.String()
	}
	code, said := run("verify", "--secrets")
	require.Equal(t, exitClean, code, said)

	value := "chatcmpl-1" // what the answer's bytes hold
	t.Setenv("DB_PASSWORD", value)
	code, said = run("verify", "--secrets")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, ".json: /id: secret: the value of DB_PASSWORD: revoke it")
	require.NotContains(t, said, value)

	t.Setenv("DB_PASSWORD", "precise summarization assistant")
	code, said = run("verify", "--secrets")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, ": /snapshots/0/request/messages/0/content: secret: the value of DB_PASSWORD in the whole request")
	require.NotContains(t, said, "precise summarization assistant")
	var out bytes.Buffer
	traceforge(t.Context(), []string{"show", "--dir", dir, "testplain"}, nil, &out, &out)
	require.Contains(t, out.String(), "[the value of DB_PASSWORD]")
	require.NotContains(t, out.String(), "precise summarization assistant", "show hides it")
}
