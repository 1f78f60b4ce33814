package provider

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// behaviourHeaders are the request headers that change what an API answers, of all providers. Who
// asks, on whose account and with which library is no behaviour. In lower case.
var behaviourHeaders = []string{
	"anthropic-beta",
	"anthropic-version",
	"extra-parameters",      // Azure AI: what becomes of parameters that a model does not know
	"groq-model-version",    // which release of a compound system
	"openai-beta",           // the version of the assistants API, say
	"x-anthropic-beta",      // OpenRouter's name for it
	"x-dashscope-async",     // Alibaba: an answer to be fetched later
	"x-dashscope-sse",       // Alibaba: a streamed answer
	"x-amzn-bedrock-accept", // the content type of streamed parts
	"x-amzn-bedrock-guardrailidentifier",
	"x-amzn-bedrock-guardrailversion",
	"x-amzn-bedrock-performanceconfig-latency",
	"x-amzn-bedrock-service-tier",
	"x-amzn-bedrock-trace",
	"x-vertex-ai-llm-request-type", // Google: on dedicated or on shared machines
}

// keepHeaders keeps in req the headers of w that change behaviour: the values of each in their
// order as strings, since lists of features are sets, one as a string and several as a list.
func (w *Wire) keepHeaders(req *modelio.Request) {
	said := modelio.Object{}
	for name, values := range w.Header {
		name = strings.ToLower(name)
		if !slices.Contains(behaviourHeaders, name) {
			continue
		}
		switch all := headerValues(values); len(all) {
		case 0:
		case 1:
			said[name] = jsontext.Text(all[0])
		default:
			said[name] = jsontext.Texts(all)
		}
	}
	if len(said) > 0 {
		req.Options[markHeaders] = jsontext.ObjectText(said)
	}
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
	slices.Sort(all)
	return slices.Compact(all)
}
