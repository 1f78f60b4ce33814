package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

const invokeAPI = "bedrock.invoke"

// bedrockInvoke is the InvokeModel operations of AWS Bedrock, whose bodies are those of the
// model: of Claude as in anthropic.messages, of Amazon's as in bedrock.converse, of others a prompt.
type bedrockInvoke struct{}

func (bedrockInvoke) API() string      { return invokeAPI }
func (bedrockInvoke) Provider() string { return "bedrock" }
func (bedrockInvoke) Seeded() bool     { return false }

func (bedrockInvoke) Match(w *Wire) bool {
	return bedrockModel(w.URL) != "" && w.posts(func(body value) bool { return body.isObject() }, "/invoke", "/invoke-with-response-stream")
}

func (bedrockInvoke) Endpoint(req *Request) string { return bedrockEndpoint(req, "invoke") }

// invokeForms are the bodies that models take. The first of which the body has a member in has is
// the one; $wire in Options names it.
var invokeForms = []struct {
	name   string
	has    []string
	prompt string // the member that is the prompt; empty: there are messages
	in     string // the object that has the parameters; empty: the body
	parameters
}{
	{name: "nova", has: []string{"schemaVersion", "inferenceConfig"},
		parameters: parameters{temperature: "temperature", maxTokens: "max_new_tokens", topP: "topP", stop: "stopSequences"}},
	{name: "titan", has: []string{"inputText"}, prompt: "inputText", in: "textGenerationConfig",
		parameters: parameters{temperature: "temperature", maxTokens: "maxTokenCount", topP: "topP", stop: "stopSequences"}},
	{name: "command", has: []string{"message"}, prompt: "message",
		parameters: parameters{temperature: "temperature", maxTokens: "max_tokens", topP: "p", stop: "stop_sequences"}},
	{name: "claude-text", has: []string{"max_tokens_to_sample"}, prompt: "prompt",
		parameters: parameters{temperature: "temperature", maxTokens: "max_tokens_to_sample", topP: "top_p", stop: "stop_sequences"}},
	{name: "llama", has: []string{"max_gen_len"}, prompt: "prompt",
		parameters: parameters{temperature: "temperature", maxTokens: "max_gen_len", topP: "top_p"}},
	{name: "jurassic", has: []string{"maxTokens", "numResults"}, prompt: "prompt",
		parameters: parameters{temperature: "temperature", maxTokens: "maxTokens", topP: "topP", stop: "stopSequences"}},
	{name: "cohere", has: []string{"p", "k", "stop_sequences", "num_generations"}, prompt: "prompt",
		parameters: parameters{temperature: "temperature", maxTokens: "max_tokens", topP: "p", stop: "stop_sequences"}},
	{name: "prompt", has: []string{"prompt"}, prompt: "prompt",
		parameters: parameters{temperature: "temperature", maxTokens: "max_tokens", topP: "top_p", stop: "stop"}},
}

func (bedrockInvoke) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(invokeAPI)
	if err != nil {
		return nil, err
	}
	req := invokeRequest(body)
	req.API = invokeAPI
	bedrockURL(w, req, "invoke")
	return req, nil
}

func invokeRequest(body value) *Request {
	if !body.member("anthropic_version").present() {
		for i := range invokeForms {
			form := &invokeForms[i]
			for _, name := range form.has {
				if !body.member(name).present() {
					continue
				}
				var req *Request
				if form.prompt == "" {
					req = converseRequest(invokeAPI, body, &form.parameters)
				} else {
					req = decodePrompt(invokeAPI, body, form.prompt, func(r *Request, name string, v value) bool {
						if form.in == "" {
							return form.parameters.decode(r, name, v)
						}
						return name == form.in && form.decodeIn(r, name, v)
					})
					keepModel(req)
				}
				req.Options[markWire] = jsonText(form.name)
				return req
			}
		}
	}
	req := claudeRequest(invokeAPI, body)
	keepModel(req)
	return req
}

// keepModel keeps a model in the body beside that in the URL.
func keepModel(req *Request) {
	if req.Model != "" {
		req.Options["model"] = jsonText(req.Model)
	}
}

func (bedrockInvoke) EncodeRequest(req *Request) ([]byte, error) {
	body, err := invokeBody(req)
	if err != nil {
		return nil, err
	}
	overlay(body, req.options())
	return jsonObject(body), nil
}

func invokeBody(req *Request) (modelio.Object, error) {
	for i := range invokeForms {
		form := &invokeForms[i]
		if !marked(req.Options, form.name) {
			continue
		}
		if form.prompt == "" {
			return converseBody(req, &form.parameters)
		}
		config, err := form.encode(req)
		if err != nil {
			return nil, err
		}
		body := config
		if form.in != "" {
			body = modelio.Object{}
			if len(config) > 0 {
				body[form.in] = jsonObject(config)
			}
		}
		if req.Prompt != nil {
			body[form.prompt] = jsonText(*req.Prompt)
		}
		return body, nil
	}
	return claudeBody(req) // or a body of another kind, such as a query and documents, all of it in Options
}

// invokeUnwrap returns the value that an event of a streamed answer holds in base64.
func invokeUnwrap(event value) (value, error) {
	var chunk struct{ Bytes []byte }
	if err := json.Unmarshal(event.raw(), &chunk); err != nil {
		return value{}, err
	}
	doc, err := parse(chunk.Bytes)
	if err != nil {
		return value{}, err
	}
	return doc.root(), nil
}
