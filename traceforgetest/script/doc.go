// Package script answers the requests of a test with what the test has written, in the wire format that each asks for.
// It is for agents before there is a key, and for what no model does when it is asked to: failures, odd answers, cuts.
//
//	answers := script.New(
//		script.Call("get_weather", `{"city": "Paris"}`),
//		script.Say("It is 21 degrees in Paris."),
//	).Check(t)
//	client := openai.NewClient(option.WithHTTPClient(answers.Client()), option.WithAPIKey("none"))
//
// A [Step] answers one request, in the order of the steps. One with a condition, see [Step.When], answers each request
// that fulfills it, before the others are asked. A request that no step takes fails the test. So does a step that no
// request asked for, and one that the API could not give: a call of a tool that was not offered, a text where a tool is
// forced, JSON that breaks the schema.
//
// A [Script] is a client's transport, a handler for a server, a [modelio.Model], and the upstream of a recorder: then
// the answers become snapshots that say so, and the first update without the script buys what they stand for (design N9).
//
// The APIs are OpenAI's chat completions, responses and completions, Mistral's chat, Anthropic's messages, Gemini's and
// Vertex AI's, Bedrock's Converse and InvokeModel, Cohere's chat, Ollama's, and the embeddings of all of them.
package script
