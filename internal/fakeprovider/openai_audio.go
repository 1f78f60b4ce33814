package fakeprovider

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
)

// openAITranscriptions is OpenAI's format for transcribing audio.
type openAITranscriptions struct{ openAI }

var (
	_ = serve(atOpenAI(openAITranscriptions{}, "/audio/transcriptions"))
	_ = serve(atOpenAI(openAITranscriptions{}, "/audio/translations"))
)

func (openAITranscriptions) name() string { return "openai.transcriptions" }

func (openAITranscriptions) read(c *Call) *Failure {
	if fail := c.openForm(); fail != nil {
		return fail
	}
	if len(c.Files) == 0 {
		return missing("file")
	}
	c.Stream = c.form.get("stream") == "true"
	c.Messages = []Message{{Role: "user", Text: c.Files[0].Name}}
	if prompt := c.form.get("prompt"); prompt != "" {
		c.Messages = append(c.Messages, Message{Role: "user", Text: prompt})
	}
	return nil
}

// openForm parses the common part of all OpenAI forms.
func (c *Call) openForm() *Failure {
	if !c.isForm() || c.readForm() != nil {
		return invalid("", "", "Could not parse multipart form")
	}
	if c.Model == "" { // on Azure the path names the model
		c.Model = c.form.get("model")
	}
	return nil
}

func (f openAITranscriptions) header(x *exchange) http.Header {
	h := f.openAI.header(x)
	switch format := x.call.form.get("response_format"); {
	case x.reply.Failure != nil || x.call.Stream:
	case format == "text" || format == "srt" || format == "vtt":
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	return h
}

// spoken is the duration of the fake's audio in seconds.
const spoken = 2.5

func (f openAITranscriptions) whole(x *exchange) []byte {
	text := x.reply.Text
	switch x.call.form.get("response_format") {
	case "text":
		return []byte(text + "\n")
	case "srt":
		return fmt.Appendf(nil, "1\n00:00:00,000 --> 00:00:02,500\n%s\n\n\n", text)
	case "vtt":
		return fmt.Appendf(nil, "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n%s\n\n", text)
	case "verbose_json":
		o := object{{"task", "transcribe"}, {"language", "english"}, {"duration", spoken}, {"text", text}}
		kinds := strings.Join(x.call.form["timestamp_granularities[]"], " ")
		if strings.Contains(kinds, "word") {
			var all []object
			for i, word := range strings.Fields(text) {
				all = append(all, object{{"word", word}, {"start", float64(i) / 2}, {"end", float64(i+1) / 2}})
			}
			o = append(o, member{"words", all})
		}
		if kinds == "" || strings.Contains(kinds, "segment") {
			o = append(o, member{"segments", []object{{
				{"id", 0}, {"seek", 0}, {"start", 0.0}, {"end", spoken}, {"text", " " + text}, {"tokens", []int{50364, 440}},
				{"temperature", 0.0}, {"avg_logprob", -0.28}, {"compression_ratio", 0.95}, {"no_speech_prob", 0.009},
			}}})
		}
		return marshal(append(o, member{"usage", object{{"type", "duration"}, {"seconds", 3}}}))
	case "diarized_json":
		return marshal(object{{"task", "transcribe"}, {"duration", spoken}, {"text", text},
			{"segments", []object{append(object{{"type", "transcript.text.segment"}}, f.segment(text)...)}},
			{"usage", f.usage(x)}})
	}
	return marshal(object{{"text", text}, {"usage", f.usage(x)}})
}

func (openAITranscriptions) segment(text string) object {
	return object{{"id", "seg_001"}, {"start", 0.0}, {"end", spoken}, {"text", text}, {"speaker", "A"}}
}

func (openAITranscriptions) usage(x *exchange) object {
	u := x.usage()
	return object{{"type", "tokens"}, {"total_tokens", u.Input + u.Output}, {"input_tokens", u.Input},
		{"input_token_details", object{{"text_tokens", 0}, {"audio_tokens", u.Input}}}, {"output_tokens", u.Output}}
}

func (f openAITranscriptions) stream(x *exchange) []event {
	var events []event
	for _, piece := range x.reply.fragments() {
		events = append(events, jsonEvent("", object{{"type", "transcript.text.delta"}, {"delta", piece}}))
	}
	if x.call.form.get("response_format") == "diarized_json" {
		events = append(events,
			jsonEvent("", append(object{{"type", "transcript.text.segment"}}, f.segment(x.reply.Text)...)))
	}
	done := object{{"type", "transcript.text.done"}, {"text", x.reply.Text}, {"usage", f.usage(x)}}
	return append(events, jsonEvent("", done), event{data: []byte("[DONE]")})
}

// openAISpeech is OpenAI's format for speech from text.
type openAISpeech struct{ openAI }

var _ = serve(atOpenAI(openAISpeech{}, "/audio/speech"))

func (openAISpeech) name() string { return "openai.speech" }

func (f openAISpeech) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	var text string
	switch {
	case !body.into("input", &text):
		return missing("input")
	case !body.has("voice"):
		return missing("voice")
	}
	c.Stream = body.str("stream_format") == "sse"
	c.Messages = []Message{{Role: "user", Text: text}}
	return nil
}

func (f openAISpeech) header(x *exchange) http.Header {
	h := f.openAI.header(x)
	if x.reply.Failure == nil && !x.call.Stream {
		h.Set("Content-Type", "audio/wav")
	}
	return h
}

func (openAISpeech) whole(x *exchange) []byte { return x.sound() }

// sound returns the script's sound, or else a beep that depends only on the text.
func (x *exchange) sound() []byte {
	if x.reply.Media != nil {
		return x.reply.Media
	}
	const rate, samples = 8000, 800
	v := vector(x.call.LastUser(), samples)
	var b bytes.Buffer
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, uint32(36+samples)) // writing to memory never fails
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, struct {
		Size                  uint32
		Format, Channels      uint16
		Rate, BytesPerSecond  uint32
		BlockSize, SampleBits uint16
	}{16, 1, 1, rate, rate, 1, 8})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, uint32(samples))
	for _, f := range v {
		b.WriteByte(byte(128 + 100*f))
	}
	return b.Bytes()
}

func (openAISpeech) stream(x *exchange) []event {
	const size = 500
	var events []event
	for rest := x.sound(); len(rest) > 0; {
		n := min(size, len(rest))
		audio := base64.StdEncoding.EncodeToString(rest[:n])
		events = append(events, jsonEvent("", object{{"type", "speech.audio.delta"}, {"audio", audio}}))
		rest = rest[n:]
	}
	u := x.usage()
	usage := object{{"input_tokens", u.Input}, {"output_tokens", u.Output}, {"total_tokens", u.Input + u.Output}}
	return append(events, jsonEvent("", object{{"type", "speech.audio.done"}, {"usage", usage}}))
}
