package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// behaviourHeaders are the request headers that change what an API answers, of all providers. Who
// asks, on whose account and with which library is no behaviour. In lower case.
var behaviourHeaders = []string{
	"anthropic-beta",    // features that are not on for everybody, which Claude on Bedrock and Vertex AI takes too
	"anthropic-version", // the version of the API, which says what answers and streams look like
	"x-anthropic-beta",  // OpenRouter: what it passes on as anthropic-beta

	"extra-parameters",   // Azure AI model inference: unknown parameters are an error, dropped, or passed to the model
	"last-event-id",      // where a stream goes on that was cut (WHATWG HTML section 9.2.4): MCP
	"groq-model-version", // Groq: which release of a compound system answers
	"openai-beta",        // OpenAI: the version of the assistants API, say

	"x-dashscope-async", // Alibaba: "enable" answers with a task, whose result is fetched later
	"x-dashscope-sse",   // Alibaba: "enable" streams the answer

	// Bedrock's InvokeModel has these as headers, as its body is the model's; Converse has them in the body.
	"x-amzn-bedrock-accept",                    // the content type of the answer within the frames of a stream
	"x-amzn-bedrock-guardrailidentifier",       // the guardrail that may block prompt and answer
	"x-amzn-bedrock-guardrailversion",          // and its version
	"x-amzn-bedrock-performanceconfig-latency", // "optimized": a faster deployment of the model
	"x-amzn-bedrock-service-tier",              // "priority", "default" or "flex"
	"x-amzn-bedrock-trace",                     // "ENABLED": the answer says what the guardrail did

	"x-vertex-ai-llm-request-type", // Vertex AI: on machines that are "dedicated" (provisioned) or "shared"
}

// ChangesAnswers reports whether a request header changes what an API answers.
func ChangesAnswers(name string) bool {
	return slices.ContainsFunc(behaviourHeaders, func(one string) bool { return strings.EqualFold(one, name) })
}

// WithoutHeaders returns a request without some of the headers that change behaviour.
func WithoutHeaders(req *modelio.Request, names []string) *modelio.Request {
	var said map[string]json.RawMessage
	if json.Unmarshal(req.Options[markHeaders], &said) != nil {
		return req
	}
	maps.DeleteFunc(said, func(name string, _ json.RawMessage) bool { return slices.Contains(names, name) })
	other := *req
	other.Options = maps.Clone(req.Options)
	delete(other.Options, markHeaders)
	jsontext.KeepObject(&other.Options, markHeaders, said)
	return &other
}

// keepHeaders keeps in req the headers of w that change behaviour. One value is a string and several are a list, in
// the order of strings, since lists of features are sets.
func (w *Wire) keepHeaders(req *modelio.Request) {
	said := modelio.Object{}
	for name, values := range w.Header {
		if !ChangesAnswers(name) {
			continue // most headers are such
		}
		if all := headerValues(values); len(all) > 0 {
			said[strings.ToLower(name)] = oneOrAll(all)
		}
	}
	jsontext.KeepObject(&req.Options, markHeaders, said)
}

// oneOrAll returns a text that stands alone, or a list of all.
func oneOrAll(values []string) json.RawMessage {
	if len(values) == 1 {
		return jsontext.Text(values[0])
	}
	return jsontext.Texts(values)
}

// headerValues returns the elements of a header's lists (RFC 9110 section 5.6.1), sorted, each once.
func headerValues(lines []string) []string {
	var all []string
	for _, line := range lines {
		for value := range strings.SplitSeq(line, ",") {
			if value = strings.TrimSpace(value); value != "" {
				all = append(all, value)
			}
		}
	}
	sort.Strings(all)
	return slices.Compact(all)
}
