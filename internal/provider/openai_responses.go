package provider

import (
	"cmp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ResponsesParameters = parametersOf("temperature", "max_output_tokens=max_tokens", "top_p")

// OpenAI's responses API. It has no seed. Each item of the input becomes a message.
var _ = Register(&Codec{
	API:     "openai.responses",
	Fixed:   openAIFixed,
	Pieces:  []string{"stderr", "stdout"}, // of shell calls
	Match:   posts(isResponsesBody, "/responses", "/responses/compact"),
	body:    responsesForm.decode,
	outside: sayOperation("responses"),
	answer:  responsesAnswer,
	stream:  responsesStream,
	looks:   isResponse,
	begins:  isOfType("response.created"),
})

func isResponse(body jsontext.Value) bool {
	return body.Member("output").IsArray() && body.Member("object").Word() == "response"
}

func isResponsesBody(body jsontext.Value) bool {
	return body.Member("input").Present() || body.Member("prompt").IsObject()
}

var responsesForm = requestForm{parameters: ResponsesParameters, members: map[string]taker{
	"instructions": takeMessage(modelio.RoleSystem, markedText(WireInstructions)),
	"input":        takeInput,
	"tools":        takeTools(responsesTool),
}}

// responsesTool decodes a tool with a type. A host's own tool is kept completely.
func responsesTool(v jsontext.Value) (tool modelio.ToolDefinition, ok bool) {
	kind, name := v.Member("type"), v.Member("name").Word()
	if kind.Word() != "function" || name == "" {
		return modelio.ToolDefinition{Name: cmp.Or(name, kind.Word()), Metadata: v.Object()}, kind.Present()
	}
	tool.Metadata = functionTool(&tool, v, "parameters", "type")
	return tool, true
}

var takeInputText = takeMessage(modelio.RoleUser, markedText(WireInput))

// takeInput takes the input: a text or a list of items.
func takeInput(r *modelio.Request, name string, v jsontext.Value) bool {
	if takeInputText(r, name, v) {
		return true
	}
	messages, ok := items(v, responsesItem)
	r.Messages = append(r.Messages, messages...)
	return ok
}

// responsesItem decodes an item of an input or output. An item that is not a message, or that does not have the form of
// its kind, becomes a message with one custom part that has all of its members.
func responsesItem(v jsontext.Value) modelio.Message {
	var m modelio.Message
	ok := false
	kind := v.Member("type").Word()
	switch {
	case kind == "message" || !v.Member("type").Present():
		m, ok = responsesMessage(v)
	case kind == "function_call" || kind == "custom_tool_call":
		m, ok = responsesCall(v)
	case kind == "function_call_output" || kind == "custom_tool_call_output":
		m, ok = responsesResult(v)
	case kind == "reasoning":
		m, ok = responsesReasoning(v)
	}
	if ok {
		return m
	}
	m = modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{{Custom: v.Object()}}}
	if strings.HasSuffix(kind, "_output") {
		m.Role = modelio.RoleTool
	}
	mark(&m.Metadata, WireItem)
	return m
}

func responsesMessage(v jsontext.Value) (modelio.Message, bool) {
	var m modelio.Message
	chatRole(&m, v.Member("role"))
	takeParts(&m, v, []partTaker{{"content", responsesMessageContent}})
	return m, v.Member("role").Present()
}

func responsesMessageContent(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	if text, ok := v.Text(); ok {
		return []modelio.Part{modelio.TextPart(text)}, true
	}
	parts, ok := responsesBlocks(v, m.Role)
	if IsPlainText(parts) {
		mark(&m.Metadata, WireArray)
	}
	return parts, ok
}

// responsesCall decodes a call of a function or of a custom tool.
func responsesCall(v jsontext.Value) (modelio.Message, bool) {
	call := &modelio.ToolRequest{Name: v.Member("name").Word(), Ref: v.Member("call_id").Word()}
	part := modelio.Part{ToolRequest: call}
	ok := call.Name != "" && call.Ref != ""
	if v.Member("type").Word() == "function_call" {
		part.Metadata = v.Rest("type", "name", "call_id", "arguments")
		ok = ok && setArguments(call, v.Member("arguments"), &part.Metadata)
	} else {
		part.Metadata = v.Rest("name", "call_id", "input")
		call.Input = v.Member("input").Raw()
		ok = ok && v.Member("input").IsString()
	}
	return modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{part}}, ok
}

// responsesResult decodes the result of a call.
func responsesResult(v jsontext.Value) (modelio.Message, bool) {
	result := &modelio.ToolResponse{Ref: v.Member("call_id").Word()}
	output := v.Member("output")
	ok := output.IsString()
	if ok {
		result.Output = output.Raw()
	} else {
		result.Content, ok = responsesBlocks(output, modelio.RoleTool)
	}
	part := modelio.Part{ToolResponse: result, Metadata: v.Rest("type", "call_id", "output")}
	keepType(&part.Metadata, v.Member("type").Word(), "function_call_output")
	return modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{part}}, ok && result.Ref != ""
}

// responsesReasoning decodes reasoning: its summaries, followed by its full text.
func responsesReasoning(v jsontext.Value) (modelio.Message, bool) {
	m := modelio.Message{Role: modelio.RoleModel, Metadata: v.Rest("summary")}
	if !v.Member("summary").IsArray() {
		return m, false
	}
	for _, list := range []struct{ name, kind string }{{"summary", "summary_text"}, {"content", "reasoning_text"}} {
		for _, block := range v.Member(list.name).Elements() {
			text, ok := block.Member("text").Text()
			if !ok || block.Len() != 2 || block.Member("type").Word() != list.kind {
				return m, false
			}
			part := modelio.ReasoningPart(text)
			if list.name == "content" {
				jsontext.Keep(&part.Metadata, "type", jsontext.Text(list.kind))
				delete(m.Metadata, "content")
			}
			m.Content = append(m.Content, part)
		}
	}
	return m, true
}

// responsesBlocks decodes a content list.
func responsesBlocks(v jsontext.Value, role modelio.Role) ([]modelio.Part, bool) {
	return objects(v, func(block jsontext.Value) modelio.Part { return responsesBlock(block, role) })
}

// responsesBlock decodes a block. A block that no part can represent, or that does not have the form of its kind,
// becomes a custom part with all of its members.
func responsesBlock(v jsontext.Value, role modelio.Role) modelio.Part {
	kind := v.Member("type").Word()
	name := responsesContent[kind]
	if kind == "input_file" && !v.Member(name).Present() {
		name = "file_url"
	}
	content := v.Member(name)
	part := modelio.Part{Metadata: v.Rest("type", name)}
	usual, ok := "", false
	switch kind {
	case "input_text", "output_text":
		part.Text, ok = textField(content)
		usual = ResponsesTextKind(role)
	case "refusal":
		part.Text, ok = textField(content)
	case "input_image", "input_file":
		part.Media = media(content.Word()).Media
		usual = ResponsesMediaKind(part.Media)
		isData := strings.HasPrefix(part.Media.URL, "data:")
		ok = content.IsWord() && (kind == "input_image" || isData == (name == "file_data"))
	}
	keepType(&part.Metadata, kind, usual)
	return partOf(v, part, ok)
}

// responsesContent maps the types of blocks to the member with their content.
var responsesContent = map[string]string{
	"input_text":  "text",
	"output_text": "text",
	"refusal":     "refusal",
	"input_image": "image_url",
	"input_file":  "file_data",
}

// ResponsesTextKind returns the type of a text block in a message with a role.
func ResponsesTextKind(role modelio.Role) string {
	if role == modelio.RoleModel {
		return "output_text"
	}
	return "input_text"
}

// ResponsesMediaKind returns the usual type of block for media of a content type.
func ResponsesMediaKind(m *modelio.Media) string {
	if m.ContentType == "" || strings.HasPrefix(m.ContentType, "image/") {
		return "input_image"
	}
	return "input_file"
}
