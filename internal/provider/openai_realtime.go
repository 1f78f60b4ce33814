package provider

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The realtime API of OpenAI and Azure over a WebSocket, in its form since 2025-08 and in its beta form. The answers of
// a session depend on the timing of its audio, so no temperature makes them repeatable: it does not count as
// generating.
var _ = Register(&Codec{
	API:      "openai.realtime",
	Match:    opens("/realtime"),
	outside:  func(w *Wire, req *modelio.Request) { req.Model, w.taken = w.URL.Query().Get("model"), "model" },
	response: heardBy(responsesUsage, hearOpenAI),
	Realtime: &openAIRealtime,
})

var openAIRealtime = Realtime{
	Message: realtimeMessage,
	Audio:   realtimeAudio,
}

// realtimeMessage decodes an event of the client. An item becomes its message; event_id, by which the server's errors
// refer to the event, is dropped.
func realtimeMessage(_ *modelio.Request, event jsontext.Value) modelio.Message {
	item, session := event.Member("item"), event.Member("session")
	instructions, instructs := session.Member("instructions").Text()
	switch kind := event.Member("type").Word(); {
	case kind == "conversation.item.create" && item.IsObject():
		m := responsesItem(item)
		jsontext.KeepRest(&m.Metadata, "event", event, "type", "event_id", "item")
		return m
	case kind == "session.update" && instructs:
		rest := modelio.Object(event.Rest("event_id", "session"))
		rest["session"] = jsontext.ObjectText(session.Rest("instructions"))
		content := []modelio.Part{modelio.TextPart(instructions), {Custom: rest}}
		return modelio.Message{Role: modelio.RoleSystem, Content: content}
	case kind == "session.update":
		return customMessage(modelio.RoleSystem, event.Rest("event_id"))
	}
	return customMessage(modelio.RoleUser, event.Rest("event_id"))
}

func realtimeAudio(event jsontext.Value) (stream string, at []string, data []byte) {
	data = streamBytes(event.Member("audio").Word())
	if event.Member("type").Word() != "input_audio_buffer.append" || data == nil {
		return "", nil, nil
	}
	return string(jsontext.ObjectText(event.Rest("event_id", "audio"))), []string{"audio"}, data
}

// realtimeAside are events about the progress of a session, without anything that other events do not contain.
var realtimeAside = []string{
	"session.created", "session.updated", "session.closed", "conversation.created", "conversation.item.created",
	"conversation.item.added", "conversation.item.done", "conversation.item.deleted", "conversation.item.retrieved",
	"conversation.item.truncated", "conversation.item.input_audio_transcription.segment",
	"input_audio_buffer.cleared", "input_audio_buffer.committed",
	"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
	"input_audio_buffer.timeout_triggered", "mcp_list_tools.completed", "mcp_list_tools.in_progress",
	"output_audio_buffer.cleared", "output_audio_buffer.started", "output_audio_buffer.stopped", "rate_limits.updated",
	"response.created", "response.output_item.added", "response.output_item.done", "response.content_part.added",
	"response.content_part.done", "response.text.done", "response.output_text.done", "response.audio.done",
	"response.output_audio.done", "response.audio_transcript.done", "response.output_audio_transcript.done",
	"response.function_call_arguments.done", "response.mcp_call.completed", "response.mcp_call.in_progress",
	"response.mcp_call_arguments.done",
}

// realtimePieces are the events with a piece of an answer, and what it is a piece of.
var realtimePieces = map[string]string{
	"response.text.delta":                    "text",
	"response.output_text.delta":             "text",
	"response.audio_transcript.delta":        "transcript",
	"response.output_audio_transcript.delta": "transcript",
	"response.audio.delta":                   "audio",
	"response.output_audio.delta":            "audio",
	"response.function_call_arguments.delta": "arguments",
	"response.mcp_call_arguments.delta":      "arguments",

	"conversation.item.input_audio_transcription.delta": "transcript",
}

// hearOpenAI takes an event of the server. The items of an answer are taken completely when it is done; its sound is
// sent only in pieces. What other events say about an item is a claim, because programs read those too.
func hearOpenAI(h *heard, after int, event jsontext.Value) {
	kind := event.Member("type").Word()
	growing, piece := realtimePiece(event)
	switch {
	case piece != nil:
		h.grow(event.Member("response_id").Word(), placeOf(event)+growing, growing, after, piece)
	case kind == "response.done":
		h.take(after, event.Member("response"))
	case kind == "session.created" || kind == "session.updated":
		h.Model = cmp.Or(event.Member("session", "model").Word(), h.Model)
	case kind == "conversation.item.input_audio_transcription.completed":
		h.say(after, modelio.Part{Custom: event.Rest("event_id", "item_id", "usage", "logprobs")})
		at := placeOf(event) + "transcript"
		h.pieces[at] = event.Member("transcript").Word()
		if s := h.open[at]; s != nil {
			h.over(s)
		}
	case kind == "error":
		h.say(after, modelio.Part{Custom: modelio.Object{"type": event.Member("type").Raw(),
			"error": jsontext.ObjectText(event.Member("error").Rest("event_id"))}})
	case slices.Contains(realtimeAside, kind):
		if pieces := piecesOf(event); len(pieces) > 0 {
			h.claims = append(h.claims, claim{pieces, after, modelio.Part{Custom: event.Rest("event_id")}})
		}
	default:
		h.say(after, modelio.Part{Custom: event.Rest("event_id", "received_at")})
	}
}

// realtimePiece returns the piece of an answer in an event, and what it is a piece of; nil if it has none.
func realtimePiece(event jsontext.Value) (of string, piece []byte) {
	of = realtimePieces[event.Member("type").Word()]
	delta, isText := event.Member("delta").Text()
	switch {
	case of == "audio":
		return of, streamBytes(delta)
	case of != "" && isText:
		return of, []byte(delta)
	}
	return "", nil
}

// take takes a finished answer.
func (h *heard) take(after int, answer jsontext.Value) {
	streams := h.answers[answer.Member("id").Word()]
	if len(streams) > 0 {
		after = streams[0].after
	}
	for _, item := range answer.Member("output").Elements() {
		for _, p := range realtimeParts(item) {
			h.say(after, p)
		}
		addItem(h.pieces, item)
	}
	for _, s := range streams {
		h.over(s)
	}
	delete(h.answers, answer.Member("id").Word())
	addCounts(&h.usage, answer.Member("usage"))
	h.finish = cmp.Or(answer.Member("status_details", "reason").Word(), answer.Member("status").Word())
	if failure := answer.Member("status_details", "error"); failure.IsObject() {
		h.say(after, modelio.Part{Custom: modelio.Object{"error": failure.Raw()}})
	}
}

// placeOf names the item that an event is about, or the block of its content.
func placeOf(event jsontext.Value) string {
	return event.Member("item_id").Word() + " " + string(event.Member("content_index").Raw()) + " "
}

// piecesOf returns the texts of the model's items in an event.
func piecesOf(event jsontext.Value) map[string]string {
	all := map[string]string{}
	kind := event.Member("type").Word()
	addPieces(all, placeOf(event), event)
	addPieces(all, placeOf(event), event.Member("part"))
	item := event.Member("item")
	if strings.HasPrefix(kind, "response.") ||
		!slices.Contains(ofClient, item.Member("type").Word()+" "+item.Member("role").Word()) {
		addItem(all, item)
	}
	for _, item := range event.Member("response", "output").Elements() {
		addItem(all, item)
	}
	for name, v := range event.Members() {
		if lower := strings.ToLower(name); name != lower && (lower == "part" || lower == "item") {
			all[name] = string(v.Raw()) // some programs ignore the case
		}
	}
	if !strings.HasSuffix(kind, ".done") { // what begins is empty
		maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	}
	return all
}

// ofClient are the types and roles of items that only clients create.
var ofClient = []string{"message user", "message system", "function_call_output ", "mcp_approval_response "}

// addItem adds the texts of an item.
func addItem(all map[string]string, item jsontext.Value) {
	id, content := item.Member("id").Word()+" ", item.Member("content")
	addPieces(all, id+" ", item)
	if content.Present() && !content.IsArray() {
		addPieces(all, id+"0 ", content)
	}
	for i, block := range content.Elements() {
		addPieces(all, id+strconv.Itoa(i)+" ", block)
	}
}

// addPieces adds the texts that programs read from v, which is at a place. A value other than a text counts with its
// spelling, also in place of an object.
func addPieces(all map[string]string, place string, v jsontext.Value) {
	if v.Present() && !v.IsNull() && !v.IsObject() {
		all[place] = string(v.Raw())
	}
	for _, name := range []string{"arguments", "call_id", "error", "name", "output", "text", "transcript"} {
		if m := v.Member(name); m.Present() && !m.IsNull() {
			text, isText := m.Text()
			if !isText {
				text = string(m.Raw())
			}
			all[place+name] = text
		}
	}
}

// realtimeParts decodes an item of an answer.
func realtimeParts(item jsontext.Value) []modelio.Part {
	arguments := item.Member("arguments")
	switch _, isText := arguments.Text(); {
	case arguments.Present() && !isText:
		return []modelio.Part{{Custom: item.Object()}}
	case item.Member("type").Word() != "message" || !item.Member("content").IsArray():
		parts := responsesParts(item)
		for i := range parts {
			delete(parts[i].Metadata, "object")
			delete(parts[i].Custom, "object")
			delete(parts[i].Custom, "status")
		}
		return parts
	}
	var parts []modelio.Part
	for _, block := range item.Member("content").Elements() {
		spoken, isSpoken := block.Member("transcript").Text()
		written, isWritten := block.Member("text").Text()
		switch {
		case isSpoken && !isWritten:
			p := modelio.TextPart(spoken)
			jsontext.Keep(&p.Metadata, "type", jsontext.Text("transcript"))
			parts = append(parts, p)
		case isWritten && !isSpoken:
			parts = append(parts, modelio.TextPart(written))
		default:
			parts = append(parts, modelio.Part{Custom: block.Object()})
		}
	}
	return parts
}
