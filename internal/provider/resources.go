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

// The APIs for creating, reading, changing and deleting a provider's resources: models, files, batches, caches, vector
// stores, fine-tuning jobs. All have the same form and differ only in their provider.
var (
	_ = Register(resources("openai.resources", both(isOpenAIResource, not(isAnthropics))))
	_ = Register(resources("anthropic.resources", either(
		pathLike(`/messages/batches(/[^/:]+)*$`), both(isAnthropics, isOpenAIResource))))
	// Content to be cached by Google is a conversation.
	_ = Register(resources("google.resources", pathLike(`/v[0-9]+(alpha|beta)[0-9]*/`+
		`((models|files|batches|cachedContents|fileSearchStores|tunedModels)(/[^/:]+)*`+
		`(:(cancel|download|uploadToFileSearchStore|importFile))?)$`), func(c *Codec) { c.body = anyContents.decode }))
	_ = Register(resources("ollama.resources", pathLike(`/api/(tags|show|ps|pull|push|create|copy|delete|version)$`)))
)

// isOpenAIResource reports whether a path is that of a collection, of one of its elements, or of something that belongs
// to one.
var isOpenAIResource = pathLike(
	`(/v[0-9]+|/openai|^)/(models(/.+)?|(files|batches|vector_stores|uploads|fine_tuning/jobs)(/[^/:]+)*)$`)

// isAnthropics reports whether a request belongs to Anthropic's API, which shares some paths with OpenAI's.
func isAnthropics(w *Wire) bool {
	return w.Header.Get("Anthropic-Version") != "" || knownHost(bareHost(w.URL)) == "anthropic"
}

// resources returns the codec of an API of resources, as modified by others.
func resources(api string, at func(*Wire) bool, others ...func(*Codec)) *Codec {
	c := &Codec{
		API:    api,
		Match:  func(w *Wire) bool { return at(w) && isResource(w) },
		body:   requestForm{}.decode,
		answer: resourcesOf,
		InURL:  true,
	}
	c.request = func(w *Wire) (*modelio.Request, error) {
		w.say("method", w.Method, "GET")
		w.say("path", w.URL.EscapedPath(), "")
		return decodeBodyOf(w, c.body)
	}
	c.response = func(a *Answer) (*modelio.Response, error) { return decodeResources(a, c.answer) }
	for _, change := range others {
		change(c)
	}
	return c
}

// isResource reports whether a path is that of resources for the request's host and method. On some hosts, a POST to a
// model is a call of the model.
func isResource(w *Wire) bool {
	return isAPI(w) &&
		!(w.Method == "POST" && (strings.HasSuffix(w.URL.Path, "/models") || strings.Contains(w.URL.Path, "/models/")))
}

func isUpload(w *Wire) bool { return strings.Contains(w.URL.Path, "/upload/") }

// uploaded returns a body that is a file: as text if it is text, and otherwise as media.
func uploaded(w *Wire) modelio.Part {
	part := modelio.TextPart(string(w.Body))
	if !utf8.Valid(w.Body) {
		part = mediumOf(w.ContentType, w.Body)
	}
	jsontext.KeepText(&part.Metadata, "content_type", w.ContentType)
	return part
}

// decodeResources decodes an answer: each resource is a custom part. Each line of results is one too. The content of a
// file is text or media. Past and future times are Metadata.
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
	doc, _ := parseAnswer(a.Body)
	if !doc.Root().IsObject() && !doc.Root().IsArray() {
		return looseResponse(opaquePart(a)...), nil
	}
	if failure := errorObject(doc.Root()); failure != nil && doc.Root().Len() == 1 { // otherwise a failed job
		return &modelio.Response{Error: failure, Complete: true}, nil
	}
	return one(doc.Root())
}

// resultLines decodes JSON lines, such as the results of a batch: generated ids are numbered. It returns nil if not all
// lines are objects.
func resultLines(a *Answer) (parts []modelio.Part) {
	ids := steady{results: true}
	for text := range bytes.Lines(a.Body) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		line, _ := jsontext.Parse(text)
		if !line.Root().IsObject() {
			return nil
		}
		parts = append(parts, modelio.Part{Custom: ids.object(line.Root(), nil)})
	}
	return parts
}

// lists are members with lists of resources in answers.
var lists = []string{"data", "models", "files", "batches", "operations", "cachedContents", "fileSearchStores",
	"documents", "tunedModels"}

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
	if all == nil {
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

// resource decodes a resource and, separately, what differs each time that it is created. The id of a long-lived
// resource is in a separate object, where it is not numbered (design R8), because callers refer to it by name.
func resource(v jsontext.Value) (part modelio.Part, varies modelio.Object) {
	if v.Member("custom_id").Present() { // a single line of results
		return modelio.Part{Custom: (&steady{results: true}).object(v, nil)}, nil
	}
	said, varies := steadyOf(v, v.Member("id").Word())
	if kind := longLived(v); kind != "" && v.Member("id").Present() {
		said = modelio.Object{kind: jsontext.ObjectText(said)}
	}
	return modelio.Part{Custom: said}, varies
}

// steadyOf divides the members of an object, at all depths, into stable ones and varying ones. Times vary, and files
// that a batch created, and URLs with the resource's id.
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

// longLived returns the kind of a resource that outlives the program that created it; "" for any other.
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
