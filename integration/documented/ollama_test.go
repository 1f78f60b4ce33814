package documented

import (
	"net/url"

	"github.com/ollama/ollama/api"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) *api.Client {
	client := api.NewClient(&url.URL{Scheme: "http", Host: "localhost:11434"}, tf.Client())
	return client
}

var _ = api.ChatRequest{Options: map[string]any{"temperature": 0, "seed": 42}}
