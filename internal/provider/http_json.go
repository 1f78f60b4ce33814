package provider

import (
	"cmp"
	"encoding/base64"
	"errors"
	"maps"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const httpAPI = "http.json"

// generic keeps requests and answers of APIs that have no codec of their own: models, files,
// batches, images, moderations. Where a body looks like chat completions, it is decoded as one; all
// else of it is kept as it is.
var generic = &Codec{
	API:            httpAPI,
	Provider:       "http",
	Match:          matchGeneric,
	DecodeRequest:  decodeGeneric,
	DecodeResponse: decodeGenericAnswer,
}

// matchGeneric takes what goes to a known provider or to a model server of one's own on this machine,
// or has the looks of an API: a body of JSON, or a version in the path.
func matchGeneric(w *Wire) bool {
	if host := bareHost(w.URL); knownHost(host) != "" || isPrivate(host) || versionSegment.MatchString(w.URL.Path) {
		return true
	}
	body, err := w.root()
	return body.IsObject() || body.IsArray() || err != nil && !errors.Is(err, jsontext.ErrSyntax)
}

var versionSegment = regexp.MustCompile(`/(v[0-9]+(alpha|beta)?[0-9]*|api)/`)

func decodeGeneric(w *Wire) (*modelio.Request, error) {
	req := &modelio.Request{API: httpAPI, Messages: []modelio.Message{}, Options: modelio.Object{}}
	root, err := w.root()
	switch {
	case len(w.Body) == 0:
	case err != nil && !errors.Is(err, jsontext.ErrSyntax):
		return nil, parseError(httpAPI, err)
	case err != nil:
		req.Options[markBody] = jsontext.ObjectText(opaqueBody(w))
	case root.IsObject() && !root.IsEmpty():
		body, err := w.body(httpAPI)
		if err != nil {
			return nil, err
		}
		req = looseRequest(body)
	default:
		req.Options[markBody] = jsontext.ObjectText(modelio.Object{"json": root.Raw()})
	}
	w.said = nil
	w.say("method", w.Method, "POST")
	w.say("path", cmp.Or(w.URL.EscapedPath(), "/"), "")
	w.keepOutside(req)
	return req, nil
}

// looseRequest decodes a body as far as it looks like a request for a model.
func looseRequest(body jsontext.Value) *modelio.Request {
	req := chatForm.decode(body)
	req.API = httpAPI
	if messages := body.Member("messages"); messages.IsArray() && messages.IsEmpty() {
		req.Options["messages"] = messages.Raw() // to be told from none
	}
	if prompt, ok := body.Member("prompt").Text(); ok && len(req.Messages) == 0 {
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
			return modelio.Object{"content_type": jsontext.Text(mediaType), "parts": parts}
		}
	}
	o := opaque(w.Body)
	if w.ContentType != "" {
		o["content_type"] = jsontext.Text(w.ContentType)
	}
	return o
}

// opaque returns bytes as text where they are, else in base64.
func opaque(b []byte) modelio.Object {
	if utf8.Valid(b) {
		return modelio.Object{"text": jsontext.Text(string(b))}
	}
	return modelio.Object{"base64": jsontext.Text(base64.StdEncoding.EncodeToString(b))}
}

func decodeGenericAnswer(a *Answer) (*modelio.Response, error) {
	if a.Status >= 300 {
		return &modelio.Response{Error: decodeFailure(a), Complete: true}, nil
	}
	if events := a.Events(); events != nil {
		if streamsChat(a) {
			return decodeStream(httpAPI, events, chatStream, chatCompletion)
		}
		if all := eventsOf(events); len(all) > 0 {
			return looseResponse(modelio.Part{Custom: modelio.Object{"events": jsontext.List(all)}}), nil
		}
		return looseResponse(opaquePart(a)...), nil // a text that begins like a stream
	}
	doc, err := parseAnswer(a.Body)
	if err != nil {
		return looseResponse(opaquePart(a)...), nil
	}
	resp, err := decodeBody(httpAPI, doc.Root(), looseAnswer)
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
	return []modelio.Part{modelio.MediaPart(mediaType, encodedURL(mediaType, a.Body))}
}

// encodedURL is dataURL of what is not encoded yet, which may be long.
func encodedURL(contentType string, data []byte) string {
	var url strings.Builder
	url.WriteString(dataURL(contentType, ""))
	url.Grow(base64.StdEncoding.EncodedLen(len(data)))
	encoder := base64.NewEncoder(base64.StdEncoding, &url)
	encoder.Write(data) // to memory
	encoder.Close()
	return url.String()
}

// looseResponse returns an answer that is not known to say more than parts.
func looseResponse(parts ...modelio.Part) *modelio.Response {
	message := modelio.Message{Role: modelio.RoleModel, Content: parts}
	return &modelio.Response{
		Candidates: []modelio.Candidate{{Message: message, FinishReason: modelio.FinishStop}},
		Complete:   true,
	}
}

// looseAnswer decodes a chat completion, or keeps the whole as a custom part. Its id and times,
// which change, are not in it.
func looseAnswer(body jsontext.Value) (*modelio.Response, error) {
	if body.Member("choices").IsArray() {
		return chatCompletion(body)
	}
	if !body.IsObject() {
		return looseResponse(modelio.Part{Custom: modelio.Object{"json": body.Raw()}}), nil
	}
	part := modelio.Part{Custom: body.Object()}
	for _, volatile := range []string{"id", "created", "created_at"} {
		delete(part.Custom, volatile)
	}
	resp := looseResponse(part)
	resp.ID, resp.Model = body.Member("id").Word(), body.Member("model").Word()
	resp.Usage = chatUsage.decode(body.Member("usage"))
	return resp, nil
}

// streamsChat reports whether the events of an answer are chunks of a chat completion.
func streamsChat(a *Answer) bool {
	events := a.Events()
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if doc, err := jsontext.Parse(event.Data); err == nil {
			return doc.Root().Member("choices").IsArray()
		}
	}
	return false
}

// eventsOf returns the events of a stream that carry data.
func eventsOf(events *Events) (all list) {
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		if event.Data == nil {
			continue
		}
		o := modelio.Object{}
		if event.Name != "" {
			o["event"] = jsontext.Text(event.Name)
		}
		if doc, err := jsontext.Parse(event.Data); err == nil {
			o["data"] = doc.Root().Raw()
		} else {
			maps.Copy(o, opaque(event.Data))
		}
		all = append(all, jsontext.ObjectText(o))
	}
	return all
}
