package provider

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// parameters maps what an API calls the parameters that the snapshot format has fields for to their
// names there. It lacks those that the API lacks.
type parameters map[string]string

// parametersOf returns parameters, each by the name that both have, or as wire=ours.
func parametersOf(names ...string) parameters {
	p := parameters{}
	for _, name := range names {
		wire, ours, _ := strings.Cut(name, "=")
		p[wire] = cmp.Or(ours, wire)
	}
	return p
}

// stopName is the parameter that is no number.
const stopName = "stop"

// Take takes a member that is a parameter. It reports false for any other, and for a value that
// does not fit its field.
func (p parameters) Take(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
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

// decodeIn takes the parameters out of an object that the API has for them, and keeps the rest of
// it in Options. It reports false for what is no object, and for an empty one.
func (p parameters) decodeIn(r *modelio.Request, name string, v jsontext.Value) bool {
	if !v.IsObject() || v.IsEmpty() {
		return false
	}
	var rest modelio.Object
	for name, m := range v.Members() {
		if !p.Take(r, name, m) {
			jsontext.Keep(&rest, name, m.Raw())
		}
	}
	jsontext.KeepObject(&r.Options, name, rest)
	return true
}

// alias lets another member of the body, a number, set a field. It stays in Options, so that
// the wire's name for it is not lost. A member of the usual name beside it stays too.
func alias(r *modelio.Request, name, usual string, field **json.Number) {
	raw, said := r.Options[name]
	if !said {
		return
	}
	number, ok := jsontext.ValueOf(raw).Number()
	if !ok {
		return
	}
	if *field != nil {
		r.Options[usual] = json.RawMessage(**field)
	}
	*field = number
}
