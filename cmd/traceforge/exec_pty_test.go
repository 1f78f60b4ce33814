//go:build unix

package main // signals of keys are a thing of terminals of Unix

import (
	"bufio"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// TestExecPassesSignals: a program gets each signal that is sent to the command, also one that would not end it.
func TestExecPassesSignals(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM,
		"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := `trap 'exit 7' ` + name + `; echo ready; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done`
			cmd := osexec.Command("traceforge", "exec", "flow", "--allow", "no-calls", "--", "sh", "-c", script)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(signal))
			_ = cmd.Wait() // its code tells
			require.Equal(t, 7, cmd.ProcessState.ExitCode())
		})
	}
}

// TestGoTestEndedBySignal: what ends go test from outside is said, as go test cannot say it.
func TestGoTestEndedBySignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const fake = "#!/bin/sh\n[ \"$1\" = test ] && kill -KILL $$\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o755))
	cmd := osexec.Command("sh", "-c", `PATH="$PWD:$PATH" exec traceforge test -json ./...`)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_DIR=")
	said, _ := cmd.CombinedOutput() // its code tells
	require.Equal(t, 137, cmd.ProcessState.ExitCode())
	require.Equal(t, "go test: signal: killed\n", string(said))
}

// TestGoIsMissing: no help of the command says where go is.
func TestGoIsMissing(t *testing.T) {
	t.Parallel()
	at, err := osexec.LookPath("traceforge")
	require.NoError(t, err)
	cmd := osexec.Command(at, "test", "./...")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH=", "TRACEFORGE_DIR=")
	said, _ := cmd.CombinedOutput() // its code tells
	require.Equal(t, exitTrouble, cmd.ProcessState.ExitCode())
	require.Contains(t, string(said), "go test: ")
	require.NotContains(t, string(said), "--help")
}

// TestHangupUnderNohup: what ignores that its terminal is closed runs its command to the end.
func TestHangupUnderNohup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const fake = `#!/bin/sh
[ "$1" = test ] || exit 1
trap 'exit 7' USR1
echo ready
i=0
while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o755))
	cmd := osexec.Command("sh", "-c", `trap '' HUP; PATH="$PWD:$PATH" exec traceforge test ./...`)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRACEFORGE_DIR=")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	require.NoError(t, cmd.Process.Signal(syscall.SIGUSR1)) // is passed on after the other one
	_ = cmd.Wait()                                          // its code tells
	require.Equal(t, 7, cmd.ProcessState.ExitCode())
}
