package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	pinnedAction = regexp.MustCompile(`^uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	jobName      = regexp.MustCompile(`(?m)^  ([a-z]+):\n`)
	bashFunction = regexp.MustCompile(`(?m)^([a-z]+)\(\) \{`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z]+):`)
)

// workflowFaults returns what a workflow of .github lacks: a pin, a bound, or a command that the repository has.
func workflowFaults(t *testing.T, workflow string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	head, jobs, _ := strings.Cut(workflow, "\njobs:\n")
	if !strings.Contains(head, "\npermissions:\n  contents: read\n") {
		fault("permissions are not those to read alone")
	}
	if !strings.Contains(head, "\nconcurrency:\n") {
		fault("no concurrency")
	}
	for _, word := range []string{": write", "secrets.", "pull_request_target"} {
		if strings.Contains(workflow, word) {
			fault("it has %q", word)
		}
	}
	names, bodies := jobName.FindAllStringSubmatch(jobs, -1), jobName.Split(jobs, -1)
	for i, name := range names {
		if !strings.Contains(bodies[i+1], "\n    timeout-minutes: ") {
			fault("%s: no timeout", name[1])
		}
	}
	for line := range strings.Lines(jobs) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		command, isRun := strings.CutPrefix(line, "run: ")
		if strings.HasPrefix(line, "uses:") && !pinnedAction.MatchString(line) {
			fault("%s: no hash of a commit with its version", line)
		}
		if isRun && !isCommand(t, command) {
			fault("%s: no such command", command)
		}
	}
	return faults
}

// isCommand reports whether a command names a target, a stage or a module that the repository has.
func isCommand(t *testing.T, command string) bool {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		return string(text)
	}
	has := func(pattern *regexp.Regexp, text, name string) bool {
		return slices.ContainsFunc(pattern.FindAllStringSubmatch(text, -1), func(found []string) bool { return found[1] == name })
	}
	words := strings.Fields(command)
	switch {
	case len(words) == 2 && words[0] == "make":
		return has(makeTarget, read("Makefile"), words[1])
	case len(words) > 1 && words[0] == ".ci/check":
		check := read(words[0])
		return !slices.ContainsFunc(words[1:], func(stage string) bool {
			return stage != "quick" && stage != "slow" && !has(bashFunction, check, stage)
		})
	case len(words) > 3 && words[0] == "go" && words[1] == "-C":
		return words[3] == "test" && slices.Contains(modules, words[2])
	}
	return len(words) > 1 && words[0] == "go" && words[1] == "test"
}

// TestWorkflows holds that what GitHub runs is pinned and bounded, may only read, and exists.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, workflowFaults(t, string(text)), file)
	}
}

// TestWorkflowFaultsAreFound shows what is refused.
func TestWorkflowFaultsAreFound(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/ci.yml")
	require.NoError(t, err)
	for old, instead := range map[string]string{
		"contents: read":   "contents: write",
		"concurrency:\n":   "defaults:\n",
		" # v7.0.1":        "",
		"setup-go@":        "setup-go@v7 #",
		"timeout-minutes:": "name:",
		"make test":        "make tests",
		"check quick":      "check quickly",
		"-C cmd/":          "-C command/",
	} {
		require.Contains(t, string(text), old)
		require.NotEmpty(t, workflowFaults(t, strings.Replace(string(text), old, instead, 1)), instead)
	}
}

// TestFloorIsTested holds that CI runs the oldest Go that go.mod allows.
func TestFloorIsTested(t *testing.T) {
	workflow, err := os.ReadFile("../../.github/workflows/ci.yml")
	require.NoError(t, err)
	root, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	floor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(root))
	require.Contains(t, string(workflow), fmt.Sprintf("go: %q } # as go.mod says", floor[1]))
}

// TestDependabot holds that each module is looked after once, and the workflows are.
func TestDependabot(t *testing.T) {
	text, err := os.ReadFile("../../.github/dependabot.yml")
	require.NoError(t, err)
	var folders []string
	for update := range strings.SplitSeq(string(text), "package-ecosystem: ") {
		list := regexp.MustCompile(`directories:[^:]*`).FindString(update)
		for _, folder := range regexp.MustCompile(`/[a-z/]*`).FindAllString(list, -1) {
			require.True(t, strings.HasPrefix(update, "gomod\n"), folder)
			folders = append(folders, strings.TrimPrefix(folder, "/"))
		}
	}
	want := slices.Clone(modules)
	want[slices.Index(want, ".")] = ""
	slices.Sort(folders)
	require.Equal(t, want, folders)
	require.Contains(t, string(text), "package-ecosystem: github-actions\n    directory: /\n")
}
