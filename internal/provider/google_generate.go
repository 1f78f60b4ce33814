package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// GenerateParameters are Gemini's parameters. GK uses the same names.
var GenerateParameters = parametersOf(
	"temperature", "maxOutputTokens=max_tokens", "topP=top_p", "frequencyPenalty=frequency_penalty",
	"presencePenalty=presence_penalty", "seed", "stopSequences=stop",
)

// wireJSONSchema is the alternative member for a tool's input schema, and the word of $wire for it.
const wireJSONSchema = "parametersJsonSchema"

// The generateContent and streamGenerateContent methods of the Gemini API and of Vertex AI. The URL contains the model,
// and whether the answer is streamed.
var _ = Register(&Codec{
	API:     "google.generate",
	Hosts:   []string{"generativelanguage.googleapis.com"},
	Home:    "https://generativelanguage.googleapis.com",
	Keys:    []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	OneKey:  true,
	Seeded:  true,
	Match:   posts(has("contents"), ":generateContent", ":streamGenerateContent"),
	body:    generateForm.decode,
	outside: methodOf("generateContent"),
	Refusal: refuseAsGoogle,
	answer:  generateAnswer,
	stream:  generateStream,
	looks:   isGenerateAnswer,
	begins:  func(_ string, e jsontext.Value) bool { return e.Member("candidates").IsArray() },
})

func isGenerateAnswer(body jsontext.Value) bool {
	return body.Member("candidates").Head().Member("content").IsObject()
}

// generatePath returns the model and the method at the end of a path. A resource that is used like a model has its kind
// in the name, such as tunedModels/mine.
func generatePath(path string) (model, method string) {
	resource, method, _ := cutLast(path, ":")
	rest, name, _ := cutLast(resource, "/")
	_, kind, _ := cutLast(rest, "/")
	if kind != "models" {
		name = kind + "/" + name
	}
	return name, method
}

// methodOf returns the function that takes the model from a path, and its method if that is not the usual one.
func methodOf(usual string) outside {
	return func(w *Wire, req *modelio.Request) {
		model, method := generatePath(w.URL.Path)
		modelOfPath(req, model)
		w.say("method", method, usual)
	}
}

var generateForm = contentsForm(takeContents)

// contentsForm returns the form of a body whose contents one takes.
func contentsForm(one taker) requestForm {
	return requestForm{
		members: map[string]taker{
			"systemInstruction": takeMessage(modelio.RoleSystem, generateSystem),
			"contents":          one,
			"tools":             takeGenerateTools,
		},
		parameters: GenerateParameters, in: "generationConfig",
	}
}

// anyContents is for APIs that also accept a body without contents, which differs from one with an empty list.
var anyContents = contentsForm(func(r *modelio.Request, name string, v jsontext.Value) bool {
	return !v.IsEmpty() && takeContents(r, name, v)
})

func generateSystem(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	m.Metadata = v.Rest("parts")
	return generateParts(v.Member("parts"))
}

// takeGenerateTools takes the list of tools: an entry with all functions, then others. A list with other groups does
// not fit.
func takeGenerateTools(r *modelio.Request, _ string, v jsontext.Value) bool {
	entries, ok := objects(v, func(entry jsontext.Value) jsontext.Value { return entry })
	var tools []modelio.ToolDefinition
	for i, entry := range entries {
		functions := entry.Member("functionDeclarations")
		if !functions.Present() {
			tools = append(tools, wholeTool(entry))
			continue
		}
		declared, _ := allOf(functions, generateTool)
		if len(declared) == 0 || i > 0 || entry.Len() != 1 {
			return false
		}
		tools = append(tools, declared...)
	}
	if ok {
		r.Tools = tools
	}
	return ok
}

func generateTool(v jsontext.Value) (modelio.ToolDefinition, bool) {
	var tool modelio.ToolDefinition
	schema := "parameters"
	if v.Member(wireJSONSchema).Present() {
		schema = wireJSONSchema
	}
	var taken []string
	if output := v.Member("response"); output.Present() && !output.IsNull() {
		tool.OutputSchema, taken = output.Raw(), []string{"response"}
	}
	tool.Metadata = functionTool(&tool, v, schema, taken...)
	if schema == wireJSONSchema {
		mark(&tool.Metadata, wireJSONSchema)
	}
	return tool, tool.Name != ""
}

// takeContents takes a list of objects.
func takeContents(r *modelio.Request, _ string, v jsontext.Value) bool {
	messages, ok := objects(v, generateMessage)
	if ok = ok || v.IsArray() && v.IsEmpty(); ok {
		r.Messages = append(r.Messages, messages...)
	}
	return ok
}

var generateSpeakers = speakers{"user": modelio.RoleUser, "model": modelio.RoleModel}

var generateContent = []partTaker{{"parts", blocksOf(generatePart)}}

// generateMessage decodes one content.
func generateMessage(v jsontext.Value) (m modelio.Message) {
	generateSpeakers.take(&m, v, generateContent)
	if !v.Member("role").Present() {
		mark(&m.Metadata, "roleless")
	}
	return m
}

func generateParts(v jsontext.Value) ([]modelio.Part, bool) { return objects(v, generatePart) }

// snakeCase maps names of members of a part to the alternative spelling that the API accepts.
var snakeCase = map[string]string{
	"inlineData": "inline_data", "fileData": "file_data", "mimeType": "mime_type", "fileUri": "file_uri",
	"functionCall": "function_call", "functionResponse": "function_response",
}

// generatePart decodes a part. A part that GK cannot represent, or that does not have the form of its kind, becomes a
// custom part with all of its members.
func generatePart(v jsontext.Value) modelio.Part {
	names := func(name string) string { return name }
	snake := only(v, "inline_data", "file_data", "function_call", "function_response") != nil
	if snake {
		names = func(name string) string { return snakeCase[name] }
	}
	part, ok := generatePartBy(names, v)
	if snake {
		mark(&part.Metadata, "snake_case")
	}
	return partOf(v, part, ok)
}

// generatePartBy decodes a part, which has one member named after its kind.
func generatePartBy(spelled func(string) string, v jsontext.Value) (modelio.Part, bool) {
	var part modelio.Part
	found, fits := 0, true
	for name, m := range v.Members() {
		ok := true
		switch name {
		case "text":
			part.Text, ok = textField(m)
		case spelled("inlineData"):
			contentType, data := m.Member(spelled("mimeType")).Word(), m.Member("data").Word()
			ok = isContentType(contentType) && data != ""
			part.Media = &modelio.Media{ContentType: contentType, URL: dataURL(contentType, data)}
			jsontext.KeepRest(&part.Metadata, name, m, spelled("mimeType"), "data")
		case spelled("fileData"):
			contentType, uri := m.Member(spelled("mimeType")), m.Member(spelled("fileUri"))
			part.Media = &modelio.Media{ContentType: contentType.Word(), URL: uri.Word()}
			ok = part.Media.URL != "" && !strings.HasPrefix(part.Media.URL, "data:")
			jsontext.KeepRest(&part.Metadata, name, m, wordsOf(m, spelled("mimeType"), spelled("fileUri"))...)
		case spelled("functionCall"):
			part.ToolRequest = toolRequest(m, "name", "id", "args")
			ok = part.ToolRequest.Name != ""
			jsontext.KeepRest(&part.Metadata, name, m, append(wordsOf(m, "id"), "name", "args")...)
		case spelled("functionResponse"):
			part.ToolResponse = &modelio.ToolResponse{Name: m.Member("name").Word(), Ref: m.Member("id").Word()}
			part.ToolResponse.Output = m.Member("response").Raw()
			ok = part.ToolResponse.Name != ""
			jsontext.KeepRest(&part.Metadata, name, m, append(wordsOf(m, "id"), "name", "response")...)
		default:
			jsontext.Keep(&part.Metadata, name, m.Raw())
			continue
		}
		found, fits = found+1, fits && ok
	}
	if thought := part.Metadata["thought"]; part.Text != nil && string(thought) == "true" {
		part.Reasoning, part.Text = part.Text, nil
		delete(part.Metadata, "thought")
	}
	if len(part.Metadata) == 0 {
		part.Metadata = nil
	}
	return part, fits && found == 1
}
