package provider

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The Model Context Protocol over streamable HTTP (revisions 2025-03-26 to 2026-07-28). A POST has one JSON-RPC
// message, whose answer is JSON or a stream of messages. A GET opens a stream of the server's own messages.
//
// The parameters of a method are in Options, under their own names: {"method":…,"params":…}. A tool call is a tool
// request, with the rest of its parameters in params. A client's answer to a server's request is in result; the content
// of a sampled message is a message. Batches, which later revisions dropped, are left to http.json.
var _ = Register(&Codec{
	API:      "mcp",
	Tools:    true,
	Match:    matchMCP,
	request:  decodeMCP,
	response: decodeMCPAnswer,
	Refusal:  refuseAsMCP,
	Session:  &mcpSession,
	Listens:  mcpListens,
})

const (
	mcpSessionHeader = "Mcp-Session-Id"
	mcpCallTool      = "tools/call"
	mcpListen        = "subscriptions/listen"
	mcpNotification  = "notifications/"
)

// mcpMethods are methods of the protocol that are recognized without a header, unlike those that other JSON-RPC servers
// may have.
var mcpMethods = []string{
	"completion/complete", "initialize", "logging/setLevel", "prompts/get", "prompts/list", "resources/list",
	"resources/read", "resources/subscribe", "resources/templates/list", "resources/unsubscribe", "server/discover",
	mcpListen, mcpCallTool, "tools/list",
}

// mcpMembers are the members of a JSON-RPC message (JSON-RPC 2.0 sections 4 and 5).
var mcpMembers = []string{"error", "id", "jsonrpc", "method", "params", "result"}

func matchMCP(w *Wire) bool {
	switch w.Method {
	case http.MethodGet:
		return hasMCPHeader(w) && strings.Contains(w.Header.Get("Accept"), "text/event-stream")
	case http.MethodDelete:
		return w.Header.Get(mcpSessionHeader) != ""
	case http.MethodPost:
	default:
		return false
	}
	body, _ := w.root()
	if body.Member("jsonrpc").Word() != "2.0" || body.Rest(mcpMembers...) != nil {
		return false
	}
	method := body.Member("method")
	switch {
	case hasMCPHeader(w):
		return method.IsWord() || isMCPAnswer(body)
	case method.Word() == "initialize":
		return body.Member("params", "protocolVersion").Present()
	}
	return slices.Contains(mcpMethods, method.Word()) || strings.HasPrefix(method.Word(), mcpNotification)
}

// hasMCPHeader reports whether a request has a header that only MCP uses.
func hasMCPHeader(w *Wire) bool {
	for name := range w.Header {
		if strings.HasPrefix(strings.ToLower(name), "mcp-") {
			return true
		}
	}
	return false
}

// isMCPAnswer reports whether a message answers a request.
func isMCPAnswer(message jsontext.Value) bool {
	return !message.Member("method").Present() && message.Member("id").Present() &&
		(message.Member("result").Present() || message.Member("error").Present())
}

// mcpPassing are members that, like the id, relate messages to each other, or to the trace of a run. A record keeps
// their presence, and not their values.
var mcpPassing = [][]string{
	{"params", "_meta", "progressToken"},
	{"params", "_meta", "traceparent"},
	{"params", "_meta", "tracestate"},
	{"params", "_meta", mcpSubscription},
	{"params", "progressToken"},
	{"params", "requestId"},
}

func decodeMCP(w *Wire) (*modelio.Request, error) {
	req := &modelio.Request{Messages: []modelio.Message{}, Options: modelio.Object{}}
	w.say("method", w.Method, http.MethodPost)
	w.say("path", cmp.Or(w.URL.EscapedPath(), "/"), "/mcp")
	if w.Method != http.MethodPost {
		if len(w.Body) > 0 {
			req.Options[markBody] = jsontext.ObjectText(opaqueBody(w))
		}
		return req, nil
	}
	body, err := w.body()
	if err != nil {
		return nil, err
	}
	for name, v := range body.Members() {
		switch {
		case name == "jsonrpc": // always the same
		case name == "id" && isID(v) && !isMCPNotification(body): // differs in each call
		case name == "params" && v.IsObject():
			takeMCPParams(req, body.Member("method").Word(), v)
		case name == "result" && isMCPAnswer(body):
			takeMCPResult(req, v)
		default:
			req.Options[name] = v.Raw()
		}
	}
	keepPresence(req.Options, mcpPassing)
	if !body.Member("id").Present() && !isMCPNotification(body) {
		req.Options[markWire] = jsontext.Text("notification")
	}
	return req, nil
}

func isMCPNotification(message jsontext.Value) bool {
	return strings.HasPrefix(message.Member("method").Word(), mcpNotification)
}

// takeMCPParams takes the parameters of a method. A tool call without a name keeps its parameters unchanged.
func takeMCPParams(req *modelio.Request, method string, params jsontext.Value) {
	rest := params.Rest()
	if method == mcpCallTool && params.Member("name").IsWord() {
		call := toolRequest(params, "name", "", "arguments")
		req.Model = call.Name
		req.Messages = []modelio.Message{{Role: modelio.RoleModel, Content: []modelio.Part{{ToolRequest: call}}}}
		rest = params.Rest("name", "arguments")
	}
	if len(rest) > 0 || len(req.Messages) == 0 {
		req.Options["params"] = jsontext.ObjectText(rest)
	}
}

// takeMCPResult takes a client's answer to a server. A sampled message is a message here too.
func takeMCPResult(req *modelio.Request, result jsontext.Value) {
	content := result.Member("content")
	role, ok := claudeSpeakers[result.Member("role").Word()]
	parts, fits := mcpContent(content)
	if !ok || !fits {
		req.Options["result"] = result.Raw()
		return
	}
	m := modelio.Message{Role: role, Content: parts}
	if content.IsArray() && len(parts) == 1 {
		mark(&m.Metadata, WireArray)
	}
	req.Messages = []modelio.Message{m}
	req.Options["result"] = jsontext.ObjectText(result.Rest("role", "content"))
}

// refuseAsMCP answers with a JSON-RPC error.
func refuseAsMCP(w *Wire, status int, text string) *Refusal {
	id := "null"
	if body, err := w.root(); err == nil && isID(body.Member("id")) {
		id = string(body.Member("id").Raw())
	}
	code := -32600 // invalid request
	if status >= http.StatusInternalServerError {
		code = -32603 // internal error
	}
	return refuse(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, jsontext.Text(text))
}
