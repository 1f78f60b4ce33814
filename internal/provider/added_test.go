package provider

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Version 2 of Cohere's API for ranking documents. It shows that an API takes its own file and a
// folder of testdata, and no line elsewhere: TestCases and the fuzz targets know it.
var _ = Register(&Codec{
	API:            rerankAPI,
	Provider:       "cohere",
	Match:          posts(hasList("documents"), "/v2/rerank"),
	DecodeRequest:  requests(rerankAPI, requestForm{prompt: "query"}.decode, nil),
	DecodeResponse: answers(rerankAPI, folding{}, ranking),
})

const rerankAPI = "cohere.rerank"

// ranking decodes a ranking: each result is a custom part, in the list's order.
func ranking(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("results").IsArray() {
		return nil, neither("results")
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, result := range body.Member("results").Elements() {
		c.Message.Content = append(c.Message.Content, modelio.Part{Custom: result.Object()})
	}
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		ID:         body.Member("id").Word(),
		Metadata:   beside(body, "id", "results"),
	}, nil
}

func TestAddedAPI(t *testing.T) {
	w := homeOf(t, byName(t, rerankAPI))
	w.Body = []byte(`{"model":"rerank-v3.5","query":"x","documents":["abc","d"]}`)
	codec, ok := Match(&w)
	require.True(t, ok)
	require.Equal(t, rerankAPI, codec.API)
	require.False(t, codec.Generates)
	require.Equal(t, "cohere", ProviderOf(&w, codec, nil))
	named, ok := Named(rerankAPI)
	require.True(t, ok)
	require.Same(t, codec, named)
	named, ok = Named(httpAPI)
	require.True(t, ok)
	require.Same(t, generic, named)
	_, ok = Named("cohere.nothing")
	require.False(t, ok)
}

func TestRegisterTwice(t *testing.T) {
	require.PanicsWithValue(t, "two codecs for "+rerankAPI, func() { Register(&Codec{API: rerankAPI}) })
}

// TestCodecsAreApart proves that the order of codecs does not matter: no two match the same request,
// whatever its body.
func TestCodecsAreApart(t *testing.T) {
	bodies := []string{
		`{"a":1,"a":2}`, // that no codec takes, but one has to refuse
		`{"messages":[],"prompt":"","input":"","contents":[],"documents":[]}`,
		`{"messages":[]}`, `{"prompt":""}`, `{"input":""}`,
	}
	for _, at := range Codecs() {
		for _, body := range bodies {
			w := homeOf(t, at)
			w.Method, w.Body = http.MethodPost, []byte(body)
			var matched []string
			for _, c := range registered {
				if c.Match(&w) {
					matched = append(matched, c.API)
				}
			}
			require.LessOrEqual(t, len(matched), 1, "%s: %v", w.URL, matched)
		}
	}
}
