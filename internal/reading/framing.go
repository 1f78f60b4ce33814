package reading

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// An event is an event of a stream as a program parses it.
type event = provider.Seen

// A framing passes the events of an answer to yield until that returns false.
type framing func(a *provider.Answer, yield func(event) bool)

// standard yields the events as codecs read them.
func standard(a *provider.Answer, yield func(event) bool) {
	if seen := a.Seen(); seen != nil {
		slices.Values(seen)(yield)
	} else {
		elements(a.Body, yield)
	}
}

// elements yields the elements of an array, the form in which Gemini streams without server-sent events. It yields any
// other text as one event.
func elements(text []byte, yield func(event) bool) {
	doc, err := jsontext.ParseLenient(bytes.TrimSpace(text))
	if err != nil || !doc.Root().IsArray() {
		yield(event{Said: text})
		return
	}
	for _, e := range doc.Root().Elements() {
		if !yield(event{Said: e.Raw()}) {
			return
		}
	}
}

// scannedLines yields lines like bufio.ScanLines.
func scannedLines(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(body) {
			if !yield(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))) {
				return
			}
		}
	}
}

// blocks yields events that end at an empty line, as openai-go and anthropic-sdk-go do. A last event without an empty
// line is lost.
func blocks(a *provider.Answer, yield func(event) bool) {
	var e event
	for line := range scannedLines(a.Body) {
		if len(line) == 0 {
			if len(e.Said) > 0 && !strings.HasPrefix(e.Name, "thread.") && !yield(e) { // thread. events belong to another API
				return
			}
			e = event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			e.Said = append(append(e.Said, value...), '\n')
		}
	}
}

// named yields the blocks that have a name, except pings, as anthropic-sdk-go does.
func named(a *provider.Answer, yield func(event) bool) {
	blocks(a, func(e event) bool { return e.Name != "error" && (e.Name == "" || e.Name == "ping" || yield(e)) })
}

// dataLines yields each data line as an event, as go-openai does.
func dataLines(a *provider.Answer, yield func(event) bool) {
	for line := range bytes.Lines(a.Body) {
		data, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if found && bytes.HasSuffix(line, []byte("\n")) && !yield(event{Said: bytes.TrimSpace(data)}) {
			return
		}
	}
}

// paragraphs yields everything between empty lines as one field, as genai does.
func paragraphs(a *provider.Answer, yield func(event) bool) {
	for rest := a.Body; len(rest) > 0; {
		block, after, found := bytes.Cut(rest, []byte("\n\n"))
		if !found {
			block, after, _ = bytes.Cut(rest, []byte("\r\n\r\n"))
		}
		rest = after
		name, data, _ := bytes.Cut(bytes.TrimSuffix(block, []byte("\r")), []byte(":"))
		switch {
		case len(block) == 0:
		case string(name) != "data":
			yield(event{Said: block}) // not JSON, at which genai stops
			return
		case !yield(event{Said: data}):
			return
		}
	}
}

// afterPrefix yields the rest of the line after each "data: " at any position, as cohere-go does.
func afterPrefix(a *provider.Answer, yield func(event) bool) {
	for rest := a.Body; ; {
		_, after, found := bytes.Cut(rest, []byte("data: "))
		if !found {
			return
		}
		line, after, _ := bytes.Cut(after, []byte("\n"))
		if bytes.Contains(line, []byte("[DONE]")) || !yield(event{Said: line}) {
			return
		}
		rest = after
	}
}

// jsonLines yields each line as an event, as ollama does.
func jsonLines(a *provider.Answer, yield func(event) bool) {
	for line := range scannedLines(a.Body) {
		if !yield(event{Said: line}) {
			return
		}
	}
}
