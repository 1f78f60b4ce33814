package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// parameters is what an API calls the parameters that the snapshot format has fields for. A
// name is empty where the API has no such parameter.
type parameters struct {
	temperature, maxTokens, topP, frequencyPenalty, presencePenalty, seed, stop string
}

// decode takes a member that is a parameter. It reports false for any other, and for a value that
// does not fit its field.
func (p *parameters) decode(r *modelio.Request, name string, v jsontext.Value) bool {
	var field **json.Number
	switch name {
	case "":
		return false
	case p.temperature:
		field = &r.Temperature
	case p.maxTokens:
		field = &r.MaxTokens
	case p.topP:
		field = &r.TopP
	case p.frequencyPenalty:
		field = &r.FrequencyPenalty
	case p.presencePenalty:
		field = &r.PresencePenalty
	case p.seed:
		field = &r.Seed
	case p.stop:
		stop, ok := v.Texts()
		r.Stop = stop
		return ok
	default:
		return false
	}
	number, ok := v.Number()
	*field = number
	return ok
}

// decodeIn takes the parameters out of an object that the API has for them, and keeps the rest of
// it in Options. It reports false for what is no object, and for an empty one.
func (p *parameters) decodeIn(r *modelio.Request, name string, v jsontext.Value) bool {
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
func (p *parameters) encode(r *modelio.Request) (modelio.Object, error) {
	o := modelio.Object{}
	for _, field := range []struct {
		pointer, name string
		number        *json.Number
	}{
		{"/temperature", p.temperature, r.Temperature},
		{"/max_tokens", p.maxTokens, r.MaxTokens},
		{"/top_p", p.topP, r.TopP},
		{"/frequency_penalty", p.frequencyPenalty, r.FrequencyPenalty},
		{"/presence_penalty", p.presencePenalty, r.PresencePenalty},
		{"/seed", p.seed, r.Seed},
	} {
		if field.number == nil {
			continue
		}
		if field.name == "" {
			return nil, &WireError{API: r.API, Pointer: field.pointer, Reason: "the API has no such parameter"}
		}
		o[field.name] = json.RawMessage(*field.number)
	}
	if r.Stop == nil {
		return o, nil
	}
	if p.stop == "" {
		return nil, &WireError{API: r.API, Pointer: "/stop", Reason: "the API has no such parameter"}
	}
	o[p.stop] = jsontext.Texts(r.Stop)
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
