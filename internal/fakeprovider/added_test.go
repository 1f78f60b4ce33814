package fakeprovider

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rerank is Cohere's format for ranking documents. It shows that a format takes its own file and no
// line elsewhere.
type rerank struct{ cohere }

var _ = serve(at(rerank{}, "/v2/rerank"))

func (rerank) name() string { return "cohere.rerank" }

func (rerank) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	c.Model = body.str("model")
	documents, ok := texts(body["documents"])
	if !ok || body.str("query") == "" {
		return badCohere("query and documents are required")
	}
	for _, document := range documents {
		c.Messages = append(c.Messages, Message{Role: "user", Text: document})
	}
	return nil
}

// whole ranks the documents by their length.
func (rerank) whole(x *exchange) []byte {
	results := []object{}
	for i, m := range x.call.Messages {
		results = append(results, object{{"index", i}, {"relevance_score", 1 / float64(1+len(m.Text))}})
	}
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"results", results},
		{"meta", object{{"api_version", object{{"version", "2"}}}, {"billed_units", object{{"search_units", 1}}}}},
	})
}

func TestAddedFormat(t *testing.T) {
	s := New(t)
	s.Reply(Reply{ID: "r"})
	resp, err := http.Post(s.URL()+"/v2/rerank", "application/json", strings.NewReader(`{"model":"rerank-v3.5","query":"x","documents":["abc","d"]}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"r","results":[{"index":0,"relevance_score":0.25},{"index":1,"relevance_score":0.5}],
		"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}`, string(body))
	require.Equal(t, "cohere.rerank", s.Calls()[0].API)
}

// TestFormatsAreDistinct proves that the order of formats does not matter.
func TestFormatsAreDistinct(t *testing.T) {
	for _, path := range []string{
		"/v1/chat/completions", "/mistral/v1/chat/completions", "/openai/deployments/d/chat/completions", "/v1/completions", "/v1/responses",
		"/v1/embeddings", "/v1/messages", "/v1/publishers/anthropic/models/m:rawPredict", "/v1beta/models/m:generateContent", "/api/chat",
		"/api/generate", "/model/m/converse", "/model/m/invoke", "/v2/chat", "/v2/rerank",
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
