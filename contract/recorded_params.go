package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// params returns the params that make the recorded request.
func (r *Recorded) params(record Record) (GenerateParams, error) {
	s := &record.Snapshot.Request
	p := GenerateParams{Provider: record.Provider, Model: s.Model, MessageRefs: []canon.Hash{}}
	messages := s.Messages
	if s.Prompt != nil {
		messages = []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(*s.Prompt)}}}
	}
	for i, m := range messages {
		m, err := record.restoreMedia(m)
		if err != nil {
			return p, fmt.Errorf("/request/messages/%d: %w", i, err)
		}
		ref, err := r.deriveJSON(message{m})
		if err != nil {
			return p, fmt.Errorf("/request/messages/%d: %w", i, err)
		}
		p.MessageRefs = append(p.MessageRefs, ref)
	}
	for i, tool := range s.Tools {
		ref, err := r.deriveJSON(tool)
		if err != nil {
			return p, fmt.Errorf("/request/tools/%d: %w", i, err)
		}
		p.Runtime.ToolRefs = append(p.Runtime.ToolRefs, ref)
	}
	p.Runtime.StopSequences = s.Stop
	options := maps.Clone(s.Options)
	if options == nil {
		options = modelio.Object{}
	}
	p.Runtime.numbers(s, options)
	family := record.Provider
	if codec, ok := provider.Named(s.API); ok {
		family = codec.Provider
	}
	if err := r.controls(&p.Runtime, s.API, options); err != nil {
		return p, err
	}
	if len(options) > 0 {
		ref, err := r.deriveJSON(map[string]modelio.Object{family: options})
		if err != nil {
			return p, err
		}
		p.Runtime.ProviderOptionsRef = &ref
	}
	return p, nil
}

// aliases are the other names that some hosts have for a parameter. A request with one has it in
// its options, and is left so.
var aliases = map[string]string{"max_tokens": "max_completion_tokens", "seed": "random_seed"}

// numbers sets the parameters that have a field, and puts into options those that have none.
func (a *RuntimeArgs) numbers(s *modelio.Request, options modelio.Object) {
	for _, p := range modelio.Parameters {
		n := *p.Field(s)
		if n == nil {
			continue
		}
		if p.Name == "temperature" {
			a.Temperature = Some(Decimal(*n))
			continue
		}
		if _, named := options[aliases[p.Name]]; named {
			continue
		}
		if limit, ok := natural(*n); ok && p.Name == "max_tokens" {
			a.MaxTokens = &limit
		} else {
			options[p.Name] = json.RawMessage(*n)
		}
	}
}

// controls takes out of options what the contract has names for. A value is taken only if the
// adapter would write it just so again; else it stays an option, so that nothing is lost.
func (r *Recorded) controls(a *RuntimeArgs, api string, options modelio.Object) error {
	delete(options, "$url")     // where it was sent is for the catalog to say
	delete(options, "$headers") // for the adapter to say
	d, ok := dialectOf(api)
	if !ok {
		return nil
	}
	delete(options, "stream") // for the adapter to say
	if want, ok := d.stream["stream_options"]; ok && same(options["stream_options"], want) {
		delete(options, "stream_options")
	}
	var effort string
	if raw, ok := peek(options, d.effort); ok && json.Unmarshal(raw, &effort) == nil && strings.TrimSpace(effort) != "" {
		take(options, d.effort)
		a.ReasoningEffort = &effort
	}
	if raw, ok := options["tool_choice"]; ok {
		for _, choice := range choices(raw) {
			if same(encode(d.toolChoice(choice)), raw) {
				delete(options, "tool_choice")
				a.ToolChoice = &choice
				break
			}
		}
	}
	var metadata map[string]string
	if raw, ok := options["metadata"]; ok && unmarshal("metadata", raw, &metadata, mapOf(readText)) == nil && d.takesAll(metadata, options) {
		delete(options, "metadata")
		a.Metadata = metadata
	}
	raw, ok := peek(options, d.format)
	if !ok {
		return nil
	}
	for _, format := range formats(raw) {
		if value, ok := d.responseFormat(format); !ok || value == nil || !same(encode(value), raw) {
			continue
		}
		take(options, d.format)
		ref, err := r.deriveJSON(format)
		a.ResponseFormatRef = &ref
		return err
	}
	return nil
}

func (d *dialect) takesAll(metadata map[string]string, options modelio.Object) bool {
	for name := range metadata {
		if !d.takesMetadata(name, options) {
			return false
		}
	}
	return len(metadata) > 0
}

// same reports whether two JSON texts say the same.
func same(a, b json.RawMessage) bool {
	x, errX := canon.KeepNumbers(a)
	y, errY := canon.KeepNumbers(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// peek returns the member down the path.
func peek(o modelio.Object, path []string) (json.RawMessage, bool) {
	raw, ok := o[path[0]]
	if !ok || len(path) == 1 {
		return raw, ok
	}
	inner, ok := members(raw)
	if !ok {
		return nil, false
	}
	return peek(inner, path[1:])
}

// choices returns the tool choices that a wire value can mean.
func choices(raw json.RawMessage) []ToolChoice {
	all := []ToolChoice{{Tag: ChoiceAuto}, {Tag: ChoiceNone}, {Tag: ChoiceRequired}}
	for _, path := range [][]string{{"name"}, {"function", "name"}} {
		var name string
		if o, ok := members(raw); ok {
			if value, ok := peek(o, path); ok && json.Unmarshal(value, &name) == nil && name != "" {
				all = append(all, ToolChoice{ChoiceTool, name})
			}
		}
	}
	return all
}

// formats returns the response formats that a wire value can mean.
func formats(raw json.RawMessage) []ResponseFormat {
	all := []ResponseFormat{{Type: FormatText}, {Type: FormatJSON}}
	o, _ := members(raw)
	for _, path := range [][]string{{}, {"json_schema"}} {
		schema, ok := peek(o, append(path, "schema"))
		if !ok || len(schema) == 0 || schema[0] != '{' {
			continue
		}
		f := ResponseFormat{Type: FormatJSONSchema, JSONSchema: schema}
		if strict, ok := peek(o, append(path, "strict")); ok {
			f.Strict = Some(string(strict) == "true")
		}
		all = append(all, f)
	}
	return all
}
