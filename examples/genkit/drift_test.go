package concierge

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
)

// TestDrift shows what a change of the application does: its test fails, says what changed and how to accept that, and
// passes once it is accepted. The provider is asked in no run but those that record.
func TestDrift(t *testing.T) {
	t.Setenv("CI", "") // where another command is printed
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
