package conformance_test

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// A wire is how a request of the specification is sent to one API.
type wire struct {
	api, url  string
	streamURL string   // empty: as url
	lacks     []string // words of needs in testdata/conformance
	body      func(req *modelio.GenerateRequest) object
	whole     object // what a request says that does not stream
	streamed  object // and one that does
	media     func(contentType, data string) fakeprovider.Reply
}

type object = map[string]any

var wires = []wire{
	{
		api: "openai.chat", url: "https://api.openai.com/v1/chat/completions", lacks: []string{"video", "output-media"},
		body: openAIChat, streamed: object{"stream": true},
	},
	{
		api: "openai.responses", url: "https://api.openai.com/v1/responses", lacks: []string{"video", "output-media"},
		body: openAIResponses, streamed: object{"stream": true},
	},
	{
		api: "anthropic.messages", url: "https://api.anthropic.com/v1/messages", lacks: []string{"constrained", "video", "output-media"},
		body: anthropic("model", "claude-haiku-4-5"), streamed: object{"stream": true},
	},
	{
		api: "vertex.anthropic", lacks: []string{"constrained", "video", "output-media"},
		url:       "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:rawPredict",
		streamURL: "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:streamRawPredict",
		body:      anthropic("anthropic_version", "vertex-2023-10-16"), streamed: object{"stream": true},
	},
	{
		api: "bedrock.invoke", lacks: []string{"constrained", "video", "output-media"},
		url:       "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1:0/invoke",
		streamURL: "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1:0/invoke-with-response-stream",
		body:      anthropic("anthropic_version", "bedrock-2023-05-31"),
	},
	{
		api: "bedrock.converse", lacks: []string{"constrained", "media-url", "output-media"},
		url:       "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
		streamURL: "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse-stream",
		body:      converse,
	},
	{
		api:       "google.generate",
		url:       "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
		streamURL: "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
		body:      google, media: googleMedia,
	},
	{
		api: "cohere.chat", url: "https://api.cohere.com/v2/chat", lacks: []string{"video", "output-media"},
		body: cohere, streamed: object{"stream": true},
	},
	{
		api: "ollama.chat", url: "http://localhost:11434/api/chat", lacks: []string{"media-url", "output-media"},
		body: ollama, whole: object{"stream": false},
	},
}

// each returns what f makes of a list.
func each[From, To any](list []From, f func(From) To) []To {
	made := make([]To, len(list))
	for i, v := range list {
		made[i] = f(v)
	}
	return made
}

// with returns the body of a request, which streams or not.
func (w wire) with(req *modelio.GenerateRequest, stream bool) object {
	body := w.body(req)
	more := w.whole
	if stream {
		more = w.streamed
	}
	maps.Copy(body, more)
	return body
}

// textOf returns the texts of a message.
func textOf(m modelio.Message) string {
	var text strings.Builder
	for _, p := range m.Content {
		if p.Text != nil {
			text.WriteString(*p.Text)
		}
	}
	return text.String()
}

// withoutSystem returns the texts of the system messages, and the other messages.
func withoutSystem(req *modelio.GenerateRequest) (system string, rest []modelio.Message) {
	for _, m := range req.Messages {
		if m.Role == modelio.RoleSystem {
			system += textOf(m)
		} else {
			rest = append(rest, m)
		}
	}
	return system, rest
}

// assistant is a role in the words of most providers.
func assistant(role modelio.Role) string {
	if role == modelio.RoleModel {
		return "assistant"
	}
	return string(role)
}

// base64Of returns the content of a data: URI; false: it is none.
func base64Of(m *modelio.Media) (string, bool) {
	_, data, ok := strings.Cut(m.URL, ";base64,")
	return data, ok && strings.HasPrefix(m.URL, "data:")
}

func hasMedia(m modelio.Message) bool {
	for _, p := range m.Content {
		if p.Media != nil {
			return true
		}
	}
	return false
}

func openAITools(tools []modelio.ToolDefinition) []object {
	return each(tools, func(tool modelio.ToolDefinition) object {
		return object{"type": "function", "function": object{"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}}
	})
}

// openAIMessages returns messages as OpenAI's chat has them, and Cohere's and Mistral's.
func openAIMessages(messages []modelio.Message) (all []object) {
	for _, m := range messages {
		said := object{"role": assistant(m.Role), "content": textOf(m)}
		if hasMedia(m) {
			said["content"] = each(m.Content, func(p modelio.Part) object {
				if p.Media != nil {
					return object{"type": "image_url", "image_url": object{"url": p.Media.URL}}
				}
				return object{"type": "text", "text": *p.Text}
			})
		}
		var calls []object
		for _, p := range m.Content {
			switch {
			case p.ToolRequest != nil:
				calls = append(calls, object{"id": p.ToolRequest.Ref, "type": "function",
					"function": object{"name": p.ToolRequest.Name, "arguments": string(p.ToolRequest.Input)}})
			case p.ToolResponse != nil:
				all = append(all, object{"role": "tool", "tool_call_id": p.ToolResponse.Ref, "content": string(p.ToolResponse.Output)})
			}
		}
		if calls != nil {
			said["tool_calls"] = calls
			delete(said, "content")
		}
		if m.Role != modelio.RoleTool {
			all = append(all, said)
		}
	}
	return all
}

func openAIChat(req *modelio.GenerateRequest) object {
	body := object{"model": "gpt-4o", "messages": openAIMessages(req.Messages)}
	if req.Tools != nil {
		body["tools"] = openAITools(req.Tools)
	}
	if o := req.Output; o != nil && o.Schema != nil {
		body["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "answer", "schema": o.Schema}}
	}
	return body
}

func openAIResponses(req *modelio.GenerateRequest) object {
	var input []object
	for _, m := range req.Messages {
		kind := "input_text"
		if m.Role == modelio.RoleModel {
			kind = "output_text"
		}
		var content []object
		for _, p := range m.Content {
			switch {
			case p.Text != nil:
				content = append(content, object{"type": kind, "text": *p.Text})
			case p.Media != nil:
				content = append(content, object{"type": "input_image", "image_url": p.Media.URL})
			case p.ToolRequest != nil:
				input = append(input, object{"type": "function_call", "call_id": p.ToolRequest.Ref, "name": p.ToolRequest.Name, "arguments": string(p.ToolRequest.Input)})
			case p.ToolResponse != nil:
				input = append(input, object{"type": "function_call_output", "call_id": p.ToolResponse.Ref, "output": string(p.ToolResponse.Output)})
			}
		}
		if content != nil {
			input = append(input, object{"role": assistant(m.Role), "content": content})
		}
	}
	body := object{"model": "gpt-4o", "input": input}
	if req.Tools != nil {
		body["tools"] = each(req.Tools, func(tool modelio.ToolDefinition) object {
			return object{"type": "function", "name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}
		})
	}
	if o := req.Output; o != nil && o.Schema != nil {
		body["text"] = object{"format": object{"type": "json_schema", "name": "answer", "schema": o.Schema}}
	}
	return body
}

func anthropic(member, value string) func(*modelio.GenerateRequest) object {
	return func(req *modelio.GenerateRequest) object {
		system, rest := withoutSystem(req)
		body := object{member: value, "max_tokens": 300, "messages": each(rest, func(m modelio.Message) object {
			role := assistant(m.Role)
			if m.Role == modelio.RoleTool {
				role = "user"
			}
			return object{"role": role, "content": each(m.Content, func(p modelio.Part) object {
				switch {
				case p.Media != nil:
					if data, ok := base64Of(p.Media); ok {
						return object{"type": "image", "source": object{"type": "base64", "media_type": p.Media.ContentType, "data": data}}
					}
					return object{"type": "image", "source": object{"type": "url", "url": p.Media.URL}}
				case p.ToolRequest != nil:
					return object{"type": "tool_use", "id": p.ToolRequest.Ref, "name": p.ToolRequest.Name, "input": p.ToolRequest.Input}
				case p.ToolResponse != nil:
					return object{"type": "tool_result", "tool_use_id": p.ToolResponse.Ref, "content": string(p.ToolResponse.Output)}
				}
				return object{"type": "text", "text": *p.Text}
			})}
		})}
		if system != "" {
			body["system"] = system
		}
		if req.Tools != nil {
			body["tools"] = each(req.Tools, func(tool modelio.ToolDefinition) object {
				return object{"name": tool.Name, "description": tool.Description, "input_schema": tool.InputSchema}
			})
		}
		return body
	}
}

func converse(req *modelio.GenerateRequest) object {
	system, rest := withoutSystem(req)
	body := object{"messages": each(rest, func(m modelio.Message) object {
		role := assistant(m.Role)
		if m.Role == modelio.RoleTool {
			role = "user"
		}
		return object{"role": role, "content": each(m.Content, func(p modelio.Part) object {
			switch {
			case p.Media != nil:
				data, _ := base64Of(p.Media)
				_, format, _ := strings.Cut(p.Media.ContentType, "/")
				return object{"image": object{"format": format, "source": object{"bytes": data}}}
			case p.ToolRequest != nil:
				return object{"toolUse": object{"toolUseId": p.ToolRequest.Ref, "name": p.ToolRequest.Name, "input": p.ToolRequest.Input}}
			case p.ToolResponse != nil:
				return object{"toolResult": object{"toolUseId": p.ToolResponse.Ref, "content": []object{{"json": p.ToolResponse.Output}}}}
			}
			return object{"text": *p.Text}
		})}
	})}
	if system != "" {
		body["system"] = []object{{"text": system}}
	}
	if req.Tools != nil {
		body["toolConfig"] = object{"tools": each(req.Tools, func(tool modelio.ToolDefinition) object {
			return object{"toolSpec": object{"name": tool.Name, "description": tool.Description, "inputSchema": object{"json": tool.InputSchema}}}
		})}
	}
	return body
}

func google(req *modelio.GenerateRequest) object {
	system, rest := withoutSystem(req)
	body := object{"contents": each(rest, func(m modelio.Message) object {
		role := string(m.Role)
		if m.Role == modelio.RoleTool {
			role = "user"
		}
		return object{"role": role, "parts": each(m.Content, func(p modelio.Part) object {
			switch {
			case p.Media != nil:
				if data, ok := base64Of(p.Media); ok {
					return object{"inlineData": object{"mimeType": p.Media.ContentType, "data": data}}
				}
				return object{"fileData": object{"mimeType": p.Media.ContentType, "fileUri": p.Media.URL}}
			case p.ToolRequest != nil:
				return object{"functionCall": object{"name": p.ToolRequest.Name, "args": p.ToolRequest.Input}}
			case p.ToolResponse != nil:
				return object{"functionResponse": object{"name": p.ToolResponse.Name, "response": p.ToolResponse.Output}}
			}
			return object{"text": *p.Text}
		})}
	})}
	if system != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": system}}}
	}
	if req.Tools != nil {
		body["tools"] = []object{{"functionDeclarations": each(req.Tools, func(tool modelio.ToolDefinition) object {
			return object{"name": tool.Name, "description": tool.Description, "parametersJsonSchema": tool.InputSchema}
		})}}
	}
	if o := req.Output; o != nil && o.Schema != nil {
		body["generationConfig"] = object{"responseMimeType": "application/json", "responseJsonSchema": o.Schema}
	}
	return body
}

func googleMedia(contentType, data string) fakeprovider.Reply {
	text, err := json.Marshal(object{"candidates": []object{{
		"index": 0, "finishReason": "STOP",
		"content": object{"role": "model", "parts": []object{{"inlineData": object{"mimeType": contentType, "data": data}}}},
	}}})
	if err != nil {
		panic(err) // unreachable: it is of texts
	}
	return fakeprovider.Bytes("application/json", string(text))
}

func cohere(req *modelio.GenerateRequest) object {
	body := object{"model": "command-a-vision-07-2025", "messages": openAIMessages(req.Messages)}
	if req.Tools != nil {
		body["tools"] = openAITools(req.Tools)
	}
	if o := req.Output; o != nil && o.Schema != nil {
		body["response_format"] = object{"type": "json_object", "json_schema": o.Schema}
	}
	return body
}

func ollama(req *modelio.GenerateRequest) object {
	var messages []object
	for _, m := range req.Messages {
		said := object{"role": assistant(m.Role), "content": textOf(m)}
		for _, p := range m.Content {
			switch {
			case p.Media != nil:
				data, _ := base64Of(p.Media)
				said["images"] = []string{data}
			case p.ToolRequest != nil:
				calls, _ := said["tool_calls"].([]object)
				said["tool_calls"] = append(calls, object{"function": object{"name": p.ToolRequest.Name, "arguments": p.ToolRequest.Input}})
			case p.ToolResponse != nil:
				messages = append(messages, object{"role": "tool", "tool_name": p.ToolResponse.Name, "content": string(p.ToolResponse.Output)})
			}
		}
		if m.Role != modelio.RoleTool {
			messages = append(messages, said)
		}
	}
	body := object{"model": "llama3.2-vision", "messages": messages}
	if req.Tools != nil {
		body["tools"] = openAITools(req.Tools)
	}
	if o := req.Output; o != nil && o.Schema != nil {
		body["format"] = o.Schema
	}
	return body
}
