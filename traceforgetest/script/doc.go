// Package script answers the requests of a test with scripted answers, in the wire format of the API that each request
// uses. Use it to develop agents without an API key, and to test what no model does on demand: failures, odd answers,
// broken streams.
//
//	answers := script.New(
//		script.Call("get_weather", `{"city": "Paris"}`),
//		script.Say("It is 21 degrees in Paris."),
//	).Check(t)
//	client := openai.NewClient(option.WithHTTPClient(answers.Client()), option.WithAPIKey("none"))
//
// Each [Step] answers one request, in the order of the steps. A step with a condition, see [Step.When], answers every
// request that meets it, before steps without one are considered. The test fails if no step answers a request, if no
// request used a step, and if the API could not give a step's answer: a call of a tool that was not offered, text where
// the request forces a tool call, JSON that violates the schema.
//
// A [Script] can be a client's transport, a server's handler, a [modelio.Model], or a recorder's upstream. As an
// upstream its answers become snapshots that are marked as scripted, and the first update without the script replaces
// them with live answers.
//
// The supported APIs are OpenAI's chat completions, responses and completions, Mistral's chat, Anthropic's messages,
// Gemini and Vertex AI, Bedrock's Converse and InvokeModel, Cohere's chat, Ollama, and the embeddings of all of them.
package script
