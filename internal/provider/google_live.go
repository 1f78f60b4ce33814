package provider

import (
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The Live API of Gemini and of Vertex AI, whose method is called BidiGenerateContent. As for other sessions, no
// temperature makes answers repeatable.
var _ = Register(&Codec{
	API:   "google.live",
	Match: opens("BidiGenerateContent", "BidiGenerateContentConstrained"),
	// the part after its usual name
	outside:  sayGroup("method", regexp.MustCompile(`(?:.*BidiGenerateContent)?(.*)$`), ""),
	response: heardBy(generateUsage, hearGoogle),
	Realtime: &googleLive,
})

var googleLive = Realtime{
	Message: liveMessage,
	Audio:   liveAudio,
}

// liveMessage decodes a frame of the client, which has one member. A frame with several, or without the form of its
// kind, is a custom part.
func liveMessage(req *modelio.Request, frame jsontext.Value) modelio.Message {
	if frame.Len() == 1 {
		for name, v := range frame.Members() {
			if m, ok := liveFrame(req, name, v); ok {
				return m
			}
		}
	}
	return customMessage(modelio.RoleUser, frame.Object())
}

func liveFrame(req *modelio.Request, name string, v jsontext.Value) (m modelio.Message, ok bool) {
	switch name {
	case "setup":
		return liveSetup(req, v), v.IsObject()
	case "clientContent":
		turns := v.Member("turns")
		if turns.Len() != 1 {
			return m, false
		}
		m = generateMessage(turns.Head())
		jsontext.KeepRest(&m.Metadata, name, v, "turns")
		return m, turns.Head().IsObject()
	case "toolResponse":
		parts, fits := allOf(v.Member("functionResponses"), liveResult)
		return modelio.Message{Role: modelio.RoleTool, Content: parts}, fits && len(parts) > 0 && v.Len() == 1
	case "realtimeInput":
		text, isText := v.Member("text").Text()
		m = userText(text)
		mark(&m.Metadata, "realtimeInput")
		return m, isText && v.Len() == 1
	}
	return m, false
}

func liveSetup(req *modelio.Request, setup jsontext.Value) modelio.Message {
	rest := modelio.Object(setup.Object())
	if name, isModel := strings.CutPrefix(setup.Member("model").Word(), "models/"); isModel && req.Model == "" &&
		name != "" {
		req.Model = name
		delete(rest, "model")
	}
	m := modelio.Message{Role: modelio.RoleSystem}
	if parts, ok := generateParts(setup.Member("systemInstruction", "parts")); ok && len(parts) > 0 {
		m.Content = parts
		delete(rest, "systemInstruction")
		jsontext.KeepRest(&m.Metadata, "systemInstruction", setup.Member("systemInstruction"), "parts")
	}
	m.Content = append(m.Content, modelio.Part{Custom: modelio.Object{"setup": jsontext.ObjectText(rest)}})
	return m
}

func liveResult(v jsontext.Value) (modelio.Part, bool) {
	result := &modelio.ToolResponse{Name: v.Member("name").Word(), Ref: v.Member("id").Word(),
		Output: v.Member("response").Raw()}
	part := modelio.Part{ToolResponse: result, Metadata: v.Rest("name", "id", "response")}
	return part, result.Name != "" && result.Ref != ""
}

// liveAudio takes {"realtimeInput":{"audio":{…}}}, and the form of the API's early days.
func liveAudio(frame jsontext.Value) (stream string, at []string, data []byte) {
	input := frame.Member("realtimeInput")
	kind := input.Member("audio").Rest("data")
	data = streamBytes(input.Member("audio", "data").Word())
	if frame.Len() != 1 || input.Len() != 1 || kind == nil || data == nil {
		return "", nil, nil
	}
	return string(jsontext.ObjectText(kind)), []string{"realtimeInput", "audio", "data"}, data
}

// hearGoogle takes a frame of the server.
func hearGoogle(h *heard, after int, frame jsontext.Value) {
	for name, v := range frame.Members() {
		switch name {
		case "serverContent":
			hearContent(h, after, v)
		case "toolCall":
			h.flush()
			calls, fits := allOf(v.Member("functionCalls"), liveCall)
			if !fits || len(calls) == 0 || v.Len() > 1 {
				calls = append(calls, modelio.Part{Custom: modelio.Object{name: v.Raw()}})
			}
			h.say(after, calls...)
		case "usageMetadata":
			addCounts(&h.usage, v)
		case "setupComplete", "sessionResumptionUpdate", "goAway", "voiceActivity", "voiceActivityDetectionSignal":
			// progress of the session
		default:
			h.say(after, modelio.Part{Custom: modelio.Object{name: v.Raw()}})
		}
	}
}

func liveCall(v jsontext.Value) (modelio.Part, bool) {
	p, _ := callPart(v, "name", "id", "args")
	p.Metadata = sayingSomething(p.Metadata)
	return p, p.ToolRequest.Name != ""
}

// liveAside are members of a frame's content that only describe the progress of the session.
var liveAside = []string{"generationComplete", "interactionStatus", "turnCompleteReason", "waitingForInput"}

// hearContent takes the model's content. A member with an unknown name, or without the form of its kind, is a custom
// part, because some programs read it nevertheless.
func hearContent(h *heard, after int, v jsontext.Value) {
	rest := sayingSomething(v.Rest(liveAside...))
	if parts, ok := generateParts(v.Member("modelTurn", "parts")); ok &&
		v.Member("modelTurn").Rest("parts", "role") == nil {
		hearParts(h, after, parts)
		delete(rest, "modelTurn")
	}
	for _, name := range []string{"inputTranscription", "outputTranscription"} {
		text, ok := v.Member(name, "text").Text()
		if text != "" {
			h.grow("", name, name, after, []byte(text))
		}
		if finished := string(rest[name]); ok || finished == `{"finished":true}` || finished == `{"finished":false}` {
			delete(rest, name)
		}
		more := beside(v.Member(name), "text", "finished") // language, speaker, times
		if said := jsontext.ObjectText(more); ok && more != nil && h.pieces[name+" of"] != string(said) {
			rest[name], h.pieces[name+" of"] = said, string(said)
		}
	}
	if string(rest["interrupted"]) == "false" {
		delete(rest, "interrupted")
	}
	for _, end := range []struct{ name, finish string }{{"interrupted", "interrupted"}, {"turnComplete", "STOP"}} {
		if string(rest[end.name]) == "true" {
			h.flush()
			h.finish = end.finish
			delete(rest, end.name)
		}
	}
	for _, name := range inorder.Names(rest) {
		h.say(after, modelio.Part{Custom: modelio.Object{name: rest[name]}})
	}
}

func hearParts(h *heard, after int, parts []modelio.Part) {
	for _, p := range parts {
		switch kind, sound := liveSound(p); {
		case p.Text != nil && p.Metadata == nil:
			h.grow("", "text", "text", after, []byte(*p.Text))
		case sound != nil:
			h.grow("", kind, kind, after, sound)
		default:
			h.flush()
			h.say(after, p)
		}
	}
}

// liveSound returns the sound in a part, and its content type; nil if it is not a sound.
func liveSound(p modelio.Part) (kind string, sound []byte) {
	if p.Media == nil || !strings.HasPrefix(p.Media.ContentType, "audio/") {
		return "", nil
	}
	_, encoded, _ := SplitDataURL(p.Media.URL)
	return p.Media.ContentType, streamBytes(encoded)
}
