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

// GenericAPI is the API of the generic codec.
const GenericAPI = "http.json"

// generic keeps requests and answers of APIs without a codec of their own: models, files, batches, images, moderations.
// A body that looks like chat completions is decoded as such; everything else is kept unchanged.
var generic = (&Codec{
	API:      GenericAPI,
	InURL:    true,
	Match:    matchGeneric,
	request:  decodeGeneric,
	response: decodeGenericAnswer,
}).complete()

// awsTokens are members by which AWS recognizes another try of a call. Its SDK makes a new value for each call.
var awsTokens = [][]string{{"clientRequestToken"}, {"clientToken"}}

// matchGeneric matches requests that look like API calls, by their destination or by a JSON body.
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
	case utf8.Valid(w.Body) && w.form() == nil: // a text that need not be a user's
		req.Messages, req.Options[markBody] = []modelio.Message{}, jsontext.ObjectText(opaqueBody(w))
	default:
		mediaType, _, _ := mime.ParseMediaType(w.ContentType)
		// not possible in a conversation
		req.Options[markBody] = jsontext.ObjectText(modelio.Object{"content_type": jsontext.Text(mediaType)})
	}
	if sentTo("bedrock")(w) {
		keepPresence(req.Options, awsTokens)
	}
	w.say("method", w.Method, "POST")
	w.say("path", cmp.Or(w.URL.EscapedPath(), "/"), "")
	return req, nil
}

// decodeBodyOf decodes a body of any kind: one decodes an object. An upload, in a form or as the body itself, is a
// message of the user.
func decodeBodyOf(w *Wire, one func(body jsontext.Value) *modelio.Request) (*modelio.Request, error) {
	req := &modelio.Request{Messages: []modelio.Message{}, Options: modelio.Object{}}
	root, err := w.root()
	switch {
	case len(w.Body) == 0:
	case w.form() != nil:
		return requestForm{prompt: "prompt"}.decodeForm(w)
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

// looseRequest decodes a body as far as it looks like a request to a model.
func looseRequest(body jsontext.Value) *modelio.Request {
	req := chatForm.decode(body)
	if messages := body.Member("messages"); messages.IsArray() && messages.IsEmpty() {
		req.Options["messages"] = messages.Raw() // distinguishes it from no messages
	}
	if prompt, ok := body.Member("prompt").Text(); ok && len(req.Messages) == 0 {
		req.Prompt, req.Messages = &prompt, nil
		delete(req.Options, "prompt")
	}
	return req
}

// opaqueBody returns a body that is not JSON, with its type.
func opaqueBody(w *Wire) modelio.Object {
	o := opaque(w.Body)
	jsontext.KeepText(&o, "content_type", w.ContentType)
	return o
}

// opaque returns bytes as text if they are text, and otherwise in base64.
func opaque(b []byte) modelio.Object {
	if utf8.Valid(b) {
		return modelio.Object{"text": jsontext.Text(string(b))}
	}
	return modelio.Object{"base64": jsontext.Text(base64.StdEncoding.EncodeToString(b))}
}

// mediumOf returns bytes as media with a content type, without its parameters.
func mediumOf(contentType string, data []byte) modelio.Part {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	if !isContentType(mediaType) {
		mediaType = unknownType
	}
	return modelio.MediaPart(mediaType, encodedURL(mediaType, data))
}

// encodedURL is dataURL for data that is not encoded yet and may be long.
func encodedURL(contentType string, data []byte) string {
	var url strings.Builder
	url.WriteString(dataURL(contentType, ""))
	url.Grow(base64.StdEncoding.EncodedLen(len(data)))
	encoder := base64.NewEncoder(base64.StdEncoding, &url)
	encoder.Write(data) // to memory
	encoder.Close()
	return url.String()
}
