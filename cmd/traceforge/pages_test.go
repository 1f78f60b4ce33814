package main

import (
	goflag "flag"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A docPage is a page of the documentation: its commands, the files and the outputs that it shows.
type docPage struct {
	name string
	text string

	mu       sync.Mutex
	commands []string // that no script ran yet
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```")
	aFile   = regexp.MustCompile("(?s)`([a-z_]+\\.(?:go|json))`:\n\n```[a-z]+\n(.*?)```")
	elapsed = regexp.MustCompile(`\d+\.\d+s|\(cached\)`) // what differs from run to run in what go test prints
)

// newPage reads a page. Its commands are the lines of ```sh and ```text blocks and of indented blocks, a loop being one; of a
// block that begins with a prompt, "$ ", the others are what a command prints.
func newPage(file string) (*docPage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &docPage{name: strings.TrimSuffix(filepath.Base(file), ".md"), text: string(text)}
	flat := fence.ReplaceAllStringFunc(p.text, func(block string) string {
		m := fence.FindStringSubmatch(block)
		if m[1] != "sh" && m[1] != "text" {
			return ""
		}
		return regexp.MustCompile(`(?m)^ *`).ReplaceAllString(strings.TrimRight(m[2], "\n"), "\t")
	})
	flat = regexp.MustCompile(`(?m)^ {4,}`).ReplaceAllString(flat, "\t")
	flat = regexp.MustCompile(`(?m)^\tfor .*; do\n(.*\n)*?\tdone$`).ReplaceAllStringFunc(flat, func(loop string) string {
		return strings.NewReplacer("; do\n\t", "; do ", "\n\t", "; ").Replace(loop)
	})
	for block := range strings.SplitSeq(flat, "\n\n") {
		prompt := strings.HasPrefix(block, "\t$ ")
		for line := range strings.Lines(block) {
			line, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
			if command, prompted := strings.CutPrefix(line, "$ "); ok && prompt == prompted {
				command, _, _ = strings.Cut(command, "    # ")
				p.commands = append(p.commands, strings.TrimSpace(command))
			}
		}
	}
	return p, nil
}

// run returns the command that reads so, or the first that begins so, and was not run yet.
func (p *docPage) run(begins string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.commands, begins)
	if i < 0 {
		i = slices.IndexFunc(p.commands, func(command string) bool { return strings.HasPrefix(command, begins) })
	}
	if i >= 0 {
		command := p.commands[i]
		p.commands = slices.Delete(p.commands, i, i+1)
		return command, nil
	}
	return "", fmt.Errorf("%s has no command %q… that was not run yet", p.name, begins)
}

// notRun are the commands of pages that no script runs, each with the reason.
var notRun = map[string]string{
	".ci/publish v0.1.0 /tmp/v0.1.0":                                         itself,
	"TRACEFORGE_TEST_ALL=1 go -C integration/publish test . -v -timeout 30m": itself,
	"go -C integration/publish test . -run TestVersions -version v0.1.0":     "writes into the documents; without -version, which make test runs, it holds them",
	"cd /tmp/v0.1.0/repo": "is made by .ci/publish, outside of what a script may touch",
	"go install github.com/traceforge/traceforge-go/cmd/traceforge@v0.1.0":                                                    fromARegistry,
	"go get github.com/traceforge/traceforge-go@v0.1.0 github.com/traceforge/traceforge-go/cmd/traceforge@v0.1.0":             fromARegistry,
	"go run github.com/traceforge/traceforge-go/internal/demo/fake@v0.1.0 traceforge exec chat-flow --update -- node app.mjs": fromARegistry,
	"go test . -run '^$' -bench Scale -benchtime 1x -args -tests 10000":                                                       "writes 20,000 files, for minutes; whoever measures the large stores of docs/performance.md again runs it",
	"go get github.com/openai/openai-go/v3":                                                                                   fromARegistry,
	"go get github.com/traceforge/traceforge-go/traceforgetest":                                                               fromARegistry,
	"go get github.com/traceforge/traceforge-go/traceforgetest/cassette":                                                      fromARegistry,
	"go get github.com/traceforge/traceforge-go/traceforgetest/script":                                                        fromARegistry,
	"go get -tool github.com/traceforge/traceforge-go/cmd/traceforge":                                                         fromARegistry,
	"go mod tidy":     fromARegistry,
	"go test -update": "asks the provider, with a key; the page runs the same on a fake one",
	"go test example.com/shop/agents -run '^TestSummarize$' -update":                             ofTheReader,
	"git ls-remote https://github.com/actions/checkout 'refs/tags/v7.0.1' 'refs/tags/v7.0.1^{}'": "asks GitHub",
	"traceforge exec chat-flow --update -- node app.mjs":                                         withNode, "traceforge exec chat-flow -- node app.mjs": withNode, "traceforge exec chat-flow --check -- node app.mjs": withNode,
}

const (
	itself        = "is integration/publish, or what it runs, for minutes"
	fromARegistry = "asks a registry; integration/publish runs it, against one on disk"
	ofTheReader   = "names a test and a document of the reader; testdata/pages/ci.txt does the same with its own"
	withNode      = "runs a program in Node; the tests of traceforge exec run others"
)

// TestPages runs the commands of the documentation, by a script for each page, and finds those that no script runs.
func TestPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	files, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	pages := map[string]*docPage{}
	for _, file := range append(files, "../../README.md") {
		p, err := newPage(file)
		require.NoError(t, err)
		if file == "../../README.md" {
			p.name = "readme"
		}
		pages[p.name] = p
	}
	if run := goflag.Lookup("test.run").Value.String(); !strings.Contains(run, "/") {
		t.Cleanup(func() { requireAllRun(t, pages) }) // after the scripts, which are parallel
	}
	params := workflow(t)
	params.Dir = "testdata/pages"
	params.Cmds["page"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) != 2 {
			ts.Fatalf("usage: page NAME COMMAND…")
		}
		command, err := pages[args[0]].run(args[1])
		ts.Check(err)
		if dir, ok := strings.CutPrefix(command, "cd "); ok {
			ts.Check(ts.Chdir(dir))
			return
		}
		if err := ts.Exec("sh", "-c", command); (err != nil) != neg {
			ts.Fatalf("%s: %v", command, err)
		}
	}
	params.Cmds["pagefile"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: pagefile NAME FILE")
		}
		ts.Check(writeFiles(ts.MkAbs("."), map[string]string{args[1]: pages[args[0]].file(args[1])}))
	}
	params.Cmds["pageshows"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: pageshows NAME BEGINNING")
		}
		shown := pages[args[0]].output(args[1])
		printed := elapsed.ReplaceAllString(ts.ReadFile("stdout"), "0.00s")
		if shown == "" || !strings.Contains(printed, elapsed.ReplaceAllString(shown, "0.00s")) {
			ts.Fatalf("%s shows, of what begins with %q:\n%s\nbut it is:\n%s", args[0], args[1], shown, printed)
		}
	}
	params.Cmds["openai"] = func(ts *testscript.TestScript, neg bool, args []string) { ts.Check(requireOpenAI(ts.MkAbs("."))) }
	testscript.Run(t, params)
}

// TestCommandsThatPagesName holds that each command that a sentence or a table of the documentation names is one, with its flags.
func TestCommandsThatPagesName(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	span := regexp.MustCompile("`(?:go tool )?traceforge ([a-z][^`]*)`")
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md", "../../llms.txt", "agents.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if filepath.Base(file) == "format.md" {
			continue // it quotes the first lines of files, which begin so too
		}
		for _, m := range span.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n", " "), -1) {
			words, _, _ := strings.Cut(m[1]+" ", " -- ") // what follows is another program's
			var args []string
			for word := range strings.FieldsSeq(words) {
				if !strings.HasPrefix(word, "-") || strings.HasPrefix(word, "--") || word == "-o" { // others are go test's
					args = append(args, strings.TrimRight(word, ",…"))
				}
			}
			out, err := osexec.Command("traceforge", append(args, "--help")...).CombinedOutput()
			assert.NoError(t, err, "%s names traceforge %s:\n%s", file, m[1], out)
			if args[0] != "help" { // an unknown command gets the help of them all
				assert.Contains(t, string(out), "\n  traceforge "+args[0], "%s names traceforge %s", file, m[1])
			}
		}
	}
}

// file returns a file that the page shows.
func (p *docPage) file(name string) string {
	for _, m := range aFile.FindAllStringSubmatch(p.text, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	return ""
}

// output returns the first block of the page that begins so.
func (p *docPage) output(begins string) string {
	for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
		if m[1] == "" && strings.HasPrefix(m[2], begins) {
			return m[2]
		}
	}
	return ""
}

// requireOpenAI writes what go get would write into a go.mod for openai-go, in the version that the integration tests have.
func requireOpenAI(dir string) error {
	const path = "github.com/openai/openai-go/v3"
	// This brings it into the module cache.
	version, err := osexec.Command("go", "-C", "../../integration", "list", "-f", "{{.Module.Version}}", path).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", path, err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	const traceforge = "github.com/traceforge/traceforge-go"
	edit := osexec.Command("go", "mod", "edit", "-require="+path+"@"+strings.TrimSpace(string(version)),
		"-require="+traceforge+"@v0.0.0", "-replace="+traceforge+"="+checkout)
	edit.Dir = dir
	if out, err := edit.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	sums, err := os.ReadFile("../../integration/go.sum")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666)
}

// requireAllRun checks that no command of a page was left out without a reason, and that each reason is for one.
func requireAllRun(t *testing.T, pages map[string]*docPage) {
	if t.Failed() {
		return // a script ended early
	}
	excused := map[string]bool{}
	for _, p := range pages {
		for _, command := range p.commands {
			assert.NotEmpty(t, notRun[command], "%s: no script runs this command of %s: add it to testdata/pages/%s.txt", command, p.name, p.name)
			excused[command] = true
		}
	}
	for command, reason := range notRun {
		assert.True(t, excused[command], "%s is on no page, or is run: it needs no reason (%s)", command, reason)
	}
}
