package record_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

type answering func(*http.Request) string

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(f(r)))}, nil
}

// TestAsyncInvoke replays a job that Bedrock runs: the SDK sends a new token with each start.
func TestAsyncInvoke(t *testing.T) {
	stage := newStage(t, &bedrockConverse, nil)
	for _, name := range awsKeys {
		t.Setenv(name, liveKey)
	}
	play := func(mode, text string, upstream http.RoundTripper) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return tbtest.Run("TestVideo", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(stage.dir), traceforgetest.Upstream(upstream))
			client, err := newBedrock(t.Context(), tf)
			require.NoError(t, err)
			started, err := client.StartAsyncInvoke(t.Context(), &bedrockruntime.StartAsyncInvokeInput{
				ModelId:    aws.String("amazon.nova-reel-v1:0"),
				ModelInput: document.NewLazyDocument(map[string]string{"text": text}),
				OutputDataConfig: &types.AsyncInvokeOutputDataConfigMemberS3OutputDataConfig{
					Value: types.AsyncInvokeS3OutputDataConfig{S3Uri: aws.String("s3://videos")},
				},
			})
			if err != nil {
				tb.Fatalf("%v", err)
			}
			got, err := client.GetAsyncInvoke(t.Context(), &bedrockruntime.GetAsyncInvokeInput{InvocationArn: started.InvocationArn})
			if err != nil || got.Status != types.AsyncInvokeStatusCompleted {
				tb.Fatalf("%v", err)
			}
		})
	}
	const arn = "arn:aws:bedrock:us-east-1:123456789012:async-invoke/4x7dqkzq2m1p"
	tokens := map[string]bool{}
	bedrock := answering(func(r *http.Request) string {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			tokens[string(body)] = true
			return fmt.Sprintf(`{"invocationArn":%q}`, arn)
		}
		return fmt.Sprintf(`{"invocationArn":%q,"status":"Completed","submitTime":"2026-11-30T04:00:00Z"}`, arn)
	})
	for range 2 {
		tb := play("all", "a dog", bedrock)
		require.False(t, tb.Failed(), tb.Logged())
	}
	require.Len(t, tokens, 2, "each start has a token of its own")
	tb := play("", "a dog", unreachable{})
	require.False(t, tb.Failed(), tb.Logged())
	tb = play("", "a cat", unreachable{})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "a cat")
}
