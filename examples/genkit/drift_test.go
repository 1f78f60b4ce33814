package concierge

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
)

// TestDrift shows a change of the application: its test fails, prints the change and the command that accepts it, and
// passes after that command. Only runs that record call the provider.
func TestDrift(t *testing.T) {
	t.Setenv("CI", "") // CI prints another command
	t.Setenv("TRACEFORGE_DIR", t.TempDir())
	advise := func(update, city string) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", update)
		return tbtest.Run("TestAdvise", func(tb *tbtest.TB) {
			app := newApp(tb,
				fakeprovider.CallTools(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"` + city + `"}`}),
				fakeprovider.Text("It is sunny: wear a hat."),
			)
			if _, err := app.Advise.Run(context.Background(), city); err != nil {
				tb.Logf("%v", err)
			}
		})
	}
	passes := func(update, city string) {
		tb := advise(update, city)
		require.False(t, tb.Failed(), tb.Logged())
	}
	passes("1", "Oslo")
	passes("", "Oslo")

	tb := advise("", "Rome")
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai request drifted from ")
	require.Regexp(t, `- What do I wear in Oslo\?\n *\+ What do I wear in Rome\?`, tb.Logged())
	require.Contains(t, tb.Logged(), "accept: go test ")

	passes("1", "Rome")
	passes("", "Rome")
}
