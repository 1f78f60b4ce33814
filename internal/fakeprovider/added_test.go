package fakeprovider

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// grade is a made-up Cohere format that grades answers. It shows that a format takes its own file and no line
// elsewhere.
type grade struct{ cohere }

var _ = serve(at(grade{}, "/v9/grade"))

func (grade) name() string { return "cohere.grade" }

func (grade) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	c.Model = body.str("model")
	answers, ok := texts(body["answers"])
	if !ok || body.str("question") == "" {
		return badCohere("question and answers are required")
	}
	c.asks(answers...)
	return nil
}

// whole grades the answers by their length.
func (grade) whole(x *exchange) []byte {
	grades := []object{}
	for i, m := range x.call.Messages {
		grades = append(grades, object{{"index", i}, {"grade", 1 / float64(1+len(m.Text))}})
	}
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"grades", grades},
		{"meta", object{{"api_version", object{{"version", "2"}}}, {"billed_units", object{{"search_units", 1}}}}},
	})
}

func TestAddedFormat(t *testing.T) {
	s := New(t)
	s.Reply(Reply{ID: "r"})
	resp, err := http.Post(s.URL()+"/v9/grade", "application/json", strings.NewReader(`{"model":"judge","question":"x","answers":["abc","d"]}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"r","grades":[{"index":0,"grade":0.25},{"index":1,"grade":0.5}],
		"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}`, string(body))
	require.Equal(t, "cohere.grade", s.Calls()[0].API)
}

// TestFormatsAreDistinct proves that the order of formats does not matter.
func TestFormatsAreDistinct(t *testing.T) {
	for _, path := range []string{
		"/v1/chat/completions", "/mistral/v1/chat/completions", "/openai/deployments/d/chat/completions", "/v1/completions", "/v1/responses",
		"/v1/embeddings", "/v1/messages", "/v1/publishers/anthropic/models/m:rawPredict", "/v1beta/models/m:generateContent", "/api/chat",
		"/api/generate", "/model/m/converse", "/model/m/invoke", "/v2/chat", "/v9/grade",
		"/api/embed", "/api/embeddings", "/v1/embed", "/v2/embed", "/v1beta/models/m:embedContent", "/v1beta/models/m:batchEmbedContents",
		"/v1/publishers/google/models/m:predict", "/model/amazon.titan-embed-text-v1/invoke", "/model/cohere.rerank-v3-5/invoke",
		"/v1/rerank", "/v2/rerank", "/rerank", "/v1/messages/count_tokens", "/v1/publishers/anthropic/models/count-tokens:rawPredict",
		"/model/m/count-tokens", "/v1/responses/input_tokens", "/v1beta/models/m:countTokens", "/v1/publishers/google/models/m:computeTokens",
		"/v1/tokenize", "/v1/detokenize", "/v1/moderations", "/v1/chat/moderations", "/mistral/v1/moderations",
	} {
		found := 0
		for _, find := range formats {
			if find(&Call{Path: path}) != nil {
				found++
			}
		}
		require.Equal(t, 1, found, path)
	}
}
