package provider

import (
	"mime"
	"net/url"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Cloudflare's Workers AI: one operation for all kinds of models, which the path names. The members of a body and of an
// answer depend on the model: messages or a prompt, and a text, an image, audio or numbers.
var _ = Register(&Codec{
	API:      "cloudflare.run",
	Seeded:   true,
	Match:    func(w *Wire) bool { return w.Method == "POST" && runPath.MatchString(w.URL.EscapedPath()) },
	request:  func(w *Wire) (*modelio.Request, error) { return decodeBodyOf(w, looseRequest) },
	outside:  modelAt(runPath),
	answer:   runAnswer,
	response: decodeRun,
	stream:   runStream,
})

var runPath = regexp.MustCompile(`/accounts/[^/]+/ai/run/(.+)$`)

// modelAt returns the function that takes the model from a path for POST requests.
func modelAt(path *regexp.Regexp) outside {
	return func(w *Wire, r *modelio.Request) {
		if found := path.FindStringSubmatch(w.URL.EscapedPath()); found != nil && w.Method == "POST" {
			model, _ := url.PathUnescape(found[1]) // parsed before
			modelOfPath(r, model)
		}
	}
}

// decodeRun decodes an answer, which may be an image or audio.
func decodeRun(a *Answer) (*modelio.Response, error) {
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	if kind, _, _ := strings.Cut(mediaType, "/"); kind == "image" || kind == "audio" {
		return looseResponse(opaquePart(a)...), nil
	}
	return a.decode(runStream, runAnswer)
}

// runStream folds a model's own events, or chunks of chat completions.
var runStream = foldRules{
	pieces: rules{
		"response": (*node).grow, "tool_calls": (*node).extend, "p": skip,
		"choices": each(growChoice), "id": (*node).first, "model": (*node).first, "object": skip,
	},
	end: func(f *fold) {
		if f.body.get("choices") != nil {
			endChat(f)
		}
	},
}

func runAnswer(body jsontext.Value) (*modelio.Response, error) {
	result := body.Member("result")
	if !result.Present() { // from a stream
		result = body
	}
	if result.Member("choices").IsArray() {
		return chatCompletion(result), nil
	}
	said, calls := result.Member("response"), result.Member("tool_calls")
	var parts []modelio.Part
	switch text, ok := said.Text(); {
	case firstWord(result, "image", "audio") != "":
		parts = append(parts, sniffed(firstWord(result, "image", "audio")))
	case ok:
		parts = thoughtText(text)
	case said.IsObject(): // according to a schema
		parts = append(parts, modelio.TextPart(string(said.Raw())))
	case !calls.IsArray() && result.IsObject():
		return looseAnswer(result, nil), nil
	case !calls.IsArray():
		return looseParts(result, "result"), nil
	}
	parts = append(parts, partsOf(calls, runCall)...)
	return responseOf(result, chatUsage.of(result), candidateOf(parts...), "response", "tool_calls", "image", "audio"), nil
}

// runCall decodes a call, whose arguments are a value. A call in the form of chat completions may have its name
// elsewhere.
func runCall(v jsontext.Value) modelio.Part {
	part, _ := callPart(v, "name", "id", "arguments")
	return partOf(v, part, part.ToolRequest.Name != "")
}

// thoughtText returns a text and, as a separate part, the reasoning in a tag at its start.
func thoughtText(text string) []modelio.Part {
	inside, ok := strings.CutPrefix(strings.TrimLeft(text, "\n"), "<think>")
	if !ok {
		return []modelio.Part{modelio.TextPart(text)}
	}
	thought, said, _ := strings.Cut(inside, "</think>")
	parts := []modelio.Part{modelio.ReasoningPart(strings.Trim(thought, "\n"))}
	if said = strings.TrimLeft(said, "\n"); said != "" {
		parts = append(parts, modelio.TextPart(said))
	}
	return parts
}
