package provider

import (
	"bytes"
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func decodeGenerated(a *Answer) (*modelio.Response, error) {
	newFold := func() fold { return &generateFold{} }
	if a.Status < 300 && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte("[")) {
		events := &Events{a.Body, arrayElements}
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

func generateAnswer(body jsontext.Value) (*modelio.Response, error) {
	blocked := body.Member("promptFeedback", "blockReason")
	if !body.Member("candidates").IsArray() && !blocked.Present() && !body.Member("usageMetadata").Present() {
		return nil, neither("candidates")
	}
	resp := &modelio.Response{
		ID:       body.Member("responseId").Word(),
		Model:    body.Member("modelVersion").Word(),
		Usage:    generateUsage.decode(body.Member("usageMetadata")),
		Metadata: beside(body, "responseId", "modelVersion", "usageMetadata", "candidates"),
	}
	for _, candidate := range body.Member("candidates").Elements() {
		resp.Candidates = append(resp.Candidates, generateCandidate(candidate))
	}
	if len(resp.Candidates) == 0 && blocked.Present() {
		resp.Candidates = []modelio.Candidate{{
			Message:         modelio.Message{Role: modelio.RoleModel},
			FinishReason:    modelio.FinishBlocked,
			FinishReasonRaw: scalarText(blocked),
		}}
	}
	return resp, nil
}

func generateCandidate(v jsontext.Value) modelio.Candidate {
	c := modelio.Candidate{
		Message:         modelio.Message{Role: modelio.RoleModel, Metadata: beside(v, "content", "finishReason", "index")},
		FinishReasonRaw: scalarText(v.Member("finishReason")),
	}
	c.FinishReason = generateFinish(c.FinishReasonRaw)
	c.Message.Content, _ = generateParts(v.Member("content", "parts"))
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

func (f *generateFold) add(_ string, chunk jsontext.Value) error {
	for name, v := range chunk.Members() {
		if name != "candidates" {
			f.top.put(name, v)
			continue
		}
		for _, candidate := range v.Elements() {
			f.candidates.at(candidate.Member("index")).add(candidate)
		}
	}
	return nil
}

func (c *generateGrowing) add(candidate jsontext.Value) {
	for name, v := range candidate.Members() {
		if name != "content" {
			c.candidate.put(name, v)
			continue
		}
		for _, part := range v.Member("parts").Elements() {
			c.addPart(part)
		}
	}
}

// addPart continues the last part by one of the same kind, text or thought, or by more arguments
// of a function call; any other part is a new one.
func (c *generateGrowing) addPart(v jsontext.Value) {
	var last *generatePiece
	if n := len(c.parts); n > 0 {
		last = c.parts[n-1]
	}
	call := v.Member("functionCall")
	switch {
	case last != nil && last.call != nil && !last.call.done && call.IsObject() && !call.Member("name").IsWord():
		last.call.add(call)
		return
	case last == nil || !v.Member("text").IsString() || !last.part.has("text") ||
		string(last.part.set["thought"]) != string(v.Member("thought").Raw()):
		last = &generatePiece{}
		c.parts = append(c.parts, last)
	}
	for name, m := range v.Members() {
		switch name {
		case "text":
			last.part.grow(name, m)
		case "functionCall":
			last.part.put(name, m)
			if more := m.Member("willContinue"); more.Present() {
				last.call = &growingCall{call: m.Rest("willContinue", "partialArgs")}
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
			parts = append(parts, jsontext.ObjectText(part))
		}
		candidate := c.candidate.object()
		if _, ended := candidate["finishReason"]; !ended {
			complete = false
		}
		candidate["content"] = jsontext.ObjectText(modelio.Object{"parts": jsontext.List(parts)})
		candidates = append(candidates, jsontext.ObjectText(candidate))
	}
	body["candidates"] = jsontext.List(candidates)
	return jsontext.ObjectText(body), complete
}
