package provider

import (
	"fmt"
	"mime"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The APIs of OpenAI, and of hosts that copy it, that turn audio into text: transcriptions, and translations to
// English.
var _ = Register(&Codec{
	API:      "openai.transcriptions",
	Fixed:    noLimit,
	Match:    postsForm("/audio/transcriptions", "/audio/translations"),
	request:  prompted("prompt", "temperature").decodeForm,
	outside:  deployedOperation("transcriptions"),
	response: decodeTranscription,
})

// decodeTranscription decodes an answer, which is text if the request asked for text or subtitles.
func decodeTranscription(a *Answer) (*modelio.Response, error) {
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	switch mediaType {
	case "text/plain", "text/vtt", "application/x-subrip":
		doc, err := parseAnswer(a.Body)
		if utf8.Valid(a.Body) && (err != nil || !doc.Root().IsObject()) {
			return looseResponse(modelio.TextPart(string(a.Body))), nil
		}
	}
	return a.decode(foldRules{add: addTranscription}, transcription)
}

// measured are members of a segment about the model's confidence and operation.
var measured = []string{"avg_logprob", "compression_ratio", "no_speech_prob", "temperature", "tokens",
	"seek", "logprobs"}

// transcription decodes a transcript: its text, and a custom part with speakers and times. The model's confidence is
// Metadata.
func transcription(body jsontext.Value) (*modelio.Response, error) {
	text, ok := body.Member("text").Text()
	if !ok {
		return nil, neither("a text")
	}
	parts := []modelio.Part{modelio.TextPart(text)}
	said := sayingSomething(only(body, "duration", "language", "languages", "words"))
	var segments, measures list
	for _, segment := range body.Member("segments").Elements() {
		if !segment.IsObject() {
			return nil, &WireError{Pointer: "/segments", Reason: "a segment is no object"}
		}
		segments = append(segments, jsontext.ObjectText(segment.Rest(measured...)))
		if m := only(segment, measured...); m != nil {
			measures = append(measures, jsontext.ObjectText(m))
		}
	}
	jsontext.KeepList(&said, "segments", segments)
	if len(said) > 0 {
		parts = append(parts, modelio.Part{Custom: said})
	}
	taken := []string{"text", "duration", "language", "languages", "words", "segments"}
	resp := responseOf(body, responsesUsage.of(body), candidateOf(parts...), taken...)
	jsontext.KeepList(&resp.Metadata, "segments", measures)
	return resp, nil
}

func addTranscription(f *fold, _ string, event jsontext.Value) {
	switch kind := event.Member("type").Word(); kind {
	case "transcript.text.delta":
		f.body.grow("text", event.Member("delta"))
		f.body.extend("logprobs", event.Member("logprobs"))
	case "transcript.text.segment":
		f.body.member("segments").append(jsontext.ObjectText(event.Rest("type")))
	case "transcript.text.done":
		rules{"type": skip}.fold(&f.body, event)
		f.done = true
	default:
		f.wrong = fmt.Errorf("has the type %+q, which no transcript event has", kind)
	}
}
