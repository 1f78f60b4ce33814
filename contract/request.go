package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// A request is a call that is ready to be sent, except for its key.
type request struct {
	params  GenerateParams
	dialect *dialect
	codec   *provider.Codec
	history []modelio.Message
	url     string
	body    []byte
}

// prepare makes the request for params, and reads all of their blobs.
func (a *Adapter) prepare(p GenerateParams) (*request, error) {
	p, err := checked("generate params", p)
	if err != nil {
		return nil, err
	}
	if err := a.Catalog.check("generate params", p.Provider, p.Model); err != nil {
		return nil, err
	}
	host := a.Catalog[p.Provider]
	r := &request{params: p, dialect: dialects[host.API]} // the catalog was checked
	r.codec, _ = provider.Named(host.API)
	var found violations
	if r.dialect.noStop && p.Runtime.StopSequences != nil {
		found.add("/runtime/stop_sequences", ruleUnsupported, "the API has no such parameter")
	}
	r.history, err = loadMessages(a.Store, p.MessageRefs, func(i int, m modelio.Message) {
		if _, answered := m.Metadata[madeBy]; !answered || m.Role != modelio.RoleModel {
			r.dialect.checkMessage(&found, "/message_refs/"+strconv.Itoa(i), m)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := newError("generate params for "+host.API, found...); err != nil {
		return nil, err
	}
	wire := &modelio.Request{API: host.API, Model: p.Model, Messages: r.messages(), Options: modelio.Object{}}
	if err := r.encode(wire, a.Store, a.Stream); err != nil {
		return nil, err
	}
	home := provider.Facts(r.codec.Provider).Home // all APIs that the adapter supports have one
	r.url = strings.TrimRight(cmp.Or(host.URL, home), "/") + r.dialect.path
	return r, nil
}

// loadMessages reads messages, and calls check for each in the form of its blob. It joins messages with the results of
// parallel tool calls into one, as some APIs require.
func loadMessages(blobs Blobs, refs []canon.Hash, check func(i int, m modelio.Message)) ([]modelio.Message, error) {
	messages := make([]modelio.Message, 0, len(refs))
	for i, ref := range refs {
		var m message
		if err := ReadJSON(blobs, ref, &m); err != nil {
			return nil, fmt.Errorf("/message_refs/%d: %w", i, err)
		}
		check(i, m.Message)
		if last := len(messages) - 1; last >= 0 && isResults(messages[last]) && isResults(m.Message) {
			messages[last].Content = append(messages[last].Content, m.Content...)
			continue
		}
		messages = append(messages, m.Message)
	}
	return messages, nil
}

func isResults(m modelio.Message) bool { return m.Role == modelio.RoleTool && len(m.Metadata) == 0 }

// encode writes the body: the codec's fields, the controls in the API's dialect, the provider options, and members that
// the API requires in addition.
func (r *request) encode(wire *modelio.Request, blobs Blobs, stream bool) error {
	args := r.params.Runtime
	if err := r.fill(wire, blobs); err != nil {
		return err
	}
	body, _ := jsontext.MembersOf(r.dialect.encode(wire))
	options, err := r.options(blobs)
	if err != nil {
		return fmt.Errorf("/runtime/provider_options_ref: %w", err)
	}
	ours := func(o modelio.Object) { merge(body, o, "") } // no two controls share a path
	if args.ToolChoice != nil {
		ours(nested([]string{"tool_choice"}, r.dialect.toolChoice(*args.ToolChoice)))
	}
	if args.ReasoningEffort != nil {
		ours(nested(r.dialect.effort, *args.ReasoningEffort))
	}
	if args.ResponseFormatRef != nil {
		format, err := r.responseFormat(blobs)
		if err != nil {
			return err
		}
		ours(format)
	}
	if err := r.checkMetadata(options); err != nil {
		return err
	}
	if len(args.Metadata) > 0 {
		ours(nested([]string{"metadata"}, args.Metadata))
	}
	if stream {
		ours(r.dialect.stream)
	}
	if err := r.addOptions(body, options); err != nil {
		return err
	}
	for name, value := range r.dialect.defaults {
		if _, ok := body[name]; !ok {
			body[name] = value
		}
	}
	r.body = toJSON(body)
	return nil
}

// fill sets the fields that codecs know.
func (r *request) fill(wire *modelio.Request, blobs Blobs) error {
	args := r.params.Runtime
	if args.Temperature != nil {
		wire.Temperature = Some(args.Temperature.number())
	}
	if args.MaxTokens != nil {
		wire.MaxTokens = Some(json.Number(strconv.FormatUint(*args.MaxTokens, 10)))
	}
	wire.Stop = args.StopSequences
	if args.ToolRefs != nil {
		wire.Tools = make([]modelio.ToolDefinition, len(args.ToolRefs))
	}
	for i, ref := range args.ToolRefs {
		var t tool
		if err := ReadJSON(blobs, ref, &t); err != nil {
			return fmt.Errorf("/runtime/tool_refs/%d: %w", i, err)
		}
		wire.Tools[i] = t.ToolDefinition
	}
	return nil
}

// number returns d in the form of JSON numbers: without a plus sign and leading zeros.
func (d Decimal) number() json.Number {
	return json.Number(decimalFront.ReplaceAllString(string(d), "$1$2"))
}

var decimalFront = regexp.MustCompile(`^\+?(-?)0*([0-9])`)

// options reads the provider options for the request's API. The blob lists them by the home provider of the API:
// {"openai":{"seed":7},"anthropic":{"top_k":3}}.
func (r *request) options(blobs Blobs) (modelio.Object, error) {
	ref := r.params.Runtime.ProviderOptionsRef
	if ref == nil {
		return nil, nil
	}
	var all map[string]modelio.Object
	if err := ReadJSON(blobs, *ref, &all); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, codec := range provider.Codecs() {
		known[codec.Provider] = true
	}
	var found violations
	for name := range all {
		if !known[name] {
			found.add(jsontext.PointerTo(name), ruleUnknown, "%s", notAmong(name, maps.Keys(known)))
		}
	}
	return all[r.codec.Provider], newError("provider options", found...)
}

// addOptions adds the provider options to the body. It refuses options that change what the params say (LC "Determinism
// rule") or what the adapter decides.
func (r *request) addOptions(body, options modelio.Object) error {
	var found violations
	at := "/" + r.codec.Provider
	if _, ok := options["stream"]; ok {
		found.add(at+"/stream", ruleConflict, "whether to stream is for the adapter to say")
		options = maps.Clone(options)
		delete(options, "stream")
	}
	for _, pointer := range merge(body, options, at) {
		found.add(pointer, ruleConflict, "the params say it already")
	}
	if err := newError("provider options", found...); err != nil {
		return fmt.Errorf("/runtime/provider_options_ref: %w", err)
	}
	return nil
}

// responseFormat reads the response format and returns it in the form of the body.
func (r *request) responseFormat(blobs Blobs) (modelio.Object, error) {
	var f ResponseFormat
	if err := ReadJSON(blobs, *r.params.Runtime.ResponseFormatRef, &f); err != nil {
		return nil, fmt.Errorf("/runtime/response_format_ref: %w", err)
	}
	value, ok := r.dialect.responseFormat(f)
	if !ok {
		return nil, wrong("generate params for "+r.codec.API, "/runtime/response_format_ref", ruleUnsupported,
			"the API has no format %q", f.Type)
	}
	if value == nil {
		return nil, nil
	}
	return nested(r.dialect.format, value), nil
}

// checkMetadata refuses metadata that the API does not accept: no record would contain it, so the params could not be
// derived again.
func (r *request) checkMetadata(options modelio.Object) error {
	var found violations
	for name := range r.params.Runtime.Metadata {
		if !r.dialect.takesMetadata(name, options) {
			found.add("/runtime/metadata"+jsontext.PointerTo(name), ruleUnsupported, "%s", r.dialect.metadataRule)
		}
	}
	return newError("generate params for "+r.codec.API, found...)
}
