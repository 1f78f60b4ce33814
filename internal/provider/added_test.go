package provider

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// This is the codec of a made-up Cohere API that grades answers. It shows that an API takes its own file and a folder
// of testdata, and no line elsewhere: TestCases and the fuzz targets find it.
var _ = Register(&Codec{
	API:    gradeAPI,
	Match:  posts(hasList("answers"), "/v9/grade"),
	body:   requestForm{prompt: "question"}.decode,
	answer: grades,
})

const gradeAPI = "cohere.grade"

// grades decodes a list of grades to custom parts, in the list's order.
func grades(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("grades").IsArray() {
		return nil, neither("grades")
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, grade := range body.Member("grades").Elements() {
		c.Message.Content = append(c.Message.Content, modelio.Part{Custom: grade.Object()})
	}
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		ID:         body.Member("id").Word(),
		Metadata:   beside(body, "id", "grades"),
	}, nil
}

func TestAddedAPI(t *testing.T) {
	w := homeOf(t, byName(t, gradeAPI))
	w.Body = []byte(`{"model":"judge","question":"x","answers":["abc","d"]}`)
	codec, ok := Match(&w)
	require.True(t, ok)
	require.Equal(t, gradeAPI, codec.API)
	require.False(t, codec.Generates)
	require.Equal(t, "cohere", ProviderOf(&w, codec, nil))
	named, ok := Named(gradeAPI)
	require.True(t, ok)
	require.Same(t, codec, named)
	named, ok = Named(httpAPI)
	require.True(t, ok)
	require.Same(t, generic, named)
	_, ok = Named("cohere.nothing")
	require.False(t, ok)
}

func TestRegisterTwice(t *testing.T) {
	require.PanicsWithValue(t, "two codecs for "+gradeAPI, func() { Register(&Codec{API: gradeAPI}) })
}

// TestCodecsAreApart proves that the order of codecs does not matter: no two match the same request, whatever its body.
func TestCodecsAreApart(t *testing.T) {
	bodies := []string{
		`{"a":1,"a":2}`, // no codec decodes it, but a codec has to refuse it
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
