package provider

import (
	"cmp"
	"encoding/base64"
	"errors"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/modelio"
)

const httpAPI = "http.json"

// httpJSON keeps requests and answers of APIs that have no codec of their own: models,
// files, batches, images, moderations. Where a body looks like chat completions, it is decoded as
// one; all else of it is kept as it is.
type httpJSON struct{}

func (httpJSON) API() string      { return httpAPI }
func (httpJSON) Provider() string { return "http" }
func (httpJSON) Seeded() bool     { return false }

// Match takes what goes to a known provider or to a model server of one's own on this machine,
// or has the looks of an API: a body of JSON, or a version in the path.
func (httpJSON) Match(w *Wire) bool {
	if hostName(w.URL.Host) != "" || IsLoopback(w.URL.Hostname()) || versionSegment.MatchString(w.URL.Path) {
		return true
	}
	body, err := w.root()
	return body.isObject() || body.isArray() || err != nil && !errors.Is(err, errSyntax)
}

var versionSegment = regexp.MustCompile(`/(v[0-9]+(alpha|beta)?[0-9]*|api)/`)

func (httpJSON) Endpoint(req *Request) string {
	return req.endpoint(cmp.Or(req.urlSegment("path"), "/"))
}

func (httpJSON) DecodeRequest(w *Wire) (*Request, error) {
	req := &Request{API: httpAPI, Messages: []modelio.Message{}, Options: modelio.Object{}}
	root, err := w.root()
	switch {
	case len(w.Body) == 0:
	case err != nil && !errors.Is(err, errSyntax):
		return nil, parseError(httpAPI, err)
	case err != nil:
		req.Options[markBody] = jsonObject(opaqueBody(w))
	case root.isObject() && !root.isEmpty():
		body, err := w.body(httpAPI)
		if err != nil {
			return nil, err
		}
		req = looseRequest(body)
	default:
		req.Options[markBody] = jsonObject(modelio.Object{"json": root.raw()})
	}
	method := w.Method
	if method == "POST" {
		method = ""
	}
	w.keepURL(req, map[string]string{"method": method, "path": cmp.Or(w.URL.EscapedPath(), "/")})
	return req, nil
}

// looseRequest decodes a body as far as it looks like a request for a model.
func looseRequest(body value) *Request {
	req := chatRequest(httpAPI, body, &chatParameters)
	if messages := body.member("messages"); messages.isArray() && messages.isEmpty() {
		req.Options["messages"] = messages.raw() // to be told from none
	}
	if prompt, ok := body.member("prompt").text(); ok && len(req.Messages) == 0 {
		req.Prompt, req.Messages = &prompt, nil
		delete(req.Options, "prompt")
	}
	return req
}

// opaqueBody returns a body that is not JSON: the parts of a multipart form, or text, or bytes.
func opaqueBody(w *Wire) modelio.Object {
	mediaType, parameters, _ := mime.ParseMediaType(w.ContentType)
	if strings.HasPrefix(mediaType, "multipart/") {
		if parts, ok := decodeForm(w.Body, parameters["boundary"]); ok {
			return modelio.Object{"content_type": jsonText(mediaType), "parts": parts}
		}
	}
	o := opaque(w.Body)
	if w.ContentType != "" {
		o["content_type"] = jsonText(w.ContentType)
	}
	return o
}

// opaque returns bytes as text where they are, else in base64.
func opaque(b []byte) modelio.Object {
	if utf8.Valid(b) {
		return modelio.Object{"text": jsonText(string(b))}
	}
	return modelio.Object{"base64": jsonText(base64.StdEncoding.EncodeToString(b))}
}

// bytesOf undoes opaque.
func bytesOf(v value) []byte {
	if text, ok := v.member("text").text(); ok {
		return []byte(text)
	}
	b, _ := base64.StdEncoding.DecodeString(v.member("base64").word()) // opaque wrote it
	return b
}

func (httpJSON) EncodeRequest(req *Request) ([]byte, error) {
	if raw, ok := req.Options[markBody]; ok {
		doc, err := parse(raw)
		if err != nil {
			return nil, parseError(httpAPI, err)
		}
		switch body := doc.root(); {
		case body.member("json").present():
			return body.member("json").raw(), nil
		case body.member("parts").present():
			return encodeForm(body.member("parts")), nil
		default:
			return bytesOf(body), nil
		}
	}
	body, err := chatBody(httpAPI, req, &chatParameters)
	if err != nil {
		return nil, err
	}
	if len(req.Messages) == 0 {
		delete(body, "messages")
	}
	if req.Model != "" {
		body["model"] = jsonText(req.Model)
	}
	if req.Prompt != nil {
		body["prompt"] = jsonText(*req.Prompt)
	}
	overlay(body, req.options())
	if len(body) == 0 {
		return nil, nil
	}
	return jsonObject(body), nil
}

func (httpJSON) DecodeResponse(a *Answer) (*Response, error) {
	if a.Status >= 300 {
		return &Response{Error: decodeFailure(a), Complete: true}, nil
	}
	if events := a.Events(); events != nil {
		if streamsChat(a) {
			return decodeStream(httpAPI, events, &chatFold{}, chatCompletion)
		}
		return looseStream(events), nil
	}
	doc, err := parseAnswer(a.Body)
	if err != nil {
		return &Response{Candidates: []Candidate{looseCandidate(opaquePart(a))}, Complete: true}, nil
	}
	resp, err := decodeBody(doc.root(), looseAnswer)
	if err != nil {
		return nil, err // unreachable: looseAnswer takes all
	}
	if resp.Error != nil {
		resp.Candidates = nil // the same object again
	}
	resp.Complete = true
	return resp, nil
}

// opaquePart returns an answer that is not JSON as text or media.
func opaquePart(a *Answer) []modelio.Part {
	mediaType, _, _ := mime.ParseMediaType(a.ContentType)
	switch {
	case len(a.Body) == 0:
		return nil
	case utf8.Valid(a.Body):
		return []modelio.Part{modelio.TextPart(string(a.Body))}
	case !isContentType(mediaType):
		mediaType = "application/octet-stream"
	}
	return []modelio.Part{modelio.MediaPart(mediaType, dataURL(mediaType, base64.StdEncoding.EncodeToString(a.Body)))}
}

func looseCandidate(parts []modelio.Part) Candidate {
	return Candidate{Message: modelio.Message{Role: modelio.RoleModel, Content: parts}, FinishReason: modelio.FinishStop}
}

// looseAnswer decodes a chat completion, or keeps the whole as a custom part. Its id and times,
// which change, are not in it.
func looseAnswer(body value) (*Response, error) {
	if body.member("choices").isArray() {
		return chatCompletion(body)
	}
	volatile := []string{"id", "created", "created_at"}
	part := modelio.Part{Custom: body.rest(volatile...)}
	switch {
	case !body.isObject():
		part.Custom = modelio.Object{"json": body.raw()}
	case part.Custom == nil:
		part.Custom = modelio.Object{}
	}
	return &Response{
		Candidates: []Candidate{looseCandidate([]modelio.Part{part})},
		ID:         body.member("id").word(),
		Model:      body.member("model").word(),
		Usage:      chatUsage.decode(body.member("usage")),
	}, nil
}

// streamsChat reports whether the events of an answer are chunks of a chat completion.
func streamsChat(a *Answer) bool {
	events := a.Events()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if doc, err := parse(event.Data); err == nil {
			return doc.root().member("choices").isArray()
		}
	}
	return false
}

// looseStream keeps the events of a stream as a list in a custom part.
func looseStream(events *Events) *Response {
	all := list{}
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if event.Data == nil {
			continue
		}
		o := modelio.Object{}
		if event.Name != "" {
			o["event"] = jsonText(event.Name)
		}
		if doc, err := parse(event.Data); err == nil {
			o["data"] = doc.root().raw()
		} else {
			for name, v := range opaque(event.Data) {
				o[name] = v
			}
		}
		all = append(all, jsonObject(o))
	}
	part := modelio.Part{Custom: modelio.Object{"events": jsonList(all)}}
	return &Response{Candidates: []Candidate{looseCandidate([]modelio.Part{part})}, Complete: true}
}
