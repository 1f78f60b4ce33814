package provider

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// An outside takes data from the path of a request. It keeps data without a field by calling say.
type outside func(*Wire, *modelio.Request)

// A requestForm describes the body of an API, an object.
type requestForm struct {
	prompt     string           // the member that is the prompt, if it is a string; empty if there are messages
	members    map[string]taker // takers of members with other fields
	parameters parameters
	in         string // the object with the parameters; empty for the body
}

// A taker takes a member of a body into its field. It reports false for a value that does not fit.
type taker func(r *modelio.Request, name string, v jsontext.Value) bool

// decodeRequest is DecodeRequest for most APIs.
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

// decode decodes a body. Members without a field are kept in Options.
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

// takeMessage returns the taker for a complete message. A system message is put before the others, wherever it is in
// the body.
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

// modelOfPath sets the model from a path, and keeps the one in the body in addition.
func modelOfPath(r *modelio.Request, model string) {
	jsontext.KeepText(&r.Options, "model", r.Model)
	r.Model = model
}

// say keeps data from the path, unless it has its usual value.
func (w *Wire) say(name, segment, usual string) {
	if segment != usual && segment != "" {
		jsontext.Keep(&w.said, name, jsontext.Text(segment))
	}
}

// sayOperation returns the function that keeps the last step of a path, for APIs of one form that differ in it.
func sayOperation(usual string) outside {
	return func(w *Wire, _ *modelio.Request) {
		_, operation, _ := cutLast(w.URL.Path, "/")
		w.say("operation", operation, usual)
	}
}

// sayGroup returns the function that keeps the first group of a pattern in a path, if it is not the usual one.
func sayGroup(name string, path *regexp.Regexp, usual string) outside {
	return func(w *Wire, _ *modelio.Request) { w.say(name, path.FindStringSubmatch(w.URL.Path)[1], usual) }
}

// sayVersion returns the function that keeps the version of an API, /v1/, if it is not the usual one.
func sayVersion(usual string) outside { return sayGroup("version", versionStep, usual) }

var versionStep = regexp.MustCompile(`(?:([^/]*)/)?[^/]*$`)

// also returns the function that calls both.
func also(one, other outside) outside {
	return func(w *Wire, req *modelio.Request) {
		one(w, req)
		other(w, req)
	}
}

// keepOutside keeps in req what is outside of the body of w: data from the path, the query without credentials, and
// headers that change behavior.
func (w *Wire) keepOutside(req *modelio.Request) {
	if w.URL.RawQuery != "" { // most have none
		query := modelio.Object{}
		for name, values := range w.URL.Query() {
			if name != w.taken && !IsCredential(name) {
				query[name] = oneOrAll(values)
			}
		}
		jsontext.KeepObject(&w.said, "query", query)
	}
	jsontext.KeepObject(&req.Options, markURL, w.said)
	w.keepHeaders(req)
}

// prompted returns the form of a body with a prompt and the named parameters.
func prompted(prompt string, names ...string) requestForm {
	return requestForm{prompt: prompt, parameters: parametersOf(names...)}
}

// keepPresence puts a 1 in place of the options that only relate messages to each other. Paths into one
// option follow each other, so that it is parsed once.
func keepPresence(options modelio.Object, passing [][]string) {
	name, whole := "", jsontext.Value{}
	for _, path := range passing {
		if path[0] != name {
			name, whole = path[0], jsontext.ValueOf(options[path[0]])
		}
		if at := whole.Member(path[1:]...); isID(at) {
			text, end := options[name], at.Offset()+int64(len(at.Raw()))
			options[name] = slices.Concat(text[:at.Offset()], json.RawMessage("1"), text[end:])
			whole = jsontext.ValueOf(options[name])
		}
	}
}

// isID reports whether a value can identify a message: a number or a text.
func isID(v jsontext.Value) bool {
	_, number := v.Number()
	return number || v.IsString()
}
