package provider

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The InvokeAgent and InvokeInlineAgent operations of Bedrock's agents. The agent and the session are in the URL. The
// model's sampling cannot be set.
var _ = Register(&Codec{
	API:   "bedrock.agent",
	Fixed: noSetting,
	InURL: true,
	Match: both(func(w *Wire) bool { return agentPath.MatchString(w.URL.EscapedPath()) },
		// paths of inline agents are short
		either(posts(jsontext.Value.IsObject, "/text"), posts(has("foundationModel"), ""))),
	body:    decodeAgentRequest,
	outside: agentOutside,
	answer:  agentAnswer,
	stream:  foldRules{add: addAgent},
})

var agentPath = regexp.MustCompile(`^/agents/([^/]+)(?:/agentAliases/([^/]+)/sessions/([^/]+)/text)?$`)

// agentOutside keeps the agent in a path as the model. The body of an inline agent contains the model.
func agentOutside(w *Wire, req *modelio.Request) {
	found := agentPath.FindStringSubmatch(w.URL.EscapedPath())
	for i := range found {
		found[i], _ = url.PathUnescape(found[i]) // parsed before
	}
	agent, alias, session := found[1], found[2], found[3]
	if alias == "" {
		w.say("session", agent, "")
		return
	}
	modelOfPath(req, agent)
	w.say("alias", alias, "")
	w.say("session", session, "")
}

var agentForm = requestForm{members: map[string]taker{
	"foundationModel": takeModel,
	"instruction":     takeMessage(modelio.RoleSystem, plainText),
	"inputText":       takeMessage(modelio.RoleUser, plainText),
}}

// decodeAgentRequest decodes a body: the user's text, and the results of calls that the caller was asked to make.
func decodeAgentRequest(body jsontext.Value) *modelio.Request {
	req := agentForm.decode(body)
	state := body.Member("sessionState")
	ref := state.Member("invocationId")
	results, ok := objects(state.Member("returnControlInvocationResults"), func(v jsontext.Value) modelio.Part {
		return agentResult(v, ref.Word())
	})
	if ok && (ref.IsWord() || !ref.Present()) {
		delete(req.Options, "sessionState")
		jsontext.KeepRest(&req.Options, "sessionState", state, "invocationId", "returnControlInvocationResults")
		req.Messages = append(req.Messages, modelio.Message{Role: modelio.RoleTool, Content: results})
	}
	return req
}

// agentResult decodes the result of a call. All calls of a turn share one id.
func agentResult(v jsontext.Value, ref string) modelio.Part {
	result := v.Member("functionResult")
	name, output := result.Member("function"), result.Member("responseBody")
	if v.Len() != 1 || !name.IsWord() || !output.Present() {
		of := &modelio.ToolResponse{Name: v.Member("apiResult", "apiPath").Word(), Ref: ref, Output: v.Raw()}
		return modelio.Part{ToolResponse: of, Metadata: modelio.Object{markWire: jsontext.Text(WireItem)}}
	}
	part := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: name.Word(), Ref: ref, Output: output.Raw()}}
	jsontext.KeepRest(&part.Metadata, "functionResult", result, "function", "responseBody")
	return part
}

// addAgent takes an event. None is marked as the last; each piece of the text is encoded in base64 separately.
func addAgent(f *fold, name string, event jsontext.Value) {
	switch name {
	case "chunk":
		if bytes := event.Member("bytes"); bytes.Present() {
			f.body.member("chunks").append(bytes.Raw())
		}
		f.body.extend("citations", event.Member("attribution", "citations"))
	case "trace":
		f.body.member("traces").append(event.Raw())
		return
	case "files":
		f.body.extend("files", event.Member("files"))
	case "returnControl":
		f.body.putAll(event)
	}
	f.done = true
}

// agentAnswer decodes the content of a stream: a text, files, and calls that the caller must make. The agent's own
// steps, from traces, go to Metadata.
func agentAnswer(body jsontext.Value) (*modelio.Response, error) {
	if !has("chunks", "traces", "files", "invocationInputs")(body) {
		return nil, neither("a chunk")
	}
	var text []byte
	for _, chunk := range body.Member("chunks").Elements() {
		bytes, err := base64.StdEncoding.DecodeString(chunk.Word())
		if err != nil {
			return nil, &WireError{Reason: "a chunk is no base64"}
		}
		text = append(text, bytes...)
	}
	if !utf8.Valid(text) {
		return nil, &WireError{Reason: "the text of the chunks is not UTF-8"}
	}
	parts := []modelio.Part{modelio.TextPart(string(text))}
	parts = append(parts, partsOf(body.Member("files"), agentFile)...)
	for _, input := range body.Member("invocationInputs").Elements() {
		parts = append(parts, agentCall(input, body.Member("invocationId").Word()))
	}
	all := candidateOf(parts...)
	all[0].Citations = agentCitations(body.Member("citations"), string(text))
	usage := agentUsage(body.Member("traces"))
	return responseOf(body, usage, all, "chunks", "files", "invocationInputs", "invocationId"), nil
}

func agentFile(v jsontext.Value) modelio.Part {
	part, ok := dataPart(v, "type", "bytes")
	if !ok || !v.Member("bytes").IsWord() {
		return modelio.Part{Custom: modelio.Object{"file": v.Raw()}}
	}
	return part
}

// agentCall decodes a call that the caller must make: of a function, or of an HTTP API by its path.
func agentCall(v jsontext.Value, ref string) modelio.Part {
	for _, of := range [][2]string{{"functionInvocationInput", "function"}, {"apiInvocationInput", "apiPath"}} {
		kind, name := of[0], of[1]
		call := v.Member(kind)
		if !call.Member(name).IsWord() || v.Len() != 1 {
			continue
		}
		part := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: call.Member(name).Word(), Ref: ref}}
		part.ToolRequest.Input = jsontext.ObjectText(only(call, "parameters", "requestBody"))
		jsontext.KeepRest(&part.Metadata, kind, call, name, "parameters", "requestBody")
		return part
	}
	return modelio.Part{Custom: modelio.Object{"invocationInput": v.Raw()}}
}

// agentUsage returns the total usage of the models that an agent called, as far as traces report it, or nil.
func agentUsage(traces jsontext.Value) *modelio.Usage {
	var sum node
	for _, trace := range traces.Elements() {
		for _, kind := range trace.Member("trace").Members() { // orchestrationTrace, preProcessingTrace, …
			addCounts(&sum, kind.Member("modelInvocationOutput", "metadata", "usage"))
		}
	}
	return agentCounts.among(jsontext.ValueOf(sum.json()))
}

var agentCounts = usageNames{input: paths{"inputTokens"}, output: paths{"outputTokens"}}
