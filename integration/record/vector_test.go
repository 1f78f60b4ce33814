package record_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestVectorIsALine records embeddings of usual length, as numbers and in base64. Each must be one line of the document
// and not a separate file. Replay must return the provider's bytes.
func TestVectorIsALine(t *testing.T) {
	vectors := make([][]float64, 2)
	for i := range vectors {
		for n := range 1536 {
			vectors[i] = append(vectors[i], float64(n-700+i)/1024)
		}
	}
	for _, format := range []openai.EmbeddingNewParamsEncodingFormat{"float", "base64"} {
		t.Run(string(format), func(t *testing.T) {
			s := sdk{keys: []string{"OPENAI_API_KEY"}, open: open(newOpenAI, func(c *openai.Client) asker {
				return once(func(ctx context.Context, text string) (string, error) {
					got, err := c.Embeddings.New(ctx, openai.EmbeddingNewParams{
						Model: "text-embedding-3-small", EncodingFormat: format,
						Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{text, "other"}},
					})
					if err != nil {
						return "", err
					}
					return got.RawJSON(), nil
				})
			})}
			c := scenario{reply: []fakeprovider.Reply{{Vectors: vectors}}, ask: question{text: "one"}, says: []string{"embedding"}}
			stage := newStage(t, &s, &c)
			recorded, _ := stage.record()
			require.Equal(t, recorded, stage.replay())
			documents := 0
			for name, text := range stage.files() {
				if strings.HasPrefix(name, "openai/") && strings.HasSuffix(name, ".json") && strings.Count(name, "/") == 1 {
					documents++
					require.Less(t, strings.Count(text, "\n"), 75, text)
					for line := range strings.Lines(text) {
						require.Less(t, len(line), 200, text)
					}
				}
				require.NotContains(t, name, ".bin")
			}
			require.Equal(t, 1, documents)
			require.LessOrEqual(t, len(stage.files()), 5, "%v", slices.Sorted(maps.Keys(stage.files())))
		})
	}
}
