package provider

import (
	"encoding/base64"
	"errors"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const invokeAPI = "bedrock.invoke"

// The InvokeModel operations of AWS Bedrock, whose bodies are those of the model: of Claude as in
// anthropic.messages, of Amazon's as in bedrock.converse, of others a prompt.
var _ = Register(&Codec{
	API:       invokeAPI,
	Version:   "bedrock-",
	Generates: true,
	Fixed:     claudeFixed,
	Match:     matchInvoke,
	body:      decodeInvoke,
	outside:   operationOf("invoke"),
	answer:    invokeAnswer,
	stream:    invokeStream,
})

// matchInvoke leaves the models that generate nothing to bedrock.embed and bedrock.rerank.
func matchInvoke(w *Wire) bool {
	for _, kind := range bedrockKinds {
		if postsToKind(kind)(w) {
			return false
		}
	}
	return invokes(w)
}

var invokes = postsToModel("/invoke", "/invoke-with-response-stream")

// An invokeForm is a body that some models take.
type invokeForm struct {
	name string   // what $wire in Options calls it
	has  []string // a body with one of these members is of this form
	requestForm
}

// invokeForms are the forms except for that of Claude's messages, which is the form of a body that fits
// none of these. The first that fits counts.
var invokeForms = []invokeForm{
	{"nova", []string{"schemaVersion", "inferenceConfig"}, requestForm{
		members: converseMembers, in: converseForm.in,
		parameters: parametersOf("temperature", "max_new_tokens=max_tokens", "topP=top_p", "stopSequences=stop"),
	}},
	{"titan", []string{"inputText"}, requestForm{
		prompt: "inputText", in: "textGenerationConfig",
		parameters: parametersOf("temperature", "maxTokenCount=max_tokens", "topP=top_p", "stopSequences=stop"),
	}},
	{"command", []string{"message"}, prompted("message",
		"temperature", "max_tokens", "p=top_p", "stop_sequences=stop")},
	{"claude-text", []string{"max_tokens_to_sample"}, prompted("prompt",
		"temperature", "max_tokens_to_sample=max_tokens", "top_p", "stop_sequences=stop")},
	{"llama", []string{"max_gen_len"}, prompted("prompt",
		"temperature", "max_gen_len=max_tokens", "top_p")},
	{"jurassic", []string{"maxTokens", "numResults"}, prompted("prompt",
		"temperature", "maxTokens=max_tokens", "topP=top_p", "stopSequences=stop")},
	{"cohere", []string{"p", "k", "num_generations"}, prompted("prompt",
		"temperature", "max_tokens", "p=top_p", "stop_sequences=stop")},
	{"prompt", []string{"prompt"}, prompted("prompt",
		"temperature", "max_tokens", "top_p", "stop")},
}

// prompted is the form of a body with a prompt and the parameters of these names.
func prompted(prompt string, names ...string) requestForm {
	return requestForm{prompt: prompt, parameters: parametersOf(names...)}
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

func decodeInvoke(body jsontext.Value) *modelio.Request {
	form := findForm(body)
	if form == nil {
		return claudeForm.decode(body)
	}
	req := form.decode(body)
	req.Options[markWire] = jsontext.Text(form.name)
	return req
}

// invokeUnwrap returns the value that an event of a streamed answer holds in base64.
func invokeUnwrap(event jsontext.Value) (jsontext.Value, error) {
	text, isText := event.Member("bytes").Text()
	chunk, err := base64.StdEncoding.DecodeString(text)
	if !isText || err != nil {
		return jsontext.Value{}, errors.New("bytes is no base64")
	}
	doc, err := jsontext.Parse(chunk)
	if err != nil {
		return jsontext.Value{}, err
	}
	return doc.Root(), nil
}
