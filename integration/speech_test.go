package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A speech is a model's text and its tool calls, one per line.
type speech struct{ text, calls string }

// call adds a tool call. Arguments that are empty, null or not JSON count as missing.
func (s *speech) call(name, arguments string) {
	var value any
	if canonical, err := canon.JSON([]byte(arguments)); err == nil {
		arguments = string(canonical)
	} else if json.Unmarshal([]byte(arguments), &value) == nil { // it has duplicate names
		canonical, _ := json.Marshal(value) // it was decoded from JSON
		arguments = string(canonical)
	}
	if arguments == "null" || arguments == "{}" || arguments == `""` {
		arguments = ""
	}
	s.calls += name + " " + arguments + "\n"
}

func (s speech) String() string { return fmt.Sprintf("%q calls %q", s.text, s.calls) }

// storedSpeech returns the speech in a snapshot.
func storedSpeech(t *testing.T, r *snapshot.Response) speech {
	t.Helper()
	var said speech
	for _, c := range r.Candidates[:min(1, len(r.Candidates))] {
		for _, part := range c.Message.Content {
			switch {
			case part.Text != nil:
				said.text += *part.Text
			case part.ToolRequest != nil:
				said.call(part.ToolRequest.Name, argumentsOf(part.ToolRequest.Input))
			}
		}
	}
	return said
}

// argumentsOf returns the input of a call. An input that is not a JSON object is a text.
func argumentsOf(input json.RawMessage) (text string) {
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	return string(input)
}

// An sdkAnswer is an answer as the provider's SDK decodes it.
type sdkAnswer struct {
	values any // the SDK's own values
	err    string
	said   speech
}

// An sdkDecoder decodes an answer with an SDK, through a call over a transport that returns it.
type sdkDecoder func(context.Context, *http.Response, []byte) sdkAnswer

// sdkDecoders are the decoders of the APIs that have an SDK in Go.
var sdkDecoders = map[string]sdkDecoder{
	"openai.chat":        decoder(openAIChatWhole, openAIChatStream),
	"openai.responses":   decoder(openAIResponsesWhole, openAIResponsesStream),
	"openai.completions": decoder(openAICompletionsWhole, openAICompletionsStream),
	"openai.embeddings":  decoder(openAIEmbeddings, openAIEmbeddings),
	"anthropic.messages": decoder(claudeWhole, claudeStream),
	"vertex.anthropic":   decoder(claudeWhole, claudeStream),
	"google.generate":    decoder(geminiWhole, geminiStream),
	"ollama.chat":        decoder(ollamaChat, ollamaChat),
	"ollama.generate":    decoder(ollamaGenerate, ollamaGenerate),
	"bedrock.converse":   decoder(converseWhole, converseStream),
	"cohere.chat":        decoder(cohereWhole, cohereStream),
}

// An sdkCall is a call with an SDK. Its request does not matter.
type sdkCall func(context.Context, *http.Client) (values any, said speech, err error)

func decoder(whole, stream sdkCall) sdkDecoder {
	return func(ctx context.Context, resp *http.Response, body []byte) sdkAnswer {
		answer := provider.Answer{Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Body: body}
		call := whole
		if answer.Events() != nil {
			call = stream
		}
		values, said, err := call(ctx, &http.Client{Transport: canned{resp, body}})
		a := sdkAnswer{values: values, said: said}
		if err != nil {
			a.err = err.Error()
		}
		return a
	}
}

// canned gives every request the same answer.
type canned struct {
	resp *http.Response
	body []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{
		StatusCode: c.resp.StatusCode, Status: http.StatusText(c.resp.StatusCode), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.resp.Header.Clone(), Request: r, ContentLength: int64(len(c.body)), Body: io.NopCloser(bytes.NewReader(c.body)),
	}
	resp.Header.Del("Content-Length")
	return resp, nil
}

func sameAnswer(a, b sdkAnswer) bool { return reflect.DeepEqual(a, b) }

func shorten(s speech) string {
	text := s.String()
	if len(text) > 300 {
		text = text[:150] + " … " + text[len(text)-150:]
	}
	return strings.ReplaceAll(text, "\n", " ")
}
