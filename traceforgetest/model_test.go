package traceforgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// scripted answers with the parts of one message, each of them a chunk when streaming.
func scripted(parts ...modelio.Part) modelio.Model {
	return modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		for _, part := range parts {
			if stream != nil {
				if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{part}}); err != nil {
					return nil, err
				}
			}
		}
		message := &modelio.Message{Role: modelio.RoleModel, Content: parts}
		return &modelio.GenerateResponse{Message: message, FinishReason: modelio.FinishStop}, nil
	})
}

var forbidden = modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	panic("a replay called the model")
})

func generateRequest(text string) *modelio.GenerateRequest {
	return &modelio.GenerateRequest{
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}},
		Config:   modelio.Object{"temperature": json.RawMessage("0"), "topK": json.RawMessage("9007199254740993")},
	}
}

// generates is a test that calls a model and keeps what it got.
func generates(got *[]string, m modelio.Model, req *modelio.GenerateRequest, streams bool) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		var stream modelio.StreamFunc
		if streams {
			stream = func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
				text, err := json.Marshal(chunk)
				*got = append(*got, string(text))
				return err
			}
		}
		resp, err := tf.Model("test/scripted", m).Generate(context.Background(), req, stream)
		if err != nil {
			t.Fatalf("%v", err)
		}
		text, err := json.Marshal(resp)
		if err != nil {
			t.Fatalf("%v", err)
		}
		*got = append(*got, string(text))
	}
}

func TestModelReplay(t *testing.T) {
	call := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "look", Input: json.RawMessage(`{"n":9007199254740993}`), Ref: "random-1"}}
	for _, c := range []struct {
		name, why string
		parts     []modelio.Part
		streams   bool
	}{
		{"whole", "one answer", []modelio.Part{modelio.TextPart("hello")}, false},
		{"stream", "chunks and the answer", []modelio.Part{modelio.TextPart("hel"), modelio.TextPart("lo")}, true},
		{"tools", "original refs and exact numbers come back", []modelio.Part{modelio.ReasoningPart("hm"), call}, true},
		{"empty", "an empty text is one", []modelio.Part{modelio.TextPart("")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var recorded, replayed, without []string
			s.record("TestIt", generates(&recorded, scripted(c.parts...), generateRequest("hi"), c.streams))
			requirePass(t, s.replay("TestIt", generates(&replayed, forbidden, generateRequest("hi"), c.streams)))
			require.Equal(t, recorded, replayed, c.why)
			requirePass(t, s.replay("TestIt", generates(&without, nil, generateRequest("hi"), c.streams)))
			require.Equal(t, recorded, without, "in replay the model may be nil")
			s.requireWhole()
		})
	}
}

func TestModelDrift(t *testing.T) {
	s := newScene(t)
	var got []string
	s.record("TestIt", generates(&got, scripted(modelio.TextPart("hello")), generateRequest("hi"), false))
	tb := s.replay("TestIt", generates(&got, nil, generateRequest("hi there"), false))
	require.True(t, tb.Failed())
	require.Contains(t, s.text(tb), "test request drifted from STORE/test/traceforge-go-traceforgetest-testit-")
	require.Contains(t, tb.Logged(), "    - hi\n    + hi there\n")
}

// TestModelThatBreaksTheContract proves that what a model did is recorded as it was, also
// where its chunks are not its answer: that is for TestModel to say.
func TestModelThatBreaksTheContract(t *testing.T) {
	s := newScene(t)
	liar := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		resp, err := scripted(modelio.TextPart("one thing")).Generate(ctx, req, stream)
		resp.Message = &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("another")}}
		return resp, err
	})
	var recorded, replayed []string
	s.record("TestIt", generates(&recorded, liar, generateRequest("hi"), true))
	requirePass(t, s.replay("TestIt", generates(&replayed, nil, generateRequest("hi"), true)))
	require.Equal(t, recorded, replayed)
	require.Error(t, modeltest.TestModel(liar))
}

func TestModelErrors(t *testing.T) {
	boom := errors.New("boom")
	s := newScene(t)
	failing := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return nil, boom
	})
	tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := tf.Model("test/scripted", failing).Generate(context.Background(), generateRequest("hi"), nil)
		if !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
	})
	require.Contains(t, tb.Logged(), "test gave no answer: boom: it was not recorded")

	// One that says nothing at all is refused.
	silent := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return nil, nil
	})
	tb = s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := tf.Model("test/silent", silent).Generate(context.Background(), generateRequest("hi"), nil); err == nil {
			t.Errorf("no error")
		}
	})
	require.Contains(t, tb.Logged(), "the model, a modelio.ModelFunc, returned neither a response nor an error: it was not recorded")

	// A callback's error ends the call, live and replayed.
	stopping := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		chunks := 0
		model := tf.Model("test/scripted", scripted(modelio.TextPart("one"), modelio.TextPart("two"), modelio.TextPart("three")))
		_, err := model.Generate(context.Background(), generateRequest("hi"), func(context.Context, *modelio.GenerateResponseChunk) error {
			if chunks++; chunks == 2 {
				return boom
			}
			return nil
		})
		if err != boom || chunks != 2 {
			t.Errorf("got %v after %d chunks", err, chunks)
		}
	}
	s.record("TestIt", stopping, traceforgetest.Allow(traceforgetest.CutStreams))
	requirePass(t, s.replay("TestIt", stopping))

	// A deadline that cuts a model cuts it in replay.
	late := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		slow := modelio.ModelFunc(func(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart("one")}}); err != nil {
				return nil, err
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := tf.Model("test/scripted", slow).Generate(ctx, generateRequest("hi"),
			func(context.Context, *modelio.GenerateResponseChunk) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	synctest.Test(t, func(t *testing.T) { // where the model begins in time
		s.record("TestLate", late, traceforgetest.Allow(traceforgetest.CutStreams))
		requirePass(t, s.replay("TestLate", late))
	})

	// So does a context.
	cancelled := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := tf.Model("test/scripted", nil).Generate(ctx, generateRequest("hi"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		stopping(t, tf)
	}
	requirePass(t, s.replay("TestIt", cancelled))
}

func TestModelNames(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"", "model", "/model", "provider/", "Provider/model", "../model"} {
		tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { tf.Model(name, nil) })
		require.Contains(t, tb.Logged(), "does not name a model", name)
	}
	tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { tf.Model("test/scripted", nil) })
	require.Contains(t, tb.Logged(), "recording test/scripted needs the model itself")
	for _, kind := range []string{"", "generate", "Embed", "tool.call"} {
		tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { tf.Action(kind, "test/scripted", nil) })
		require.Contains(t, tb.Logged(), "is no kind of action", kind)
	}
}

func TestModelSnapshotIsReadable(t *testing.T) {
	s := newScene(t)
	var got []string
	s.record("TestIt", generates(&got, scripted(modelio.TextPart("hello")), generateRequest("hi"), false))
	require.Len(t, s.documents("test"), 1)
	record := s.records("test")[0]
	require.Equal(t, "scripted", record.Request.Model)
	require.Equal(t, json.Number("0"), *record.Request.Temperature)
	require.Equal(t, []modelio.Part{modelio.TextPart("hi")}, record.Request.Messages[0].Content)
	require.Equal(t, `{"topK":9007199254740993}`, string(record.Request.Options["config"]))
	require.Equal(t, []modelio.Part{modelio.TextPart("hello")}, record.Response.Candidates[0].Message.Content)
	require.Zero(t, record.Response.Status)
}
