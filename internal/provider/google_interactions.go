package provider

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Gemini's interactions API. Each step of the input becomes a message.
var _ = Register(&Codec{
	API:     "google.interactions",
	Seeded:  true,
	Match:   posts(has("input"), "/interactions"),
	body:    interactionsForm.decode,
	outside: sayVersion("v1beta"),
	answer:  needs("a status", with(jsontext.Value.IsWord, "status"), interactionsAnswer),
	stream:  foldRules{add: addInteraction, end: endsWith(arrayNode, "steps")},
})

var interactionsForm = requestForm{
	members: map[string]taker{
		"system_instruction": takeMessage(modelio.RoleSystem, plainText),
		"input":              takeSteps,
		"tools":              takeTools(responsesTool),
	},
	parameters: parametersOf("temperature", "top_p", "seed", "stop_sequences=stop", "max_output_tokens=max_tokens"),
	in:         "generation_config",
}

// takeSteps takes the input: a text, a content, a list of contents, or a list of steps.
func takeSteps(r *modelio.Request, name string, v jsontext.Value) bool {
	if takeInputText(r, name, v) {
		return true
	}
	m := modelio.Message{Role: modelio.RoleUser}
	contents, _ := allOf(v, func(v jsontext.Value) (modelio.Part, bool) { return interactionsContent(v), isContent(v) })
	switch {
	case isContent(v):
		m.Content = []modelio.Part{interactionsContent(v)}
		mark(&m.Metadata, "content")
	case len(contents) > 0:
		m.Content = contents
		mark(&m.Metadata, "contents")
	default:
		steps, ok := items(v, interactionsStep)
		r.Messages = append(r.Messages, steps...)
		return ok
	}
	r.Messages = append(r.Messages, m)
	return true
}

func isContent(v jsontext.Value) bool {
	return slices.Contains([]string{"text", "image", "audio", "video", "document"}, v.Member("type").Word())
}

// interactionsContent decodes a content. A content without what its kind needs becomes a custom part.
func interactionsContent(v jsontext.Value) modelio.Part {
	kind, data, uri := v.Member("type").Word(), v.Member("data"), v.Member("uri").Word()
	var part modelio.Part
	ok := false
	switch {
	case kind == "": // could not be distinguished from another that is no text
	case kind == "text":
		part, ok = textPart(v, "text", "type")
	case data.IsWord():
		part, ok = dataPart(v, "mime_type", "data", "type")
	case uri != "" && !strings.HasPrefix(uri, "data:"):
		part, ok = modelio.MediaPart(v.Member("mime_type").Word(), uri), true
		part.Metadata = v.Rest(append(wordsOf(v, "mime_type"), "type", "uri")...)
	}
	if part.Media != nil {
		keepType(&part.Metadata, kind, interactionsKind(part.Media.ContentType))
	}
	return partOf(v, part, ok)
}

// interactionsKind returns the usual type of content for media.
func interactionsKind(contentType string) string {
	switch major, _, _ := strings.Cut(contentType, "/"); major {
	case "image", "audio", "video":
		return major
	}
	return "document"
}

// interactionsStep decodes a step of an interaction. A step that is not a message, or that does not have the form of
// its kind, becomes a message with one custom part that has all of its members.
func interactionsStep(v jsontext.Value) modelio.Message {
	var m modelio.Message
	ok := false
	switch v.Member("type").Word() {
	case "user_input":
		m, ok = interactionsMessage(modelio.RoleUser, v)
	case "model_output":
		m, ok = interactionsMessage(modelio.RoleModel, v)
	case "thought":
		m, ok = interactionsThought(v)
	case "function_call":
		var part modelio.Part
		part, ok = callPart(v, "name", "id", "arguments", "type")
		m = modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{part}}
		ok = ok && v.Member("arguments").IsObject()
	case "function_result":
		m, ok = interactionsResult(v)
	}
	if ok {
		return m
	}
	m = modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{{Custom: v.Object()}}}
	mark(&m.Metadata, WireItem)
	return m
}

func interactionsMessage(role modelio.Role, v jsontext.Value) (modelio.Message, bool) {
	parts, ok := objects(v.Member("content"), interactionsContent)
	return modelio.Message{Role: role, Content: parts, Metadata: v.Rest("type", "content")}, ok
}

// interactionsThought decodes a thought. Most contain only a signature.
func interactionsThought(v jsontext.Value) (modelio.Message, bool) {
	m := modelio.Message{Role: modelio.RoleModel}
	if !v.Member("summary").Present() {
		m.Content = []modelio.Part{modelio.ReasoningPart("")}
	} else if v.Member("summary").IsEmpty() || !v.Member("summary").IsArray() {
		return m, false
	}
	for _, block := range v.Member("summary").Elements() {
		if !block.Member("text").IsWord() || block.Len() != 2 || block.Member("type").Word() != "text" {
			return m, false
		}
		m.Content = append(m.Content, modelio.ReasoningPart(block.Member("text").Word()))
	}
	m.Content[0].Metadata = v.Rest("type", "summary")
	return m, true
}

func interactionsResult(v jsontext.Value) (modelio.Message, bool) {
	result := &modelio.ToolResponse{Ref: v.Member("call_id").Word(), Name: v.Member("name").Word(),
		Output: v.Member("result").Raw()}
	part := modelio.Part{ToolResponse: result,
		Metadata: v.Rest(append(wordsOf(v, "name"), "type", "call_id", "result")...)}
	if result.Name == "" {
		mark(&part.Metadata, "nameless")
	}
	message := modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{part}}
	return message, result.Ref != "" && v.Member("result").Present()
}

// interactionsAnswer decodes an interaction. All of its steps are parts of one message.
func interactionsAnswer(body jsontext.Value) *modelio.Response {
	c := candidate(body.Member("status").Word())
	var cites citationFold
	for _, v := range body.Member("steps").Elements() {
		if v.Member("type").Word() == "user_input" {
			continue // a repetition of the request
		}
		step := interactionsStep(v)
		if rest := step.Metadata; rest != nil && !Marked(rest, WireItem) { // such as an error
			jsontext.Keep(&step.Content[0].Metadata, "step", jsontext.ObjectText(rest))
		}
		c.Message.Content = append(c.Message.Content, step.Content...)
		for _, content := range v.Member("content").Elements() {
			cites.interactions(content)
		}
	}
	c.Citations = cites.all
	return responseOf(body, interactionsUsage.of(body), []modelio.Candidate{c}, "steps", "status")
}

// addInteraction takes an event. The last one contains everything except the steps.
func addInteraction(f *fold, name string, event jsontext.Value) {
	step := func() *node { return f.body.member("steps").at(event.Member("index")) }
	switch event.Member("event_type").Word() {
	case "interaction.created":
		f.body.putAll(event.Member("interaction"))
	case "interaction.status_update":
		f.body.put("status", event.Member("status"))
	case "step.start":
		step().putAll(event.Member("step"))
	case "step.delta":
		growStep(step(), event.Member("delta"))
	case "interaction.completed":
		f.body.putAll(event.Member("interaction"))
		f.done = true
	}
}

func growStep(step *node, delta jsontext.Value) {
	switch delta.Member("type").Word() {
	case "text":
		lastText(step.member("content")).grow("text", delta.Member("text"))
	case "text_annotation_delta":
		lastText(step.member("content")).extend("annotations", delta.Member("annotations"))
	case "thought_summary":
		if content := delta.Member("content"); content.Member("text").IsString() {
			lastText(step.member("summary")).grow("text", content.Member("text"))
		} else if content.Present() {
			step.member("summary").append(content.Raw())
		}
	case "arguments_delta":
		step.growInner("arguments", delta.Member("arguments"))
	case "image", "audio", "video", "document":
		step.member("content").append(delta.Raw())
	default: // a signature, and content of calls and results of Google's own tools
		rules{"type": skip}.fold(step, delta)
	}
}

// lastText returns the text at the end of a list of contents, adding it if necessary.
func lastText(contents *node) *node {
	last := contents.last()
	if last == nil || last.is("type") != `"text"` {
		last = contents.add()
		last.member("type").set(jsontext.Text("text"))
	}
	return last
}
