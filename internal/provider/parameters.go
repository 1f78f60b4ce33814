package provider

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// parameters maps an API's names of the parameters that the snapshot format has fields for to the format's names. It
// lacks those that the API lacks.
type parameters map[string]string

// parametersOf returns parameters, each given by a name that both use, or as wire=ours.
func parametersOf(names ...string) parameters {
	p := parameters{}
	for _, name := range names {
		wire, ours, _ := strings.Cut(name, "=")
		p[wire] = cmp.Or(ours, wire)
	}
	return p
}

// stopName is the parameter that is not a number.
const stopName = "stop"

// Take takes a member that is a parameter. It reports false for any other member, and for a value that does not fit its
// field.
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

// decodeIn takes the parameters from an object of the API, and keeps the rest of it in Options. It reports false for
// any other value, and for an empty object.
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

// alias lets another member of the body, a number, set a field. It is kept in Options, so that its name is not lost. A
// member with the usual name is kept in addition.
func alias(r *modelio.Request, name, usual string, field **json.Number) {
	number, ok := jsontext.ValueOf(r.Options[name]).Number()
	if !ok {
		return
	}
	if *field != nil {
		r.Options[usual] = json.RawMessage(**field)
	}
	*field = number
}
