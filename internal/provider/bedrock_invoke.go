package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const invokeAPI = "bedrock.invoke"

// The InvokeModel operations of AWS Bedrock, whose bodies are those of the model: of Claude as in
// anthropic.messages, of Amazon's as in bedrock.converse, of others a prompt.
var _ = Register(&Codec{
	API:            invokeAPI,
	Provider:       "bedrock",
	Generates:      true,
	Match:          postsToModel("/invoke", "/invoke-with-response-stream"),
	DecodeRequest:  requests(invokeAPI, decodeInvoke),
	DecodeResponse: answers(invokeAPI, invokeStream, invokeAnswer),
})

// An invokeForm is a body that some models take.
type invokeForm struct {
	name       string   // what $wire in Options calls it
	has        []string // a body with one of these members is of this form
	prompt     string   // the member that is the prompt; empty: there are messages, as in Converse
	in         string   // the object that has the parameters; empty: the body
	parameters parameters
}

// invokeForms are the forms but for that of Claude's messages, which is what a body has that is of
// none of these. The first that fits is it.
var invokeForms = []invokeForm{
	{name: "nova", has: []string{"schemaVersion", "inferenceConfig"},
		parameters: parameters{
			"temperature":    "temperature",
			"max_new_tokens": "max_tokens",
			"topP":           "top_p",
			"stopSequences":  "stop",
		}},
	{name: "titan", has: []string{"inputText"}, prompt: "inputText", in: "textGenerationConfig",
		parameters: parameters{
			"temperature":   "temperature",
			"maxTokenCount": "max_tokens",
			"topP":          "top_p",
			"stopSequences": "stop",
		}},
	{name: "command", has: []string{"message"}, prompt: "message",
		parameters: parameters{
			"temperature":    "temperature",
			"max_tokens":     "max_tokens",
			"p":              "top_p",
			"stop_sequences": "stop",
		}},
	{name: "claude-text", has: []string{"max_tokens_to_sample"}, prompt: "prompt",
		parameters: parameters{
			"temperature":          "temperature",
			"max_tokens_to_sample": "max_tokens",
			"top_p":                "top_p",
			"stop_sequences":       "stop",
		}},
	{name: "llama", has: []string{"max_gen_len"}, prompt: "prompt",
		parameters: parameters{
			"temperature": "temperature",
			"max_gen_len": "max_tokens",
			"top_p":       "top_p",
		}},
	{name: "jurassic", has: []string{"maxTokens", "numResults"}, prompt: "prompt",
		parameters: parameters{
			"temperature":   "temperature",
			"maxTokens":     "max_tokens",
			"topP":          "top_p",
			"stopSequences": "stop",
		}},
	{name: "cohere", has: []string{"p", "k", "num_generations"}, prompt: "prompt",
		parameters: parameters{
			"temperature":    "temperature",
			"max_tokens":     "max_tokens",
			"p":              "top_p",
			"stop_sequences": "stop",
		}},
	{name: "prompt", has: []string{"prompt"}, prompt: "prompt",
		parameters: parameters{
			"temperature": "temperature",
			"max_tokens":  "max_tokens",
			"top_p":       "top_p",
			"stop":        "stop",
		}},
}

// findForm returns the form of a body; nil if it is Claude's.
func findForm(body jsontext.Value) *invokeForm {
	if body.Member("anthropic_version").Present() {
		return nil
	}
	for i := range invokeForms {
		for _, name := range invokeForms[i].has {
			if body.Member(name).Present() {
				return &invokeForms[i]
			}
		}
	}
	return nil
}

func decodeInvoke(w *Wire, body jsontext.Value) *modelio.Request {
	var req *modelio.Request
	if form := findForm(body); form != nil {
		req = form.decode(body)
		req.Options[markWire] = jsontext.Text(form.name)
	} else {
		req = claudeRequest(w, body)
	}
	bedrockURL(w, req, "invoke")
	return req
}

func (f *invokeForm) decode(body jsontext.Value) *modelio.Request {
	switch {
	case f.prompt == "":
		return converseRequest(body, f.parameters)
	case f.in == "":
		return decodePrompt(body, f.prompt, f.parameters.decode)
	}
	return decodePrompt(body, f.prompt, f.parameters.within(f.in))
}

// invokeUnwrap returns the value that an event of a streamed answer holds in base64.
func invokeUnwrap(event jsontext.Value) (jsontext.Value, error) {
	var chunk struct{ Bytes []byte }
	if err := json.Unmarshal(event.Raw(), &chunk); err != nil {
		return jsontext.Value{}, err
	}
	doc, err := jsontext.Parse(chunk.Bytes)
	if err != nil {
		return jsontext.Value{}, err
	}
	return doc.Root(), nil
}
