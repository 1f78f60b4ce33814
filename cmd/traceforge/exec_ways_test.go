package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
)

const (
	determined   = `{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"hello"}]}`
	undetermined = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	completion   = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",` +
		`"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
)

// runAsker is a program that posts its second argument, if there is one, to the URL that a variable has, with the path
// behind it: asker OPENAI_BASE_URL/chat/completions BODY.
func runAsker() {
	if len(os.Args) < 3 {
		return
	}
	variable, path, _ := strings.Cut(os.Args[1], "/")
	req, err := http.NewRequest("POST", os.Getenv(variable)+"/"+path, strings.NewReader(os.Args[2]))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if variable == "ANTHROPIC_BASE_URL" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	key := os.Getenv("OPENAI_API_KEY")
	if len(os.Args) > 4 && os.Args[3] == "--with" {
		key = os.Args[4]
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	io.Copy(os.Stdout, resp.Body) // whether it was cut is no matter
	resp.Body.Close()
}

// A damaged document fails each call in the same way, which is said once.
func TestDamageIsToldOnce(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(completes))
	defer provider.Close()
	dir := t.TempDir()
	run := func(env string) (said string) {
		cmd := osexec.Command("traceforge", "exec", "flow", "--", "sh", "-c",
			`asker OPENAI_BASE_URL/chat/completions "$0"; asker OPENAI_BASE_URL/chat/completions "$1"`,
			determined, strings.Replace(determined, "hello", "bye", 1))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=", "OPENAI_API_KEY=sk-live-0123456789", "OPENAI_BASE_URL="+provider.URL, env)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		_ = cmd.Run()
		return stderr.String()
	}
	require.Contains(t, run("TRACEFORGE_UPDATE=1"), "2 new")
	files, err := filepath.Glob(filepath.Join(dir, ".ai-snapshots", "openai", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	document, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], bytes.Replace(document, []byte("hello"), []byte("hallo"), 1), 0o644))
	said := run("TRACEFORGE_UPDATE=")
	require.Equal(t, 1, strings.Count(said, "was changed after it was recorded"), said)
}

// Calls of a program have no line, so that a note of equal ones names the program.
func TestEqualCallsOfProgram(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	var answers atomic.Int32
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		both.Done()
		both.Wait()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.Replace(completion, "hi", fmt.Sprint(answers.Add(1)), 1))
	}))
	defer provider.Close()
	cmd := osexec.Command("traceforge", "exec", "flow", "--update", "--", "sh", "-c",
		`asker OPENAI_BASE_URL/chat/completions "$0" & asker OPENAI_BASE_URL/chat/completions "$0"; wait`, determined)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=", "OPENAI_API_KEY=sk-live-0123456789",
		"OPENAI_BASE_URL="+provider.URL)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "2 equal requests, of the program, were made at once and got different answers")
}

// Each failure of a recording names the flag that lets it be, and with the flag as it is named the run records, and
// replays without the provider.
func TestWaysOutOfPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc // nil: nobody listens
		asker  []string
		said   string // by the failure
		way    string // as the failure has it, after "the flag "
		fill   string // for what the user has to say
	}{
		{"no call", nil, nil, "no model call was made", `--allow no-calls`, ""},
		{"no answer", hangUp, []string{"OPENAI_BASE_URL/chat/completions", determined}, "gave no answer", `--allow transport-errors`, ""},
		{"try again", status(503), []string{"OPENAI_BASE_URL/chat/completions", determined}, "answered 503", `--allow retryable-errors`, ""},
		{"cut", cut, []string{"OPENAI_BASE_URL/chat/completions", determined}, "was cut", `--allow cut-streams`, ""},
		{"not determined", completes, []string{"OPENAI_BASE_URL/chat/completions", undetermined}, "determin", `--nondeterministic WHY`, "a chat"},
		{"secret", completes, []string{"OPENAI_BASE_URL/chat/completions", strings.Replace(determined, "hello", "sk-live-0123456789", 1)},
			"holds the value of OPENAI_API_KEY", `--scrub OPENAI_API_KEY`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			provider := httptest.NewServer(tt.answer)
			defer provider.Close()
			if tt.answer == nil {
				provider.Close()
			}
			dir := t.TempDir()
			run := func(live bool, flags ...string) (said string, code int) {
				cmd := osexec.Command("traceforge", slices.Concat([]string{"exec", "flow"}, flags, []string{"--", "asker"}, tt.asker)...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT=",
					"OPENAI_BASE_URL=", "OPENAI_API_KEY=")
				if live {
					cmd.Env = append(cmd.Env, "OPENAI_API_KEY=sk-live-0123456789", "OPENAI_BASE_URL="+provider.URL)
				}
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				_ = cmd.Run() // its code tells
				return stderr.String(), cmd.ProcessState.ExitCode()
			}
			said, code := run(true, "--update")
			require.Equal(t, exitFindings, code, said)
			require.Regexp(t, tt.said, said)
			require.NotContains(t, said, "traceforgetest.")
			require.NotContains(t, said, "the test")
			way := regexp.MustCompile(`the flag (` + tt.way + `)(\s|$)`).FindStringSubmatch(said)
			require.NotNil(t, way, said)
			flags := strings.Fields(way[1])
			if tt.fill != "" {
				flags[1] = tt.fill
			}
			said, code = run(true, append(flags, "--update")...)
			require.Equal(t, exitClean, code, said)
			provider.Close()
			said, code = run(tt.name == "secret", flags...) // whose request has the key
			require.Equal(t, exitClean, code, said)
		})
	}
}

func completes(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, completion)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		io.WriteString(w, `{"error":{"message":"later"}}`)
	}
}

// cut ends an answer before its end.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(completion)))
	io.WriteString(w, completion[:40])
}

// hangUp closes the connection before an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// What failures of the recorder call an option of a test is a flag of exec where it is a program's.
func TestFlagsOfFailures(t *testing.T) {
	t.Parallel()
	exec, _, err := rootCommand(newConsole(nil, io.Discard, io.Discard)).Find([]string{"exec"})
	require.NoError(t, err)
	named := regexp.MustCompile(`\.(given|option|allow)\("([A-Za-z]+)"`)
	sources, err := os.ReadDir("../../internal/recorder")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, source := range sources {
		if source.IsDir() || strings.HasSuffix(source.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile("../../internal/recorder/" + source.Name())
		require.NoError(t, err)
		for _, m := range named.FindAllSubmatch(text, -1) {
			name := strings.ToLower(regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(string(m[2]), "-$0"))
			found[name] = true
			if string(m[1]) == "allow" {
				assert.Contains(t, allowanceNames, name)
			} else {
				assert.NotNil(t, exec.Flag(name), name)
			}
		}
	}
	require.Greater(t, len(found), 5, found)
}

// TestFailuresOfPrograms: a failure that a program can meet calls it no test. These are the texts that only tests meet.
func TestFailuresOfPrograms(t *testing.T) {
	t.Parallel()
	ofTests := []string{
		"or record a test of its own whose tool", "of the test met no call", "a fault of the test", // Recorder.Fault
		"no live model", "no tool to run", // Recorder.Model, Recorder.Tool
		"the test skipped itself", "the test failed by its subtest",
	}
	literal := regexp.MustCompile("\"[^\"\n]*\\bthe test\\b[^\"\n]*\"")
	sources, err := filepath.Glob("../../internal/recorder/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") || filepath.Base(source) == "words.go" { // which has the words of each
			continue
		}
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "// ")
			for _, said := range literal.FindAllString(line, -1) {
				known := said == `"the test"` || slices.ContainsFunc(ofTests, func(of string) bool { return strings.Contains(said, of) })
				assert.True(t, known, "%s: %s: use tested", source, said)
			}
		}
	}
}

// TestProgramsBypassProxies: curl and Python send calls to a loopback address to the proxy, unless told not to.
func TestProgramsBypassProxies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, upper, lower, want string }{
		{"none", "", "", "127.0.0.1 127.0.0.1"},
		{"upper case", "corp.example", "", "corp.example,127.0.0.1 corp.example,127.0.0.1"},
		{"both", "a.example", "b.example", "a.example,127.0.0.1 b.example,127.0.0.1"},
		{"all", "*", "", "* *"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := osexec.Command("traceforge", "exec", "flow", "--allow", "no-calls", "--", "sh", "-c", `echo "$NO_PROXY $no_proxy"`)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "NO_PROXY="+tt.upper, "no_proxy="+tt.lower)
			said, err := cmd.Output()
			require.NoError(t, err)
			require.Equal(t, tt.want+"\n", string(said))
		})
	}
}

// TestEndpointsOfPrograms: a program reaches the provider that its variables name, in the forms that SDKs accept.
func TestEndpointsOfPrograms(t *testing.T) {
	t.Parallel()
	echo := func(variable string) []string { return []string{"sh", "-c", "echo $" + variable} }
	asks := []string{"asker", "OPENAI_BASE_URL/chat/completions", determined}
	for _, tt := range []struct {
		name    string
		env     []string
		flags   []string
		command []string
		code    int
		want    string // pattern of what is printed
	}{
		{"a host", []string{"OLLAMA_HOST=127.0.0.1:9"}, nil, echo("OLLAMA_HOST"), exitClean, `^http://127\.0\.0\.1:\d+/\w+\n$`},
		{"a path", nil, nil, echo("OPENAI_BASE_URL"), exitClean, `^http://127\.0\.0\.1:\d+/\w+/v1\n$`},
		{"no host", []string{"OPENAI_BASE_URL=http://"}, nil, asks, exitTrouble, `: \$OPENAI_BASE_URL must be a URL, is http://\n`},
		{"no URL", []string{"OPENAI_BASE_URL=http://[x"}, nil, asks, exitTrouble, `: \$OPENAI_BASE_URL must be a URL, is 'http://\[x'\n`},
		{"another provider", []string{"OPENAI_BASE_URL=https://openrouter.ai/api/v1"}, nil, asks, exitFindings, `openrouter request`},
		{"a home of its own", []string{"AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com"}, nil,
			[]string{"asker", "AZURE_OPENAI_ENDPOINT/openai/deployments/m/chat/completions", determined}, exitFindings, `azure request`},
		{"no region", nil, []string{"--update"}, echo("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"), exitClean, `^\n$`},
		{"a region", []string{"AWS_DEFAULT_REGION=eu-west-1"}, []string{"--update"}, echo("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"), exitClean, `^http://127.*\n$`},
		{"a key", nil, nil, echo("OPENAI_API_KEY"), exitClean, `^sk-\S+\n$`},
		{"a key to record with", nil, []string{"--update"}, echo("OPENAI_API_KEY"), exitClean, `^\n$`},
		{"a key of nobody", nil, nil, echo("AZURE_OPENAI_API_KEY"), exitClean, `^\n$`},
		{"no allowance", nil, []string{"--allow", "all"}, asks, exitTrouble, `: --allow all is not known: use cut-streams, transport-errors, retryable-errors, no-calls\n`},
		{"no check", []string{"TRACEFORGE_CHECK=tier=x"}, []string{"--check"}, asks, exitTrouble, `TRACEFORGE_CHECK: tier`},
		{"a value", nil, []string{"--nondeterministic", "a chat"}, asks, exitFindings, `--allow no-calls --nondeterministic 'a chat' -- asker `},
		{"a flag", nil, []string{"--stream-timing"}, asks, exitFindings, `: traceforge exec flow --update --allow no-calls --stream-timing -- asker `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := osexec.Command("traceforge", slices.Concat([]string{"exec", "flow", "--allow", "no-calls"}, tt.flags, []string{"--"}, tt.command)...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_CHECK=", "OPENAI_BASE_URL=", "OLLAMA_HOST=",
				"AWS_ENDPOINT_URL_BEDROCK_RUNTIME=", "AWS_REGION=", "AWS_DEFAULT_REGION=", "AZURE_OPENAI_ENDPOINT=", "AZURE_OPENAI_API_KEY=", "OPENAI_API_KEY=")
			cmd.Env = append(cmd.Env, tt.env...)
			said, _ := cmd.CombinedOutput() // its code tells
			require.Equal(t, tt.code, cmd.ProcessState.ExitCode(), string(said))
			require.Regexp(t, tt.want, string(said))
		})
	}
}

// TestSourceOfPrograms: calls are of the first file below the store's directory that the command names, or else of the
// program. The store is the module's wherever the program runs.
func TestSourceOfPrograms(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(completes))
	defer provider.Close()
	outside := filepath.Join(t.TempDir(), "out.mjs")
	require.NoError(t, os.WriteFile(outside, nil, 0o666))
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{outside, ".", "none.mjs", "app.mjs", "other.mjs"}, "sub/app.mjs"},
		{[]string{outside, "none.mjs"}, "asker"},
	} {
		top := t.TempDir()
		dir := filepath.Join(top, "sub")
		require.NoError(t, os.Mkdir(dir, 0o777))
		for _, file := range []string{"go.mod", "sub/app.mjs", "sub/other.mjs"} {
			require.NoError(t, os.WriteFile(filepath.Join(top, file), []byte("module m\n"), 0o666))
		}
		words := slices.Concat([]string{"exec", "flow", "--update", "--", "asker", "OPENAI_BASE_URL/chat/completions", determined}, tt.words)
		cmd := osexec.Command("traceforge", words...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "OPENAI_BASE_URL="+provider.URL, "OPENAI_API_KEY=sk-0123456789")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		files, err := filepath.Glob(filepath.Join(top, ".ai-snapshots", "openai", "*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1, string(said))
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Contains(t, string(text), `"file": "`+tt.want+`"`)
	}
}

// TestAnswersOfPrograms: headers and the pace of an answer are kept where the program needs them, and what follows the path of a
// base URL is not sent.
func TestAnswersOfPrograms(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		w.Header().Set("X-Trace", "seven")
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+strings.Replace(completion, `"message"`, `"delta"`, 1)+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()
	dir := t.TempDir()
	cmd := osexec.Command("traceforge", "exec", "flow", "--update", "--keep-headers", "X-Trace", "--stream-timing", "--",
		"asker", "OPENAI_BASE_URL/chat/completions", strings.Replace(determined, `{`, `{"stream":true,`, 1))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "OPENAI_BASE_URL="+provider.URL+"/v1?x=1#y", "OPENAI_API_KEY=sk-0123456789")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, "/v1/chat/completions", asked.Load())
	files, err := filepath.Glob(filepath.Join(dir, ".ai-snapshots", "openai", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"seven"`)
	require.Contains(t, string(text), `"timing_ms"`)
}

// TestReceiptsOfPrograms: a receipt names a store of the module by a path that holds in any checkout, and a program that fails
// by itself has failed.
func TestReceiptsOfPrograms(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, os.WriteFile(filepath.Join(top, "go.mod"), []byte("module m\n"), 0o666))
	for code, tt := range []struct{ dir, want string }{
		{".ai-snapshots", `"store":".ai-snapshots"`},
		{outside, `"outcome":"fail"`},
		{outside, `"store":"` + filepath.ToSlash(outside) + `"`},
	} {
		receipts := filepath.Join(t.TempDir(), "receipts")
		cmd := osexec.Command("traceforge", "exec", "flow", "--dir", tt.dir, "--allow", "no-calls", "--", "sh", "-c", fmt.Sprint("exit ", code))
		cmd.Dir, cmd.Env = top, append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "TRACEFORGE_RECEIPT="+receipts)
		said, _ := cmd.CombinedOutput() // its code tells
		require.Equal(t, code, cmd.ProcessState.ExitCode(), string(said))
		files, err := filepath.Glob(filepath.Join(receipts, "*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Contains(t, string(text), tt.want)
	}
}

// TestProgramsHaveNoLiveMode: the refusal names what compares live answers.
func TestProgramsHaveNoLiveMode(t *testing.T) {
	t.Parallel()
	cmd := osexec.Command("traceforge", "exec", "flow", "--", "asker")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TRACEFORGE_UPDATE=live", "TRACEFORGE_DIR=")
	said, _ := cmd.CombinedOutput() // its code tells
	require.Equal(t, exitTrouble, cmd.ProcessState.ExitCode())
	require.Contains(t, string(said), "TRACEFORGE_UPDATE=live: a program gets live answers without traceforge exec; --check compares")
}

// TestBaseURLs holds what is declared of the variables: which SDKs read them is in docs/exec.md.
func TestBaseURLs(t *testing.T) {
	page, err := os.ReadFile("../../docs/exec.md")
	require.NoError(t, err)
	seen := map[string]string{}
	for of, all := range baseURLs {
		require.Equal(t, of, provider.Facts(of).Name)
		for _, b := range all {
			require.Regexp(t, `^[A-Z_]+$`, b.name)
			require.Empty(t, seen[b.name], "%s is of two providers", b.name)
			require.Regexp(t, `^(/[a-z0-9]+)*$`, b.path, b.name)
			require.True(t, b.path == "" || provider.Facts(of).Home != "", "%s: without a home, a path would be one", b.name)
			seen[b.name] = of
			require.Contains(t, string(page), "| `"+b.name+"` |", "docs/exec.md says which SDKs read it")
		}
	}
	require.Equal(t, "openai", seen["OPENAI_BASE_URL"])
	require.Equal(t, "bedrock", seen["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"])
}

// A store that cannot be looked for is an error, and no reason to begin another one.
func TestStoreThatCannotBeLookedFor(t *testing.T) {
	top := t.TempDir()
	require.NoError(t, os.Symlink(".ai-snapshots", filepath.Join(top, ".ai-snapshots")))
	require.NoError(t, os.Mkdir(filepath.Join(top, "app"), 0o777))
	t.Chdir(filepath.Join(top, "app"))
	t.Setenv("TRACEFORGE_DIR", "")
	code, _, said := run("", "exec", "flow", "--", "true")
	require.Equal(t, exitTrouble, code, said)
	require.Contains(t, said, "looking for .ai-snapshots: ")
	require.NoDirExists(t, ".ai-snapshots")
}
