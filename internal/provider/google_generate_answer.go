package provider

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/traceforge/traceforge-go/modelio"
)

func (googleGenerate) DecodeResponse(a *Answer) (*Response, error) {
	newFold := func() fold { return &generateFold{} }
	if a.Status < 300 && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte("[")) {
		events := &Events{buf: a.Body, err: io.EOF, split: &elementSplitter{}}
		return decodeStream(generateAPI, events, newFold(), generateAnswer)
	}
	return decodeAnswer(generateAPI, a, newFold, generateAnswer)
}

var generateUsage = usageNames{
	input:     [][]string{{"promptTokenCount"}},
	output:    [][]string{{"candidatesTokenCount"}},
	total:     [][]string{{"totalTokenCount"}},
	reasoning: [][]string{{"thoughtsTokenCount"}},
	cacheRead: [][]string{{"cachedContentTokenCount"}},
}

func generateAnswer(body value) (*Response, error) {
	blocked := body.member("promptFeedback", "blockReason")
	if !body.member("candidates").isArray() && !blocked.present() && !body.member("usageMetadata").present() {
		return nil, &WireError{API: generateAPI, Reason: "the answer has neither candidates nor an error"}
	}
	resp := &Response{
		ID:       body.member("responseId").word(),
		Model:    body.member("modelVersion").word(),
		Usage:    generateUsage.decode(body.member("usageMetadata")),
		Metadata: beside(body, "responseId", "modelVersion", "usageMetadata", "candidates"),
	}
	for _, candidate := range body.member("candidates").elements() {
		resp.Candidates = append(resp.Candidates, generateCandidate(candidate))
	}
	if len(resp.Candidates) == 0 && blocked.present() {
		resp.Candidates = []Candidate{{
			Message:         modelio.Message{Role: modelio.RoleModel},
			FinishReason:    modelio.FinishBlocked,
			FinishReasonRaw: scalarText(blocked),
		}}
	}
	return resp, nil
}

func generateCandidate(v value) Candidate {
	c := Candidate{
		Message:         modelio.Message{Role: modelio.RoleModel, Metadata: beside(v, "content", "finishReason", "index")},
		FinishReasonRaw: scalarText(v.member("finishReason")),
	}
	c.FinishReason = generateFinish(c.FinishReasonRaw)
	c.Message.Content, _ = generateParts(v.member("content", "parts"))
	tidy(&c.Message)
	return c
}

// generateFinish maps the API's words, and the numbers that clients can ask for instead.
func generateFinish(raw string) modelio.FinishReason {
	switch raw {
	case "STOP", "1":
		return modelio.FinishStop
	case "MAX_TOKENS", "2":
		return modelio.FinishLength
	case "SAFETY", "3", "RECITATION", "4", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR":
		return modelio.FinishBlocked
	}
	return modelio.FinishOther // the numbers above 4 are not the same in the two APIs
}

// generateFold makes one answer of the answers that the API streams.
type generateFold struct {
	top        growing
	candidates sequence[generateGrowing]
}

// generateGrowing is one candidate that is under way.
type generateGrowing struct {
	candidate growing // but for its parts
	parts     []*generatePiece
}

// generatePiece is a part that is under way.
type generatePiece struct {
	part growing
	call *growingCall // of a function call whose arguments come in pieces
}

func (f *generateFold) add(_ string, chunk value) error {
	for name, v := range chunk.members() {
		if name != "candidates" {
			f.top.put(name, v)
			continue
		}
		for _, candidate := range v.elements() {
			f.candidates.at(candidate.member("index")).add(candidate)
		}
	}
	return nil
}

func (c *generateGrowing) add(candidate value) {
	for name, v := range candidate.members() {
		if name != "content" {
			c.candidate.put(name, v)
			continue
		}
		for _, part := range v.member("parts").elements() {
			c.addPart(part)
		}
	}
}

// addPart continues the last part by one of the same kind, text or thought, or by more arguments
// of a function call; any other part is a new one.
func (c *generateGrowing) addPart(v value) {
	var last *generatePiece
	if n := len(c.parts); n > 0 {
		last = c.parts[n-1]
	}
	call := v.member("functionCall")
	switch {
	case last != nil && last.call != nil && !last.call.done && call.isObject() && !call.member("name").isWord():
		last.call.add(call)
		return
	case last == nil || !v.member("text").isString() || !last.part.has("text") ||
		string(last.part.set["thought"]) != string(v.member("thought").raw()):
		last = &generatePiece{}
		c.parts = append(c.parts, last)
	}
	for name, m := range v.members() {
		switch name {
		case "text":
			last.part.grow(name, m)
		case "functionCall":
			last.part.put(name, m)
			if more := m.member("willContinue"); more.present() {
				last.call = &growingCall{call: m.rest("willContinue", "partialArgs")}
				last.call.add(m)
			}
		default:
			last.part.put(name, m)
		}
	}
}

func (f *generateFold) body() (json.RawMessage, bool) {
	body := f.top.object()
	if len(body) == 0 && len(f.candidates.items) == 0 {
		return nil, false
	}
	_, complete := body["promptFeedback"] // the prompt was refused
	if len(f.candidates.items) > 0 {
		complete = true
	}
	candidates := list{}
	for _, c := range f.candidates.items {
		parts := list{}
		for _, piece := range c.parts {
			part := piece.part.object()
			if piece.call != nil {
				part["functionCall"] = piece.call.json()
			}
			parts = append(parts, jsonObject(part))
		}
		candidate := c.candidate.object()
		if _, ended := candidate["finishReason"]; !ended {
			complete = false
		}
		candidate["content"] = jsonObject(modelio.Object{"parts": jsonList(parts)})
		candidates = append(candidates, jsonObject(candidate))
	}
	body["candidates"] = jsonList(candidates)
	return jsonObject(body), complete
}
