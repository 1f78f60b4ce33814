package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// speechCodec returns the codec of a text-to-speech API for the text in the member prompt.
func speechCodec(api, prompt, path string, outside outside) *Codec {
	return &Codec{
		API:      api,
		Fixed:    noSetting,
		Match:    posts(has(prompt), path),
		body:     requestForm{prompt: prompt}.decode,
		outside:  outside,
		response: decodeSpeech,
	}
}

// decodeSpeech decodes an answer, which is audio, or events of a stream.
func decodeSpeech(a *Answer) (*modelio.Response, error) {
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	isAudio := strings.HasPrefix(mediaType, "audio/") || mediaType == unknownType
	switch {
	case !isAudio:
		return a.decode(foldRules{add: addSpeech}, speech)
	case len(a.Body) == 0:
		return nil, errors.New("the answer is empty")
	case strings.HasPrefix(mediaType, "audio/"):
		return looseResponse(mediumOf(mediaType, a.Body)), nil
	}
	return looseResponse(sniffed(base64.StdEncoding.EncodeToString(a.Body))), nil
}

// addSpeech takes an event. Each contains audio that is encoded in base64 separately.
func addSpeech(f *fold, _ string, event jsontext.Value) {
	switch kind := event.Member("type").Word(); kind {
	case "speech.audio.delta":
		if audio := event.Member("audio"); audio.Present() {
			f.body.member("audio").append(audio.Raw())
		}
	case "speech.audio.done":
		f.body.put("usage", event.Member("usage"))
		f.done = true
	default:
		f.wrong = fmt.Errorf("has the type %+q, which is none of speech", kind)
	}
}

// speech decodes the content of a stream.
func speech(body jsontext.Value) (*modelio.Response, error) {
	var audio bytes.Buffer
	for _, piece := range body.Member("audio").Elements() {
		bytes, err := base64.StdEncoding.DecodeString(piece.Word())
		if err != nil {
			return nil, &WireError{Reason: "an event has audio that is no base64"}
		}
		audio.Write(bytes)
	}
	if audio.Len() == 0 {
		return nil, neither("audio")
	}
	resp := looseResponse(sniffed(base64.StdEncoding.EncodeToString(audio.Bytes())))
	resp.Usage = responsesUsage.of(body)
	return resp, nil
}
