package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ChatParameters = parametersOf(
	"temperature", "max_tokens", "top_p", "frequency_penalty",
	"presence_penalty", "seed", "stop",
)

// The chat completions API of OpenAI and of the many hosts that copy it.
var _ = Register(&Codec{
	API:    "openai.chat",
	Hosts:  []string{"api.openai.com"},
	Home:   "https://api.openai.com",
	Keys:   []string{"OPENAI_API_KEY"},
	Seeded: true,
	Fixed:  openAIFixed,
	Pieces: []string{"summary"}, // of reasoning_details
	Match: either(posts(hasList("messages"), "/chat/completions", "/agents/completions", "/openai"),
		both(posts(hasList("messages"), "/v1/chat"), sentTo("writer"))), // on one of Cohere's paths
	body:    chatForm.decode,
	outside: chatOutside,
	answer:  needs("choices", hasList("choices"), chatCompletion),
	stream:  chatStream,
})

var chatForm = requestForm{members: chatMembers, parameters: ChatParameters}

// chatMembers are members that other APIs share.
var chatMembers = map[string]taker{
	"messages": takeMessages(chatMessage, true),
	"tools":    takeTools(chatTool),
}

func chatOutside(w *Wire, req *modelio.Request) {
	alias(req, "max_completion_tokens", "max_tokens", &req.MaxTokens)
	alias(req, "random_seed", "seed", &req.Seed) // Mistral
	deployment(w, req)
}

// deployment keeps the deployment in an Azure path, /openai/deployments/<name>/…, which is the model if the body names
// none. A body with the same name keeps its model in Options.
func deployment(w *Wire, r *modelio.Request) {
	_, rest, _ := strings.Cut(w.URL.Path, "/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	if name == "" {
		return
	}
	w.say("deployment", name, "")
	if _, unfit := r.Options["model"]; r.Model == "" && !unfit {
		r.Model = name
	} else if r.Model == name {
		r.Options["model"] = jsontext.Text(name)
	}
}

// deployedOperation returns the function that keeps the last step of a path, if it is not the usual one, and the
// deployment.
func deployedOperation(usual string) outside { return also(sayOperation(usual), deployment) }

// chatTool decodes a function. Any other tool with a type, such as a host's own web search, is kept completely in its
// Metadata.
func chatTool(v jsontext.Value) (modelio.ToolDefinition, bool) {
	kind, function := v.Member("type").Word(), v.Member("function")
	if kind != "function" || !function.Member("name").IsWord() {
		name := cmp.Or(v.Member(kind, "name").Word(), v.Member("name").Word(), kind)
		return modelio.ToolDefinition{Name: name, Metadata: v.Object()}, v.Member("type").Present()
	}
	tool := modelio.ToolDefinition{Metadata: v.Rest("type", "function")}
	jsontext.KeepObject(&tool.Metadata, "function", functionTool(&tool, function, "parameters"))
	return tool, true
}

// functionTool takes name, description and schema of a tool from its members, and returns the other members, except for
// those that are taken elsewhere.
func functionTool(tool *modelio.ToolDefinition, v jsontext.Value, schemaName string, taken ...string) modelio.Object {
	var rest modelio.Object
	for name, m := range v.Members() {
		switch {
		case slices.Contains(taken, name):
		case name == "name":
			tool.Name = m.Word()
		case name == "description" && m.IsWord():
			tool.Description = m.Word()
		case name == schemaName && !m.IsNull():
			tool.InputSchema = m.Raw()
		default:
			jsontext.Keep(&rest, name, m.Raw())
		}
	}
	return rest
}

// chatRoles maps the wire's roles to ours (design R15).
var chatRoles = map[string]modelio.Role{
	"system":    modelio.RoleSystem,
	"developer": modelio.RoleSystem,
	"user":      modelio.RoleUser,
	"assistant": modelio.RoleModel,
	"model":     modelio.RoleModel,
	"tool":      modelio.RoleTool,
	"function":  modelio.RoleTool,
}

// chatRole takes the role of a message. An unknown role speaks to the model, so it becomes the user's. Metadata keeps a
// role with an unusual spelling.
func chatRole(m *modelio.Message, v jsontext.Value) {
	m.Role = cmp.Or(chatRoles[v.Word()], modelio.RoleUser)
	if v.Word() != WireRole(m.Role) {
		jsontext.Keep(&m.Metadata, "role", v.Raw())
	}
}

func WireRole(role modelio.Role) string {
	if role == modelio.RoleModel {
		return "assistant"
	}
	return string(role)
}
