package provider

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

const chatAPI = "openai.chat"

var chatParameters = parameters{
	temperature:      "temperature",
	maxTokens:        "max_tokens",
	topP:             "top_p",
	frequencyPenalty: "frequency_penalty",
	presencePenalty:  "presence_penalty",
	seed:             "seed",
	stop:             "stop",
}

// openAIChat is the chat completions API of OpenAI and of the many hosts that copy it.
type openAIChat struct{}

func (openAIChat) API() string      { return chatAPI }
func (openAIChat) Provider() string { return "openai" }
func (openAIChat) Seeded() bool     { return true }

func (openAIChat) Match(w *Wire) bool {
	return w.posts(func(body value) bool { return body.member("messages").isArray() }, "/chat/completions", "/agents/completions", "/openai")
}

func (openAIChat) Endpoint(req *Request) string {
	return req.deployed("/v1", "/chat/completions")
}

func (openAIChat) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(chatAPI)
	if err != nil {
		return nil, err
	}
	req := chatRequest(chatAPI, body, &chatParameters)
	req.alias(body, "max_completion_tokens", "max_tokens", &req.MaxTokens)
	req.alias(body, "random_seed", "seed", &req.Seed) // Mistral
	req.deployment(w)
	return req, nil
}

// deployment keeps the deployment of an Azure path, /openai/deployments/<name>/…, which is the
// model where the body names none. A body that names the same keeps its model in Options.
func (r *Request) deployment(w *Wire) {
	_, rest, ok := strings.Cut(w.URL.Path, "/deployments/")
	name, _, nested := strings.Cut(rest, "/")
	if !ok || !nested {
		name = ""
	}
	w.keepURL(r, map[string]string{"deployment": name})
	_, unfit := r.Options["model"]
	switch {
	case name == "":
	case r.Model == "" && !unfit:
		r.Model = name
	case r.Model == name:
		r.Options["model"] = jsonText(name)
	}
}

// deployed returns the endpoint at path: below a deployment where there is one, else below base.
func (r *Request) deployed(base, path string) string {
	if deployment := r.urlSegment("deployment"); deployment != "" {
		base = "/openai/deployments/" + url.PathEscape(deployment)
	}
	return r.endpoint(base + path)
}

func (openAIChat) EncodeRequest(req *Request) ([]byte, error) {
	if err := req.wantMessages(chatAPI); err != nil {
		return nil, err
	}
	body, err := chatBody(chatAPI, req, &chatParameters)
	if err != nil {
		return nil, err
	}
	req.withoutAlias(body, "max_completion_tokens", "max_tokens", req.MaxTokens)
	req.withoutAlias(body, "random_seed", "seed", req.Seed)
	if req.Model != "" && req.Model != req.urlSegment("deployment") {
		body["model"] = jsonText(req.Model)
	}
	overlay(body, req.options())
	return jsonObject(body), nil
}

// chatRequest decodes a request whose messages and tools are those of chat completions.
func chatRequest(api string, body value, p *parameters) *Request {
	req := &Request{API: api, Messages: []modelio.Message{}, Options: modelio.Object{}}
	for name, v := range body.members() {
		switch name {
		case "model":
			if v.isWord() {
				req.Model = v.word()
				continue
			}
		case "messages":
			if messages, ok := messageList(v, chatMessage); ok {
				req.Messages = messages
				continue
			}
		case "tools":
			if tools, ok := chatTools(v); ok {
				req.Tools = tools
				continue
			}
		default:
			if p.decode(req, name, v) {
				continue
			}
		}
		req.Options[name] = v.raw()
	}
	return req
}

// chatBody undoes chatRequest, but for the model and Options.
func chatBody(api string, req *Request, p *parameters) (modelio.Object, error) {
	body, err := p.encode(req)
	if err != nil {
		return nil, err
	}
	if req.Tools != nil {
		body["tools"] = encodeChatTools(req.Tools)
	}
	messages, err := encodeChatMessages(api, req.Messages)
	if err != nil {
		return nil, err
	}
	body["messages"] = messages
	return body, nil
}

// chatTools decodes the list of tools. It reports false for one that is no list of objects
// with a type.
func chatTools(v value) ([]modelio.ToolDefinition, bool) {
	if !v.isArray() {
		return nil, false
	}
	tools := []modelio.ToolDefinition{}
	for _, t := range v.elements() {
		if !t.member("type").present() {
			return nil, false
		}
		tools = append(tools, chatTool(t))
	}
	return tools, true
}

// chatTool decodes a function. Any other tool, such as a host's own web search, is kept whole in
// its Metadata.
func chatTool(v value) modelio.ToolDefinition {
	kind, function := v.member("type").word(), v.member("function")
	if kind != "function" || !function.member("name").isWord() {
		tool := modelio.ToolDefinition{Name: kind, Metadata: v.object()}
		for _, name := range []value{v.member("name"), v.member(kind, "name")} {
			if name.isWord() {
				tool.Name = name.word()
			}
		}
		return tool
	}
	tool := modelio.ToolDefinition{Metadata: v.rest("type", "function")}
	rest := functionTool(&tool, function, "parameters")
	if rest != nil {
		keep(&tool.Metadata, "function", jsonObject(rest))
	}
	return tool
}

// functionTool takes name, description and schema of a tool from its members, and returns the
// other members.
func functionTool(tool *modelio.ToolDefinition, v value, schemaName string) modelio.Object {
	var rest modelio.Object
	for name, m := range v.members() {
		switch {
		case name == "name":
			tool.Name = m.word()
		case name == "description" && m.isWord():
			tool.Description = m.word()
		case name == schemaName && !m.isNull():
			tool.InputSchema = m.raw()
		default:
			keep(&rest, name, m.raw())
		}
	}
	return rest
}

// encodeFunctionTool undoes functionTool.
func encodeFunctionTool(tool modelio.ToolDefinition, schemaName string) modelio.Object {
	o := modelio.Object{"name": jsonText(tool.Name)}
	if tool.Description != "" {
		o["description"] = jsonText(tool.Description)
	}
	if tool.InputSchema != nil {
		o[schemaName] = tool.InputSchema
	}
	return o
}

func encodeChatTools(tools []modelio.ToolDefinition) json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, tool := range tools {
		o := modelio.Object{}
		if _, whole := tool.Metadata["type"]; !whole {
			o["type"] = jsonText("function")
			o["function"] = jsonObject(encodeFunctionTool(tool, "parameters"))
		}
		overlay(o, tool.Metadata)
		list[i] = jsonObject(o)
	}
	return jsonList(list)
}

// chatRoles maps the wire's roles to ours (design R15). The first of each role is the one
// that is encoded; the others are kept as "role" in the message's Metadata.
var chatRoles = []struct {
	wire string
	role modelio.Role
}{
	{"system", modelio.RoleSystem},
	{"user", modelio.RoleUser},
	{"assistant", modelio.RoleModel},
	{"tool", modelio.RoleTool},
	{"developer", modelio.RoleSystem},
	{"function", modelio.RoleTool},
	{"model", modelio.RoleModel},
}

// chatRole takes the role of a message. One that is not known speaks to the model, so it is a user's.
func chatRole(m *modelio.Message, v value) {
	m.Role = modelio.RoleUser
	for _, r := range chatRoles {
		if r.wire == v.word() {
			m.Role = r.role
			break
		}
	}
	if v.word() != wireRole(m.Role) {
		keep(&m.Metadata, "role", v.raw())
	}
}

func wireRole(role modelio.Role) string {
	for _, r := range chatRoles {
		if r.role == role {
			return r.wire
		}
	}
	return string(role)
}

// wireFailure returns an error at one part of one message of a request that is to be encoded.
func wireFailure(api string, message, part int, reason string) error {
	pointer := "/messages/" + strconv.Itoa(message)
	if part >= 0 {
		pointer += "/content/" + strconv.Itoa(part)
	}
	return &WireError{API: api, Pointer: pointer, Reason: reason}
}
