package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const (
	ollamaChatAPI     = "ollama.chat"
	ollamaGenerateAPI = "ollama.generate"
)

var ollamaParameters = parameters{
	temperature:      "temperature",
	maxTokens:        "num_predict",
	topP:             "top_p",
	frequencyPenalty: "frequency_penalty",
	presencePenalty:  "presence_penalty",
	seed:             "seed",
	stop:             "stop",
}

// wireNameless is what Metadata's $wire has for a tool response that does not name its tool.
const wireNameless = "nameless"

// ollamaChat is Ollama's own chat API.
type ollamaChat struct{}

func (ollamaChat) API() string      { return ollamaChatAPI }
func (ollamaChat) Provider() string { return "ollama" }
func (ollamaChat) Seeded() bool     { return true }

func (ollamaChat) Match(w *Wire) bool {
	return w.posts(func(body jsontext.Value) bool { return body.Member("messages").IsArray() }, "/api/chat")
}

func (ollamaChat) Endpoint(req *modelio.Request) string { return endpointOf(req, "/api/chat") }

func (ollamaChat) DecodeRequest(w *Wire) (*modelio.Request, error) {
	body, err := w.body(ollamaChatAPI)
	if err != nil {
		return nil, err
	}
	req := &modelio.Request{API: ollamaChatAPI, Messages: []modelio.Message{}, Options: modelio.Object{}}
	for name, v := range body.Members() {
		switch name {
		case "model":
			if v.IsWord() {
				req.Model = v.Word()
				continue
			}
		case "messages":
			if messages, ok := messageList(v, ollamaMessage); ok {
				req.Messages = messages
				continue
			}
		case "tools":
			if tools, ok := chatTools(v); ok {
				req.Tools = tools
				continue
			}
		case "options":
			if ollamaParameters.decodeIn(req, name, v) {
				continue
			}
		}
		req.Options[name] = v.Raw()
	}
	w.keepURL(req, nil)
	return req, nil
}

func (ollamaChat) EncodeRequest(req *modelio.Request) ([]byte, error) {
	if err := wantMessages(req, ollamaChatAPI); err != nil {
		return nil, err
	}
	body, err := encodeOllamaOptions(req)
	if err != nil {
		return nil, err // unreachable: the API has them all
	}
	if req.Model != "" {
		body["model"] = jsontext.Text(req.Model)
	}
	if req.Tools != nil {
		body["tools"] = encodeChatTools(req.Tools)
	}
	messages := list{}
	for i, m := range req.Messages {
		encoded, err := encodeOllamaMessage(i, m)
		if err != nil {
			return nil, err
		}
		messages = append(messages, encoded...)
	}
	body["messages"] = jsontext.List(messages)
	overlay(body, optionsOf(req))
	return jsontext.ObjectText(body), nil
}

func encodeOllamaOptions(req *modelio.Request) (modelio.Object, error) {
	body := modelio.Object{}
	options, err := ollamaParameters.encode(req)
	if len(options) > 0 {
		body["options"] = jsontext.ObjectText(options)
	}
	return body, err
}

// ollamaMessage decodes a message. Its parts are in the order reasoning, content, images, tool
// calls. A member that fits no part is kept in Metadata.
func ollamaMessage(v jsontext.Value) modelio.Message {
	var m modelio.Message
	chatRole(&m, v.Member("role"))
	if m.Role == modelio.RoleTool {
		ollamaResult(&m, v)
		return m
	}
	var reasoning, content, images, calls []modelio.Part
	for name, f := range v.Members() {
		ok := false
		switch name {
		case "role":
			continue
		case "thinking":
			if ok = f.IsWord(); ok {
				reasoning = []modelio.Part{modelio.ReasoningPart(f.Word())}
			}
		case "content":
			var text string
			if text, ok = f.Text(); ok {
				content = []modelio.Part{modelio.TextPart(text)}
			}
		case "images":
			images, ok = ollamaImages(f)
		case "tool_calls":
			calls, ok = ollamaCalls(f)
		}
		if !ok {
			jsontext.Keep(&m.Metadata, name, f.Raw())
		}
	}
	m.Content = joined(reasoning, content, images, calls)
	return m
}

// ollamaResult decodes the result of a tool call.
func ollamaResult(m *modelio.Message, v jsontext.Value) {
	result := &modelio.ToolResponse{}
	part := modelio.Part{ToolResponse: result}
	for name, f := range v.Members() {
		ok := name == "role"
		switch name {
		case "tool_name":
			result.Name = f.Word()
			ok = f.IsWord()
		case "tool_call_id":
			result.Ref = f.Word()
			ok = f.IsWord()
		case "content":
			if ok = f.IsString(); ok {
				result.Output = f.Raw()
			}
		}
		if !ok {
			jsontext.Keep(&m.Metadata, name, f.Raw())
		}
	}
	if result.Name == "" {
		mark(&part.Metadata, wireNameless)
	}
	m.Content = []modelio.Part{part}
}

// ollamaImages decodes images, which are base64 without their content type.
func ollamaImages(v jsontext.Value) ([]modelio.Part, bool) {
	images, ok := v.Texts()
	var parts []modelio.Part
	for _, image := range images {
		contentType := sniffImage(image)
		parts = append(parts, modelio.MediaPart(contentType, dataURL(contentType, image)))
	}
	return parts, ok && len(parts) > 0
}

// ollamaCalls decodes tool calls, whose arguments are values and not text.
func ollamaCalls(v jsontext.Value) ([]modelio.Part, bool) {
	var parts []modelio.Part
	for _, call := range v.Elements() {
		function := call.Member("function")
		request := &modelio.ToolRequest{Name: function.Member("name").Word(), Input: function.Member("arguments").Raw()}
		if request.Name == "" || request.Input == nil {
			return nil, false
		}
		taken := []string{"function"}
		if id := call.Member("id"); id.IsWord() {
			request.Ref = id.Word()
			taken = append(taken, "id")
		}
		part := modelio.Part{ToolRequest: request, Metadata: call.Rest(taken...)}
		jsontext.KeepRest(&part.Metadata, "function", function, "name", "arguments")
		parts = append(parts, part)
	}
	return parts, len(parts) > 0
}

func encodeOllamaMessage(at int, m modelio.Message) (list, error) {
	o := modelio.Object{"role": jsontext.Text(wireRole(m.Role))}
	var texts []string
	var images, calls, results list
	for i, part := range m.Content {
		switch {
		case part.Text != nil:
			texts = append(texts, *part.Text)
		case part.Reasoning != nil:
			o["thinking"] = jsontext.Text(*part.Reasoning)
		case part.Media != nil:
			_, data, ok := splitDataURL(part.Media.URL)
			if !ok {
				return nil, wireFailure(ollamaChatAPI, at, i, "the API takes media as base64 only")
			}
			images = append(images, jsontext.Text(data))
		case part.ToolRequest != nil:
			calls = append(calls, encodeOllamaCall(part))
		case part.ToolResponse != nil && m.Role == modelio.RoleTool:
			results = append(results, encodeOllamaResult(part, m.Metadata))
		default:
			return nil, wireFailure(ollamaChatAPI, at, i, "a part of a kind that the API has no place for")
		}
	}
	if results != nil {
		return results, nil
	}
	if texts != nil {
		o["content"] = jsontext.Text(strings.Join(texts, ""))
	}
	if images != nil {
		o["images"] = jsontext.List(images)
	}
	if calls != nil {
		o["tool_calls"] = jsontext.List(calls)
	}
	overlay(o, m.Metadata)
	return list{jsontext.ObjectText(o)}, nil
}

func encodeOllamaCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	function := modelio.Object{"name": jsontext.Text(call.Name), "arguments": json.RawMessage("{}")}
	if call.Input != nil {
		function["arguments"] = call.Input
	}
	o := modelio.Object{"function": jsontext.ObjectText(function)}
	if call.Ref != "" {
		o["id"] = jsontext.Text(call.Ref)
	}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o)
}

func encodeOllamaResult(part modelio.Part, extra modelio.Object) json.RawMessage {
	result := part.ToolResponse
	o := modelio.Object{"role": jsontext.Text("tool")}
	if result.Name != "" && !marked(part.Metadata, wireNameless) {
		o["tool_name"] = jsontext.Text(result.Name)
	}
	if result.Ref != "" {
		o["tool_call_id"] = jsontext.Text(result.Ref)
	}
	if result.Output != nil {
		o["content"] = argumentsOf(result.Output)
	}
	overlay(o, part.Metadata)
	overlay(o, extra)
	return jsontext.ObjectText(o)
}

func (ollamaChat) DecodeResponse(a *Answer) (*modelio.Response, error) {
	return decodeAnswer(ollamaChatAPI, a, func() fold { return &ollamaFold{} }, func(body jsontext.Value) (*modelio.Response, error) {
		return ollamaAnswer(ollamaChatAPI, body)
	})
}

// ollamaGenerate is Ollama's API for a prompt.
type ollamaGenerate struct{}

func (ollamaGenerate) API() string      { return ollamaGenerateAPI }
func (ollamaGenerate) Provider() string { return "ollama" }
func (ollamaGenerate) Seeded() bool     { return true }

func (ollamaGenerate) Match(w *Wire) bool {
	return w.posts(func(body jsontext.Value) bool { return body.Member("prompt").Present() }, "/api/generate")
}

func (ollamaGenerate) Endpoint(req *modelio.Request) string { return endpointOf(req, "/api/generate") }

func (ollamaGenerate) DecodeRequest(w *Wire) (*modelio.Request, error) {
	body, err := w.body(ollamaGenerateAPI)
	if err != nil {
		return nil, err
	}
	req := decodePrompt(ollamaGenerateAPI, body, "prompt", func(r *modelio.Request, name string, v jsontext.Value) bool {
		return name == "options" && ollamaParameters.decodeIn(r, name, v)
	})
	w.keepURL(req, nil)
	return req, nil
}

func (ollamaGenerate) EncodeRequest(req *modelio.Request) ([]byte, error) {
	body, err := encodeOllamaOptions(req)
	if err != nil {
		return nil, err // unreachable: the API has them all
	}
	return encodePrompt(req, "prompt", body)
}

func (ollamaGenerate) DecodeResponse(a *Answer) (*modelio.Response, error) {
	return decodeAnswer(ollamaGenerateAPI, a, func() fold { return &ollamaFold{} }, func(body jsontext.Value) (*modelio.Response, error) {
		return ollamaAnswer(ollamaGenerateAPI, body)
	})
}
