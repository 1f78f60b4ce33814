package integration_test

// explained gives the reasons for interactions with weaker requirements.
var explained = map[string]string{
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_boolean.yaml#0":     noRequest,
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_categorical.yaml#0": noRequest,
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_score.yaml#0":       noRequest,
	"DataDog/dd-trace-py:tests/cassettes/vertexai/vertexai_generate_content_categorical.yaml#0":        noRequest,
	"DataDog/dd-trace-py:tests/cassettes/vertexai/vertexai_generate_content_score.yaml#0":              noRequest,

	"open-telemetry/opentelemetry-python-contrib:instrumentation/opentelemetry-instrumentation-botocore/tests/cassettes/test_invoke_model_with_invalid_model.yaml#0":                 noRequest,
	"open-telemetry/opentelemetry-python-contrib:instrumentation/opentelemetry-instrumentation-botocore/tests/cassettes/test_invoke_model_with_response_stream_invalid_model.yaml#0": noRequest,

	"lmnr-ai/lmnr-ts:packages/lmnr/test/recordings/google-genai-creates-a-streaming-genai-span.json#0": "written by hand, without a finishReason",
	"vercel/ai:packages/azure/src/__fixtures__/azure-deepseek-reasoning.1.json#0":                      "the answer is a chat completion; the URL was inferred",

	"vercel/ai:packages/google/src/__fixtures__/google-stream-no-args-tool-call.chunks.txt#0":                                        fragments,
	"vercel/ai:packages/google/src/__fixtures__/google-stream-tool-call-arguments.chunks.txt#0":                                      fragments,
	"vercel/ai:packages/google/src/__fixtures__/google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt#0": fragments,

	"DataDog/dd-trace-py:tests/cassettes/mistral/mistral_v1_chat_completions_post_20aaaaf3.json#0": contents,
	"vercel/ai:packages/mistral/src/__fixtures__/mistral-reasoning.chunks.txt#0":                   contents,
	"vercel/ai:packages/mistral/src/__fixtures__/mistral-reasoning.json#0":                         contents,

	"vercel/ai:packages/xai/src/responses/__fixtures__/xai-x-search-tool.chunks.txt#0": "the SDK takes xAI's own search for a call of the caller's",

	"simonw/llm:tests/cassettes/test_tools_streaming/test_tools_streaming_variant_a.yaml#0": "the provider repeats the name of a tool in each chunk, and the SDK joins them",
}

const (
	noRequest = "the request has no body"
	fragments = "the SDK does not join the pieces of a call's arguments"
	contents  = "OpenAI's SDK gives Mistral's list of contents as text"
)
