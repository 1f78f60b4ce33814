package provider

import (
	"cmp"
	"encoding/base64"
	"errors"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// GenericAPI is that of the codec for what has none of its own.
const GenericAPI = "http.json"

// generic keeps requests and answers of APIs that have no codec of their own: models, files,
// batches, images, moderations. Where a body looks like chat completions, it is decoded as one; all
// else of it is kept as it is.
var generic = (&Codec{
	API:      GenericAPI,
	InURL:    true,
	Match:    matchGeneric,
	request:  decodeGeneric,
	response: decodeGenericAnswer,
}).complete()

// matchGeneric takes requests that look like an API's, by where they go or by a body of JSON.
func matchGeneric(w *Wire) bool {
	body, err := w.root()
	return isAPI(w) || body.IsObject() || body.IsArray() || err != nil && !errors.Is(err, jsontext.ErrSyntax)
}

// isAPI reports whether a request goes to a known provider, to a server on this machine, or to a path with a version.
func isAPI(w *Wire) bool {
	host := bareHost(w.URL)
	return knownHost(host) != "" || isPrivate(host) || versionSegment.MatchString(w.URL.Path)
}

var versionSegment = regexp.MustCompile(`/(v[0-9]+(alpha|beta)?[0-9]*|api)/`)

func decodeGeneric(w *Wire) (*modelio.Request, error) {
	req, err := decodeBodyOf(w, looseRequest)
	if err != nil {
		return nil, err
	}
	_, err = w.root()
	switch {
	case err == nil || len(w.Body) == 0 || req.Options[markBody] != nil:
	case utf8.Valid(w.Body) && w.form() == nil: // a text, which nobody may have said
		req.Messages, req.Options[markBody] = []modelio.Message{}, jsontext.ObjectText(opaqueBody(w))
	default:
		mediaType, _, _ := mime.ParseMediaType(w.ContentType)
		req.Options[markBody] = jsontext.ObjectText(modelio.Object{"content_type": jsontext.Text(mediaType)}) // no conversation has it
	}
	w.say("method", w.Method, "POST")
	w.say("path", cmp.Or(w.URL.EscapedPath(), "/"), "")
	return req, nil
}

// decodeBodyOf decodes a body of any kind: one decodes an object. An upload, in a form or as the body itself, is a
// user's message.
func decodeBodyOf(w *Wire, one func(body jsontext.Value) *modelio.Request) (*modelio.Request, error) {
	req := &modelio.Request{Messages: []modelio.Message{}, Options: modelio.Object{}}
	root, err := w.root()
	switch {
	case len(w.Body) == 0:
	case w.form() != nil:
		return (requestForm{}).decodeForm(w)
	case err == nil && root.IsObject() && !root.IsEmpty():
		return w.decode(one)
	case err == nil:
		req.Options[markBody] = jsontext.ObjectText(modelio.Object{"json": root.Raw()})
	case !errors.Is(err, jsontext.ErrSyntax) && !isUpload(w):
		return nil, parseError(err)
	default:
		req.Messages = []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{uploaded(w)}}}
	}
	return req, nil
}

// looseRequest decodes a body as far as it looks like a request for a model.
func looseRequest(body jsontext.Value) *modelio.Request {
	req := chatForm.decode(body)
	if messages := body.Member("messages"); messages.IsArray() && messages.IsEmpty() {
		req.Options["messages"] = messages.Raw() // to be told from none
	}
	if prompt, ok := body.Member("prompt").Text(); ok && len(req.Messages) == 0 {
		req.Prompt, req.Messages = &prompt, nil
		delete(req.Options, "prompt")
	}
	return req
}

// opaqueBody returns a body that is not JSON with its type.
func opaqueBody(w *Wire) modelio.Object {
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

// mediumOf returns bytes as media of a content type, without its parameters.
func mediumOf(contentType string, data []byte) modelio.Part {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	if !isContentType(mediaType) {
		mediaType = unknownType
	}
	return modelio.MediaPart(mediaType, encodedURL(mediaType, data))
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
