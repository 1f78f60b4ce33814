package contract_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	testvector "github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
)

// A vector has one or more answers of a provider, and the results of LC's origin.
type vector struct {
	Name        string
	Path        string
	ContentType string `json:"content_type"`
	Body        json.RawMessage
	Sequence    []struct {
		Body     json.RawMessage
		Contains []string `json:"request_must_contain"`
	}
	Inputs struct {
		Message json.RawMessage `json:"message_blob"`
		Options json.RawMessage `json:"provider_options_blob"`
		Format  json.RawMessage `json:"response_format_blob"`
		Runtime json.RawMessage
	}
	ResponseBody  json.RawMessage `json:"response_body"`
	Expect        map[string]any
	ExpectRequest map[string]any `json:"expect_request"`
}

// TestVectors runs the bodies and streams of LC's origin, and compares with the results asserted there.
func TestVectors(t *testing.T) {
	var all []vector
	require.NoError(t, json.Unmarshal(testvector.Text(t, "aos/provider_wire_vectors.json"), &all))
	require.Len(t, all, 8)
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			s := newScene(t)
			switch {
			case v.Sequence != nil:
				s.vectorLoop(v)
			case v.ResponseBody != nil:
				s.vectorRequest(v)
			default:
				s.vectorAnswer(v)
			}
		})
	}
}

// vectorAPI returns the API with a path.
func vectorAPI(path string) api {
	return map[string]api{"/chat/completions": apis[0], "/responses": apis[1], "/messages": apis[2]}[path]
}

// bytesOf returns the bytes of a body that is JSON, or a text that holds a stream.
func bytesOf(t *testing.T, body json.RawMessage) string {
	if body[0] != '"' {
		return string(body)
	}
	var text string
	require.NoError(t, json.Unmarshal(body, &text))
	return text
}

// serve makes these bodies the answers to the adapter's calls, in order, and returns the requests.
func (s *scene) serve(contentType string, bodies ...json.RawMessage) *[]string {
	var requests []string
	s.answers(func(r *http.Request) *http.Response {
		sent := new(strings.Builder)
		require.NoError(s, r.Write(sent))
		requests = append(requests, sent.String())
		return response(200, http.Header{"Content-Type": {contentType}}, bytesOf(s.T, bodies[len(requests)-1]))
	})
	return &requests
}

func (s *scene) vectorAnswer(v vector) {
	s.serve(v.ContentType, v.Body)
	s.adapter.Stream = v.ContentType == "text/event-stream"
	receipt := s.generate(s.asks(vectorAPI(v.Path)))
	out := s.output(receipt)
	if v.Expect == nil {
		require.Equal(s, output{text: "hello"}, out) // openai_responses_with_compaction_item
	}
	for name, want := range v.Expect {
		var got any
		switch name {
		case "text", "finish.response.text":
			got = out.text
		case "reasoning":
			got = out.reasoning
		case "tool_calls":
			got = float64(len(out.calls))
		case "usage.total_tokens":
			got = float64(receipt.TokenUsage.Prompt + receipt.TokenUsage.Completion)
		case "usage.reasoning_tokens":
			got = float64(*receipt.UsageDetails.ReasoningTokens)
		case "usage.cache_read_tokens":
			got = float64(*receipt.UsageDetails.CacheReadTokens)
		case "usage.cache_write_tokens":
			got = float64(*receipt.UsageDetails.CacheWriteTokens)
		case "finish_reason.reason", "finish.response.finish_reason.reason":
			got = receipt.FinishReason.Reason
		// The envelope at the end of a stream contains everything that the stream showed.
		case "text_delta_seen":
			got = out.text != ""
		case "reasoning_delta_seen":
			got = out.reasoning == "analyze more"
		case "tool_call_end_seen":
			got = len(out.calls) == 1 && out.calls[0] == call{"call_1", "echo_payload", `{"value":"live"}`}
		default:
			s.Fatalf("%s expects %s, which is not looked at here", v.Name, name)
		}
		require.Equal(s, want, got, name)
	}
}

// vectorLoop calls a tool between two answers.
func (s *scene) vectorLoop(v vector) {
	a := vectorAPI(v.Path)
	requests := s.serve("application/json", v.Sequence[0].Body, v.Sequence[1].Body)
	params := s.params(a, s.says(modelio.RoleUser, "What is 2 + 2?"))
	params.Runtime.ToolRefs = []canon.Hash{s.put(calc)}
	receipt := s.generate(params)
	calls := s.output(receipt).calls
	require.Equal(s, v.Expect["steps[0].tool_calls[0].name"], calls[0].name)
	reply, err := s.adapter.Reply(params, receipt)
	require.NoError(s, err)
	params.MessageRefs = append(params.MessageRefs, reply,
		s.message(results(modelio.ToolResponse{Name: "calc", Ref: calls[0].id, Output: json.RawMessage("4")})))
	receipt = s.generate(params)
	require.Equal(s, v.Expect["text"], s.output(receipt).text)
	require.Equal(s, v.Expect["steps"], float64(len(*requests)))
	for i, step := range v.Sequence {
		for _, part := range step.Contains {
			require.Contains(s, (*requests)[i], part)
		}
	}
}

// vectorRequest checks the wire form of refs in the runtime.
func (s *scene) vectorRequest(v vector) {
	a := apis[0]
	s.adapter.Catalog[a.provider] = contract.Provider{API: a.name}
	requests := s.serve("application/json", v.ResponseBody)
	params := s.params(a, s.put(v.Inputs.Message))
	params.Model = v.ExpectRequest["model"].(string)
	require.NoError(s, json.Unmarshal(v.Inputs.Runtime, &params.Runtime))
	params.Runtime.ProviderOptionsRef = contract.Some(s.put(v.Inputs.Options))
	params.Runtime.ResponseFormatRef = contract.Some(s.put(v.Inputs.Format))
	require.Equal(s, `{"answer":"ok"}`, s.output(s.generate(params)).text)

	_, text, _ := strings.Cut((*requests)[0], "\r\n\r\n")
	var body map[string]any
	require.NoError(s, json.Unmarshal([]byte(text), &body))
	for path, want := range v.ExpectRequest {
		var got any = body
		for name := range strings.SplitSeq(path, ".") {
			got = got.(map[string]any)[name]
		}
		require.Equal(s, want, got, path)
	}
}
