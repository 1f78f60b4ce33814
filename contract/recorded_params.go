package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// params returns the params that make the recorded request.
func (r *Recorded) params(record Record) (GenerateParams, error) {
	s := &record.Snapshot.Request
	from := record.Snapshot.Source.Provenance
	p := GenerateParams{CorrelationID: unlessEmpty(from.CorrelationID), Provider: cmp.Or(from.ProviderID, record.Provider),
		Model: s.Model, MessageRefs: []canon.Hash{}}
	messages := s.Messages
	if s.Prompt != nil {
		messages = []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(*s.Prompt)}}}
	}
	media := record.Snapshot.Media()
	for i, m := range messages {
		m, err := record.restoreMedia(m, media)
		var ref canon.Hash
		if err == nil {
			ref, err = r.blobs.addJSON(message{m})
		}
		if err != nil {
			return p, fmt.Errorf("/request/messages/%d: %w", i, err)
		}
		p.MessageRefs = append(p.MessageRefs, ref)
	}
	for i, tool := range s.Tools {
		ref, err := r.blobs.addJSON(tool)
		if err != nil {
			return p, fmt.Errorf("/request/tools/%d: %w", i, err)
		}
		p.Runtime.ToolRefs = append(p.Runtime.ToolRefs, ref)
	}
	p.Runtime.StopSequences = s.Stop
	options := modelio.Object{}
	maps.Copy(options, s.Options)
	p.Runtime.numbers(s, options)
	family := record.Provider
	if codec, ok := provider.Named(s.API); ok {
		family = codec.Provider
	}
	if err := r.controls(&p.Runtime, s.API, options); err != nil {
		return p, err
	}
	if len(options) > 0 {
		ref, err := r.blobs.addJSON(map[string]modelio.Object{family: options})
		if err != nil {
			return p, err
		}
		p.Runtime.ProviderOptionsRef = &ref
	}
	return p, nil
}

// chatAliases are names that hosts of chat completions use for a parameter. A request that was sent with an alias has
// the number in its options too.
var chatAliases = map[string]string{"max_tokens": "max_completion_tokens", "seed": "random_seed"}

// numbers sets the parameters that have a field in a, and puts the others into options.
func (a *RuntimeArgs) numbers(s *modelio.Request, options modelio.Object) {
	for _, p := range modelio.Parameters {
		n := *p.Field(s)
		if n == nil || s.API == OpenAIChat && same(json.RawMessage(*n), options[chatAliases[p.Name]]) {
			continue
		}
		switch limit, isNatural := natural(*n); {
		case p.Name == "temperature":
			a.Temperature = Some(Decimal(*n))
		case p.Name == "max_tokens" && isNatural:
			a.MaxTokens = &limit
		default:
			options[p.Name] = json.RawMessage(*n)
		}
	}
}

// controls moves members that the contract has names for from options to a. It moves a value only if the adapter would
// write the same value again; otherwise the value stays an option, so that nothing is lost.
func (r *Recorded) controls(a *RuntimeArgs, api string, options modelio.Object) error {
	delete(options, "$url")     // the catalog says where requests are sent
	delete(options, "$headers") // left to the adapter
	if api == modelio.ModelAPI {
		return r.modelControls(a, options)
	}
	d := dialects[api]
	if d == nil {
		return nil
	}
	delete(options, "stream") // left to the adapter
	if same(options["stream_options"], d.stream["stream_options"]) {
		delete(options, "stream_options")
	}
	doc, err := jsontext.Parse(jsontext.ObjectText(options))
	if err != nil {
		return err
	}
	root := doc.Root()
	if effort := root.Member(d.effort...).Word(); strings.TrimSpace(effort) != "" {
		remove(options, d.effort)
		a.ReasoningEffort = &effort
	}
	for _, choice := range choices(root.Member("tool_choice")) {
		if same(toJSON(d.toolChoice(choice)), options["tool_choice"]) {
			delete(options, "tool_choice")
			a.ToolChoice = &choice
		}
	}
	var metadata map[string]string
	if unmarshal("metadata", options["metadata"], &metadata) == nil && d.takesAll(metadata, options) {
		delete(options, "metadata")
		a.Metadata = metadata
	}
	said := root.Member(d.format...)
	for _, format := range formats(said) {
		if value, _ := d.responseFormat(format); value == nil || !same(toJSON(value), said.Raw()) {
			continue
		}
		remove(options, d.format)
		ref, err := r.blobs.addJSON(format)
		a.ResponseFormatRef = &ref
		return err
	}
	return nil
}

// modelControls is controls for a [modelio.Model], which uses GK's own words.
func (r *Recorded) modelControls(a *RuntimeArgs, options modelio.Object) error {
	tags := map[string]string{"auto": ChoiceAuto, "none": ChoiceNone, "required": ChoiceRequired}
	if tag := tags[jsontext.ValueOf(options["toolChoice"]).Word()]; tag != "" {
		delete(options, "toolChoice")
		a.ToolChoice = &ToolChoice{Tag: tag}
	}
	schema := jsontext.ValueOf(options["output"]).Member("schema")
	if !schema.IsObject() {
		return nil
	}
	remove(options, []string{"output", "schema"})
	ref, err := r.blobs.addJSON(ResponseFormat{Type: FormatJSONSchema, JSONSchema: schema.Raw()})
	a.ResponseFormatRef = &ref
	return err
}

func (d *dialect) takesAll(metadata map[string]string, options modelio.Object) bool {
	for name := range metadata {
		if !d.takesMetadata(name, options) {
			return false
		}
	}
	return len(metadata) > 0
}

// same reports whether two JSON texts have the same meaning.
func same(a, b json.RawMessage) bool {
	x, errX := canon.KeepNumbers(a)
	y, errY := canon.KeepNumbers(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// choices returns the tool choices that a value in a request can mean.
func choices(said jsontext.Value) []ToolChoice {
	all := []ToolChoice{{Tag: ChoiceAuto}, {Tag: ChoiceNone}, {Tag: ChoiceRequired}}
	for _, name := range []string{said.Member("name").Word(), said.Member("function", "name").Word()} {
		if strings.TrimSpace(name) != "" {
			all = append(all, ToolChoice{ChoiceTool, name})
		}
	}
	return all
}

// formats returns the response formats that a value in a request can mean.
func formats(said jsontext.Value) []ResponseFormat {
	all := []ResponseFormat{{Type: FormatText}, {Type: FormatJSON}}
	for _, said := range []jsontext.Value{said, said.Member("json_schema")} {
		if schema := said.Member("schema"); schema.IsObject() {
			f := ResponseFormat{Type: FormatJSONSchema, JSONSchema: schema.Raw()}
			if strict := said.Member("strict"); strict.Present() {
				f.Strict = Some(string(strict.Raw()) == "true")
			}
			all = append(all, f)
		}
	}
	return all
}
