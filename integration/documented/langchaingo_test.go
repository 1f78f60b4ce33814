package documented

import (
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/mistral"
	langchain "github.com/tmc/langchaingo/llms/openai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) (llms.Model, error) {
	model, err := langchain.New(langchain.WithHTTPClient(tf.Client()), langchain.WithModel("gpt-4o"))
	return model, err
}

var _ = []llms.CallOption{llms.WithTemperature(0), llms.WithSeed(42)}

var _ = func(tf *traceforgetest.Recorder) (llms.Model, error) {
	model, err := mistral.New(mistral.WithEndpoint(tf.URL("mistral")), mistral.WithModel("mistral-large"))
	return model, err
}
