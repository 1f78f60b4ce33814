package provider

import (
	"strings"
)

const vertexAnthropicAPI = "vertex.anthropic"

// Claude on Vertex AI: the messages API except for the model, which is in the URL, with whether the
// answer is streamed.
var _ = Register(&Codec{
	API:       vertexAnthropicAPI,
	Hosts:     []string{"aiplatform.googleapis.com", "*-aiplatform.googleapis.com"},
	BaseURLs:  []BaseURL{{Name: "GOOGLE_VERTEX_BASE_URL"}},
	Version:   "vertex-",
	Generates: true,
	Fixed:     claudeFixed,
	Match:     matchVertexAnthropic,
	body:      claudeForm.decode,
	outside:   methodOf("rawPredict"),
	Refusal:   refuseAsAnthropic,
	answer:    claudeAnswer,
	stream:    claudeStream,
})

func matchVertexAnthropic(w *Wire) bool {
	path := w.URL.Path
	return strings.Contains(path, "/publishers/anthropic/models/") && !strings.Contains(path, "/count-tokens:") &&
		posts(hasList("messages"), ":rawPredict", ":streamRawPredict")(w)
}
