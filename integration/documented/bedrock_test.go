package documented

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(ctx context.Context, tf *traceforgetest.Recorder) (*bedrockruntime.Client, error) {
	found, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(tf.Client()))
	client := bedrockruntime.NewFromConfig(found)
	return client, err
}

var _ = bedrockruntime.ConverseInput{InferenceConfig: &types.InferenceConfiguration{Temperature: aws.Float32(0)}}
