package documented

import (
	"math"
	"os"

	gopenai "github.com/sashabaranov/go-openai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder) *gopenai.Client {
	config := gopenai.DefaultConfig(os.Getenv("OPENAI_API_KEY"))
	config.HTTPClient = tf.Client()
	client := gopenai.NewClientWithConfig(config)
	return client
}

var _ = gopenai.ChatCompletionRequest{Temperature: math.SmallestNonzeroFloat32}
