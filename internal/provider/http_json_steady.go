package provider

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// steady writes a value without what differs in every answer. It leaves out times, and numbers ids that a provider
// generated in order of appearance.
type steady struct {
	without []string // path of another member to leave out
	whole   bool     // it is the complete answer, whose own id is left out
	results bool     // it contains results of several requests, including ids
	ids     map[string]string
}

func (s *steady) value(v jsontext.Value, path []string) json.RawMessage {
	switch {
	case v.IsArray():
		if digest, ok := numbers(v); ok {
			return digest
		}
		all := list{}
		for _, e := range v.Elements() {
			all = append(all, s.value(e, append(slices.Clip(path), "0")))
		}
		return jsontext.List(all)
	case v.IsObject():
		return jsontext.ObjectText(s.object(v, path))
	}
	return v.Raw()
}

func (s *steady) object(v jsontext.Value, path []string) modelio.Object {
	dated, o := isDated(v), modelio.Object{}
	for name, m := range v.Members() {
		at := append(slices.Clip(path), name)
		switch {
		case slices.Equal(at, s.without), isTime(name, m), s.whole && len(at) == 1 && name == "id":
		case m.IsWord() && (name == "id" && (dated || s.results) || name == "first_id" || name == "last_id"),
			m.IsWord() && name == "request_id" && s.results:
			o[name] = jsontext.Text(s.number(m.Word()))
		default:
			o[name] = s.value(m, at)
		}
	}
	return o
}

func (s *steady) number(id string) string {
	if s.ids == nil {
		s.ids = map[string]string{}
	}
	if s.ids[id] == "" {
		s.ids[id] = "id_" + strconv.Itoa(len(s.ids)+1)
	}
	return s.ids[id]
}

// isDated reports whether an object was created at a time, so that its id was generated for it. The id of a model is
// its name.
func isDated(v jsontext.Value) bool {
	if isModel(v) {
		return false
	}
	for name, m := range v.Members() {
		if moment.MatchString(name) && isTime(name, m) {
			return true
		}
	}
	return false
}

func isModel(v jsontext.Value) bool {
	return v.Member("object").Word() == "model" || v.Member("type").Word() == "model" ||
		only(v, "owned_by", "context_length", "architecture") != nil
}

// Names of members with a time or a duration.
var (
	moment   = regexp.MustCompile(`^(created|updated|modified|timestamp|expires)$|_at$|_time$|[a-z](At|Time)$`)
	duration = regexp.MustCompile(
		`^(latency|elapsed|processing|inference|queue|total|load|response|execution|(prompt_)?eval)` +
			`_(time|duration|ms|seconds)(_ms)?$|^latency$|[a-z]Latency(Ms)?$`)
	timeText = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:`)
)

// isTime reports whether a member is a time or a duration.
func isTime(name string, v jsontext.Value) bool {
	const year2001 = 1e9
	number, isNumber := v.Number()
	switch {
	case moment.MatchString(name) && v.IsNull(): // in the future
		return true
	case moment.MatchString(name) && isNumber:
		n, _ := number.Float64() // infinite if it is too large
		return n >= year2001
	case moment.MatchString(name):
		return timeText.MatchString(v.Word())
	}
	return duration.MatchString(name) && isNumber
}
