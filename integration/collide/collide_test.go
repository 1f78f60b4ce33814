package collide

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

var binaries = []struct{ name, why string }{
	{"goldie", "defines update, template and clean in package variables"},
	{"autogold", "defines update in init if nobody has, and clean"},
	{"gotesttools", "defines update in init if nobody has"},
	{"gosnaps", "defines no flag, and is told by a variable of its own"},
	{"own", "a package variable of the test defines update"},
	{"testmain", "TestMain calls flag.Parse"},
	{"fuzz", "has a fuzz target, whose workers get the flags again"},
}

// TestUpdate checks that every binary records with -update and with the variable, and replays without them. The
// library's golden files in the binary behave likewise.
func TestUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	built := build(t)
	for _, b := range binaries {
		t.Run(b.name, func(t *testing.T) {
			for _, how := range []struct {
				name  string
				flags []string
				env   string
			}{
				{"flag", []string{"-update"}, ""},
				{"dashes", []string{"--update=true", "-test.count=1"}, ""},
				{"last", []string{"-test.v", "-update"}, ""},
				{"variable", []string{"-test.v"}, "TRACEFORGE_UPDATE=1"},
			} {
				t.Run(how.name, func(t *testing.T) {
					binary := filepath.Join(built, b.name+".test")
					run := newRun(t, binary)

					out, err := run(nil)
					require.Error(t, err, "nothing is recorded yet")
					require.Contains(t, out, "openai request has no snapshot: the test has none recorded")
					require.NotContains(t, out, "flag")

					provider := fakeprovider.New(t)
					provider.Handle(fakeprovider.Echo())
					recording := []string{"MODEL_URL=" + provider.URL(), "UPDATE_SNAPS=always", how.env}
					if how.env != "" { // a library's golden file depends only on the library's flag
						out, err = run(recording[:2], "-update")
						require.NoError(t, err, out)
					}
					out, err = run(recording, how.flags...)
					require.NoError(t, err, "%s: %s", b.why, out)
					require.NotEmpty(t, provider.Calls())
					provider.Close()

					for _, flags := range [][]string{nil, {"-test.v"}} {
						out, err = run(nil, flags...)
						require.NoError(t, err, "%s: %s", b.why, out)
					}
				})
			}
		})
	}
}

// TestFuzzWorkers checks fuzz workers, which get the flags of their parent.
func TestFuzzWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs a fuzz target")
	}
	for _, flags := range [][]string{{}, {"-update"}} {
		args := append([]string{"test", "./fuzz", "-run=^$", "-fuzz=FuzzIt", "-fuzztime=100x", "-parallel=3"}, flags...)
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "TRACEFORGE_DIR="+t.TempDir(), "TRACEFORGE_UPDATE=", "CI=")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "now fuzzing with 3 workers")
	}
}

// build compiles the test binaries, as go test -c does, and returns their directory.
func build(t *testing.T) string {
	dir := t.TempDir() + string(filepath.Separator)
	args := []string{"test", "-c", "-ldflags=-w", "-o", dir}
	for _, b := range binaries {
		args = append(args, "./"+b.name)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// newRun returns a function that runs a test binary in a new directory, with an empty store.
func newRun(t *testing.T, binary string) func(env []string, flags ...string) (string, error) {
	wd, store := t.TempDir(), t.TempDir()
	return func(env []string, flags ...string) (string, error) {
		cmd := exec.Command(binary, flags...)
		cmd.Dir = wd
		cmd.Env = append(append(os.Environ(), "TRACEFORGE_DIR="+store, "TRACEFORGE_UPDATE=", "CI="), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}
