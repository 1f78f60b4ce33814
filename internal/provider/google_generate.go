package provider

import (
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

const generateAPI = "google.generate"

var generateParameters = parameters{
	temperature:      "temperature",
	maxTokens:        "maxOutputTokens",
	topP:             "topP",
	frequencyPenalty: "frequencyPenalty",
	presencePenalty:  "presencePenalty",
	seed:             "seed",
	stop:             "stopSequences",
}

// Words that Metadata's $wire has in this API.
const (
	wireSnakeCase  = "snake_case"           // part: names like function_call, not functionCall
	wireRoleless   = "roleless"             // message: without a role
	wireJSONSchema = "parametersJsonSchema" // tool: the input schema is in that member
	wireTool       = "tool"                 // tool: not a function but an entry of the list, as Metadata has it
)

// googleGenerate is the generateContent and streamGenerateContent methods of the Gemini API and
// of Vertex AI. The model and whether the answer is streamed are in the URL.
type googleGenerate struct{}

func (googleGenerate) API() string      { return generateAPI }
func (googleGenerate) Provider() string { return "google" }
func (googleGenerate) Seeded() bool     { return true }

func (googleGenerate) Match(w *Wire) bool {
	return w.posts(func(body value) bool { return body.member("contents").present() }, ":generateContent", ":streamGenerateContent")
}

func (googleGenerate) Endpoint(req *Request) string {
	method := req.urlSegment("method")
	if method == "" {
		method = "generateContent"
	}
	kind, name, ok := strings.Cut(req.Model, "/")
	if !ok {
		kind, name = "models", req.Model
	}
	return req.endpoint("/v1beta/" + url.PathEscape(kind) + "/" + url.PathEscape(name) + ":" + method)
}

// generatePath returns the model and the method that a path ends in: the name of a model, or
// kind and name of what is used like one, such as tunedModels/mine.
func generatePath(path string) (model, method string) {
	resource, method, _ := cutLast(path, ":")
	rest, name, _ := cutLast(resource, "/")
	_, kind, _ := cutLast(rest, "/")
	if kind != "models" {
		name = kind + "/" + name
	}
	return name, method
}

// cutLast is strings.Cut around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}

func (googleGenerate) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(generateAPI)
	if err != nil {
		return nil, err
	}
	req := &Request{API: generateAPI, Messages: []modelio.Message{}, Options: modelio.Object{}}
	var system *modelio.Message
	for name, v := range body.members() {
		switch name {
		case "systemInstruction":
			if parts, ok := generateParts(v.member("parts")); ok {
				system = &modelio.Message{Role: modelio.RoleSystem, Content: parts, Metadata: v.rest("parts")}
				continue
			}
		case "contents":
			if messages, ok := generateMessages(v); ok {
				req.Messages = messages
				continue
			}
		case "tools":
			if tools, ok := generateTools(v); ok {
				req.Tools = tools
				continue
			}
		case "generationConfig":
			if generateParameters.decodeIn(req, name, v) {
				continue
			}
		}
		req.Options[name] = v.raw()
	}
	req.prepend(system)
	var method string
	req.Model, method = generatePath(w.URL.Path)
	if method == "generateContent" {
		method = ""
	}
	w.keepURL(req, map[string]string{"method": method})
	return req, nil
}

// generateTools decodes the list of tools: an entry with all functions, then others. It reports
// false for a list that groups them otherwise.
func generateTools(v value) ([]modelio.ToolDefinition, bool) {
	if !v.isArray() || v.isEmpty() {
		return nil, false
	}
	var tools []modelio.ToolDefinition
	for i, entry := range v.elements() {
		functions := entry.member("functionDeclarations")
		switch {
		case !entry.isObject():
			return nil, false
		case !functions.present():
			tool := modelio.ToolDefinition{Metadata: entry.object()}
			for name := range entry.members() {
				if tool.Name == "" || name < tool.Name {
					tool.Name = name
				}
			}
			mark(&tool.Metadata, wireTool)
			tools = append(tools, tool)
			continue
		case i > 0 || entry.length() != 1 || !functions.isArray() || functions.isEmpty():
			return nil, false
		}
		for _, function := range functions.elements() {
			if !function.member("name").isWord() {
				return nil, false
			}
			tools = append(tools, generateTool(function))
		}
	}
	return tools, true
}

func generateTool(v value) modelio.ToolDefinition {
	var tool modelio.ToolDefinition
	schema := "parameters"
	if !v.member(schema).present() && v.member(wireJSONSchema).present() {
		schema = wireJSONSchema
	}
	tool.Metadata = functionTool(&tool, v, schema)
	if output := v.member("response"); output.present() && !output.isNull() {
		tool.OutputSchema = output.raw()
		delete(tool.Metadata, "response")
		if len(tool.Metadata) == 0 {
			tool.Metadata = nil
		}
	}
	if schema == wireJSONSchema && tool.InputSchema != nil {
		mark(&tool.Metadata, wireJSONSchema)
	}
	return tool
}

// generateMessages decodes contents. It reports false for what is no list of objects.
func generateMessages(v value) ([]modelio.Message, bool) {
	if !v.isArray() {
		return nil, false
	}
	messages := make([]modelio.Message, 0, v.length())
	for _, content := range v.elements() {
		m, ok := generateMessage(content)
		if !ok {
			return nil, false
		}
		messages = append(messages, m)
	}
	return messages, true
}

// generateMessage decodes one content. A user's with nothing but function responses becomes a
// message of role tool.
func generateMessage(v value) (modelio.Message, bool) {
	m := modelio.Message{Role: modelio.RoleUser}
	if !v.isObject() {
		return m, false
	}
	for name, f := range v.members() {
		switch name {
		case "role":
			switch f.word() {
			case "user":
				continue
			case "model":
				m.Role = modelio.RoleModel
				continue
			}
		case "parts":
			if parts, ok := generateParts(f); ok {
				m.Content = parts
				continue
			}
		}
		keep(&m.Metadata, name, f.raw())
	}
	if !v.member("role").present() {
		mark(&m.Metadata, wireRoleless)
	}
	if m.Role == modelio.RoleUser && onlyResults(m.Content) {
		m.Role = modelio.RoleTool
	}
	return m, true
}

// generateParts decodes a list of parts that is not empty and holds objects only.
func generateParts(v value) ([]modelio.Part, bool) {
	var parts []modelio.Part
	for _, part := range v.elements() {
		if !part.isObject() {
			return nil, false
		}
		parts = append(parts, generatePart(part))
	}
	return parts, len(parts) > 0
}

// generateKinds are the members of which a part has one, and what they are called in it, in camel
// case and in snake case: both are taken.
var generateKinds = [2][]string{
	{"text", "inlineData", "fileData", "functionCall", "functionResponse", "mimeType", "fileUri"},
	{"text", "inline_data", "file_data", "function_call", "function_response", "mime_type", "file_uri"},
}

const (
	kindText = iota
	kindInlineData
	kindFileData
	kindFunctionCall
	kindFunctionResponse
	kinds        // how many there are
	nameMIMEType = kinds
	nameFileURI  = kinds + 1
)

// generatePart decodes a part. One of a kind that GK has none for, or that is not as its kind
// should be, becomes a custom part with all of its members.
func generatePart(v value) modelio.Part {
	var part modelio.Part
	found := 0
	for style, names := range generateKinds {
		for kind, name := range names[:kinds] {
			inner := v.member(name)
			if !inner.present() || style == 1 && kind == kindText {
				continue
			}
			found++
			if !generateKind(&part, v, inner, kind, names) {
				return modelio.Part{Custom: v.object()}
			}
			if style == 1 {
				mark(&part.Metadata, wireSnakeCase)
			}
		}
	}
	if found != 1 {
		return modelio.Part{Custom: v.object()}
	}
	return part
}

// generateKind takes the member inner of a part, which makes it one of its kind.
func generateKind(part *modelio.Part, v, inner value, kind int, names []string) bool {
	name, mimeType := names[kind], inner.member(names[nameMIMEType])
	part.Metadata = v.rest(name)
	taken := []string{"name", "id"}
	switch kind {
	case kindText:
		text, ok := inner.text()
		if string(v.member("thought").raw()) == "true" {
			part.Reasoning = &text
			part.Metadata = v.rest(name, "thought")
		} else {
			part.Text = &text
		}
		return ok
	case kindInlineData:
		data := inner.member("data").word()
		*part = modelio.Part{Media: &modelio.Media{ContentType: mimeType.word(), URL: dataURL(mimeType.word(), data)}, Metadata: part.Metadata}
		keepRest(&part.Metadata, name, inner, names[nameMIMEType], "data")
		return isContentType(mimeType.word()) && data != ""
	case kindFileData:
		uri := inner.member(names[nameFileURI]).word()
		part.Media = &modelio.Media{ContentType: mimeType.word(), URL: uri}
		taken = []string{names[nameFileURI]}
		if mimeType.isWord() {
			taken = append(taken, names[nameMIMEType])
		}
		keepRest(&part.Metadata, name, inner, taken...)
		return uri != "" && !strings.HasPrefix(uri, "data:")
	}
	ref, id := inner.member("id").word(), inner.member("name").word()
	if ref == "" {
		taken = []string{"name"}
	}
	if kind == kindFunctionCall {
		part.ToolRequest = &modelio.ToolRequest{Name: id, Ref: ref, Input: inner.member("args").raw()}
		taken = append(taken, "args")
	} else {
		part.ToolResponse = &modelio.ToolResponse{Name: id, Ref: ref, Output: inner.member("response").raw()}
		taken = append(taken, "response")
	}
	keepRest(&part.Metadata, name, inner, taken...)
	return id != ""
}
