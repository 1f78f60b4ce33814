package drift

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestJSON(t *testing.T) {
	cases := []struct{ name, why, recorded, got, want string }{
		{"equal", "nothing to tell", `{"a":1}`, `{"a":1}`, ``},
		{"member", "a value changed", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `/b 2 3`},
		{"added", "absent is no null", `{}`, `{"a":null}`, `/a - null`},
		{"removed", "the other way round", `{"a":[]}`, `{}`, `/a [] -`},
		{"escaped", "RFC 6901 escapes", `{"a/b~c":1}`, `{"a/b~c":2}`, `/a~1b~0c 1 2`},
		{"nested", "the deepest place that differs", `{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":3}]}}`, `/a/b/1/c 2 3`},
		{"inserted", "what follows an inserted element did not change", `[1,2,3]`, `[1,9,2,3]`, `/1 - 9`},
		{"deleted", "what follows a deleted element did not change", `[1,2,3]`, `[1,3]`, `/1 2 -`},
		{"kinds", "a string is no number", `"1"`, `1`, ` "1" 1`},
		{"array to object", "compared as wholes", `{"a":[1]}`, `{"a":{"0":1}}`, `/a [1] {"0":1}`},
		{"repeated", "equal elements are paired once", `[1,1]`, `[1,1,1]`, `/2 - 1`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			for _, d := range JSON([]byte(c.recorded), []byte(c.got)) {
				lines = append(lines, fmt.Sprintf("%s %s %s", d.Pointer, orDash(d.Recorded), orDash(d.Got)))
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"), c.why)
		})
	}
}

func orDash(v json.RawMessage) string {
	if v == nil {
		return "-"
	}
	return string(v)
}

func TestCauses(t *testing.T) {
	message := func(role, text string) snapshot.Message {
		content, _ := json.Marshal(text)
		return snapshot.Message{Role: role, Content: content}
	}
	zero, one := snapshot.Number("0"), snapshot.Number("1")
	base := func() *snapshot.Request {
		return &snapshot.Request{
			API: "openai.chat", Model: "m", Temperature: &zero,
			Messages: []snapshot.Message{message("system", "s"), message("user", "u")},
		}
	}
	cases := []struct {
		name, why, want string
		change          func(*snapshot.Request)
	}{
		{"system", "the system prompt has no number", "system", func(r *snapshot.Request) { r.Messages[0] = message("system", "S") }},
		{"message", "others are counted from 1", "message 2 (user)", func(r *snapshot.Request) { r.Messages[1] = message("user", "U") }},
		{"added", "a message that was not recorded", "message 3 (user)", func(r *snapshot.Request) { r.Messages = append(r.Messages, message("user", "x")) }},
		{"removed", "a message that is not sent any more", "message 2 (user)", func(r *snapshot.Request) { r.Messages = r.Messages[:1] }},
		{"model", "another model", "model", func(r *snapshot.Request) { r.Model = "n" }},
		{"temperature", "a parameter", "parameters", func(r *snapshot.Request) { r.Temperature = &one }},
		{"option", "one without a field of its own", "parameters", func(r *snapshot.Request) {
			r.ProviderOptions = map[string]json.RawMessage{"logit_bias": []byte(`{}`)}
		}},
		{"tools", "a tool", "tools", func(r *snapshot.Request) { r.Tools = []json.RawMessage{[]byte(`{"name":"t","description":""}`)} }},
		{"tool choice", "an option about tools", "tools", func(r *snapshot.Request) {
			r.ProviderOptions = map[string]json.RawMessage{"tool_choice": []byte(`"none"`)}
		}},
		{"format", "an option about the output", "output format", func(r *snapshot.Request) {
			r.ProviderOptions = map[string]json.RawMessage{"response_format": []byte(`{"type":"json_object"}`)}
		}},
		{"two", "each cause once", "message 2 (user), model", func(r *snapshot.Request) {
			r.Model, r.Messages[1] = "n", message("user", "U")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			recorded, got := base(), base()
			c.change(got)
			differences, err := Requests(recorded, got, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(Causes(differences, recorded, got), ", "), c.why)
		})
	}
}

func TestText(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 100)
	lines := func(edit ...int) string {
		var b strings.Builder
		for i := range 100 {
			line := fmt.Sprintf("line %d", i)
			for _, e := range edit {
				if e == i {
					line = "changed"
				}
			}
			b.WriteString(line + "\n")
		}
		return b.String()
	}
	str := func(s string) json.RawMessage {
		data, _ := json.Marshal(s)
		return data
	}
	cases := []struct {
		name, why string
		d         []Difference
	}{
		{"short", "whole values", []Difference{{"/a", str("one"), str("two")}, {"/t", []byte("0"), []byte("0.2")}}},
		{"kinds", "quotes stay where they matter", []Difference{{"/a", str("1"), []byte("1")}, {"/b", str(""), str("x ")}, {"/c", str("\x1b[31m"), str("plain")}}},
		{"long", "only the neighbourhood of what changed", []Difference{{"/a", str(long + "old" + long), str(long + "new" + long)}}},
		{"lines", "a line diff", []Difference{{"/a", str(lines()), str(lines(3, 50))}}},
		{"lines-many", "a bounded line diff", []Difference{{"/a", str(lines()), str(strings.ToUpper(lines()))}}},
		{"added", "an object that was added", []Difference{{"/messages/2", nil, []byte(`{"content":"` + long + `","role":"user"}`)}}},
		{"removed", "a text that was removed", []Difference{{"/a", str("gone"), nil}}},
		{"unicode", "no character is cut", []Difference{{"/a", str(strings.Repeat("漢字", 200) + "甲"), str(strings.Repeat("漢字", 200) + "乙")}}},
	}
	var many []Difference
	for i := range 30 {
		many = append(many, Difference{fmt.Sprintf("/%d", i), []byte("1"), []byte("2")})
	}
	cases = append(cases, struct {
		name, why string
		d         []Difference
	}{"many", "a bounded list", many})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			goldie.New(t).Assert(t, c.name, []byte(Text(c.d)))
		})
	}
}

// TestTextIsBounded proves that a megabyte that changed does not fill a terminal.
func TestTextIsBounded(t *testing.T) {
	for _, unit := range []string{"x", "line\n", "漢"} {
		recorded, _ := json.Marshal(strings.Repeat(unit, 1<<20/len(unit)))
		got, _ := json.Marshal(strings.ToUpper(strings.Repeat(unit+"y", 1<<20/len(unit))))
		require.Less(t, len(Text([]Difference{{"/a", recorded, got}})), 40<<10)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2]}`), []byte(`{"a":[2]}`))
	f.Add([]byte(`[1,[2]]`), []byte(`"x"`))
	f.Fuzz(func(t *testing.T, recorded, got []byte) {
		if !json.Valid(recorded) || !json.Valid(got) {
			return
		}
		differences := JSON(recorded, got)
		if string(recorded) == string(got) {
			require.Empty(t, differences)
		}
		Text(differences)
		require.Equal(t, len(differences), len(JSON(got, recorded)), "as many seen from the other side")
	})
}
