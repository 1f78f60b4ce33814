//go:build unix

package main // signals of keys are a thing of terminals of Unix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ctrl-C reaches a program once, from the terminal: its end is the command's.
func TestExecInterrupted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		code         int
	}{
		{"caught", `trap 'echo caught >> said; exit 7' INT; echo ready; while :; do sleep 0.1; done`, 7},
		{"not caught", `echo ready; while :; do sleep 0.1; done`, 130},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			term := startOn(t, dir, 80, 24, []string{"TRACEFORGE_UPDATE="}, "exec", "flow", "--allow", "no-calls", "--", "sh", "-c", tt.script)
			term.sees("ready")
			term.types("\x03")
			_, code := term.ends()
			require.Equal(t, tt.code, code)
			if said, err := os.ReadFile(filepath.Join(dir, "said")); tt.code == 7 {
				require.NoError(t, err)
				require.Equal(t, 1, strings.Count(string(said), "caught"))
			}
			require.NoDirExists(t, filepath.Join(dir, ".ai-snapshots"))
		})
	}
}
