package documented

import (
	"github.com/cohere-ai/cohere-go/v2/option"
	"github.com/cohere-ai/cohere-go/v2/v2"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) *v2.Client {
	client := v2.NewClient(option.WithHTTPClient(tf.Client()))
	return client
}
