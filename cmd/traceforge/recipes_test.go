package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecipesAreSafe holds that the workflows that we publish pin what others publish, give no job more than it
// needs, and have no expression in a script, where it would be code.
func TestRecipesAreSafe(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	action, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(name: .*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 5, "workflows of docs/ci.md")
	pinned := regexp.MustCompile(`uses: (actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|traceforge/traceforge-go@v\d+\.\d+\.\d+ # the version that go\.mod requires)$`)
	job := regexp.MustCompile(`(?m)^  [a-z]+:\n`)
	for _, block := range blocks {
		workflow := block[1]
		require.Contains(t, workflow, "\npermissions: {}\n", "nothing is given to all jobs")
		head, jobs, _ := strings.Cut(workflow, "\njobs:\n")
		require.NotContains(t, head, "secrets.")
		for _, body := range job.Split(jobs, -1)[1:] {
			beforeSteps, steps, _ := strings.Cut(body, "    steps:\n")
			require.Contains(t, beforeSteps, "    permissions: {")
			require.NotContains(t, beforeSteps, "secrets.", "a key is for the step that needs it")
			writes := strings.Contains(beforeSteps, ": write")
			require.False(t, writes && strings.Contains(steps, "secrets."), "no job has a key and may write")
			require.False(t, writes && regexp.MustCompile(`go (test|tool|run|build)`).MatchString(steps), "no job that may write runs the repository's code")
			require.Equal(t, !writes && strings.Contains(steps, "actions/checkout"), strings.Contains(steps, "persist-credentials: false"))
		}
	}
	for _, yaml := range []string{blocks[0][1], blocks[1][1], blocks[2][1], blocks[3][1], blocks[4][1], string(action)} {
		inScript := false
		for line := range strings.Lines(yaml) {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if inScript = inScript && (indent >= 8 || line == "\n"); strings.Contains(line, "run: |") {
				inScript = true
			}
			if inScript || strings.Contains(line, "run: ") {
				require.NotContains(t, line, "${{")
			}
			if strings.Contains(line, "uses: ") {
				require.Regexp(t, pinned, strings.TrimSuffix(line, "\n"))
			}
		}
	}
}
