package foreign

import (
	"encoding/json"
	"maps"
	"math/big"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// An sfRecord is a record in SF's layout while it is translated to the format's terms.
type sfRecord struct {
	members modelio.Object            // members of the record: id, timestamp, and parts that are not objects
	parts   map[string]modelio.Object // source, request and response
	// members that SF does not name, by part; those of the request are in the provider options
	beyond map[string]modelio.Object
}

// The members that SF names, by part. A required member is kept even if it is null.
var sfNames = map[string]struct{ required, optional []string }{
	"source": {required: []string{"file", "line", "function"}},
	"request": {
		required: []string{"model", "temperature", "max_tokens"},
		optional: []string{"messages", "prompt", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop", "tools"},
	},
	"response": {
		required: []string{"content", "tokens_used", "latency_ms", "finish_reason"},
		optional: []string{"tool_calls"},
	},
}

func sfRecordOf(v jsontext.Value) *sfRecord {
	r := &sfRecord{members: modelio.Object{}, parts: map[string]modelio.Object{}, beyond: map[string]modelio.Object{}}
	for name, value := range v.Members() {
		switch _, isPart := sfNames[name]; {
		case name == "hash": // computed again
		case isPart && value.IsObject():
			r.parts[name] = value.Object()
		case isPart, name == "id", name == "timestamp": // a part that is not an object is an error
			r.members[name] = value.Raw()
		default:
			r.keepAs("record", name, value.Raw())
		}
	}
	return r
}

// keepAs keeps a member of a part that SF does not name.
func (r *sfRecord) keepAs(part, name string, value json.RawMessage) {
	kept := r.beyond[part]
	jsontext.Keep(&kept, name, value)
	r.beyond[part] = kept
}

// keep moves a member of a part to those that are kept, if SF does not name it.
func (r *sfRecord) keep(part, name string) bool {
	names, value := sfNames[part], r.parts[part][name]
	if value == nil || slices.Contains(slices.Concat(names.required, names.optional), name) {
		return false
	}
	delete(r.parts[part], name)
	r.keepAs(part, name, value)
	return true
}

// translate translates a record to the format's terms as far as there are equivalents.
func (r *sfRecord) translate() {
	for part, names := range sfNames {
		for name, value := range r.parts[part] {
			isNone := string(value) == "null" ||
				string(value) == "[]" && slices.Contains([]string{"stop", "tools", "tool_calls"}, name)
			if isNone && !slices.Contains(names.required, name) {
				delete(r.parts[part], name)
			}
		}
	}
	r.time()
	r.file()
	r.latency()
	r.conversation()
	r.answer()
}

// timeForms are the spellings of ISO 8601 with a time zone. Without one, the time is unknown.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00",
	"20060102T150405.999999999Z0700"}

// time converts the timestamp to UTC and milliseconds. If that would lose anything, the original spelling is kept in
// addition.
func (r *sfRecord) time() {
	text := jsontext.WordOf(r.members["timestamp"])
	for _, form := range timeForms {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		if t.Nanosecond()%int(time.Millisecond) != 0 {
			r.keepAs("record", "timestamp", r.members["timestamp"])
		}
		r.members["timestamp"] = jsontext.Text(jsontext.Time(t))
		return
	}
}

// file gives the source's path forward slashes and removes "." elements.
func (r *sfRecord) file() {
	file := jsontext.WordOf(r.parts["source"]["file"])
	if file == "" {
		return
	}
	if !strings.Contains(file, "/") {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	r.parts["source"]["file"] = jsontext.Text(path.Clean(file))
}

// latency rounds to milliseconds. A fraction is kept in addition.
func (r *sfRecord) latency() {
	said := r.parts["response"]["latency_ms"]
	exact, ok := new(big.Rat).SetString(string(said))
	if !ok || exact.IsInt() || exact.Sign() < 0 || len(said) > 32 {
		return
	}
	r.keepAs("response", "latency_ms", said)
	r.parts["response"]["latency_ms"] = json.RawMessage(exact.FloatString(0))
}

// whole returns the members of the record without its hash.
func (r *sfRecord) whole() modelio.Object {
	whole := maps.Clone(r.members)
	for name, part := range r.parts {
		whole[name] = jsontext.ObjectText(part)
	}
	if options := r.options(); r.parts["request"] != nil && len(options) > 0 {
		request := maps.Clone(r.parts["request"])
		request["provider_options"] = jsontext.ObjectText(options)
		whole["request"] = jsontext.ObjectText(request)
	}
	return whole
}

// options returns the provider options with the members that SF does not name: those of the request under their own
// names, all others under $sf.
func (r *sfRecord) options() modelio.Object {
	options, _ := jsontext.MembersOf(r.parts["request"]["provider_options"])
	others := modelio.Object{}
	for part, members := range r.beyond {
		if part != "request" {
			others[part] = jsontext.ObjectText(members)
		}
	}
	for name, value := range r.beyond["request"] {
		jsontext.Keep(&options, name, value)
	}
	jsontext.KeepObject(&options, "$sf", others)
	return options
}
