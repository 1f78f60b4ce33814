package traceforgetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

func TestAcceptCommand(t *testing.T) {
	for _, c := range []struct{ name, why, want string }{
		{"TestIt", "a test", `go test example.com/m/agents -run '^TestIt$' -update`},
		{"TestIt/a b's", "a part of one", `go test example.com/m/agents -run '^TestIt$/^a b'\''s$' -update`},
		{"Test_it", "not everything is in camel case", `go test example.com/m/agents -run '^Test_it$' -update`},
		{"TestÄpfel", "letters are letters", `go test example.com/m/agents -run '^TestÄpfel$' -update`},
		{"FuzzIt/seed#0", "a seed", `go test example.com/m/agents -run '^FuzzIt$/^seed#0$' -update`},
		{"BenchmarkIt/large", "is not selected by -run", `go test example.com/m/agents -run '^$' -bench '^BenchmarkIt$/^large$' -update`},
		{"Agent when asked", "named by a framework", `go test example.com/m/agents -update`},
		{"Testing the agent", "so here", `go test example.com/m/agents -update`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, acceptOf(place{pkg: "example.com/m/agents", dir: "agents"}, c.name), c.why)
		})
	}
}

// TestAcceptCommandOfABuild keeps what the shell would take apart.
func TestAcceptCommandOfABuild(t *testing.T) {
	p := place{pkg: "example.com/m~x/agents", tags: "live,it's"}
	require.Equal(t, `go test -tags 'live,it'\''s' 'example.com/m~x/agents' -run '^TestIt$' -update`, acceptOf(p, "TestIt"))

	for value, want := range map[string]string{
		"true": "TRACEFORGE_UPDATE=1 go test p -run '^TestIt$'", "1": "TRACEFORGE_UPDATE=1 go test p -run '^TestIt$'",
		"0": "go test p -run '^TestIt$' -update", "false": "go test p -run '^TestIt$' -update",
	} {
		t.Setenv("CI", value)
		require.Equal(t, want, acceptOf(place{pkg: "p"}, "TestIt"), "CI=%s: the flag is refused in CI", value)
	}
}

// acceptOf is the one command that records the test named name again.
func acceptOf(p place, name string) string { return gotest.Updating(p.testCommand() + selection(name)) }
