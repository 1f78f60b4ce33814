package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A decoder decodes the body of an answer.
type decoder func(body jsontext.Value) (*modelio.Response, error)

// decodeResponse is DecodeResponse for most APIs.
func (c *Codec) decodeResponse(a *Answer) (*modelio.Response, error) {
	if a.Status >= 300 {
		return &modelio.Response{Error: decodeFailure(a), Complete: true}, nil
	}
	resp, err := c.response(a)
	if err != nil {
		return nil, c.ofAPI(err)
	}
	return resp, nil
}

// decode decodes an answer: a complete one with one, and the events of a stream after they are folded.
func (a *Answer) decode(stream foldRules, one decoder) (*modelio.Response, error) {
	events := a.Seen()
	if elements := a.Elements(); stream.inArray && elements != nil {
		events = elements.all()
	}
	if events != nil {
		return decodeStream(events, stream, one)
	}
	doc, err := a.Document()
	if err != nil {
		return nil, answerError(a.Body, err)
	}
	resp, err := decodeBody(doc.Root(), one)
	if err != nil {
		return nil, err
	}
	resp.Complete = true
	return resp, nil
}

// answerError turns a parse error into one that describes the answer: an empty one, or the HTML page of a proxy.
func answerError(body []byte, err error) *WireError {
	const enough = 60
	switch begin := bytes.TrimSpace(body); {
	case len(begin) == 0:
		return &WireError{Reason: "the answer is empty"}
	case begin[0] != '{' && begin[0] != '[':
		begin = begin[:min(enough, len(begin))]
		return &WireError{Reason: fmt.Sprintf("the answer is no JSON: it begins %+q", begin)}
	}
	return parseError(err)
}

// needs returns a decoder that uses one for answers with a required shape. what describes the API's answers for errors
// about others. It is not inlined, like posts.
//
//go:noinline
func needs(what string, shape func(body jsontext.Value) bool, one func(body jsontext.Value) *modelio.Response) decoder {
	return func(body jsontext.Value) (*modelio.Response, error) {
		if !shape(body) {
			return nil, neither(what)
		}
		return one(body), nil
	}
}

// neither is the error for an answer without what the API answers with.
func neither(what string) error {
	return &WireError{Reason: "the answer has neither " + what + " nor an error"}
}

// responseOf returns the members that most answers have under the same names, with tidied candidates. Other members go
// to Metadata, except for those in taken, which are decoded elsewhere.
func responseOf(body jsontext.Value, usage *modelio.Usage, all []modelio.Candidate, taken ...string) *modelio.Response {
	for i := range all {
		tidy(&all[i].Message)
	}
	names := append(make([]string, 0, 16), "id", "model", "usage", "object") // avoids an allocation
	return &modelio.Response{
		Candidates: all,
		ID:         body.Member("id").Word(),
		Model:      body.Member("model").Word(),
		Usage:      usage,
		Metadata:   beside(body, append(names, taken...)...),
	}
}

// decodeBody decodes a complete answer, which may report an error, possibly in addition to a part of an answer.
func decodeBody(body jsontext.Value, decode decoder) (*modelio.Response, error) {
	failure := errorObject(body)
	resp, err := decode(body)
	switch {
	case failure == nil:
		return resp, err
	case err != nil:
		return &modelio.Response{Error: failure}, nil
	}
	resp.Error = failure
	empty := func(c modelio.Candidate) bool { return len(c.Message.Content) == 0 }
	resp.Candidates = slices.DeleteFunc(resp.Candidates, empty)
	return resp, nil
}

// decodeStream decodes a stream.
func decodeStream(events []Seen, stream foldRules, decode decoder) (*modelio.Response, error) {
	f := fold{foldRules: stream}
	f.body.log = &f.log
	var failure *modelio.ProviderError
	cut, done := false, false
	for i := range events {
		event := &events[i]
		switch {
		case event.Done():
			done = true
			continue
		case cut:
			return nil, &WireError{Reason: fmt.Sprintf("event %d: no JSON, in the middle of the stream", events[i-1].Number)}
		case f.continues(event):
			continue
		}
		doc, err := jsontext.Parse(event.Said)
		found := errorObject(doc.Root()) // nil if it is not JSON
		switch {
		case errors.Is(err, jsontext.ErrSyntax):
			cut = true // permitted at the end: the stream was cut
		case err != nil:
			err := parseError(err)
			err.Reason = fmt.Sprintf("event %d: %s", event.Number, err.Reason)
			return nil, err
		case found != nil:
			failure = found
		default:
			f.next(event.Name, doc.Root())
			f.startRow(event)
		}
		if f.wrong != nil {
			return nil, &WireError{Reason: fmt.Sprintf("event %d: %v", event.Number, f.wrong)}
		}
	}
	body := f.result()
	if body == nil {
		return &modelio.Response{Error: failure, Complete: done && failure == nil}, nil
	}
	doc, err := parseAnswer(body)
	if err != nil {
		return nil, parseError(err)
	}
	resp, err := decodeBody(doc.Root(), decode)
	if err != nil {
		return nil, err
	}
	resp.Error = cmp.Or(failure, resp.Error)
	resp.Complete = (f.done || done) && !cut && resp.Error == nil
	return resp, nil
}

// decodeFailure returns the error in an answer with an error status.
func decodeFailure(a *Answer) *modelio.ProviderError {
	body := a.Body
	if seen := a.Seen(); len(seen) > 0 {
		body = seen[0].Said
	}
	whole := strings.ToValidUTF8(string(a.Body), "\ufffd")
	doc, _ := parseAnswer(body) // empty if it is not JSON
	root := doc.Root()
	if listed := root.Head(); listed.Present() { // Google's OpenAI-compatible endpoint
		root = listed
	}
	if failure := errorObject(root); failure != nil {
		failure.Message = cmp.Or(failure.Message, whole)
		return failure
	}
	if listed := root.Member("errors").Head(); listed.IsObject() { // Cloudflare
		root = listed
	}
	return &modelio.ProviderError{
		Type:    firstWord(root, "type", "__type", "error_type", "reason"),
		Code:    scalarText(root.Member("code")),
		Param:   root.Member("param").Word(),
		Message: cmp.Or(firstWord(root, "message", "Message", "detail", "msg"), whole),
	}
}

// errorObject returns the error that a body has in its member error, or that it is itself; nil if there is none.
func errorObject(body jsontext.Value) *modelio.ProviderError {
	e, message := body.Member("error"), body.Member("message")
	kind, code, param := body.Member("type").Word(), scalarText(body.Member("code")), body.Member("param").Word()
	switch {
	case kind == "error" && message.IsWord(): // an event of OpenAI's responses
		return &modelio.ProviderError{Code: code, Param: param, Message: message.Word()}
	case body.Member("object").Word() == "error" && message.IsWord(): // Mistral and vLLM
		return &modelio.ProviderError{Type: kind, Code: code, Param: param, Message: message.Word()}
	case e.IsWord() && message.IsWord(): // the error is a code next to its message
		return &modelio.ProviderError{Type: cmp.Or(kind, e.Word()), Code: code, Message: message.Word()}
	case e.IsWord():
		return &modelio.ProviderError{Type: firstWord(body, "type", "error_type"), Code: code, Message: e.Word()}
	case e.IsObject():
		return &modelio.ProviderError{
			Type:    firstWord(e, "type", "status"),
			Code:    scalarText(e.Member("code")),
			Param:   e.Member("param").Word(),
			Message: cmp.Or(firstWord(e, "message"), firstWord(e.Member("error"), "message")), // proxies wrap errors
		}
	case string(body.Member("success").Raw()) == "false" && body.Member("msg").IsWord(): // Z.ai, with status 200
		return &modelio.ProviderError{Code: code, Message: body.Member("msg").Word()}
	}
	code = scalarText(body.Member("base_resp", "status_code")) // MiniMax, likewise
	if code != "" && code != "0" {
		return &modelio.ProviderError{Code: code, Message: body.Member("base_resp", "status_msg").Word()}
	}
	return nil
}

// firstWord returns the first of the named members that is a non-empty string.
func firstWord(v jsontext.Value, names ...string) string {
	for _, name := range names {
		if word := v.Member(name).Word(); word != "" {
			return word
		}
	}
	return ""
}

// scalarText returns the text of a string or number; "" for any other value.
func scalarText(v jsontext.Value) string {
	if number, ok := v.Number(); ok {
		return string(*number)
	}
	return v.Word()
}

// integer returns an integer; 0 for any other value.
func integer(v jsontext.Value) int64 {
	if n, ok := v.Integer(); ok {
		return n
	}
	return 0
}

// beside returns the members of an answer that are not empty, without those named.
func beside(v jsontext.Value, without ...string) modelio.Object {
	return sayingSomething(v.Rest(without...))
}

// tidy removes from a decoded answer what is needed only for encoding it again. An answer is then decoded to one value
// whether it was streamed or not, and whoever hosts the model.
func tidy(m *modelio.Message) {
	delete(m.Metadata, markWire)
	m.Metadata = sayingSomething(m.Metadata)
	parts := m.Content[:0]
	for _, part := range m.Content {
		if part.Text != nil && *part.Text == "" && len(part.Metadata) == 0 {
			continue
		}
		if part.Reasoning != nil || part.ToolRequest != nil {
			delete(part.Metadata, markWire)
		}
		part.Metadata = sayingSomething(part.Metadata)
		_ = sayingSomething(part.Custom) // even an empty one stays custom
		parts = append(parts, part)
	}
	m.Content = parts
}

// sayingSomething removes the empty members of o.
func sayingSomething(o modelio.Object) modelio.Object {
	maps.DeleteFunc(o, func(_ string, raw json.RawMessage) bool { return saysNothing(raw) })
	if len(o) == 0 {
		return nil
	}
	return o
}

// parseAnswer parses a complete answer.
func parseAnswer(body []byte) (*jsontext.Document, error) {
	return jsontext.ParseReplacing(bytes.TrimPrefix(body, byteOrderMark))
}
