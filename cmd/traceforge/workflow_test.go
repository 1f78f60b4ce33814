package main

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// TestWorkflow runs the command, git and real go test in toy modules that use this checkout,
// offline.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	testscript.Run(t, workflow(t))
}

// workflow returns how scripts run that use the command, git and real go test.
func workflow(t *testing.T) testscript.Params {
	goEnv, err := toy.Env()
	require.NoError(t, err)
	checkout, err := toy.Checkout()
	require.NoError(t, err)
	userCache := t.TempDir()
	return testscript.Params{
		Dir:                 "testdata/workflow",
		WorkdirRoot:         toy.Dir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[runningProvider{}] = new(*fakeprovider.Server)
			env.Setenv("CHECKOUT", checkout)
			env.Vars = append(append(env.Vars, goEnv...),
				"COLUMNS=", "NO_COLOR=", "XDG_CACHE_HOME="+userCache, "GORACE=atexit_sleep_ms=0",
				"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(env.WorkDir, ".gitconfig"),
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			return makeToy(env.WorkDir)
		},
		Condition: func(name string) (bool, error) {
			if name != "namespaces" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return osexec.Command("unshare", "--map-root-user", "--mount", "--net", "true").Run() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"replace":   replace,
			"provider":  providerCommand,
			"packages":  packagesCommand,
			"action":    actionCommand,
			"recipe":    recipeCommand,
			"stdoutenv": stdoutEnv,
		},
	}
}

// makeToy makes a module in dir that uses this checkout, with the package chat.
func makeToy(dir string) error {
	if err := toy.Make(dir); err != nil {
		return err
	}
	return writeFiles(dir, map[string]string{"chat/chat.go": chatPackage})
}

// makePackages makes packages p1 to pn of a toy module. Each has so many tests with so many
// subtests that each make a call: its prompt begins with the variable PROMPT.
func makePackages(dir string, n, tests, subtests int) error {
	files := map[string]string{}
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, callingPackage, i+1, subtests)
		for j := range tests {
			fmt.Fprintf(&text, "\nfunc %s(t *testing.T) { call(t) }\n", testName(j))
		}
		files[fmt.Sprintf("p%d/p_test.go", i+1)] = text.String()
	}
	return writeFiles(dir, files)
}

// testName returns the name of a test that makePackages makes, counted from 0.
func testName(i int) string {
	if i == 0 {
		return "TestIt"
	}
	return fmt.Sprintf("TestIt%d", i)
}

const callingPackage = `package p%d

import (
	"fmt"
	"os"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"

	"example.com/toy/chat"
)

func call(t *testing.T) {
	for i := range %d {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			chat.Ask(t, traceforgetest.New(t).Client(), fmt.Sprint(os.Getenv("PROMPT"), "call ", i))
		})
	}
}
`

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// packagesCommand is the script command packages N SUBTESTS, see makePackages.
func packagesCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: packages N SUBTESTS")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	subtests, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(makePackages(ts.MkAbs("."), n, 1, subtests))
}

// actionCommand is the script command action STEP, which runs the shell script of a step of
// action.yml, counted from 1, as GitHub's runner does.
func actionCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: action STEP")
	}
	text, err := os.ReadFile("../../action.yml")
	ts.Check(err)
	blocks := regexp.MustCompile(`(?m)^ +run: \|\n((?: {8,}.*\n)+)`).FindAllSubmatch(text, -1)
	step, err := strconv.Atoi(args[0])
	ts.Check(err)
	script := filepath.Join(ts.Getenv("RUNNER_TEMP"), "step.sh")
	ts.Check(os.WriteFile(script, blocks[step-1][1], 0o666))
	err = ts.Exec("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	if (err != nil) != neg {
		ts.Fatalf("step %d: %v", step, err)
	}
}

// stdoutEnv is the script command stdoutenv NAME: a variable gets what the last command printed.
func stdoutEnv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stdoutenv NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// recipeCommand is the script command recipe NAME N, which runs the N-th shell script of a workflow of
// docs/ci.md, as GitHub's runner does: with what it writes to GITHUB_OUTPUT and GITHUB_STEP_SUMMARY. Of GitLab's and
// Jenkins's, whose NAME is their title, these are the commands of the N-th job and stage.
func recipeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: recipe NAME N")
	}
	text, err := os.ReadFile("../../docs/ci.md")
	ts.Check(err)
	script := regexp.MustCompile(`(?m)^ +run: \|\n((?: {10,}.*(?:\n|$))+)`)
	begins := "\nname: " + args[0] + "\n"
	switch args[0] {
	case "GitLab":
		begins, script = "## GitLab\n", regexp.MustCompile(`(?m)^  script:\n((?:    - .*\n)+)`)
	case "Jenkins":
		begins, script = "## Jenkins\n", regexp.MustCompile(`(?m)((?:^ +sh '.*'\n)+)`)
	}
	_, workflow, ok := strings.Cut(string(text), begins)
	if !ok {
		ts.Fatalf("docs/ci.md has no workflow %q", args[0])
	}
	workflow, _, _ = strings.Cut(workflow, "\n```\n")
	blocks := script.FindAllStringSubmatch(workflow+"\n", -1)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	commands := regexp.MustCompile(`(?m)^ +(?:- |sh ')(.*?)'?$`).ReplaceAllString(blocks[n-1][1], "$1")
	file := filepath.Join(ts.Getenv("RUNNER_TEMP"), "step.sh")
	ts.Check(os.WriteFile(file, []byte(commands), 0o666))
	if err := ts.Exec("bash", "--noprofile", "--norc", "-eo", "pipefail", file); (err != nil) != neg {
		ts.Fatalf("script %d of %s: %v", n, args[0], err)
	}
}

// chatPackage is a package of the toy modules: Ask calls a model through a recorder. What the variable SYSTEM holds
// is a line of its system prompt.
const chatPackage = `package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
)

func Ask(t testing.TB, client *http.Client, prompt string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4o-mini", "temperature": 0, "seed": 42,
		"messages": messages(prompt),
	})
	if err != nil {
		t.Fatal(err)
	}
	base := os.Getenv("MODEL_URL")
	if base == "" {
		base = "https://api.openai.com"
	}
	resp, err := client.Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err, string(answer))
	}
	return string(answer)
}

func messages(prompt string) []any {
	user := map[string]any{"role": "user", "content": prompt}
	if system := os.Getenv("SYSTEM"); system != "" {
		return []any{map[string]any{"role": "system", "content": "Be kind.\n" + system}, user}
	}
	return []any{user}
}
`

// runningProvider is the key under which a script keeps its provider.
type runningProvider struct{}

// providerCommand is the script command provider start [other|jitter|models]|stop|calls N, the last of which holds how often
// it was called. The provider's address is in MODEL_URL, which is empty where there is none. It says what it is told, or else "Another answer.", or
// something new every time, or what fits, except as gpt-worse.
func providerCommand(ts *testscript.TestScript, neg bool, args []string) {
	running := ts.Value(runningProvider{}).(**fakeprovider.Server)
	switch action := strings.Join(args, " "); {
	case neg:
		ts.Fatalf("unsupported: ! provider")
	case args[0] == "start":
		server, err := fakeprovider.Start()
		ts.Check(err)
		switch action {
		case "start":
			server.Handle(fakeprovider.Echo())
		case "start other":
			server.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text("Another answer.\n@octocat <b>") })
		case "start models":
			server.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
				switch c.Model {
				case "gpt-worse":
					return fakeprovider.Text("No idea.")
				case "gpt-gone":
					return fakeprovider.Reply{Failure: &fakeprovider.Failure{Status: 404, Type: "invalid_request_error", Code: "model_not_found",
						Message: "The model `gpt-gone` does not exist or you do not have access to it."}}
				}
				return fakeprovider.Text("Of course: " + c.LastUser())
			})
		case "start jitter":
			var n atomic.Int64
			server.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text(fmt.Sprint("Answer ", n.Add(1))) })
		default:
			ts.Fatalf("usage: provider start [other|jitter|models]|stop|calls N")
		}
		ts.Defer(server.Close)
		*running = server
		ts.Setenv("MODEL_URL", server.URL())
	case args[0] == "calls" && len(args) == 2:
		if n := fmt.Sprint(len((*running).Calls())); n != args[1] {
			ts.Fatalf("the provider was called %s times, want %s", n, args[1])
		}
	case action == "stop":
		(*running).Close()
		ts.Setenv("MODEL_URL", "")
	default:
		ts.Fatalf("usage: provider start [other|jitter|models]|stop|calls N")
	}
}
