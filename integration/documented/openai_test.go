package documented

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) openai.Client {
	client := openai.NewClient(option.WithHTTPClient(tf.Client()))
	return client
}

var _ = openai.ChatCompletionNewParams{Temperature: openai.Float(0), Seed: openai.Int(42)}
