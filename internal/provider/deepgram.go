package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Deepgram's transcriptions of uploaded audio or of a URL.
var _ = Register(&Codec{
	API:     "deepgram.listen",
	Fixed:   noSetting,
	Match:   func(w *Wire) bool { return w.Method == "POST" && w.pathEndsIn([]string{"/v1/listen"}) },
	request: func(w *Wire) (*modelio.Request, error) { return decodeBodyOf(w, requestForm{}.decode) },
	outside: modelOfQuery,
	answer:  deepgramTranscript,
})

// Deepgram's speech.
var _ = Register(speechCodec("deepgram.speak", "text", "/v1/speak", modelOfQuery))

// modelOfQuery takes the model from a query, where it is also kept.
func modelOfQuery(w *Wire, r *modelio.Request) {
	if model := w.URL.Query().Get("model"); model != "" {
		modelOfPath(r, model)
	}
}

// deepgramTranscript decodes a transcript: the text of each channel, and a custom part with speakers and times.
func deepgramTranscript(body jsontext.Value) (*modelio.Response, error) {
	results := body.Member("results")
	if !results.Member("channels").IsArray() {
		if body.Member("request_id").IsWord() { // the answer is sent to a callback
			return looseResponse(), nil
		}
		return nil, neither("channels")
	}
	var parts []modelio.Part
	for _, channel := range results.Member("channels").Elements() {
		if text := channel.Member("alternatives").Head().Member("transcript"); text.IsWord() {
			parts = append(parts, modelio.TextPart(text.Word()))
		}
	}
	parts = append(parts, modelio.Part{Custom: results.Object()})
	return responseOf(body, nil, candidateOf(parts...), "results"), nil
}
