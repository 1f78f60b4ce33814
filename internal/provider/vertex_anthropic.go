package provider

const vertexAnthropicAPI = "vertex.anthropic"

// Claude on Vertex AI: the messages API, except that the URL contains the model, and whether the answer is streamed.
var _ = Register(&Codec{
	API:     vertexAnthropicAPI,
	Hosts:   []string{"aiplatform.googleapis.com", "*-aiplatform.googleapis.com"},
	Version: "vertex-",
	Fixed:   claudeFixed,
	Match: both(posts(hasList("messages"), ":rawPredict", ":streamRawPredict"),
		both(pathLike(`/publishers/anthropic/models/`), not(pathLike(`/count-tokens:`)))),
	body:    claudeForm.decode,
	outside: methodOf("rawPredict"),
	Refusal: refuseAsAnthropic,
	answer:  claudeAnswer,
	stream:  claudeStream,
})
