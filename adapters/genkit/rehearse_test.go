package genkittraceforge_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ genkittraceforge.Recorder = (*traceforgetest.Recorder)(nil)

// withRecorder says that this process is one of those that TestWithRecorder starts.
const withRecorder = "TRACEFORGE_GENKIT_WITH_RECORDER"

// rehearse calls run to record from the live model, and then twice to replay without it. In a
// process that TestWithRecorder has started it calls run once, with the recorder itself, and
// the process says whether that records.
func rehearse(t *testing.T, run func(t *testing.T, rec genkittraceforge.Recorder, live bool)) {
	t.Helper()
	if os.Getenv(withRecorder) != "" {
		rec := traceforgetest.New(t, traceforgetest.Nondeterministic("the cases are Genkit's own"))
		run(t, rec, rec.Recording())
		return
	}
	recording := &tape{}
	run(t, recording, true)
	require.NotEmpty(t, recording.entries)
	for range 2 {
		replaying := recording.rewound()
		run(t, replaying, false)
		replaying.requireUsed(t)
	}
}

// TestWithRecorder: all that is rehearsed with a tape in memory works with traceforge's own
// recorder, which needs a process to record and others to replay.
func TestWithRecorder(t *testing.T) {
	if os.Getenv(withRecorder) != "" {
		t.Skip("this is one of the processes that the test starts")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, update := range []string{"1", "", ""} {
		child := exec.Command(self, "-test.run", "^(TestMiddleware|TestApplication|TestConformance|TestGenerateSpec|TestAgentSpec)$")
		child.Env = append(os.Environ(), withRecorder+"=1", "TRACEFORGE_DIR="+dir, "TRACEFORGE_UPDATE="+update)
		output, err := child.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
}
