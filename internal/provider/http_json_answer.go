package provider

import (
	"bytes"
	"maps"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// decodeGenericAnswer decodes any answer. A form that another codec knows is decoded by that codec, wherever the answer
// came from. For other answers it takes the evident text, if there is one, and keeps the rest in addition.
func decodeGenericAnswer(a *Answer) (*modelio.Response, error) { return decodeLoose(a, registered) }

// DecodeWhole decodes an answer that its API's codec cannot decode. It tries no known form, because each leaves out
// what it does not know, so that programs which read the answer as that API would read something that the record lacks.
// A stream without events was cut, for any API.
func DecodeWhole(a *Answer) (*modelio.Response, error) {
	resp, err := formless.decodeResponse(a)
	if err == nil && len(bytes.TrimSpace(a.Body)) == 0 {
		resp.Complete = !isType(a.ContentType, "text/event-stream", "application/x-ndjson",
			"application/vnd.amazon.eventstream")
	}
	return resp, err
}

var formless = Codec{response: func(a *Answer) (*modelio.Response, error) { return decodeLoose(a, nil) }}

func decodeLoose(a *Answer, known []*Codec) (*modelio.Response, error) {
	if events := a.Events(); events != nil {
		return looseStream(a, known), nil
	}
	doc, err := parseAnswer(a.Body)
	if err != nil {
		return looseResponse(opaquePart(a)...), nil
	}
	resp := looseAnswer(doc.Root(), known)
	if resp.Error = errorObject(doc.Root()); resp.Error != nil {
		resp.Candidates = nil // a repetition of the object
	}
	resp.Complete = true
	return resp, nil
}

// looseAnswer decodes an answer in a known form, or keeps everything in it.
func looseAnswer(body jsontext.Value, known []*Codec) *modelio.Response {
	if f := formOfWhole(body, known); f != nil {
		if resp, err := f.answer(body); err == nil {
			return resp
		}
	}
	if !body.IsObject() {
		return looseParts(body, "json")
	}
	resp := looseParts(body, "")
	resp.ID, resp.Model = body.Member("id").Word(), body.Member("model").Word()
	resp.Usage = looseUsage(body)
	return resp
}

// looseParts returns an answer with the text of a value, if it has one, and a custom part with the rest. The rest is in
// the member name unless that is empty.
func looseParts(v jsontext.Value, name string) *modelio.Response {
	var parts []modelio.Part
	path, text := evidentText(v)
	if path != nil {
		parts = append(parts, modelio.TextPart(text))
	}
	s := steady{without: path, whole: name == ""}
	var custom modelio.Object
	if name == "" {
		custom = s.object(v, nil)
	} else if raw := s.value(v, nil); string(raw) != "[{}]" {
		custom = modelio.Object{name: raw}
	}
	if path == nil || len(custom) > 0 {
		parts = append(parts, modelio.Part{Custom: custom})
	}
	return looseResponse(parts...)
}

// textPaths are the places of the text in answers of APIs without a codec: members of objects, and single elements of
// arrays.
var textPaths = [][]string{
	{"text"}, // transcriptions, Cohere's older chat
	{"completion"},
	{"generated_text"},
	{"output_text"},
	{"response"},
	{"content"},
	{"outputText"},
	{"generations", "0", "text"},
	{"results", "0", "outputText"},
	{"0", "generated_text"}, // Hugging Face
	{"result", "response"},  // Cloudflare
	{"output", "text"},      // Alibaba
	{"output", "choices", "0", "message", "content"},
	{"message", "content"},
	{"answer"},
}

// evidentText returns the text of an answer and its path, which is nil if there is none.
func evidentText(v jsontext.Value) (path []string, text string) {
	for _, path := range textPaths {
		at := v
		for _, step := range path {
			if step != "0" {
				at = at.Member(step)
			} else if at.Len() == 1 {
				at = at.Head()
			} else {
				at = jsontext.Value{}
			}
		}
		if at.IsWord() {
			return path, at.Word()
		}
	}
	return nil, ""
}

// looseStream decodes a stream with the codec that knows its form. For other streams it takes the evident text, and the
// events that contain more.
func looseStream(a *Answer, known []*Codec) *modelio.Response {
	if f := formOf(a, known); f != nil {
		if resp, err := decodeStream(a.Seen(), f.stream, f.answer); err == nil {
			return resp
		}
	}
	var text strings.Builder
	var rest list
	var usage *modelio.Usage
	found, ids := false, steady{}
	events := a.Events()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if event.Data == nil {
			continue
		}
		o := modelio.Object{}
		jsontext.KeepText(&o, "event", event.Name)
		doc, err := jsontext.Parse(event.Data)
		if err != nil {
			maps.Copy(o, opaque(event.Data))
			if string(event.Data) != "[DONE]" {
				rest = append(rest, jsontext.ObjectText(o))
			}
			continue
		}
		data := doc.Root()
		if counted := looseUsage(data); counted != nil {
			usage = counted
		}
		ids.without = nil
		if path, piece := pieceOf(data); path != nil {
			if found = true; piece != text.String() || text.Len() == 0 { // the last event may repeat everything
				text.WriteString(piece)
			}
			ids.without = path
			more := ids.object(data, nil)
			for _, name := range frameMembers {
				delete(more, name)
			}
			if sayingSomething(more) == nil {
				continue
			}
		}
		o["data"] = ids.value(data, nil)
		rest = append(rest, jsontext.ObjectText(o))
	}
	var parts []modelio.Part
	if found {
		parts = append(parts, modelio.TextPart(text.String()))
	}
	if rest != nil {
		parts = append(parts, modelio.Part{Custom: modelio.Object{"events": jsontext.List(rest)}})
	}
	if parts == nil { // a text that starts like a stream
		parts = opaquePart(a)
	}
	resp := looseResponse(parts...)
	resp.Usage = usage
	return resp
}

// piecePaths are the places of pieces of a text in events of streams.
var piecePaths = [][]string{
	{"text"}, {"delta"}, {"completion"}, {"response"}, {"token", "text"}, {"outputText"}, {"delta", "text"}, {"content"},
}

func pieceOf(event jsontext.Value) (path []string, text string) {
	for _, path := range piecePaths {
		if text, ok := event.Member(path...).Text(); ok {
			return path, text
		}
	}
	return nil, ""
}

// frameMembers are members that identify an event. An event with only these and its text says no more than the text.
var frameMembers = []string{
	"type", "event_type", "object", "index", "model", "sequence_number", "is_finished", "logprobs",
}

// opaquePart returns an answer that is not JSON as text or media. An answer with a text type is shown as text even if
// it is not valid UTF-8, because many programs read it anyway.
func opaquePart(a *Answer) []modelio.Part {
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	switch {
	case len(a.Body) == 0:
		return nil
	case utf8.Valid(a.Body):
		return []modelio.Part{modelio.TextPart(string(a.Body))}
	case strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json"):
		return []modelio.Part{modelio.TextPart(strings.ToValidUTF8(string(a.Body), "\uFFFD"))}
	}
	return []modelio.Part{mediumOf(mediaType, a.Body)}
}

// looseResponse returns an answer with only the given parts.
func looseResponse(parts ...modelio.Part) *modelio.Response {
	message := modelio.Message{Role: modelio.RoleModel, Content: parts}
	return &modelio.Response{
		Candidates: []modelio.Candidate{{Message: message, FinishReason: modelio.FinishStop}},
		Complete:   true,
	}
}

// isOfType returns the begins function of an API whose streams have an event of this type.
func isOfType(kind string) func(string, jsontext.Value) bool {
	return func(_ string, event jsontext.Value) bool { return event.Member("type").Word() == kind }
}

// Known reports whether the generic codec decodes an answer with another codec, because of its form.
func Known(a *Answer) bool {
	if a.Events() != nil {
		return formOf(a, registered) != nil
	}
	doc, err := parseAnswer(a.Body)
	return err == nil && formOfWhole(doc.Root(), registered) != nil
}

// speaking are the members that contain a model's words. An answer with two of them contains two texts, of which a
// codec would leave one out.
var speaking = []string{"candidates", "choices", "completion", "content", "generations", "message",
	"output", "response"}

// formOfWhole returns the codec whose form a complete answer has; nil if there is none, or more than one.
func formOfWhole(body jsontext.Value, known []*Codec) *Codec {
	said := 0
	for _, name := range speaking {
		if v := body.Member(name); v.Present() && !v.IsNull() {
			said++
		}
	}
	for _, c := range known {
		if said == 1 && c.looks != nil && c.looks(body) {
			return c
		}
	}
	return nil
}

// formOf returns the codec whose form the events of a stream have; nil if there is none, or more than one.
func formOf(a *Answer, known []*Codec) (found *Codec) {
	chunks, typed := false, false // untyped events of chat completions or of Gemini, and typed events
	for _, event := range a.Seen() {
		doc, err := jsontext.Parse(event.Said)
		if err != nil {
			continue
		}
		root, first := doc.Root(), found == nil
		for _, c := range known {
			if c.begins == nil || !c.begins(event.Name, root) {
				continue
			}
			if found != nil && found != c {
				return nil
			}
			found = c
		}
		if first && found == nil {
			return nil
		}
		chunks = chunks || root.Member("choices").Present() || root.Member("candidates").Present()
		typed = typed || root.Member("type").IsString()
	}
	if chunks && typed {
		return nil
	}
	return found
}
