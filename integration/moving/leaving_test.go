package moving_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// TestLeaving exports SDKs' calls, whole and streamed, with traceforge export. go-vcr with its own matcher must answer
// them without the store, and must not find a changed prompt.
func TestLeaving(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command and test binaries")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := toy.Dir(t)
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS="+toy.Flags("-mod=mod"), "GOPROXY=off", "GOWORK=off", "GONOSUMDB=*", "TRACEFORGE_RECEIPT=",
			"OPENAI_API_KEY=", "ANTHROPIC_API_KEY=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	read := func(file string) string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(data)
	}
	write("go.mod", strings.NewReplacer("module github.com/traceforge/traceforge-go/integration/moving", "module example.com/leaving",
		"=> ../../", "=> "+root).Replace(read("go.mod")))
	write("go.sum", read("go.sum"))
	write("chat/program_test.go", strings.Replace(read("program_test.go"), "package moving_test", "package chat_test", 1))
	helpers := map[string]string{}
	for _, f := range txtar.Parse([]byte(read("testdata/leaving.txtar"))).Files {
		helpers[f.Name] = string(f.Data)
	}
	write("chat/chat_test.go", helpers["chat_test.go"])
	write("chat/helper_test.go", helpers["traceforge_test.go"])

	t.Setenv("TRACEFORGE_UPDATE", "1")
	said, err := run("go", "test", "./chat")
	require.NoError(t, err, said)
	t.Setenv("TRACEFORGE_UPDATE", "")
	command := filepath.Join(dir, "traceforge")
	said, err = run("go", "-C", filepath.Join(root, "cmd", "traceforge"), "build", "-mod=readonly", "-o", command, ".")
	require.NoError(t, err, said)
	said, err = run(command, "export", "--to", "go-vcr", "-o", ".")
	require.NoError(t, err, said)
	require.Contains(t, said, "chat/testdata/TestChat/all.yaml  5 calls of TestChat/all\n")
	matcher := regexp.MustCompile(`recorder\.WithMatcher\(.*\)`).FindString(said)
	require.NotEmpty(t, matcher, said)

	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".ai-snapshots")))
	write("chat/helper_test.go", strings.Replace(helpers["go-vcr_test.go"], "MATCHER", strings.TrimSuffix(matcher, ")"), 1))
	said, err = run("go", "test", "-count=1", "./chat")
	require.NoError(t, err, said)
	write("chat/program_test.go", strings.Replace(read(filepath.Join(dir, "chat/program_test.go")), "Salut", "Hallo", 1))
	said, err = run("go", "test", "-count=1", "./chat")
	require.Error(t, err)
	require.Contains(t, said, "requested interaction not found")
}
