package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Version 1 of Cohere's chat API: the user's message next to the earlier ones, and tool calls without ids.
var _ = Register(&Codec{
	API:    "cohere.chat.v1",
	Seeded: true,
	Match:  posts(with(jsontext.Value.IsString, "message"), "/v1/chat"),
	body:   decodeCohereV1,
	answer: needs("a text", with(jsontext.Value.IsString, "text"), cohereV1Answer),
	stream: foldRules{add: addCohereV1, end: endsWith(textNode, "text")},
})

var cohereV1Form = requestForm{parameters: cohereParameters, members: map[string]taker{
	"preamble":     takeMessage(modelio.RoleSystem, markedText("preamble")),
	"chat_history": takeMessages(cohereV1Speakers.taking(cohereV1Parts...), false),
	"tools":        takeTools(cohereV1Tool),
}}

// decodeCohereV1 decodes a body. The preamble comes before the history, and the current message after it, followed by
// tool results.
func decodeCohereV1(body jsontext.Value) *modelio.Request {
	req := cohereV1Form.decode(body)
	if text, ok := body.Member("message").Text(); ok {
		delete(req.Options, "message")
		req.Messages = append(req.Messages, userText(text))
	}
	if results, ok := objects(body.Member("tool_results"), cohereV1Result); ok {
		delete(req.Options, "tool_results")
		m := modelio.Message{Role: modelio.RoleTool, Content: results}
		mark(&m.Metadata, "tool_results")
		req.Messages = append(req.Messages, m)
	}
	return req
}

var cohereV1Speakers = speakers{
	"SYSTEM": modelio.RoleSystem, "USER": modelio.RoleUser, "CHATBOT": modelio.RoleModel, "TOOL": modelio.RoleTool,
}

var cohereV1Parts = []partTaker{
	{"message", plainText},
	{"tool_calls", sayingAs(modelio.RoleModel, cohereV1Call)},
	{"tool_results", sayingAs(modelio.RoleTool, cohereV1Result)},
}

// sayingAs returns the function that takes a list of objects, which only messages of one role have.
func sayingAs(role modelio.Role, one func(jsontext.Value) modelio.Part) toParts {
	return func(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
		parts, ok := objects(v, one)
		return parts, ok && m.Role == role
	}
}

// cohereV1Call decodes a tool call.
func cohereV1Call(v jsontext.Value) modelio.Part {
	name, input := v.Member("name"), v.Member("parameters")
	part := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: name.Word()}, Metadata: v.Rest("name", "parameters")}
	if input.IsNull() { // it would be no input
		jsontext.Keep(&part.Metadata, "parameters", input.Raw())
	} else {
		part.ToolRequest.Input = input.Raw()
	}
	return partOf(v, part, name.IsWord())
}

// cohereV1Result decodes the result of a tool call, which repeats the complete call.
func cohereV1Result(v jsontext.Value) modelio.Part {
	name, outputs := v.Member("call", "name"), v.Member("outputs")
	part := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: name.Word(), Output: outputs.Raw()},
		Metadata: v.Rest("outputs")}
	jsontext.Keep(&part.Metadata, "call", jsontext.ObjectText(v.Member("call").Rest("name")))
	return partOf(v, part, name.IsWord() && outputs.Present())
}

// cohereV1Tool decodes a tool. Its parameters are not JSON Schema, so they are kept in the metadata.
func cohereV1Tool(v jsontext.Value) (tool modelio.ToolDefinition, ok bool) {
	tool.Metadata = functionTool(&tool, v, "")
	return tool, v.IsObject() && v.Member("name").IsWord()
}

func cohereV1Answer(body jsontext.Value) *modelio.Response {
	text := body.Member("text").Word()
	c := candidate(body.Member("finish_reason").Word(), modelio.TextPart(text))
	if calls, ok := objects(body.Member("tool_calls"), cohereV1Call); ok {
		c.Message.Content = append(c.Message.Content, calls...)
	}
	c.Citations = cohereV1Citations(body, text)
	// Its chat_history repeats the request and this answer.
	return cohereResponse(body, []modelio.Candidate{c}, "chat_history", "text", "tool_calls", "finish_reason")
}

// cohereResponse returns the members that answers of version 1 have under the same names.
func cohereResponse(body jsontext.Value, all []modelio.Candidate, taken ...string) *modelio.Response {
	resp := responseOf(body, nil, all, append(taken, "response_id", "meta", "error")...)
	resp.ID = firstWord(body, "response_id", "id")
	meta := body.Member("meta")
	if meta.Member("tokens").IsObject() || meta.Member("billed_units").IsObject() {
		resp.Usage = cohereUsage.decode(meta)
		delete(resp.Usage.Unknown, "api_version")
		delete(resp.Usage.Unknown, "warnings")
	}
	jsontext.KeepRest(&resp.Metadata, "meta", meta, "tokens", "billed_units", "cached_tokens")
	return resp
}

// addCohereV1 takes an event. The last one has the complete answer.
func addCohereV1(f *fold, _ string, event jsontext.Value) {
	switch event.Member("event_type").Word() {
	case "stream-start":
		f.body.put("generation_id", event.Member("generation_id"))
	case "text-generation":
		f.body.grow("text", event.Member("text"))
	case "citation-generation":
		f.body.extend("citations", event.Member("citations"))
	case "search-queries-generation":
		f.body.put("search_queries", event.Member("search_queries"))
	case "search-results":
		f.body.extend("search_results", event.Member("search_results"))
		f.body.extend("documents", event.Member("documents"))
	case "tool-calls-generation":
		f.body.put("tool_calls", event.Member("tool_calls"))
	case "stream-end":
		f.body.putAll(event.Member("response"))
		f.body.put("finish_reason", event.Member("finish_reason"))
		f.done = true
	}
}
