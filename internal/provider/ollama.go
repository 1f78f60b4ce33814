package provider

import (
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ollamaParameters = parametersOf(
	"temperature", "num_predict=max_tokens", "top_p", "frequency_penalty",
	"presence_penalty", "seed", "stop",
)

// Ollama's own chat API.
var _ = Register(&Codec{
	API:     "ollama.chat",
	Hosts:   []string{"ollama.com"},
	Home:    "http://localhost:11434",
	Seeded:  true,
	Match:   posts(hasList("messages"), "/api/chat"),
	body:    ollamaChatForm.decode,
	Refusal: refuseAsOllama,
	answer:  ollamaAnswer,
	stream:  ollamaStream,
	looks:   isOllamas,
	begins:  func(_ string, e jsontext.Value) bool { return isOllamas(e) },
})

func isOllamas(v jsontext.Value) bool {
	return v.Member("done").Present() && (v.Member("message").IsObject() || v.Member("response").IsString())
}

var ollamaChatForm = requestForm{
	members: map[string]taker{
		"messages": takeMessages(ollamaMessage, true),
		"tools":    takeTools(chatTool),
	},
	parameters: ollamaParameters, in: "options",
}

var ollamaParts = []partTaker{
	{"thinking", ollamaThinking},
	{"content", plainText},
	{"images", ollamaImages},
	{"tool_calls", listOf(ollamaCall)},
}

func ollamaMessage(m *modelio.Message, v jsontext.Value) {
	if chatRole(m, v.Member("role")); m.Role == modelio.RoleTool {
		ollamaResult(m, v)
	} else {
		takeParts(m, v, ollamaParts)
	}
}

func ollamaThinking(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	return []modelio.Part{modelio.ReasoningPart(v.Word())}, v.IsWord()
}

// ollamaResult takes a message that is the result of a tool call.
func ollamaResult(m *modelio.Message, v jsontext.Value) {
	result := &modelio.ToolResponse{Name: v.Member("tool_name").Word()}
	taken := wordsOf(v, "tool_name")
	if content := v.Member("content"); content.IsString() {
		result.Output, taken = content.Raw(), append(taken, "content")
	}
	takeResult(m, v, result, taken...)
	if result.Name == "" {
		mark(&m.Content[0].Metadata, "nameless")
	}
}

// ollamaImages decodes images, which are base64 without a content type.
func ollamaImages(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	images, ok := v.Texts()
	var parts []modelio.Part
	for _, image := range images {
		contentType := sniff(image, imageBeginnings, "application/octet-stream")
		parts = append(parts, modelio.MediaPart(contentType, dataURL(contentType, image)))
	}
	return parts, ok && len(parts) > 0
}

// ollamaCall decodes a tool call, whose arguments are a value and not text.
func ollamaCall(v jsontext.Value) (modelio.Part, bool) {
	function := v.Member("function")
	call := toolRequest(function, "name", "", "arguments")
	call.Ref = v.Member("id").Word()
	part := modelio.Part{ToolRequest: call, Metadata: v.Rest(append(wordsOf(v, "id"), "function")...)}
	jsontext.KeepRest(&part.Metadata, "function", function, "name", "arguments")
	return part, call.Name != "" && call.Input != nil
}

// Ollama's API for a prompt.
var _ = Register(&Codec{
	API:      "ollama.generate",
	Seeded:   true,
	Prompted: true,
	Match:    posts(has("prompt"), "/api/generate"),
	body:     requestForm{prompt: "prompt", parameters: ollamaParameters, in: "options"}.decode,
	answer:   ollamaAnswer,
	stream:   ollamaStream,
})

var ollamaUsage = usageNames{
	input:  paths{"prompt_eval_count"},
	output: paths{"eval_count"},
}

func ollamaImage(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	return []modelio.Part{sniffed(v.Word())}, v.IsWord()
}

// ollamaAnswer decodes an answer of either API: for a chat it has a message, for a prompt a response.
func ollamaAnswer(body jsontext.Value) (*modelio.Response, error) {
	message, text := body.Member("message"), body.Member("response")
	if !message.IsObject() && !text.IsString() {
		return nil, neither("a message")
	}
	c := candidate(body.Member("done_reason").Word())
	taken := []string{"message", "done", "done_reason", "prompt_eval_count", "eval_count"}
	if message.IsObject() {
		ollamaMessage(&c.Message, message)
		delete(c.Message.Metadata, "role")
	} else {
		takeParts(&c.Message, body, []partTaker{
			{"thinking", ollamaThinking}, {"response", plainText}, {"image", ollamaImage}, {"tool_calls", listOf(ollamaCall)},
		})
		said := []string{"thinking", "response", "image", "tool_calls"}
		taken = append(taken, slices.DeleteFunc(said, func(name string) bool { return c.Message.Metadata[name] != nil })...)
		c.Message.Metadata = nil // the rest of the body
	}
	c.Message.Role = modelio.RoleModel
	for _, part := range c.Message.Content {
		if part.ToolRequest != nil {
			delete(part.Metadata, "function") // the call's index in the list
		}
	}
	usage := cmp.Or(ollamaUsage.among(body), chatUsage.of(body)) // the latter from a gateway
	return responseOf(body, usage, []modelio.Candidate{c}, taken...), nil
}

// ollamaStream folds streamed answers of the APIs.
var ollamaStream = foldRules{
	pieces: rules{
		"message":  into("message", rules{"role": (*node).first, "tool_calls": (*node).extend, "": (*node).grow}),
		"response": (*node).grow,
		"thinking": (*node).grow,

		"tool_calls": (*node).extend,
		"logprobs":   (*node).extend,
	},
	end: func(f *fold) { f.done = f.body.is("done") == "true" },
}
