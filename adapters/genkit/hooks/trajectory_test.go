package genkithooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/internal/rehearsal"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// forecast runs a program that asks for the weather of cities by a tool, whose work is random, and which fails for the city
// that is closed. It returns the calls.
func forecast(t *testing.T, dir string, work *rehearsal.Work, cities []string, closed string) (calls string, tb *tbtest.TB) {
	tb = tbtest.Run("TestForecast", func(tb *tbtest.TB) {
		rec := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Nondeterministic("a test"))
		g := install(t, rec, "scripted/model", weather(cities...))
		tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in place) (string, error) {
			work.Do()
			if in.City == closed {
				return "", errors.New("the station is closed")
			}
			return "sun in " + in.City, nil
		})
		_, err := genkit.Generate(context.Background(), g, ai.WithModelName("scripted/model"), ai.WithPrompt("How is the weather?"),
			ai.WithTools(tool), ai.WithUse(genkithooks.Record(rec)))
		if (err != nil) != (closed != "") {
			tb.Errorf("generate: %v", err)
		}
		if closed != "" {
			return // which of the others are called is left to chance
		}
		var all strings.Builder
		for _, call := range rec.Calls() {
			text, _ := json.Marshal(call.Request.Messages)
			fmt.Fprintf(&all, "%s %s %s\n", call.Request.Model, text, call.Latency)
		}
		calls = all.String()
	})
	return calls, tb
}

func cities(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("city %02d", i*7%n))
	}
	return names
}

// TestTrajectory: tools that run at once make one document, and the calls of each replay are those of its recording.
func TestTrajectory(t *testing.T) {
	plan := tbtest.Sampled(rehearsal.Plan{Recordings: 2, Replays: 3}, rehearsal.Plan{Recordings: 25, Replays: 30})
	for _, n := range []int{3, 8, 13, 20} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			work := rehearsal.NewWork(int64(n))
			plan.Rehearse(t, func(dir, _ string) (string, *tbtest.TB) { return forecast(t, dir, work, cities(n), "") }).Check(t)
		})
	}
}

// TestTrajectoryOfAFailingTool: a turn in which a tool fails passes in each replay. Genkit waits for no other tool of it, so
// that chance says which of them are recorded.
func TestTrajectoryOfAFailingTool(t *testing.T) {
	plan := tbtest.Sampled(rehearsal.Plan{Recordings: 3, Replays: 3}, rehearsal.Plan{Recordings: 50, Replays: 40})
	work := rehearsal.NewWork(1)
	tally := plan.Rehearse(t, func(dir, _ string) (string, *tbtest.TB) { return forecast(t, dir, work, cities(5), "city 02") })
	tally.ByChance = "Genkit does not wait for the tools beside one that failed"
	tally.Check(t)
}
