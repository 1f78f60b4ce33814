package provider

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// decodeAnswer decodes an answer of any status: whole with decode, or streamed with a fold
// before that.
func decodeAnswer(api string, a *Answer, newFold func() fold, decode func(body value) (*Response, error)) (*Response, error) {
	if a.Status >= 300 {
		return &Response{Error: decodeFailure(a), Complete: true}, nil
	}
	if events := a.Events(); events != nil {
		return decodeStream(api, events, newFold(), decode)
	}
	doc, err := parseAnswer(a.Body)
	if err != nil {
		return nil, answerError(api, a.Body, err)
	}
	resp, err := decodeBody(doc.root(), decode)
	if err != nil {
		return nil, err
	}
	resp.Complete = true
	return resp, nil
}

// answerError returns err, of parse, as an error of api that says what the answer is instead: nothing, or
// the page of a proxy.
func answerError(api string, body []byte, err error) *WireError {
	const enough = 60
	switch begin := bytes.TrimSpace(body); {
	case len(begin) == 0:
		return &WireError{API: api, Reason: "the answer is empty"}
	case errors.Is(err, errSyntax) && begin[0] != '{' && begin[0] != '[':
		return &WireError{API: api, Reason: fmt.Sprintf("the answer is no JSON: it begins %q", begin[:min(enough, len(begin))])}
	}
	return parseError(api, err)
}

// decodeBody decodes a whole answer, which may report an error, also beside a part of an answer.
func decodeBody(body value, decode func(value) (*Response, error)) (*Response, error) {
	failure := errorObject(body)
	resp, err := decode(body)
	switch {
	case failure == nil:
		return resp, err
	case err != nil:
		return &Response{Error: failure}, nil
	}
	resp.Error = failure
	resp.Candidates = slices.DeleteFunc(resp.Candidates, func(c Candidate) bool { return len(c.Message.Content) == 0 })
	return resp, nil
}

func decodeStream(api string, events *Events, f fold, decode func(value) (*Response, error)) (*Response, error) {
	var failure *Error
	cut, done := false, false
	for n := 1; ; n++ {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err // unreachable: the answer is in memory
		}
		data := bytes.TrimSpace(event.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			done = true
			continue
		}
		if cut {
			return nil, &WireError{API: api, Reason: fmt.Sprintf("event %d: cut off in the middle of the stream", n-1)}
		}
		doc, err := parse(data)
		if err != nil && errors.Is(err, errSyntax) {
			cut = true // fine if nothing follows: the stream broke off
			continue
		}
		if err != nil {
			err := parseError(api, err)
			err.Reason = fmt.Sprintf("event %d: %s", n, err.Reason)
			return nil, err
		}
		if found := errorObject(doc.root()); found != nil {
			failure = found
			continue
		}
		if err := f.add(event.Name, doc.root()); err != nil {
			return nil, &WireError{API: api, Reason: fmt.Sprintf("event %d: %v", n, err)}
		}
	}
	body, complete := f.body()
	if body == nil {
		return &Response{Error: failure, Complete: done && failure == nil}, nil
	}
	doc, err := parseAnswer(body)
	if err != nil {
		return nil, parseError(api, err)
	}
	resp, err := decodeBody(doc.root(), decode)
	if err != nil {
		return nil, err
	}
	resp.Error = cmp.Or(failure, resp.Error)
	resp.Complete = (complete || done) && !cut && resp.Error == nil
	return resp, nil
}

// decodeFailure returns what the body of an answer with an error status says.
func decodeFailure(a *Answer) *Error {
	body := a.Body
	if events := a.Events(); events != nil {
		for event, err := events.Next(); err == nil; event, err = events.Next() {
			if len(event.Data) > 0 {
				body = event.Data
				break
			}
		}
	}
	whole := strings.ToValidUTF8(string(a.Body), "\ufffd")
	doc, err := parseAnswer(body)
	if err != nil {
		return &Error{Message: whole}
	}
	root := doc.root()
	if listed := elementOf(root); listed.present() { // Google's OpenAI-compatible endpoint
		root = listed
	}
	if failure := errorObject(root); failure != nil {
		failure.Message = cmp.Or(failure.Message, whole)
		return failure
	}
	if listed := elementOf(root.member("errors")); listed.isObject() { // Cloudflare
		root = listed
	}
	return &Error{
		Type:    firstWord(root, "type", "__type", "error_type", "reason"),
		Code:    scalarText(root.member("code")),
		Message: cmp.Or(firstWord(root, "message", "Message", "detail", "msg"), whole),
	}
}

// errorObject returns the error of a body that reports one in its member error, or that is one;
// nil if it does not.
func errorObject(body value) *Error {
	e, message := body.member("error"), body.member("message")
	switch {
	case body.member("type").word() == "error" && message.isWord(): // an event of OpenAI's responses
		return &Error{Code: scalarText(body.member("code")), Message: message.word()}
	case body.member("object").word() == "error" && message.isWord(): // Mistral and vLLM
		return &Error{Type: body.member("type").word(), Code: scalarText(body.member("code")), Message: message.word()}
	case e.isWord() && message.isWord(): // the error is a code beside its message
		return &Error{Type: cmp.Or(body.member("type").word(), e.word()), Code: scalarText(body.member("code")), Message: message.word()}
	case e.isWord():
		return &Error{Type: firstWord(body, "type", "error_type"), Code: scalarText(body.member("code")), Message: e.word()}
	case e.isObject():
		return &Error{
			Type:    firstWord(e, "type", "status"),
			Code:    scalarText(e.member("code")),
			Message: cmp.Or(firstWord(e, "message"), firstWord(e.member("error"), "message")), // proxies wrap errors
		}
	case string(body.member("success").raw()) == "false" && body.member("msg").isWord(): // Z.ai, with status 200
		return &Error{Code: scalarText(body.member("code")), Message: body.member("msg").word()}
	}
	code := scalarText(body.member("base_resp", "status_code")) // MiniMax, likewise
	if code != "" && code != "0" {
		return &Error{Code: code, Message: body.member("base_resp", "status_msg").word()}
	}
	return nil
}

// firstWord returns the first of the named members that is a string with something in it.
func firstWord(v value, names ...string) string {
	for _, name := range names {
		if word := v.member(name).word(); word != "" {
			return word
		}
	}
	return ""
}

// scalarText returns the text of a string or number; "" for any other value.
func scalarText(v value) string {
	if number, ok := v.number(); ok {
		return string(*number)
	}
	return v.word()
}

// beside returns the members of an answer that say something, without those named.
func beside(v value, without ...string) modelio.Object {
	return sayingSomething(v.rest(without...))
}

// tidy drops from a decoded answer what only matters to one who has to encode it again, so that the
// same answer decodes alike whether it was streamed or not and whoever hosts the model.
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
		for name, raw := range part.Custom {
			if saysNothing(raw) {
				delete(part.Custom, name)
			}
		}
		parts = append(parts, part)
	}
	m.Content = parts
}

// sayingSomething drops the members of o that say nothing.
func sayingSomething(o modelio.Object) modelio.Object {
	for name, raw := range o {
		if saysNothing(raw) {
			delete(o, name)
		}
	}
	if len(o) == 0 {
		return nil
	}
	return o
}
