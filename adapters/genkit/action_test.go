package genkittraceforge_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ genkittraceforge.ActionRecorder = (*traceforgetest.Recorder)(nil)

// lengths is an embedder whose vectors say how long its documents are.
func lengths(_ context.Context, req *ai.EmbedRequest) (*ai.EmbedResponse, error) {
	resp := &ai.EmbedResponse{}
	for _, doc := range req.Input {
		text := doc.Content[0].Text
		if text == "" {
			return nil, errors.New("nothing to embed")
		}
		resp.Embeddings = append(resp.Embeddings, &ai.Embedding{
			Embedding: []float32{float32(len(text)), 0.1, math.SmallestNonzeroFloat32, math.MaxFloat32}, Metadata: map[string]any{"text": text},
		})
	}
	return resp, nil
}

func embedder(rec *traceforgetest.Recorder, g *genkit.Genkit, name string) ai.Embedder {
	return genkittraceforge.Embedder(rec, genkit.DefineEmbedder(g, name, nil, func(ctx context.Context, req *ai.EmbedRequest) (*ai.EmbedResponse, error) {
		if !rec.Recording() {
			return nil, errors.New("the embedder is gone")
		}
		return lengths(ctx, req)
	}))
}

// TestEmbedder: vectors are replayed to the bit, under the name that Genkit has for the embedder.
func TestEmbedder(t *testing.T) {
	for name, want := range map[string]string{"scripted/embedder": "scripted embedder", "mine": "genkit mine"} {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				g := genkit.Init(t.Context())
				resp, err := genkit.Embed(t.Context(), g, ai.WithEmbedder(embedder(rec, g, name)),
					ai.WithTextDocs("sun", "rain & wind"), ai.WithConfig(map[string]any{"dimensions": 4}))
				require.NoError(t, err)
				require.Len(t, resp.Embeddings, 2)
				require.Equal(t, []float32{11, 0.1, math.SmallestNonzeroFloat32, math.MaxFloat32}, resp.Embeddings[1].Embedding)
				require.Equal(t, map[string]any{"text": "sun"}, resp.Embeddings[0].Metadata)
				calls := rec.Calls()
				require.Len(t, calls, 1)
				require.Equal(t, want, calls[0].Provider+" "+calls[0].Request.Model)
				require.Equal(t, "genkit.embed", calls[0].Request.API)
				require.Equal(t, "sun", *calls[0].Request.Messages[0].Content[0].Text)
				require.Len(t, calls[0].Response.Candidates[0].Message.Content, 2)
				require.Empty(t, calls[0].Response.Candidates[0].FinishReasonRaw, "traceforge verify would ask for a temperature")
			})
		})
	}
}

// TestEmbedder_Drift: other documents, other options and another embedder are drift.
func TestEmbedder_Drift(t *testing.T) {
	embed := func(name, text string, options any) func(*traceforgetest.Recorder) {
		return func(rec *traceforgetest.Recorder) {
			g := genkit.Init(t.Context())
			_, err := genkit.Embed(t.Context(), g, ai.WithEmbedder(embedder(rec, g, name)), ai.WithTextDocs(text), ai.WithConfig(options))
			require.Equal(t, name == "scripted/embedder" && text == "sun" && options == nil, err == nil, err)
		}
	}
	dir := genkittest.Rehearse(t, embed("scripted/embedder", "sun", nil))
	for want, changed := range map[string]func(*traceforgetest.Recorder){
		"rain":       embed("scripted/embedder", "rain", nil),
		"dimensions": embed("scripted/embedder", "sun", map[string]any{"dimensions": 3}),
		"other":      embed("scripted/other", "sun", nil),
	} {
		require.Contains(t, genkittest.Fails(t, dir, "", changed), want)
	}
}

// TestEmbedder_Concurrent: embeddings that are asked for at once are those of their own documents.
func TestEmbedder_Concurrent(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := genkit.Init(t.Context())
		e := embedder(rec, g, "scripted/embedder")
		got := make([]float32, 8)
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				resp, err := genkit.Embed(t.Context(), g, ai.WithEmbedder(e), ai.WithTextDocs(strings.Repeat("x", i+1)))
				if err == nil {
					got[i] = resp.Embeddings[0].Embedding[0]
				}
			})
		}
		all.Wait()
		require.Equal(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, got)
	})
}

// TestRetriever: documents are replayed with their parts and what they say of themselves.
func TestRetriever(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := genkit.Init(t.Context())
		live := genkit.DefineRetriever(g, "scripted/index", nil, func(_ context.Context, req *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
			if !rec.Recording() {
				return nil, errors.New("the index is gone")
			}
			return &ai.RetrieverResponse{Documents: []*ai.Document{
				ai.DocumentFromText("of "+req.Query.Content[0].Text, map[string]any{"score": 0.5}),
				{Content: []*ai.Part{ai.NewMediaPart("image/png", "data:image/png;base64,AAAA")}},
			}}, nil
		})
		resp, err := genkit.Retrieve(t.Context(), g, ai.WithRetriever(genkittraceforge.Retriever(rec, live)), ai.WithDocs(ai.DocumentFromText("the sun", map[string]any{"of": "today"})))
		require.NoError(t, err)
		require.Equal(t, []*ai.Document{
			{Content: []*ai.Part{ai.NewTextPart("of the sun")}, Metadata: map[string]any{"score": 0.5}},
			{Content: []*ai.Part{ai.NewMediaPart("image/png", "data:image/png;base64,AAAA")}},
		}, resp.Documents)
		require.Equal(t, "genkit.retrieve", rec.Calls()[0].Request.API)
		require.Equal(t, modelio.Object{"of": []byte(`"today"`)}, rec.Calls()[0].Request.Messages[0].Metadata, "it may be searched for too")
	})
}

// TestActions_Errors: what fails, or answers nothing, is told.
func TestActions_Errors(t *testing.T) {
	g := genkit.Init(t.Context())
	e := genkittraceforge.Embedder(passing{}, genkit.DefineEmbedder(g, "a/b", nil, lengths))
	_, err := e.Embed(t.Context(), &ai.EmbedRequest{Input: []*ai.Document{ai.DocumentFromText("", nil)}})
	require.ErrorContains(t, err, "nothing to embed")
	_, err = e.Embed(t.Context(), &ai.EmbedRequest{Input: []*ai.Document{nil}})
	require.EqualError(t, err, "from genkit embed request: document 0: is nil")
	_, err = genkittraceforge.Embedder(passing{}, silentEmbedder{e}).Embed(t.Context(), &ai.EmbedRequest{})
	require.EqualError(t, err, "genkit action returned neither an answer nor an error")
	r := genkit.DefineRetriever(g, "a/c", nil, func(context.Context, *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
		return nil, errors.New("the index is gone")
	})
	query := &ai.RetrieverRequest{Query: ai.DocumentFromText("sun", nil)}
	_, err = genkittraceforge.Retriever(passing{}, r).Retrieve(t.Context(), query)
	require.EqualError(t, err, "the index is gone")
	_, err = genkittraceforge.Retriever(passing{}, silentRetriever{r}).Retrieve(t.Context(), query)
	require.EqualError(t, err, "genkit action returned neither an answer nor an error")
}

type silentEmbedder struct{ ai.Embedder }

func (silentEmbedder) Embed(context.Context, *ai.EmbedRequest) (*ai.EmbedResponse, error) {
	return nil, nil
}

type silentRetriever struct{ ai.Retriever }

func (silentRetriever) Retrieve(context.Context, *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
	return nil, nil
}

func (passing) Action(_, _ string, m modelio.Model) modelio.Model { return m }
