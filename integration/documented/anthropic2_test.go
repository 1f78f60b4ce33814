package documented

import (
	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// The second version of the SDK has the same line.
var _ = func(tf *traceforgetest.Recorder) anthropic.Client {
	client := anthropic.NewClient(option.WithHTTPClient(tf.Client()))
	return client
}
