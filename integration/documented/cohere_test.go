package documented

import (
	cohere "github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/option"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) *cohere.Client {
	client := cohere.NewClient(option.WithHTTPClient(tf.Client()))
	return client
}
