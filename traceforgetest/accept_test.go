package traceforgetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcceptCommand(t *testing.T) {
	for _, c := range []struct{ name, why, want string }{
		{"TestIt", "a test", `go test ./agents -run '^TestIt$' -update`},
		{"TestIt/a b's", "a part of one", `go test ./agents -run '^TestIt$/^a b'\''s$' -update`},
		{"Test_it", "not everything is in camel case", `go test ./agents -run '^Test_it$' -update`},
		{"TestÄpfel", "letters are letters", `go test ./agents -run '^TestÄpfel$' -update`},
		{"FuzzIt/seed#0", "a seed", `go test ./agents -run '^FuzzIt$/^seed#0$' -update`},
		{"BenchmarkIt/large", "is not selected by -run", `go test ./agents -run '^$' -bench '^BenchmarkIt$/^large$' -update`},
		{"Agent when asked", "named by a framework", `go test ./agents -update`},
		{"Testing the agent", "so here", `go test ./agents -update`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, place{pkg: "example.com/m/agents", dir: "agents"}.acceptCommand(c.name), c.why)
		})
	}
}

func TestAcceptCommandInAWorkspace(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.work"), nil, 0o666))
	p := place{root: filepath.Join(dir, "m"), pkg: "example.com/m/agents", dir: "agents"}
	require.Equal(t, `go test example.com/m/agents -run '^TestIt$' -update`, p.acceptCommand("TestIt"))
}
