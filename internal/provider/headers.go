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

// behaviourHeaders are the request headers of all providers that change an API's answers, in lower case. The account
// and the client library do not.
var behaviourHeaders = []string{
	"anthropic-beta",    // features that are not enabled for everybody; Claude on Bedrock and Vertex AI accepts it too
	"anthropic-version", // the version of the API, which determines the form of answers and streams
	"x-anthropic-beta",  // OpenRouter: passed on as anthropic-beta

	// Azure AI model inference: whether unknown parameters are an error, dropped, or passed to the model
	"extra-parameters",
	"last-event-id",      // where a stream that was cut continues (WHATWG HTML section 9.2.4): MCP
	"groq-model-version", // Groq: the release of a compound system
	"openai-beta",        // OpenAI: for example the version of the assistants API

	"x-dashscope-async", // Alibaba: "enable" answers with a task, whose result is fetched later
	"x-dashscope-sse",   // Alibaba: "enable" streams the answer

	// Bedrock's InvokeModel uses headers for these, because its body belongs to the model; Converse has them in the
	// body.
	"x-amzn-bedrock-accept",                    // content type of the answer within the frames of a stream
	"x-amzn-bedrock-guardrailidentifier",       // the guardrail that may block prompt and answer
	"x-amzn-bedrock-guardrailversion",          // and its version
	"x-amzn-bedrock-performanceconfig-latency", // "optimized": a faster deployment of the model
	"x-amzn-bedrock-service-tier",              // "priority", "default" or "flex"
	"x-amzn-bedrock-trace",                     // "ENABLED": the answer reports what the guardrail did

	"x-vertex-ai-llm-request-type", // Vertex AI: "dedicated" (provisioned) or "shared" machines
}

// ChangesAnswers reports whether a request header changes an API's answers.
func ChangesAnswers(name string) bool {
	return slices.ContainsFunc(behaviourHeaders, func(one string) bool { return strings.EqualFold(one, name) })
}

// WithoutHeaders returns a request without some of the headers that change behavior.
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

// keepHeaders keeps in req the headers of w that change behavior. One value is a string; several are a sorted list,
// because lists of features are sets.
func (w *Wire) keepHeaders(req *modelio.Request) {
	said := modelio.Object{}
	for name, values := range w.Header {
		if !ChangesAnswers(name) {
			continue // most headers
		}
		if all := headerValues(values); len(all) > 0 {
			said[strings.ToLower(name)] = oneOrAll(all)
		}
	}
	jsontext.KeepObject(&req.Options, markHeaders, said)
}

// oneOrAll returns a single text as a string, and several as a list.
func oneOrAll(values []string) json.RawMessage {
	if len(values) == 1 {
		return jsontext.Text(values[0])
	}
	return jsontext.Texts(values)
}

// headerValues returns the elements of a header's lists (RFC 9110 section 5.6.1), sorted and without duplicates.
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
