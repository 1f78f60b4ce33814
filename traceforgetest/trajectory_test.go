package traceforgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/rehearsal"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// trajectory is a text of calls as a test sees them.
func trajectory(calls []*modelio.Call) string {
	var all strings.Builder
	for _, call := range calls {
		text, _ := json.Marshal(call.Request.Messages[len(call.Request.Messages)-1].Content)
		fmt.Fprintf(&all, "%s %s %s %v\n", call.Provider, call.Request.Model, text, call.Latency)
	}
	return all.String()
}

// TestTrajectoryOfToolsAtOnce: tools that one answer asks for are in that answer's order, in each recording and in each
// replay, however long they take.
func TestTrajectoryOfToolsAtOnce(t *testing.T) {
	plan := tbtest.Sampled(rehearsal.Plan{Recordings: 2, Replays: 4}, rehearsal.Plan{Recordings: 17, Replays: 30})
	for _, n := range []int{3, 5, 8, 12, 16, 20} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, work := newScene(t), rehearsal.NewWork(int64(n))
			var model rehearsal.Model
			for i := range n {
				model = append(model, rehearsal.Tool{Name: []string{"walk", "add"}[i%2], N: i * 7 % n})
			}
			plan.Rehearse(t, func(dir, _ string) (calls string, tb *tbtest.TB) {
				s.dir = dir
				tb = s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					asks(newChat("go"))(tb, tf)
					var group sync.WaitGroup
					for _, call := range model {
						tool := tf.Tool(call.Name, func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
							work.Do()
							return input, nil
						})
						group.Go(func() { tool(context.Background(), call.Input()) })
					}
					group.Wait()
					asks(newChat("results"))(tb, tf)
					calls = trajectory(tf.Calls())
				}, traceforgetest.Upstream(model))
				return calls, tb
			}).Check(t)
			require.NotEmpty(t, s.documents("openai"))
		})
	}
}

// A failing turn: the model asks for all its tools at once, and what they do beside one that fails is left to chance.
var failing = rehearsal.Model{{Name: "wait", N: 1}, {Name: "quick", N: 2}, {Name: "fail", N: 3}, {Name: "slow", N: 4}, {Name: "panic", N: 5}}

// failingTool runs a tool of the failing turn.
func failingTool(work *rehearsal.Work, name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		switch name {
		case "wait": // for its context
			<-ctx.Done()
			return nil, ctx.Err()
		case "panic":
			panic("it is broken")
		case "slow": // and deaf
			work.Do()
		case "fail":
			work.Do()
			return nil, errors.New("the station is closed")
		}
		return input, nil
	}
}

// recovered is a tool whose panics are errors.
func recovered(tool func(context.Context, json.RawMessage) (json.RawMessage, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, input json.RawMessage) (output json.RawMessage, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return tool(ctx, input)
	}
}

// inGroup runs functions at once, and cancels those that are left when one has failed, as an errgroup does.
func inGroup(do []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var group sync.WaitGroup
	for _, f := range do {
		group.Go(func() {
			if err := f(ctx); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// inSequence runs functions until one has failed.
func inSequence(do []func(context.Context) error) error {
	for _, f := range do {
		if err := f(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// TestTrajectoryOfAFailingTool: a turn in which a tool fails passes in each replay, whatever became of the other tools, and
// makes one document.
func TestTrajectoryOfAFailingTool(t *testing.T) {
	plan := tbtest.Sampled(rehearsal.Plan{Recordings: 4, Replays: 4}, rehearsal.Plan{Recordings: 50, Replays: 40})
	nested := func(tf *traceforgetest.Recorder) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) { // is on the tape by the call of its model
			_, err := send(tf.Client(), newChat("from a tool"))
			return json.RawMessage("1"), err
		}
	}
	for _, c := range []struct {
		name, why string
		run       func([]func(context.Context) error) error
		model     rehearsal.Model
	}{
		{"group", "all at once", inGroup, failing},
		{"group_asks", "a tool that is not wrapped asks a model meanwhile", inGroup, append(slices.Clone(failing[1:3]), rehearsal.Tool{Name: "asks", N: 6})},
		{"sequence", "the first ones are done, the last ones not", inSequence, failing[1:]},
		{"sequence_asks", "a model is asked in between", inSequence, rehearsal.Model{failing[1], {Name: "asks", N: 6}, failing[2], failing[3]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, work := newScene(t), rehearsal.NewWork(1)
			tally := plan.Rehearse(t, func(dir, _ string) (calls string, tb *tbtest.TB) {
				s.dir = dir
				tb = s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					asks(newChat("go"))(tb, tf)
					var do []func(context.Context) error
					for _, asked := range c.model {
						tool := recovered(tf.Tool(asked.Name, failingTool(work, asked.Name)))
						if asked.Name == "asks" {
							tool = nested(tf)
						}
						do = append(do, func(ctx context.Context) error {
							_, err := tool(ctx, asked.Input())
							return err
						})
					}
					if c.run(do) == nil {
						tb.Errorf("no tool failed")
					}
					asks(newChat("results"))(tb, tf)
				}, traceforgetest.Upstream(c.model))
				return "", tb
			})
			if c.name == "group_asks" {
				tally.ByChance = "no answer asked for the call of the model that a tool makes"
			}
			if tally.Check(t); c.name != "group" {
				return
			}
			before := s.files()
			requirePass(t, s.update("1", "TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { // which makes no call
				asks(newChat("go"))(tb, tf)
				_, err := tf.Tool("fail", forbiddenTool)(context.Background(), failing[2].Input())
				require.Error(t, err)
				for _, asked := range c.model {
					if asked.Name == "wait" {
						_, err = tf.Tool("wait", forbiddenTool)(context.Background(), asked.Input())
						require.ErrorIs(t, err, context.Canceled)
					}
				}
				asks(newChat("results"))(tb, tf)
			}))
			s.requireFiles(before)
		})
	}
}
