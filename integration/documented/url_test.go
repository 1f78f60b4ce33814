package documented

import (
	"context"
	"os"
	"os/exec"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(ctx context.Context, tf *traceforgetest.Recorder) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "python3", "agent.py")
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+tf.URL("openai")+"/v1")
	return cmd
}
