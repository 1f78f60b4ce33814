package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// IsOurs reports whether a document of the given name is one that a store has so: its records' ids are its name's.
func IsOurs(name string, d *snapshot.Document) bool {
	return !slices.ContainsFunc(d.Snapshots, func(s snapshot.Snapshot) bool {
		document, _, ok := snapshot.ParseID(s.ID)
		return !ok || document != name
	})
}

// ReadSF reads a document as the Snapshot Format Specification prints it ("Complete Snapshot Structure"), or one
// record of it ("Valid Snapshots"). Hashes may lack their "sha256:", as the JavaScript of the specification computes
// them. The roles and the reasons to stop may be OpenAI's, of whose requests the specification speaks. Nothing else
// is translated, and nothing that is missing is made up. The error is an [*snapshot.Error].
func ReadSF(data []byte) (*snapshot.Document, error) {
	doc, err := snapshot.Parse(data)
	if err == nil || errors.Is(err, snapshot.ErrVersion) {
		return doc, err
	}
	data = prefixed(data)
	if wrapped, ok := wrapped(data); ok {
		data = wrapped
	}
	if doc, err = snapshot.Parse(data); err == nil {
		return doc, nil
	}
	other := func(v snapshot.Violation) bool { return v.Rule != snapshot.RuleValue }
	var wrong *snapshot.Error
	if !errors.As(err, &wrong) || slices.ContainsFunc(wrong.Violations, other) {
		return nil, err // it lacks something, or is no text that every reader takes alike
	}
	text, failed := translated(data)
	if failed != nil {
		return nil, err
	}
	return snapshot.Parse(text)
}

// bareHash is a hash without its prefix.
var bareHash = regexp.MustCompile(`("hash"\s*:\s*")([0-9a-f]{64}")`)

// prefixed returns a text whose hashes are digits alone with hashes as the format has them. The combined hash is then
// another one, as it is that of the others.
func prefixed(data []byte) []byte {
	text, err := jsontext.ParseStrict(data)
	if err != nil || !bareHash.Match(data) {
		return data
	}
	var bare []string
	var seals snapshot.Seals
	for _, record := range text.Root().Member("snapshots").Elements() {
		digits := record.Member("hash").Word()
		bare, seals = append(bare, strconv.Quote(digits)), append(seals, canon.Hash("sha256:"+digits))
	}
	version := text.Root().Member("version").Word()
	combined := fmt.Appendf(nil, `{"version":%q,"snapshots":[%s]}`, version, strings.Join(bare, ","))
	data = bareHash.ReplaceAll(data, []byte(`${1}sha256:${2}`))
	if was := text.Root().Member("hash").Word(); was == canon.Sum(combined).Hex() {
		data = bytes.Replace(data, []byte(was), []byte(seals.Combined(version).Hex()), 1)
	}
	return data
}

// wrapped returns the document of a text that is one record.
func wrapped(data []byte) ([]byte, bool) {
	text, err := jsontext.ParseStrict(data)
	if err != nil || !text.Root().Member("request").IsObject() || !text.Root().Member("id").Present() {
		return nil, false
	}
	seal := canon.Hash(text.Root().Member("hash").Word())
	return fmt.Appendf(nil, `{"version":%q,"snapshots":[%s],"hash":%q}`,
		snapshot.VersionSF, data, snapshot.Seals{seal}.Combined(snapshot.VersionSF)), true
}

// translated returns a document in which OpenAI's words stand in those of the format (docs/format.md section 14). It is
// sealed again, since its own seals, which were checked, are of the other words.
func translated(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var d struct {
		Version   string           `json:"version"`
		Snapshots []map[string]any `json:"snapshots"`
	}
	if err := decoder.Decode(&d); err != nil {
		return nil, err
	}
	var seals snapshot.Seals
	var records []json.RawMessage
	for _, record := range d.Snapshots {
		translate(record)
		sealed, seal, err := seal(record)
		if err != nil {
			return nil, err
		}
		seals, records = append(seals, seal), append(records, sealed)
	}
	return json.Marshal(map[string]any{"version": d.Version, "snapshots": records, "hash": seals.Combined(d.Version)})
}

func translate(record map[string]any) {
	request, _ := record["request"].(map[string]any)
	messages, _ := request["messages"].([]any)
	for _, m := range messages {
		if message, ok := m.(map[string]any); ok && message["role"] == "assistant" {
			message["role"] = "model"
		}
	}
	response, _ := record["response"].(map[string]any)
	switch reason, _ := response["finish_reason"].(string); reason {
	case "tool_calls", "function_call":
		response["finish_reason"], response["finish_reason_raw"] = "stop", reason
	case "content_filter":
		response["finish_reason"], response["finish_reason_raw"] = "blocked", reason
	}
}

// seal returns a record with the hash of its members, as the text that it is now has it.
func seal(record map[string]any) (json.RawMessage, canon.Hash, error) {
	var text bytes.Buffer
	for i, name := range []string{"id", "timestamp", "source", "request", "response"} {
		value, err := canon.Marshal(record[name])
		if err != nil {
			return nil, "", err
		}
		text.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + strconv.Quote(name) + ":")
		text.Write(value)
	}
	hash := canon.Sum(append(slices.Clone(text.Bytes()), '}'))
	fmt.Fprintf(&text, `,"hash":%q}`, hash)
	return text.Bytes(), hash, nil
}

// CallsOf returns the calls of a document that [ReadSF] read, of a provider. What stands beside our documents, raw
// answers and media, SF's have not: what a record says of such files is left out, and one whose texts name media is
// refused.
func CallsOf(file, provider string, d *snapshot.Document) ([]Call, error) {
	var calls []Call
	for i := range d.Snapshots {
		s := d.Snapshots[i]
		if media := s.Media(); len(media) > 0 {
			return nil, &snapshot.Error{File: file, Violations: []snapshot.Violation{{
				Pointer: jsontext.PointerTo("snapshots", strconv.Itoa(i)), Rule: snapshot.RuleMedia,
				Message: fmt.Sprintf("names %s, which SF's layout has no place for: record it again", media[0].Hash),
			}}}
		}
		if s.Provider == "" {
			s.Provider = provider
		}
		s.Response.RawOutputRef, s.Response.TimingMS = "", nil
		calls = append(calls, Call{File: file, Snapshot: s})
	}
	return calls, nil
}
