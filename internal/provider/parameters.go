package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// parameters maps what an API calls the parameters that the snapshot format has fields for to their
// names there. It lacks those that the API lacks.
type parameters map[string]string

// stopName is the parameter that is no number.
const stopName = "stop"

// decode takes a member that is a parameter. It reports false for any other, and for a value that
// does not fit its field.
func (p parameters) decode(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
	ours := p[name]
	if ours == stopName {
		r.Stop, ok = v.Texts()
		return ok
	}
	for _, parameter := range modelio.Parameters {
		if parameter.Name == ours {
			*parameter.Field(r), ok = v.Number()
		}
	}
	return ok
}

// within returns a taker of the parameters in an object that the API has for them.
func (p parameters) within(object string) taker {
	return func(r *modelio.Request, name string, v jsontext.Value) bool {
		return name == object && p.decodeIn(r, name, v)
	}
}

// decodeIn takes the parameters out of an object that the API has for them, and keeps the rest of
// it in Options. It reports false for what is no object, and for an empty one.
func (p parameters) decodeIn(r *modelio.Request, name string, v jsontext.Value) bool {
	if !v.IsObject() || v.IsEmpty() {
		return false
	}
	var rest modelio.Object
	for name, m := range v.Members() {
		if !p.decode(r, name, m) {
			jsontext.Keep(&rest, name, m.Raw())
		}
	}
	if rest != nil {
		r.Options[name] = jsontext.ObjectText(rest)
	}
	return true
}

// encode undoes decode. It fails on a parameter that the API does not have.
func (p parameters) encode(r *modelio.Request) (modelio.Object, error) {
	o := modelio.Object{}
	put := func(ours string, v json.RawMessage) error {
		for name, of := range p {
			if of == ours {
				o[name] = v
				return nil
			}
		}
		return &WireError{API: r.API, Pointer: jsontext.PointerTo(ours), Reason: "the API has no such parameter"}
	}
	for _, parameter := range modelio.Parameters {
		if number := *parameter.Field(r); number != nil {
			if err := put(parameter.Name, json.RawMessage(*number)); err != nil {
				return nil, err
			}
		}
	}
	if r.Stop != nil {
		if err := put(stopName, jsontext.Texts(r.Stop)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// alias lets another member of the body, a number, set a field. It stays in Options, so that
// the wire's name for it is not lost; so does a member of the usual name beside it.
func alias(r *modelio.Request, body jsontext.Value, name, usual string, field **json.Number) {
	number, ok := body.Member(name).Number()
	if !ok {
		return
	}
	if *field != nil {
		r.Options[usual] = json.RawMessage(**field)
	}
	*field = number
}

// withoutAlias undoes alias: it drops the usual member, which encode wrote, if the alias says it.
func withoutAlias(r *modelio.Request, body modelio.Object, name, usual string, field *json.Number) {
	if field != nil && string(r.Options[name]) == string(*field) {
		delete(body, usual)
	}
}
