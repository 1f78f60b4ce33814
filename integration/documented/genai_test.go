package documented

import (
	"context"
	"net/http"
	"testing"

	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(ctx context.Context, tf *traceforgetest.Recorder) (*genai.Client, error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, HTTPClient: tf.Client()})
	return client, err
}

var _ = genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), Seed: genai.Ptr[int32](42)}

var _ = func(t *testing.T, authorized *http.Client) *traceforgetest.Recorder {
	return traceforgetest.New(t, traceforgetest.Upstream(authorized.Transport))
}
