package provider

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// chatCompletion decodes a chat completion.
func chatCompletion(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("choices").IsArray() {
		return nil, neither("choices")
	}
	resp := &modelio.Response{
		ID:       body.Member("id").Word(),
		Model:    body.Member("model").Word(),
		Usage:    chatUsage.decode(body.Member("usage")),
		Metadata: beside(body, "id", "model", "usage", "choices", "object"),
	}
	if resp.Usage == nil {
		resp.Usage = chatUsage.decode(body.Member("x_groq", "usage"))
	}
	for _, choice := range body.Member("choices").Elements() {
		resp.Candidates = append(resp.Candidates, chatChoice(choice))
	}
	return resp, nil
}

func chatChoice(choice jsontext.Value) modelio.Candidate {
	c := candidate(choice.Member("finish_reason").Word())
	c.Message = chatAnswer(choice.Member("message"))
	for name, v := range beside(choice, "index", "message", "delta", "text", "finish_reason") {
		if _, taken := c.Message.Metadata[name]; !taken {
			jsontext.Keep(&c.Message.Metadata, name, v)
		}
	}
	for _, part := range c.Message.Content {
		if marked(part.Metadata, wireRefusal) {
			c.FinishReason = modelio.FinishBlocked // the word for it is plain "stop"
		}
	}
	return c
}

// chatAnswer decodes the message of an answer.
func chatAnswer(v jsontext.Value) modelio.Message {
	m := chatMessage(v)
	m.Role = modelio.RoleModel
	delete(m.Metadata, "role")
	if said := v.Member("content"); said.IsObject() && !said.IsEmpty() { // what Cloudflare answers to a schema
		delete(m.Metadata, "content")
		at := slices.IndexFunc(m.Content, func(part modelio.Part) bool { return part.ToolRequest != nil })
		if at < 0 {
			at = len(m.Content)
		}
		m.Content = slices.Insert(m.Content, at, modelio.TextPart(string(said.Raw())))
	}
	if audio := v.Member("audio"); audio.Member("data").IsWord() {
		data := audio.Member("data").Word()
		contentType := sniffAudio(data)
		part := modelio.MediaPart(contentType, dataURL(contentType, data))
		if transcript := audio.Member("transcript"); transcript.IsWord() {
			jsontext.Keep(&part.Metadata, "transcript", transcript.Raw())
		}
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

// tidyCall drops from a tool call of an answer its place in the list, and the spelling of
// arguments that the input says.
func tidyCall(part *modelio.Part) {
	delete(part.Metadata, "index")
	if marked(part.Metadata, wireFunctionCall) {
		delete(part.Metadata, "arguments")
	}
	rest, ok := jsontext.MembersOf(part.Metadata["function"])
	if !ok {
		return
	}
	delete(rest, "arguments")
	delete(part.Metadata, "function")
	if len(rest) > 0 {
		part.Metadata["function"] = jsontext.ObjectText(rest)
	}
}

// chatFold makes a chat completion of its chunks.
type chatFold struct {
	top     growing
	choices sequence[chatGrowing]
}

// chatGrowing is one choice of a completion that is under way.
type chatGrowing struct {
	choice   growing // but for what follows
	logprobs growing
	message  growing    // but for what follows
	blocks   []*growing // of a content that comes as a list
	details  []*growing // reasoning_details
	calls    []*chatCall
	call     *growing // function_call
	audio    *growing
}

// chatCall is one tool call that is under way.
type chatCall struct {
	index            jsontext.Value
	call             growing
	function, custom *growing
}

func (f *chatFold) add(_ string, chunk jsontext.Value) error {
	for name, v := range chunk.Members() {
		switch name {
		case "choices":
			for _, choice := range v.Elements() {
				f.choices.at(choice.Member("index")).add(choice)
			}
		case "id", "model":
			f.top.first(name, v)
		case "object", "obfuscation", "p": // framing, and padding
		default:
			f.top.put(name, v)
		}
	}
	return nil
}

func (c *chatGrowing) add(choice jsontext.Value) {
	for name, v := range choice.Members() {
		switch name {
		case "index", "text": // text repeats the delta
		case "delta":
			c.delta(v)
		case "message": // some hosts send the message so far beside each delta
			if !choice.Member("delta").Present() {
				c.delta(v)
			}
		case "logprobs":
			for name, tokens := range v.Members() {
				c.logprobs.extend(name, tokens)
			}
		default:
			c.choice.put(name, v)
		}
	}
}

func (c *chatGrowing) delta(delta jsontext.Value) {
	for name, v := range delta.Members() {
		switch name {
		case "role":
			c.message.first(name, v)
		case "content":
			c.content(v)
		case "reasoning", "reasoning_content", "refusal":
			c.message.grow(name, v)
		case "reasoning_details":
			for _, detail := range v.Elements() {
				c.details = growBlock(c.details, detail)
			}
		case "tool_calls":
			for _, call := range v.Elements() {
				c.toolCall(call)
			}
		case "function_call":
			growMembers(&c.call, v, "name")
		case "audio":
			growMembers(&c.audio, v, "id")
		default:
			c.message.extend(name, v)
		}
	}
}

// content takes a piece of the content: a string, or as Mistral does it blocks.
func (c *chatGrowing) content(v jsontext.Value) {
	if v.IsArray() {
		for _, block := range v.Elements() {
			c.blocks = growBlock(c.blocks, block)
		}
		return
	}
	if len(c.blocks) == 0 {
		c.message.grow("content", v)
		return
	}
	if v.IsWord() {
		doc, _ := jsontext.Parse([]byte(`{"type":"text","text":` + string(v.Raw()) + `}`)) // a string is valid JSON
		c.blocks = growBlock(c.blocks, doc.Root())
	}
}

// growBlock continues the last block, if the next one is of the same type and index, else begins one.
func growBlock(blocks []*growing, v jsontext.Value) []*growing {
	kind, index := string(v.Member("type").Raw()), string(v.Member("index").Raw())
	var last *growing
	n := len(blocks)
	if n > 0 && kind != "" && string(blocks[n-1].set["type"]) == kind && string(blocks[n-1].set["index"]) == index {
		last = blocks[n-1]
	} else {
		last = &growing{}
		blocks = append(blocks, last)
	}
	for name, m := range v.Members() {
		switch name {
		case "text", "summary", "data", "signature":
			last.grow(name, m)
		case "thinking":
			text, _ := onlyText(m)
			if old, ok := last.set[name]; ok && text != "" {
				doc, _ := jsontext.Parse(old) // was set from a value
				before, _ := onlyText(doc.Root())
				text = before + text
			}
			if text == "" {
				last.put(name, m)
				break
			}
			block := modelio.Object{"type": jsontext.Text("text"), "text": jsontext.Text(text)}
			jsontext.Keep(&last.set, name, jsontext.List(list{jsontext.ObjectText(block)}))
		default:
			last.put(name, m)
		}
	}
	return blocks
}

func (c *chatGrowing) toolCall(v jsontext.Value) {
	call := c.callAt(v)
	for name, m := range v.Members() {
		switch name {
		case "index":
		case "id", "type":
			call.call.first(name, m)
		case "function":
			growMembers(&call.function, m, "name")
		case "custom":
			growMembers(&call.custom, m, "name")
		default:
			call.call.put(name, m)
		}
	}
}

// callAt returns the tool call that the next piece continues: the one with its index, but if
// the piece has another id than that, it begins a call; some hosts give all calls index 0.
func (c *chatGrowing) callAt(v jsontext.Value) *chatCall {
	index, id := v.Member("index"), v.Member("id")
	var found *chatCall
	for _, call := range slices.Backward(c.calls) {
		same := string(call.index.Raw()) == string(index.Raw())
		if !index.Present() || index.IsNull() {
			same = !id.IsWord() || string(call.call.set["id"]) == string(id.Raw())
		}
		if same {
			found = call
			break
		}
	}
	another := false // a call with an id of its own
	if found != nil && id.IsWord() && found.call.has("id") {
		was := string(found.call.set["id"])
		another = was != string(id.Raw()) && was != `""`
	}
	if found == nil || another {
		found = &chatCall{index: index}
		c.calls = append(c.calls, found)
	}
	return found
}

func (f *chatFold) body() (json.RawMessage, bool) {
	complete := len(f.choices.items) > 0
	choices := list{}
	for i, c := range f.choices.items {
		choice := c.choice.object()
		complete = complete && !saysNothing(choice["finish_reason"]) && choice["finish_reason"] != nil
		choice["index"] = json.RawMessage(strconv.FormatInt(f.choices.indexes[i], 10))
		if logprobs := c.logprobs.object(); len(logprobs) > 0 {
			choice["logprobs"] = jsontext.ObjectText(logprobs)
		}
		choice["message"] = c.messageJSON()
		choices = append(choices, jsontext.ObjectText(choice))
	}
	body := f.top.object()
	if len(body) == 0 && len(choices) == 0 {
		return nil, false
	}
	body["choices"] = jsontext.List(choices)
	return jsontext.ObjectText(body), complete
}

func (c *chatGrowing) messageJSON() json.RawMessage {
	m := c.message.object()
	if len(c.blocks) > 0 {
		blocks := c.blocks
		if text := m["content"]; text != nil && !saysNothing(text) {
			block := modelio.Object{"type": jsontext.Text("text"), "text": text}
			blocks = append([]*growing{{set: block}}, blocks...)
		}
		m["content"] = jsonGrowing(blocks)
	}
	if len(c.details) > 0 {
		m["reasoning_details"] = jsonGrowing(c.details)
	}
	if len(c.calls) > 0 {
		calls := list{}
		for _, call := range c.calls {
			calls = append(calls, call.json())
		}
		m["tool_calls"] = jsontext.List(calls)
	}
	if c.call != nil {
		m["function_call"] = c.call.json()
	}
	if c.audio != nil {
		m["audio"] = c.audio.json()
	}
	return jsontext.ObjectText(m)
}

func (c *chatCall) json() json.RawMessage {
	o := c.call.object()
	if c.function != nil {
		if !c.function.has("arguments") {
			jsontext.Keep(&c.function.set, "arguments", jsontext.Text(""))
		}
		o["function"] = c.function.json()
	}
	if c.custom != nil {
		o["custom"] = c.custom.json()
	}
	return jsontext.ObjectText(o)
}
