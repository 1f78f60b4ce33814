package fakeprovider_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestResources sends each method that the resources have.
func TestResources(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text("content") })
	anthropic := http.Header{"Anthropic-Version": {"2023-06-01"}}
	for _, c := range []struct {
		name, method, path, body string
		header                   http.Header
		says                     string
	}{
		{"models", "GET", "/v1/models", "", nil, `"id": "gpt-4o-mini"`},
		{"model", "GET", "/v1/models/m", "", nil, `"id": "m"`},
		{"deleted model", "DELETE", "/v1/models/m", "", nil, `"deleted": true`},
		{"files", "GET", "/v1/files", "", nil, `"first_id": "file-`},
		{"upload", "POST", "/v1/files", formOf("purpose", "batch"), http.Header{"Content-Type": {formHeader[1]}}, `"filename": "a.mp3"`},
		{"upload without purpose", "POST", "/v1/files", formOf(), http.Header{"Content-Type": {formHeader[1]}}, `Missing required parameter: 'purpose'.`},
		{"content", "GET", "/v1/files/f/content", "", nil, "content"},
		{"batch", "POST", "/v1/batches", `{"input_file_id":"file-x"}`, nil, `"input_file_id": "file-x"`},
		{"cancelled batch", "POST", "/v1/batches/b/cancel", "", nil, `"status": "cancelling"`},
		{"vector store", "POST", "/v1/vector_stores", "{}", nil, `"id": "vs_`},
		{"deleted vector store", "DELETE", "/v1/vector_stores/vs_1", "", nil, `"vector_store.deleted"`},
		{"models of Anthropic", "GET", "/v1/models", "", anthropic, `"last_id":"claude-sonnet-4-5"`},
		{"model of Anthropic", "GET", "/v1/models/m", "", anthropic, `"id":"m"`},
		{"file of Anthropic", "GET", "/v1/files/file_1", "", anthropic, `"id":"file_1"`},
		{"files of Anthropic", "GET", "/v1/files", "", anthropic, `"has_more":false`},
		{"deleted file of Anthropic", "DELETE", "/v1/files/file_1", "", anthropic, `"type":"file_deleted"`},
		{"batch of messages", "POST", "/v1/messages/batches", "{}", anthropic, `"processing_status":"in_progress"`},
		{"results", "GET", "/v1/messages/batches/b/results", "", anthropic, `"text":"content"`},
		{"models of Google", "GET", "/v1beta/models", "", nil, `"models/gemini-2.5-flash"`},
		{"cached contents", "GET", "/v1beta/cachedContents", "", nil, `"cachedContents": [`},
		{"deleted content", "DELETE", "/v1beta/cachedContents/c", "", nil, "{}"},
		{"upload to Google", "POST", "/upload/v1beta/files", "Hello", http.Header{"X-Goog-Upload-Command": {"upload, finalize"}}, `"sizeBytes": "5"`},
		{"models of Ollama", "GET", "/api/tags", "", nil, `"qwen3:latest"`},
		{"model of Ollama", "POST", "/api/show", "{}", nil, `"general.architecture":"qwen3"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, srv.URL()+c.path, strings.NewReader(c.body))
			require.NoError(t, err)
			maps.Copy(req.Header, c.header)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(body), c.says)
		})
	}
}
