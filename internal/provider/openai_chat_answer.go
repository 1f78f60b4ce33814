package provider

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// chatCompletion decodes a chat completion.
func chatCompletion(body jsontext.Value) *modelio.Response {
	resp := responseOf(body, cmp.Or(chatUsage.of(body), chatUsage.of(body.Member("x_groq"))), nil, "choices")
	for _, choice := range body.Member("choices").Elements() {
		c := chatChoice(choice)
		c.Citations = chatCitations(choice.Member("message"), texts.Join(c.Message.Content), body)
		resp.Candidates = append(resp.Candidates, c)
	}
	return resp
}

func chatChoice(choice jsontext.Value) modelio.Candidate {
	c := candidate(choice.Member("finish_reason").Word())
	c.Message = chatAnswer(choice.Member("message"))
	for name, v := range beside(choice, "index", "message", "delta", "text", "finish_reason") {
		if _, taken := c.Message.Metadata[name]; !taken {
			jsontext.Keep(&c.Message.Metadata, name, v)
		}
	}
	if slices.ContainsFunc(c.Message.Content, func(p modelio.Part) bool { return Marked(p.Metadata, WireRefusal) }) {
		c.FinishReason = modelio.FinishBlocked // its finish reason is only "stop"
	}
	return c
}

// chatAnswer decodes the message of an answer.
func chatAnswer(v jsontext.Value) modelio.Message {
	var m modelio.Message
	chatMessage(&m, v)
	m.Role = modelio.RoleModel
	delete(m.Metadata, "role")
	if said := v.Member("content"); said.IsObject() { // Cloudflare's answer for a schema
		delete(m.Metadata, "content")
		at := slices.IndexFunc(m.Content, func(part modelio.Part) bool { return part.ToolRequest != nil })
		if at < 0 {
			at = len(m.Content)
		}
		m.Content = slices.Insert(m.Content, at, modelio.TextPart(string(said.Raw())))
	}
	custom := func(v jsontext.Value) modelio.Part { return modelio.Part{Custom: v.Rest("index")} }
	m.Content = append(m.Content, partsOf(v.Member("executed_tools"), custom)...) // Groq's own
	for _, note := range v.Member("annotations").Elements() {
		if note.Member("file").IsObject() { // what OpenRouter read from a file
			m.Content = append(m.Content, modelio.Part{Custom: note.Object()})
		}
	}
	if m.Metadata["tool_calls"] != nil { // of an unknown kind
		m.Content = append(m.Content, partsOf(v.Member("tool_calls"), custom)...)
	}
	if audio := v.Member("audio"); audio.Member("data").IsWord() {
		data := audio.Member("data").Word()
		contentType := sniff(data, audioBeginnings, "audio/pcm") // it has no signature of its own
		part := modelio.MediaPart(contentType, dataURL(contentType, data))
		part.Metadata = only(audio, wordsOf(audio, "transcript")...)
		m.Content = append(m.Content, part)
		m.Metadata["audio"] = jsontext.ObjectText(audio.Rest("data", "transcript"))
	}
	for i := range m.Content {
		if call := m.Content[i].ToolRequest; call != nil {
			tidyCall(&m.Content[i])
		}
	}
	tidy(&m)
	return m
}

// tidyCall removes from a tool call in an answer its index in the list, and the spelling of arguments that the input
// represents.
func tidyCall(part *modelio.Part) {
	delete(part.Metadata, "index")
	if Marked(part.Metadata, WireFunctionCall) {
		delete(part.Metadata, "arguments")
	}
	if rest, ok := jsontext.MembersOf(part.Metadata["function"]); ok {
		delete(rest, "arguments")
		part.Metadata["function"] = jsontext.ObjectText(rest)
	}
}

// chatStream folds the chunks of chat completions, and of completions, whose choices have text in place of a message.
var chatStream = foldRules{end: endChat, pieces: rules{
	"choices": each(growChoice),
	"id":      (*node).first,
	"model":   (*node).first,
	"object":  skip,
	// padding
	"obfuscation": skip,
	"p":           skip,
}}

var (
	choicePieces = rules{
		"delta":    skip,
		"message":  skip,
		"text":     (*node).grow,
		"logprobs": into("logprobs", rules{"": (*node).extend}),
	}
	messagePieces = rules{
		"role":              (*node).first,
		"content":           growContent,
		"reasoning":         (*node).grow,
		"reasoning_content": (*node).grow,
		"refusal":           (*node).grow,
		"reasoning_details": growBlocks,
		"tool_calls":        growCalls,
		"function_call":     into("function_call", growing("name")),
		"audio":             into("audio", growing("id")),
		"executed_tools":    each(rules{}.fold),
		"":                  (*node).extend,
	}
	blockPieces = rules{
		"text":      (*node).grow,
		"summary":   (*node).grow,
		"data":      (*node).grow,
		"signature": (*node).grow,
		"thinking":  growThinking,
	}
	callPieces = rules{
		"index":    skip,
		"id":       (*node).first,
		"type":     (*node).first,
		"function": into("function", growing("name")),
		"custom":   into("custom", growing("name")),
	}
)

func growChoice(choice *node, piece jsontext.Value) {
	choicePieces.fold(choice, piece)
	delta := piece.Member("delta")
	if !delta.Present() { // some hosts send the message so far in addition to each delta
		delta = piece.Member("message")
	}
	messagePieces.fold(choice.member("message"), delta)
}

// growContent takes a piece of the content: a string, or blocks from Mistral.
func growContent(message *node, name string, v jsontext.Value) {
	content := message.get(name)
	blocks := content != nil && content.kind == arrayNode
	switch {
	case v.IsArray() && v.IsEmpty():
	case v.IsArray():
		if !blocks && content != nil && !saysNothing(content.json()) {
			said := content.json()
			content.clear()
			content.append(jsontext.ObjectText(modelio.Object{"type": jsontext.Text("text"), "text": said}))
		}
		growBlocks(message, name, v)
	case !blocks:
		message.grow(name, v)
	case v.IsWord():
		growBlocks(message, name, jsontext.ValueOf([]byte(`[{"type":"text","text":`+string(v.Raw())+`}]`)))
	}
}

// growBlocks takes pieces of a list of blocks.
func growBlocks(m *node, name string, v jsontext.Value) { growList(m, name, v, blockPieces) }

// growThinking takes pieces of a list of texts and references.
func growThinking(m *node, name string, v jsontext.Value) { growList(m, name, v, textPieces) }

var textPieces = rules{"text": (*node).grow}

// growList continues the last block of a list if the next one has the same type and index, and adds to it. Otherwise it
// starts a new one. A value that is not a list is a piece of a text.
func growList(object *node, name string, v jsontext.Value, pieces rules) {
	if !v.IsArray() {
		object.grow(name, v)
	}
	for _, piece := range v.Elements() {
		blocks := object.member(name)
		last := blocks.last()
		if !continuesBlock(last, piece) {
			last = blocks.add()
		}
		pieces.fold(last, piece)
	}
}

func continuesBlock(last *node, piece jsontext.Value) bool {
	kind, index := piece.Member("type").Raw(), piece.Member("index").Raw()
	adds := index != nil || only(piece, "data", "signature", "summary", "text", "thinking") != nil
	return last != nil && kind != nil && last.is("type") == string(kind) && last.is("index") == string(index) && adds
}

// growCalls takes pieces of tool calls.
func growCalls(message *node, name string, v jsontext.Value) {
	for _, piece := range v.Elements() {
		callPieces.fold(callAt(message.member(name), piece), piece)
	}
}

// callAt returns the tool call with the index of the next piece or, if that has none, with its id. A piece with another
// id than the call with its index starts a new one, because some hosts give all calls index 0.
func callAt(calls *node, piece jsontext.Value) *node {
	index, id := piece.Member("index"), piece.Member("id")
	call, key := calls.last(), ""
	switch {
	case index.Present() && !index.IsNull():
		key = string(index.Raw())
		call = calls.keyed[key]
	case id.IsWord() && call.is("id") != string(id.Raw()):
		key = string(id.Raw())
		call = calls.keyed[key]
	}
	if known := call.is("id"); id.IsWord() && known != string(id.Raw()) && known != "" && known != `""` {
		call = nil
	}
	if call == nil {
		call = calls.add()
		calls.key(key, call)
	}
	return call
}

func endChat(f *fold) {
	choices := f.body.member("choices")
	choices.become(arrayNode)
	f.done = len(choices.items) > 0
	for _, choice := range choices.items {
		reason := choice.is("finish_reason")
		f.done = f.done && reason != "" && !saysNothing(json.RawMessage(reason))
		for _, call := range choice.get("message").get("tool_calls").list() {
			if function := call.get("function"); function != nil && function.get("arguments") == nil {
				function.member("arguments").set(jsontext.Text(""))
			}
		}
	}
}
