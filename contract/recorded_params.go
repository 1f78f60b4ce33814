package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// params returns the params that make the recorded request.
func (r *Recorded) params(record snapshot.Record) (GenerateParams, error) {
	s := &record.Snapshot.Request
	p := GenerateParams{Provider: record.Provider, Model: s.Model, MessageRefs: []canon.Hash{}}
	messages := s.Messages
	if s.Prompt != nil {
		messages = []snapshot.Message{{Role: string(modelio.RoleUser), Content: encode(*s.Prompt)}}
	}
	for i, m := range messages {
		ref, err := r.deriveMessage(m, s.Blobs)
		if err != nil {
			return p, fmt.Errorf("/request/messages/%d: %w", i, err)
		}
		p.MessageRefs = append(p.MessageRefs, ref)
	}
	for i, raw := range s.Tools {
		ref, err := r.deriveJSON(raw)
		if err != nil {
			return p, fmt.Errorf("/request/tools/%d: %w", i, err)
		}
		p.Runtime.ToolRefs = append(p.Runtime.ToolRefs, ref)
	}
	p.Runtime.StopSequences = s.Stop
	options := maps.Clone(modelio.Object(s.ProviderOptions))
	if options == nil {
		options = modelio.Object{}
	}
	p.Runtime.numbers(s, options)
	family := record.Provider
	if codec, ok := codecOf(s.API); ok {
		family = codec.Provider()
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

// deriveMessage makes the blob of a message, some of whose media may be blobs of the snapshot.
func (r *Recorded) deriveMessage(m snapshot.Message, media []canon.Hash) (canon.Hash, error) {
	blob := message{modelio.Message{Role: modelio.Role(m.Role)}}
	content, err := r.restoreMedia(m.Content, media)
	if err != nil {
		return "", err
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		blob.Content = []modelio.Part{modelio.TextPart(text)}
	} else if err := json.Unmarshal(content, &blob.Content); err != nil {
		return "", err
	}
	if m.Metadata == nil {
		return r.deriveJSON(blob)
	}
	metadata, err := r.restoreMedia(m.Metadata, media)
	if err == nil {
		err = json.Unmarshal(metadata, &blob.Metadata)
	}
	if err != nil {
		return "", err
	}
	return r.deriveJSON(blob)
}

// aliases are the other names that some hosts have for a parameter. A request with one has it in
// its options, and is left so.
var aliases = map[string]string{"max_tokens": "max_completion_tokens", "seed": "random_seed"}

// numbers sets the parameters that have a field, and puts into options those that have none.
func (a *RuntimeArgs) numbers(s *snapshot.Request, options modelio.Object) {
	if s.Temperature != nil {
		a.Temperature = Some(Decimal(*s.Temperature))
	}
	for name, n := range map[string]*snapshot.Number{
		"max_tokens": s.MaxTokens, "top_p": s.TopP, "seed": s.Seed,
		"frequency_penalty": s.FrequencyPenalty, "presence_penalty": s.PresencePenalty,
	} {
		if _, named := options[aliases[name]]; named || n == nil {
			continue
		}
		if limit, ok := natural(*n); ok && name == "max_tokens" {
			a.MaxTokens = &limit
		} else {
			options[name] = json.RawMessage(*n)
		}
	}
}

// natural returns the value of a natural number, 1e2 as well as 100.
func natural(n snapshot.Number) (uint64, bool) {
	text, err := canon.JSON([]byte(n))
	if err != nil {
		return 0, false
	}
	value, err := strconv.ParseUint(string(text), 10, 64)
	return value, err == nil
}

// controls takes out of options what the contract has names for. A value is taken only if the
// adapter would write it just so again; else it stays an option, so that nothing is lost.
func (r *Recorded) controls(a *RuntimeArgs, api string, options modelio.Object) error {
	delete(options, "$url") // where it was sent is for the catalog to say
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
