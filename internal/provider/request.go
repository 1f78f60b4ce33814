package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// requests returns the DecodeRequest of an API whose bodies are objects. decode says with say what
// is to be kept of the path; the rest of the request is kept here.
func requests(api string, decode func(*Wire, jsontext.Value) *modelio.Request) func(*Wire) (*modelio.Request, error) {
	return func(w *Wire) (*modelio.Request, error) {
		body, err := w.body(api)
		if err != nil {
			return nil, err
		}
		w.said = nil
		req := decode(w, body)
		req.API = api
		w.keepOutside(req)
		return req, nil
	}
}

// A taker takes a member of a body into the field for it. It reports false for one that has no
// field or does not fit it.
type taker func(r *modelio.Request, name string, v jsontext.Value) bool

// decodeMembers decodes a body: the model, and what take takes. The rest is kept in Options.
func decodeMembers(body jsontext.Value, take taker) *modelio.Request {
	req := &modelio.Request{Options: modelio.Object{}}
	for name, v := range body.Members() {
		switch {
		case name == "model" && v.IsWord():
			req.Model = v.Word()
		case take(req, name, v):
		default:
			req.Options[name] = v.Raw()
		}
	}
	if req.Prompt == nil && req.Messages == nil {
		req.Messages = []modelio.Message{}
	}
	return req
}

// decodePrompt decodes a body whose content is one member. If that is a string it is the prompt.
// Other members are for take.
func decodePrompt(body jsontext.Value, prompt string, take taker) *modelio.Request {
	return decodeMembers(body, func(r *modelio.Request, name string, v jsontext.Value) bool {
		if name != prompt {
			return take(r, name, v)
		}
		text, ok := v.Text()
		if ok {
			r.Prompt = &text
		}
		return ok
	})
}

// prepend puts the system message before the others, wherever the body has it. It passes on whether
// there is one.
func prepend(r *modelio.Request, m modelio.Message, ok bool) bool {
	if ok {
		r.Messages = append([]modelio.Message{m}, r.Messages...)
	}
	return ok
}

// modelOfPath sets the model, which the path has, and keeps one in the body beside it.
func modelOfPath(r *modelio.Request, model string) {
	if r.Model != "" {
		r.Options["model"] = jsontext.Text(r.Model)
	}
	r.Model = model
}

// say keeps what the path says, unless that is what it usually says.
func (w *Wire) say(name, segment, usual string) {
	if segment != usual && segment != "" {
		jsontext.Keep(&w.said, name, jsontext.Text(segment))
	}
}

// keepOutside keeps in req what w says outside of its body: what was said of the path, the query
// without credentials, and the headers that change behaviour.
func (w *Wire) keepOutside(req *modelio.Request) {
	query := modelio.Object{}
	for name, values := range w.URL.Query() {
		switch {
		case IsCredential(name):
		case len(values) == 1:
			query[name] = jsontext.Text(values[0])
		default:
			query[name] = jsontext.Texts(values)
		}
	}
	if len(query) > 0 {
		jsontext.Keep(&w.said, "query", jsontext.ObjectText(query))
	}
	if w.said != nil {
		req.Options[markURL] = jsontext.ObjectText(w.said)
	}
	w.keepHeaders(req)
}
