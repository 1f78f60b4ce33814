package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The APIs with which a provider's resources are made, read, changed and deleted: models, files, batches, what is
// cached, vector stores, fine-tuning. All have the same form; what differs is whose they are.
var (
	_ = Register(resources("openai.resources", both(isOpenAIResource, not(isAnthropics))))
	_ = Register(resources("anthropic.resources", either(
		pathLike(`/messages/batches(/[^/:]+)*$`), both(isOpenAIResource, isAnthropics))))
	// Content that Google is to cache is a conversation.
	_ = Register(resources("google.resources", pathLike(`/v[0-9]+(alpha|beta)[0-9]*/`+
		`((models|files|batches|cachedContents|fileSearchStores|tunedModels)(/[^/:]+)*`+
		`(:(cancel|download|uploadToFileSearchStore|importFile))?)$`), func(c *Codec) { c.body = anyContents.decode }))
	_ = Register(resources("ollama.resources", pathLike(`/api/(tags|show|ps|pull|push|create|copy|delete|version)$`)))
)

// isOpenAIResource reports whether a path is that of a collection, of one of it, or of what belongs to that.
var isOpenAIResource = pathLike(`(/v[0-9]+|/openai|^)/(models(/.+)?|(files|batches|vector_stores|uploads|fine_tuning/jobs)(/[^/:]+)*)$`)

// isAnthropics reports whether a request is one of Anthropic's API, which has some paths with OpenAI's in common.
func isAnthropics(w *Wire) bool {
	return w.Header.Get("Anthropic-Version") != "" || knownHost(bareHost(w.URL)) == "anthropic"
}

// resources is the codec of an API of resources, less what others change.
func resources(api string, at func(*Wire) bool, others ...func(*Codec)) *Codec {
	c := &Codec{
		API:    api,
		Match:  func(w *Wire) bool { return at(w) && isResource(w) },
		body:   requestForm{}.decode,
		answer: resourcesOf,
		InURL:  true,
	}
	c.request = func(w *Wire) (*modelio.Request, error) { return decodeResource(w, c.body) }
	c.response = func(a *Answer) (*modelio.Response, error) { return decodeResources(a, c.answer) }
	for _, change := range others {
		change(c)
	}
	return c
}

// isResource reports whether a path is that of resources for its host and its method too. On some hosts, what is posted
// to a model is for the model.
func isResource(w *Wire) bool {
	return isAPI(w) && !(w.Method == "POST" && (strings.HasSuffix(w.URL.Path, "/models") || strings.Contains(w.URL.Path, "/models/")))
}

// decodeResource decodes a request: its operation stands in $url.
func decodeResource(w *Wire, one func(body jsontext.Value) *modelio.Request) (*modelio.Request, error) {
	req, err := decodeBodyOf(w, one)
	if err != nil {
		return nil, err
	}
	w.say("method", w.Method, "GET")
	w.say("path", w.URL.EscapedPath(), "")
	return req, nil
}

func isUpload(w *Wire) bool { return strings.Contains(w.URL.Path, "/upload/") }

// uploaded returns a body that is a file: as text where it is one, else as media.
func uploaded(w *Wire) modelio.Part {
	part := modelio.TextPart(string(w.Body))
	if !utf8.Valid(w.Body) {
		part = mediumOf(w.ContentType, w.Body)
	}
	if w.ContentType != "" {
		jsontext.Keep(&part.Metadata, "content_type", jsontext.Text(w.ContentType))
	}
	return part
}

// decodeResources decodes an answer: each resource is a custom part. Each line of results is one too. The content of a
// file is text or media. When something was, or will be, is Metadata.
func decodeResources(a *Answer, one decoder) (*modelio.Response, error) {
	if a.Events() != nil {
		if parts := resultLines(a); parts != nil {
			return looseResponse(parts...), nil
		}
		if strings.HasPrefix(a.ContentType, "text/event-stream") {
			return looseStream(a, nil), nil
		}
		return looseResponse(opaquePart(a)...), nil
	}
	doc, err := parseAnswer(a.Body)
	if err != nil || !doc.Root().IsObject() && !doc.Root().IsArray() {
		return looseResponse(opaquePart(a)...), nil
	}
	if failure := errorObject(doc.Root()); failure != nil && doc.Root().Len() == 1 { // else a job that failed
		return &modelio.Response{Error: failure, Complete: true}, nil
	}
	return one(doc.Root())
}

// resultLines decodes lines of JSON, such as the results of a batch: the ids of what was made for them are numbered.
// It returns nil where not all are objects.
func resultLines(a *Answer) (parts []modelio.Part) {
	if !isLines(a.Body) {
		return nil
	}
	ids := steady{results: true}
	for text := range bytes.Lines(a.Body) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		line, err := jsontext.Parse(text)
		if err != nil || !line.Root().IsObject() {
			return nil
		}
		parts = append(parts, modelio.Part{Custom: ids.object(line.Root(), nil)})
	}
	return parts
}

// lists are the members in which answers have lists of resources.
var lists = []string{"data", "models", "files", "batches", "operations", "cachedContents", "fileSearchStores", "documents", "tunedModels"}

// resourcesOf decodes a list of resources, or one.
func resourcesOf(body jsontext.Value) (*modelio.Response, error) {
	all, varies := []jsontext.Value{body}, list{}
	var rest modelio.Object
	if body.IsArray() {
		all, _ = objects(body, func(v jsontext.Value) jsontext.Value { return v })
	}
	for _, name := range lists {
		if found, ok := objects(body.Member(name), func(v jsontext.Value) jsontext.Value { return v }); ok {
			all, rest = found, beside(body, name)
			break
		}
	}
	if body.IsArray() && all == nil {
		return looseResponse(modelio.Part{Custom: modelio.Object{"json": body.Raw()}}), nil
	}
	var parts []modelio.Part
	for _, v := range all {
		part, when := resource(v)
		parts = append(parts, part)
		varies = append(varies, jsontext.ObjectText(when))
	}
	resp := looseResponse(parts...)
	resp.Metadata = rest
	if slices.ContainsFunc(varies, func(when json.RawMessage) bool { return !saysNothing(when) }) {
		jsontext.Keep(&resp.Metadata, "varies", jsontext.List(varies))
	}
	return resp, nil
}

// resource decodes a resource, and apart what is another each time that it is made. The id of what lives long stands in
// an object of its own, where it is not numbered (design R8): it is a name that callers choose by.
func resource(v jsontext.Value) (part modelio.Part, varies modelio.Object) {
	if v.Member("custom_id").Present() { // the only line of results
		return modelio.Part{Custom: (&steady{results: true}).object(v, nil)}, nil
	}
	said, varies := steadyOf(v, v.Member("id").Word())
	if kind := longLived(v); kind != "" && v.Member("id").Present() {
		said = modelio.Object{kind: jsontext.ObjectText(said)}
	}
	return modelio.Part{Custom: said}, varies
}

// steadyOf divides the members of an object, at all depths, into those that stay and those that vary. Times, files
// that a batch made, and URLs with the resource's id vary.
func steadyOf(v jsontext.Value, id string) (said, varies modelio.Object) {
	said = modelio.Object{}
	for name, m := range v.Members() {
		switch {
		case m.IsObject():
			inner, other := steadyOf(m, id)
			said[name] = jsontext.ObjectText(inner)
			jsontext.KeepObject(&varies, name, other)
		case !isTime(name, m) && name != "output_file_id" && name != "error_file_id" &&
			(id == "" || name == "id" || !strings.HasPrefix(m.Word(), "https://") || !strings.Contains(m.Word(), id)):
			said[name] = m.Raw()
		case !m.IsNull():
			jsontext.Keep(&varies, name, m.Raw())
		}
	}
	return said, varies
}

// longLived returns what a resource is that lives longer than the program which made it; "" for any other.
func longLived(v jsontext.Value) string {
	kind := firstWord(v, "object", "type")
	switch {
	case isModel(v):
		return "model"
	case kind == "vector_store" || kind == "vector_store.deleted":
		return "vector_store"
	}
	return ""
}
