package drift

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
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

// TestTextIsBounded proves that a changed megabyte does not fill a terminal.
func TestTextIsBounded(t *testing.T) {
	for _, unit := range []string{"x", "line\n", "漢"} {
		recorded, _ := json.Marshal(strings.Repeat(unit, 1<<20/len(unit)))
		got, _ := json.Marshal(strings.ToUpper(strings.Repeat(unit+"y", 1<<20/len(unit))))
		require.Less(t, len(Text([]Difference{{"/a", recorded, got}})), 40<<10)
	}
}

func FuzzJSON(t *testing.F) {
	f := mutation.New(t)
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

// TestIgnored leaves out the members that the pointers name, on both sides.
func TestIgnored(t *testing.T) {
	request := func(system, user, seed string) *modelio.Request {
		number := json.Number(seed)
		return &modelio.Request{
			Messages: []modelio.Message{
				{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart(system)}},
				{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("a"), {Custom: modelio.Object{"now": jsonText(user)}}}},
			},
			Tools: []modelio.ToolDefinition{{Name: "t", Description: system}},
			Seed:  &number,
		}
	}
	for _, c := range []struct {
		name, why string
		ignored   []string
		want      string
	}{
		{"nothing", "all differ", nil, "/messages/0/content /messages/1/content/1/custom/now /seed /tools/0/description"},
		{"member", "a parameter", []string{"/seed"}, "/messages/0/content /messages/1/content/1/custom/now /tools/0/description"},
		{"message", "a whole one", []string{"/messages/0", "/seed"}, "/messages/1/content/1/custom/now /tools/0/description"},
		{"below", "a value in a message", []string{"/messages/1/content/1/custom/now"}, "/messages/0/content /seed /tools/0/description"},
		{"every", "a value in all messages", []string{"/messages/*/content", "/seed"}, "/tools/0/description"},
		{"tool", "a whole one", []string{"/tools/0", "/messages/*", "/seed"}, ""},
		{"elsewhere", "a pointer that leads to nothing", []string{"/messages/9", "/stop"}, "/messages/0/content /messages/1/content/1/custom/now /seed /tools/0/description"},
	} {
		t.Run(c.name, func(t *testing.T) {
			comparer := NewComparer(c.ignored)
			recorded, err := comparer.Request(request("s", "u", "1"))
			require.NoError(t, err)
			got, err := comparer.Request(request("S", "U", "2"))
			require.NoError(t, err)
			var pointers []string
			for _, d := range comparer.Differences(recorded, got) {
				pointers = append(pointers, d.Pointer)
			}
			require.Equal(t, c.want, strings.Join(pointers, " "), c.why)
		})
	}
}

func jsonText(s string) json.RawMessage {
	text, _ := json.Marshal(s)
	return text
}

// TestComparer compares one request with many that share its history. The nearest is the one whose last message was
// changed. Lengths measured by an earlier comparison are not measured again.
func TestComparer(t *testing.T) {
	var history []modelio.Message
	for i := range 400 {
		text := strings.Repeat(fmt.Sprintf("message %d of the conversation. ", i), 20)
		history = append(history, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text), modelio.TextPart("")}})
	}
	c := NewComparer(nil)
	var recorded []*Request
	for n := 1; n <= len(history); n++ {
		r, err := c.Request(&modelio.Request{Messages: history[:n]})
		require.NoError(t, err)
		recorded = append(recorded, r)
	}
	for i, r := range recorded {
		require.Same(t, &recorded[len(recorded)-1].messages[i].text[0], &r.messages[i].text[0], "each message is hashed once")
	}

	changed := slices.Clone(history[:100])
	changed[99].Content = []modelio.Part{modelio.TextPart(*changed[99].Content[0].Text + "!"), modelio.TextPart("")}
	got, err := c.Request(&modelio.Request{Messages: changed})
	require.NoError(t, err)
	nearest := slices.MinFunc(recorded, func(a, b *Request) int { return c.Distance(a, got) - c.Distance(b, got) })
	require.Equal(t, 100, len(nearest.Messages))
	require.Equal(t, Size(c.Differences(nearest, got)), c.Distance(nearest, got))
	require.Len(t, c.Traces(nearest, got), 1)
	require.Equal(t, "messages", c.Traces(nearest, got)[0].Member)
}

// TestComparerOfManyConversations: as many subagents as a program may run at once take turns, and still each message is hashed once.
func TestComparerOfManyConversations(t *testing.T) {
	const talks, turns = 50, 3
	c := NewComparer(nil)
	var first [talks]*byte // of the first message's text
	for n := 1; n <= turns; n++ {
		for i := range talks {
			req := &modelio.Request{}
			for turn := range n {
				req.Messages = append(req.Messages, textMessage(modelio.RoleUser, fmt.Sprintf("%d, turn %d", i, turn)))
			}
			r, err := c.Request(req)
			require.NoError(t, err)
			if n == 1 {
				first[i] = &r.messages[0].text[0]
			}
			require.Same(t, first[i], &r.messages[0].text[0])
		}
	}
}

// TestRequestOfAConversation: a request takes only as much memory as the list of its messages if it shares these with
// requests that the comparer knows. A conversation of n calls has n*n/2 messages.
func TestRequestOfAConversation(t *testing.T) {
	const messages, most = 40_000, 36 // bytes of a message
	req := &modelio.Request{}
	for i := range messages {
		said := fmt.Sprint("question ", i)
		req.Messages = append(req.Messages, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{{Text: &said}}})
	}
	c := NewComparer(nil)
	_, err := c.Request(req)
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = c.Request(req)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(messages*most))
}
