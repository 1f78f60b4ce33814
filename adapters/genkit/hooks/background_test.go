package genkithooks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// film is a background model that is done the third time that it is asked.
type film struct{ asked int }

func (f *film) start(_ context.Context, req *ai.ModelRequest) (*ai.ModelOperation, error) {
	return &ai.ModelOperation{ID: "op-1", Metadata: map[string]any{"of": req.Messages[0].Text()}}, nil
}

func (f *film) check(_ context.Context, op *ai.ModelOperation) (*ai.ModelOperation, error) {
	next := *op
	if f.asked++; f.asked == 3 {
		next.Done = true
		next.Output = &ai.ModelResponse{
			Message:      &ai.Message{Role: ai.RoleModel, Content: []*ai.Part{ai.NewMediaPart("video/mp4", "https://example.com/film.mp4")}},
			FinishReason: ai.FinishReasonStop,
		}
	}
	return &next, nil
}

func (f *film) cancel(_ context.Context, op *ai.ModelOperation) (*ai.ModelOperation, error) {
	next := *op
	next.Done, next.Error = true, errors.New("cancelled")
	return &next, nil
}

// TestBackgroundModel: an operation is started, polled and cancelled in replay as it was. Genkit Go before 1.7 has no
// background model that works.
func TestBackgroundModel(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := genkit.Init(t.Context())
		var live ai.BackgroundModel
		opts := &ai.BackgroundModelOptions{}
		if f := new(film); rec.Recording() {
			live = genkit.DefineBackgroundModel(g, "scripted/film", &ai.BackgroundModelOptions{Cancel: f.cancel}, f.start, f.check)
		} else {
			opts.Cancel = f.cancel // says that it can be done; what is done is recorded
		}
		model := genkittraceforge.BackgroundModel(rec, g, "traceforge/film", live, opts)
		op, err := genkit.GenerateOperation(t.Context(), g, ai.WithModelName("traceforge/film"), ai.WithPrompt("A cat"))
		require.NoError(t, err)
		require.Equal(t, map[string]any{"of": "A cat"}, op.Metadata)
		polled := 0
		for ; !op.Done; polled++ {
			op, err = genkit.CheckModelOperation(t.Context(), g, op)
			require.NoError(t, err)
		}
		require.Equal(t, 3, polled)
		require.Equal(t, "https://example.com/film.mp4", op.Output.Message.Content[0].Text)

		second, err := genkit.GenerateOperation(t.Context(), g, ai.WithModelName("traceforge/film"), ai.WithPrompt("A dog"))
		require.NoError(t, err)
		second, err = model.Cancel(t.Context(), second)
		require.NoError(t, err)
		require.EqualError(t, second.Error, "cancelled")
		require.True(t, second.Done)

		var apis strings.Builder
		for _, call := range rec.Calls() {
			apis.WriteString(fmt.Sprintln(call.Request.API))
		}
		require.Equal(t, "genkit.start\ngenkit.check\ngenkit.check\ngenkit.check\ngenkit.start\ngenkit.cancel\n", apis.String())
	})
}

// TestRecord_Background: the start of an operation is recorded by the hooks alone, also where it is done at once.
func TestRecord_Background(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := genkit.Init(t.Context())
		genkit.DefineBackgroundModel(g, "scripted/film", nil, func(ctx context.Context, req *ai.ModelRequest) (*ai.ModelOperation, error) {
			if !rec.Recording() {
				return nil, errors.New("the model is gone")
			}
			return (&film{asked: 2}).check(ctx, &ai.ModelOperation{ID: "op-1"})
		}, new(film).check)
		op, err := genkit.GenerateOperation(t.Context(), g, ai.WithModelName("scripted/film"), ai.WithPrompt("A cat"), ai.WithUse(genkithooks.Record(rec)))
		require.NoError(t, err)
		require.True(t, op.Done)
		require.Equal(t, "https://example.com/film.mp4", op.Output.Message.Content[0].Text)
	})
}
