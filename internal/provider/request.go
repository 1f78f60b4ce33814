package provider

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// An outside takes what the path of a request says. It keeps with say what has no field.
type outside func(*Wire, *modelio.Request)

// A requestForm is the body of an API, an object.
type requestForm struct {
	prompt     string           // the member that is the prompt, if it is a string; empty means there are messages
	members    map[string]taker // those with another field
	parameters parameters
	in         string // the object that has the parameters; empty means the body
}

// A taker takes a member of a body into the field for it. It reports false for one that does not fit
// it.
type taker func(r *modelio.Request, name string, v jsontext.Value) bool

// decodeRequest is the DecodeRequest of most APIs.
func (c *Codec) decodeRequest(w *Wire) (*modelio.Request, error) {
	w.said, w.taken = nil, ""
	req, err := c.request(w)
	if err != nil {
		return nil, c.ofAPI(err)
	}
	req.API = c.API
	if c.outside != nil {
		c.outside(w, req)
	}
	w.keepOutside(req)
	return req, nil
}

// decode decodes a body that is an object.
func (w *Wire) decode(one func(body jsontext.Value) *modelio.Request) (*modelio.Request, error) {
	body, err := w.body()
	if err != nil {
		return nil, err
	}
	return one(body), nil
}

// decode decodes a body. A member without a field is kept in Options.
func (f requestForm) decode(body jsontext.Value) *modelio.Request {
	req := &modelio.Request{Options: modelio.Object{}}
	for name, v := range body.Members() {
		if !f.take(req, name, v) {
			req.Options[name] = v.Raw()
		}
	}
	if req.Prompt == nil && req.Messages == nil {
		req.Messages = []modelio.Message{}
	}
	return req
}

// take takes a member that has a field and fits it.
func (f requestForm) take(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
	switch take := f.members[name]; {
	case take != nil:
		return take(r, name, v)
	case name == "model":
		return takeModel(r, name, v)
	case name == f.prompt && name != "":
		var text string
		if text, ok = v.Text(); ok {
			r.Prompt = &text
		}
		return ok
	case f.in == "":
		return f.parameters.Take(r, name, v)
	}
	return name == f.in && f.parameters.decodeIn(r, name, v)
}

func takeModel(r *modelio.Request, _ string, v jsontext.Value) bool {
	r.Model = v.Word()
	return v.IsWord()
}

// takeMessage returns the taker of a whole message. That of the system is put before the others, wherever the body
// has it.
//
//go:noinline
func takeMessage(role modelio.Role, content toParts) taker {
	return func(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
		m := modelio.Message{Role: role}
		m.Content, ok = content(&m, name, v)
		if ok && role == modelio.RoleSystem {
			r.Messages = append([]modelio.Message{m}, r.Messages...)
		} else if ok {
			r.Messages = append(r.Messages, m)
		}
		return ok
	}
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

// sayOperation returns what keeps the last step of a path, where APIs of one form differ in it.
func sayOperation(usual string) outside {
	return func(w *Wire, _ *modelio.Request) {
		_, operation, _ := cutLast(w.URL.Path, "/")
		w.say("operation", operation, usual)
	}
}

// sayGroup returns what keeps the first group of a pattern that a path is like, if it is not the usual one.
func sayGroup(name string, path *regexp.Regexp, usual string) outside {
	return func(w *Wire, _ *modelio.Request) { w.say(name, path.FindStringSubmatch(w.URL.Path)[1], usual) }
}

// sayVersion returns what keeps the version of an API, /v1/, if it is not the usual one.
func sayVersion(usual string) outside { return sayGroup("version", versionStep, usual) }

var versionStep = regexp.MustCompile(`(?:([^/]*)/)?[^/]*$`)

// also returns what takes one after the other.
func also(one, other outside) outside {
	return func(w *Wire, req *modelio.Request) {
		one(w, req)
		other(w, req)
	}
}

// keepOutside keeps in req what w says outside of its body: facts of the path, the query without credentials, and
// headers that change behaviour.
func (w *Wire) keepOutside(req *modelio.Request) {
	if w.URL.RawQuery != "" {
		w.keepQuery()
	}
	jsontext.KeepObject(&req.Options, markURL, w.said)
	w.keepHeaders(req)
}

func (w *Wire) keepQuery() {
	query := modelio.Object{}
	for name, values := range w.URL.Query() {
		if name != w.taken && !IsCredential(name) {
			query[name] = oneOrAll(values)
		}
	}
	jsontext.KeepObject(&w.said, "query", query)
}

// prompted is the form of a body with a prompt and the parameters of these names.
func prompted(prompt string, names ...string) requestForm {
	return requestForm{prompt: prompt, parameters: parametersOf(names...)}
}
