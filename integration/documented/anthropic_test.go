package documented

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) anthropic.Client {
	client := anthropic.NewClient(option.WithHTTPClient(tf.Client()))
	return client
}

var _ = anthropic.MessageNewParams{Temperature: anthropic.Float(0)}
