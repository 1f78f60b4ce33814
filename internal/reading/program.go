package reading

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A way is how a program parses an answer.
type way struct {
	framing
	first   bool // takes the first value of a repeated member, and reads any value as a text, like gjson
	folds   bool // ignores case in names of members, like encoding/json
	merges  bool // merges the values of a repeated member
	placed  bool // a tool call without an index has its position in the list
	endless bool // treats [DONE] as an ordinary event
	begins  bool // reads only the first of several values in an event
	strict  bool // a value of the wrong kind is an error
	odd     bool // found a list or an object in place of a text, which programs read differently
}

// The programs of an API: each parses a stream in one of the ways, and adds it up with one of the steps.
type programs struct {
	ways   []way // for streams
	steps  []step
	whole  step  // for a complete answer; nil if it is read like a stream of one event or, with partly, not at all
	wholes []way // for complete answers
	partly bool  // each step reads a part of the stream, and counts only if that part occurred: see account.seen
	named  bool  // each event is named after its type
	ours   bool  // only traceforge reads it, in one way

	// several are providers whose chunks have different ids. The later steps are then left out: openai-go's accumulator
	// adds up only the chunks with the first id. Recordings of charmbracelet/fantasy and maruel/genai from 2025 and
	// 2026 show this.
	several []string
}

// A step adds an event, or a complete answer, to an account.
type step func(a *account, v view)

// standardWay is that of browsers and scripts, which use the last value of a repeated member. The others are those of
// Go SDKs.
var (
	standardWay = way{framing: standard}
	openaiGo    = way{framing: blocks, first: true}
	goOpenAI    = way{framing: dataLines, folds: true, merges: true, placed: true, strict: true}
	claudeGo    = way{framing: named, first: true, endless: true}
	genaiGo     = way{framing: paragraphs, folds: true, strict: true}
	awsGo       = way{framing: standard, merges: true, begins: true, strict: true}
	cohereGo    = way{framing: afterPrefix, folds: true, strict: true}
	cohereV1Go  = way{framing: jsonLines, folds: true, strict: true}
	ollamaGo    = way{framing: jsonLines, folds: true, merges: true, strict: true}
)

var (
	openAI = []way{standardWay, openaiGo, goOpenAI}
	claude = programs{
		ways: []way{{framing: standard, endless: true}, claudeGo}, steps: []step{claudeLive, claudeSummed},
		whole: claudeWhole, wholes: []way{standardWay, claudeGo}, named: true,
	}
)

// byAPI are the APIs whose official SDKs are known.
var byAPI = map[string]programs{
	"openai.chat": {ways: openAI, steps: []step{chatLive, chatSummed}, whole: chatWhole, wholes: openAI,
		several: []string{"avian", "groq"}},
	"openai.completions": {ways: openAI, steps: []step{completion}, whole: completion, wholes: openAI},
	"openai.responses": {ways: openAI[:2], steps: responseSteps, whole: responseWhole, wholes: openAI[:2], partly: true,
		named: true},
	"anthropic.messages": claude,
	"vertex.anthropic":   claude,
	"google.generate": {ways: []way{standardWay, genaiGo}, steps: []step{gemini}, whole: gemini,
		wholes: []way{standardWay, genaiGo}},
	"bedrock.converse": {ways: []way{awsGo}, steps: []step{converse}, whole: converseWhole,
		wholes: []way{standardWay, awsGo}},
	"cohere.chat": {ways: []way{standardWay, cohereGo}, steps: []step{cohere}, whole: cohereWhole,
		wholes: []way{standardWay, cohereGo}},
	"ollama.chat":     {ways: []way{standardWay, ollamaGo}, steps: []step{ollamaChat}},
	"ollama.generate": {ways: []way{standardWay, ollamaGo}, steps: []step{ollamaGenerate}},

	modelio.ModelAPI: {ways: openAI[:1], steps: []step{modelChunks}, partly: true, ours: true},

	// complete answers may also be lists
	"openai.responses.stored": {ways: openAI[:2], steps: responseSteps, partly: true, named: true},
	"openai.agents":           {ways: openAI[:2], steps: openAIAgentSteps, partly: true},
	"anthropic.agents":        {ways: claude.ways, steps: agentPreviews, partly: true, named: true},
	"openai.transcriptions":   {ways: openAI[:2], steps: transcriptSteps, partly: true},
	"google.interactions":     {ways: openAI[:1], steps: interactionSteps, partly: true},
	"cohere.chat.v1":          {ways: []way{standardWay, cohereV1Go}, steps: cohereV1Steps, partly: true},
	"cohere.generate":         {ways: openAI[:1], steps: []step{generationLive, generationFinal}, partly: true},
}

func chatLive(a *account, v view) { chatChunk(a, v, false) }

// chatSummed skips chunks with another id, and numbers calls from 0 without a gap, like openai-go's accumulator.
func chatSummed(a *account, v view) {
	if id := v.at("id").text(); a.id == "" {
		a.id = id
	} else if id != a.id {
		return
	}
	chatChunk(a, v, true)
}

func chatChunk(a *account, v view, summed bool) {
	const most = 128 // maximum number of calls in openai-go's accumulator
	for _, choice := range v.at("choices").each() {
		if choice.at("index").number() != 0 {
			continue
		}
		a.seen = true
		delta := choice.at("delta")
		a.sayContent(delta.at("content"))
		a.say(delta.at("refusal"))
		a.ends(choice.at("finish_reason"))
		for i, piece := range delta.at("tool_calls").each() {
			place := piece.at("index").number()
			if v.way.placed && !piece.at("index").last().Present() {
				place = int64(i)
			}
			if summed {
				if place = max(place, 0); place > int64(len(a.calls)+most) {
					continue
				}
				for gap := int64(len(a.calls)); gap < place && a.gaps < mostGaps; gap++ {
					a.at(gap)
					a.gaps++
				}
			}
			a.growCall(place, piece.at("function"))
		}
		if legacy := delta.at("function_call"); legacy.last().IsObject() {
			a.growCall(legacyPlace, legacy)
		}
	}
}

// mostGaps limits the number of calls without a piece in an account. One is reported; a hostile stream could have
// millions.
const mostGaps = 1 << 12

// legacyPlace is the place of the single call that answers had before there was a list of calls.
const legacyPlace = math.MaxInt64

func chatWhole(a *account, v view) {
	for _, choice := range v.at("choices").each() {
		message := choice.at("message")
		a.sayContent(message.at("content"))
		a.say(message.at("refusal"))
		for _, c := range message.at("tool_calls").each() {
			a.add(cmp.Or(c.at("function", "name").text(), c.at("custom", "name").text()),
				cmp.Or(c.at("function", "arguments").input(), c.at("custom", "input").text()))
		}
		if legacy := message.at("function_call"); legacy.at("name").text() != "" {
			a.add(legacy.at("name").text(), legacy.at("arguments").input())
		}
		return
	}
}

func completion(a *account, v view) {
	for _, choice := range v.at("choices").each() {
		if choice.at("index").number() == 0 {
			a.say(choice.at("text"))
			a.ends(choice.at("finish_reason"))
		}
	}
}

// responseItems reads the items of a response as they are completed.
func responseItems(a *account, v view) {
	if v.at("type").text() == "response.output_item.done" {
		a.seen = true
		a.item(v.at("item"))
	}
}

// responseFinal reads the response at the end of its stream. Some servers, such as those for Codex, leave out its
// output: then it adds nothing.
func responseFinal(a *account, v view) {
	switch v.at("type").text() {
	case "response.completed", "response.incomplete", "response.failed":
		if v.at("response", "output").last().IsEmpty() {
			return
		}
		*a = account{event: a.event, seen: true, effect: effect{changes: 2}}
		responseWhole(a, v.at("response"))
	}
}

// responseOthers reads the items of other kinds, such as calls of a shell, as they are completed and at the end, which
// the record has. Agents run an item as soon as it is completed.
func responseOthers(a *account, v view) {
	a.noText, a.noCalls = true, true
	switch v.at("type").text() {
	case "response.output_item.done":
		if item := v.at("item"); !slices.Contains(itemsRead, item.at("type").text()) {
			a.seen = true
			text := item.withoutStatus()
			a.expect(text, item.at("type").text(), text)
		}
	case "response.completed", "response.incomplete", "response.failed":
		for i, item := range v.at("response", "output").each() { // some servers leave the items out
			if i == 0 {
				a.final = map[string]bool{}
			}
			a.final[item.withoutStatus()] = true
		}
	}
}

// itemsRead are the kinds of items that item reads. Readings report nothing about reasoning.
var itemsRead = []string{"message", "function_call", "custom_tool_call", "reasoning"}

func responseWhole(a *account, v view) {
	for _, item := range v.at("output").each() {
		a.item(item)
	}
}

// item reads an item of a response.
func (a *account) item(v view) {
	switch v.at("type").text() {
	case "message", "model_output":
		for _, content := range v.at("content").each() {
			a.say(content.at("text"), content.at("refusal"))
		}
	case "function_call":
		arguments := v.at("arguments")
		if v.way.first && !arguments.isText() {
			arguments = view{} // openai-go accepts only a text
		}
		a.add(v.at("name").text(), arguments.input())
	case "custom_tool_call":
		a.add(v.at("name").text(), v.at("input").text())
	}
}

// claudeCalls are the blocks that call a tool, either the caller's or the server's.
var claudeCalls = []string{"tool_use", "server_tool_use", "mcp_tool_use"}

// claudeSummed reads a message of Claude as anthropic-sdk-go accumulates it.
func claudeSummed(a *account, v view) {
	place, kind := int(v.at("index").number()), v.at("type").text()
	known := 0 <= place && place < len(a.blocks)
	switch {
	case kind == "message_start":
		a.changes += 2
		a.blocks, a.finish = nil, v.at("message", "stop_reason").text()
		claudeWhole(a, v.at("message"))
	case kind == "message_delta":
		a.changes += 2
		a.finish = v.at("delta", "stop_reason").text()
	case kind == "content_block_start" && place == len(a.blocks):
		a.changes += 2
		a.blocks = append(a.blocks, claudeBlock(v.at("content_block")))
	case kind == "content_block_delta" && known:
		a.growBlock(a.blocks[place], v.at("delta"))
	case kind == "content_block_stop" && known:
		a.blocks[place].stop()
	case kind == "message_stop":
		for _, b := range a.blocks {
			b.stop()
		}
	default:
		a.failed = a.failed || strings.HasPrefix(kind, "content_block_")
	}
}

func claudeBlock(v view) *block {
	return &block{v.at("type").text(), v.at("name").text(), []byte(v.at("text").text()), v.at("input").last().Raw()}
}

// growBlock adds a delta to a block.
func (a *account) growBlock(b *block, delta view) {
	switch delta.at("type").text() {
	case "text_delta":
		a.grow(&b.text, delta.at("text"))
	case "input_json_delta":
		if piece := delta.at("partial_json"); piece.text() != "" && string(b.input) == "{}" {
			b.input, a.changes = nil, a.changes+1
		}
		a.grow(&b.input, delta.at("partial_json"))
	}
}

// stop ends a block: arguments that are not JSON are dropped.
func (b *block) stop() {
	if _, err := jsontext.ParseLenient(b.input); err != nil {
		b.input = nil
	}
}

// blocked sets the text and the calls of an account from its blocks, if it has any.
func (a *account) blocked() {
	if a.blocks != nil {
		a.text, a.calls = nil, nil
	}
	for _, b := range a.blocks {
		switch {
		case b.kind == "text":
			a.text = append(a.text, b.text...)
		case slices.Contains(claudeCalls, b.kind):
			a.add(b.name, string(b.input))
		}
	}
}

func claudeWhole(a *account, v view) {
	for _, content := range v.at("content").each() {
		a.blocks = append(a.blocks, claudeBlock(content))
	}
}

func gemini(a *account, v view) {
	for _, candidate := range v.at("candidates").each() {
		for _, part := range candidate.at("content", "parts").each() {
			if !part.at("thought").isTrue() {
				a.say(part.at("text"))
			}
			if c := part.at("functionCall"); c.last().IsObject() {
				a.add(c.at("name").text(), c.at("args").input())
			}
		}
		a.ends(candidate.at("finishReason"))
		return
	}
}

// converse adds an event; its type is the name in its frame.
func converse(a *account, v view) {
	place := v.at("contentBlockIndex").number()
	switch a.name {
	case "contentBlockStart":
		if start := v.at("start", "toolUse"); start.last().IsObject() {
			a.grow(&a.at(place).name, start.at("name"))
		}
	case "contentBlockDelta":
		a.say(v.at("delta", "text"))
		if piece := v.at("delta", "toolUse"); piece.last().IsObject() {
			a.grow(&a.at(place).arguments, piece.at("input"))
		}
	case "messageStop":
		a.ends(v.at("stopReason"))
	}
}

func converseWhole(a *account, v view) {
	before := view{way: v.way}
	for _, content := range v.at("output", "message", "content").each() {
		if content.last().IsNull() {
			continue
		}
		if !content.has(converseBlocks) { // of an unknown kind
			content = before
		}
		before = content
		a.say(content.at("text"))
		if use := content.at("toolUse"); use.last().IsObject() {
			a.add(use.at("name").text(), use.at("input").input())
		}
	}
}

// converseBlocks are the kinds of blocks that aws-sdk-go-v2 knows. In place of any other kind it repeats the block
// before.
var converseBlocks = []string{
	"audio", "cachePoint", "citationsContent", "document", "guardContent", "image", "reasoningContent", "searchResult",
	"text", "toolResult", "toolUse", "video",
}

func cohereWhole(a *account, v view) {
	for _, content := range v.at("message", "content").each() {
		if content.at("type").text() == "text" {
			a.say(content.at("text"))
		}
	}
	for _, c := range v.at("message", "tool_calls").each() {
		a.add(c.at("function", "name").text(), c.at("function", "arguments").input())
	}
}

func ollamaChat(a *account, v view) {
	message := v.at("message")
	if n := len(message.more); n > 0 { // only the last one counts
		message = view{value: message.more[n-1], way: v.way}
	}
	a.say(message.at("content"))
	for _, c := range message.at("tool_calls").each() {
		a.add(c.at("function", "name").text(), c.at("function", "arguments").input())
	}
	a.ends(v.at("done_reason"))
}

// modelChunks reads the chunks of a wrapped model, which its program receives. Many models stream no calls, or no text.
func modelChunks(a *account, v view) {
	content, whole := v.at("chunk", "content"), v.at("chunk", "aggregated").isTrue()
	if whole {
		a.sayWhole(content.texts())
	} else {
		a.say(content.texts()...)
	}
	for _, part := range content.each() {
		a.seen = true
		for _, kind := range chunkKinds {
			if m := part.at(kind).last(); m.Present() && !m.IsNull() {
				a.expect(kind, kind, string(m.Raw()))
			}
		}
		if c := part.at("toolRequest"); c.last().IsObject() {
			a.chunkCall(c, whole)
		}
	}
	if response := v.at("response"); response.last().IsObject() {
		a.final = map[string]bool{}
		if a.torn {
			a.pending, a.calls = append(a.pending, a.calls...), nil
		}
		for _, part := range response.at("message", "content").each() {
			a.final[part.at("toolRequest", "name").text()] = true
			for _, kind := range chunkKinds {
				a.final[kind] = a.final[kind] || part.at(kind).last().Present()
			}
		}
	}
	a.noText, a.noCalls = len(a.text) == 0, len(a.calls) == 0 || a.torn
}

// chunkKinds are the kinds of parts, other than text, reasoning and calls, that a chunk may have.
var chunkKinds = []string{"media", "data", "custom", "toolResponse", "resource"}

// sayWhole replaces the text of the answer by that of a chunk with everything so far. If the new text does not begin
// with the old one, the old one stays before it, since the program has received it.
func (a *account) sayWhole(texts []view) {
	var all []byte
	for _, text := range texts {
		all = append(all, text.text()...)
	}
	rest, _ := bytes.CutPrefix(all, a.text)
	if a.text, a.changes = append(a.text, rest...), a.changes+2; a.differs > 0 {
		a.differs = a.event
	}
	a.follow()
}

// chunkCall adds a call, or a piece of its input, as plugins for OpenAI's APIs send it. It has no place, and may have
// no name. Pieces that follow the beginnings of two calls may belong to either: then only names are compared. A chunk
// with everything so far has whole calls.
func (a *account) chunkCall(c view, whole bool) {
	name, input, ref := c.at("name").text(), c.at("input"), c.at("ref").text()
	last := &call{whole: true} // the call that a piece belongs to, unless it is whole
	if n := len(a.calls); n > 0 && !whole {
		last = a.calls[n-1]
	}
	switch {
	case c.at("partial").isTrue():
		a.expect(name, name, input.input())
	case !last.whole && (name == "" || name == string(last.name) && a.ref != "" && ref == a.ref && input.isText()):
		a.torn = a.torn || a.behind && strings.TrimSpace(input.text()) != "" && last.isOpen()
		a.grow(&last.arguments, input)
	default:
		a.behind, a.ref = !last.whole && last.isOpen(), ref
		a.add(name, input.input())
		a.calls[len(a.calls)-1].whole = whole
	}
}

// isOpen reports whether the arguments of a call are not complete.
func (c *call) isOpen() bool { return !json.Valid(c.arguments) }

func ollamaGenerate(a *account, v view) {
	a.say(v.at("response"))
	a.ends(v.at("done_reason"))
}

// generationLive reads the first completion of a Cohere prompt from its pieces.
func generationLive(a *account, v view) {
	if v.at("text").last().Present() && v.at("index").number() == 0 {
		a.seen = true
		a.say(v.at("text"))
	}
}

// generationFinal reads it at the end of its stream.
func generationFinal(a *account, v view) {
	for _, said := range v.at("response", "generations").each() {
		a.seen = true
		a.say(said.at("text"))
		a.ends(v.at("finish_reason"))
		return
	}
}
