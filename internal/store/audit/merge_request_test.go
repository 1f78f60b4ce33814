package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

func asked(system string, edits ...func(*modelio.Request)) *modelio.Request {
	text := func(role modelio.Role, s string) modelio.Message {
		return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(s)}}
	}
	r := &modelio.Request{
		API: "openai.chat", Model: "gpt-4o-mini", Messages: []modelio.Message{text("system", system), text("user", "Hi <b>")},
		Tools:   []modelio.ToolDefinition{{Name: "search", Description: "Searches."}},
		Options: modelio.Object{"user": json.RawMessage(`"a"`), "big": json.RawMessage(`12345678901234567890.10`)},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

func TestMergeRequest(t *testing.T) {
	const prompt = "one\ntwo\nthree\nfour\nfive\n"
	put := func(old, new string) string { return strings.Replace(prompt, old, new, 1) }
	cold := func(r *modelio.Request) { n := json.Number("0"); r.Temperature = &n }
	warm := func(r *modelio.Request) { n := json.Number("1"); r.Temperature = &n }
	tool := func(r *modelio.Request) { r.Tools[0].Description = "Finds." }
	other := func(r *modelio.Request) { r.Tools = append(r.Tools, modelio.ToolDefinition{Name: "buy"}) }
	more := func(r *modelio.Request) { r.Tools = append(r.Tools, modelio.ToolDefinition{Name: "sell"}) }
	removed := func(r *modelio.Request) { delete(r.Options, "user") }
	added := func(r *modelio.Request) { r.Options["new"] = json.RawMessage(`true`) }
	for _, c := range []struct {
		name, reason               string
		base, ours, theirs, merged *modelio.Request
		left                       []string
	}{
		{"lines", "each line is that of the side that changed it", asked(prompt),
			asked(put("one", "ONE")), asked(put("four", "FOUR")), asked(strings.Replace(put("one", "ONE"), "four", "FOUR", 1)), nil},
		{"earlier line", "of theirs", asked(prompt),
			asked(put("five", "FIVE")), asked(put("one\n", "")), asked("two\nthree\nfour\nFIVE\n"), nil},
		{"same line", "ours stays, and it is said", asked(prompt),
			asked(put("two", "ours")), asked(put("two", "theirs"), cold), asked(put("two", "ours"), cold), []string{"system"}},
		{"adjacent lines", "touch, as git has it", asked(prompt),
			asked(put("two", "ours")), asked(put("three", "theirs")), asked(put("two", "ours")), []string{"system"}},
		{"inserted and removed", "lines may be more or fewer", asked(prompt),
			asked(put("one\n", "zero\none\n")), asked(put("four\n", "")), asked("zero\none\ntwo\nthree\nfive\n"), nil},
		{"alike", "what both changed alike is changed", asked(prompt),
			asked(put("two", "2"), cold), asked(put("two", "2"), tool), asked(put("two", "2"), cold, tool), nil},
		{"alike and apart", "what both added alike is added once", asked(prompt, more), asked(prompt, more, other),
			asked(prompt, more, tool, other), asked(prompt, more, tool, other), nil},
		{"new member", "it is theirs alone", asked(prompt), asked(prompt, removed), asked(prompt, added), asked(prompt, removed, added), nil},
		{"members", "a member each", asked(prompt), asked(prompt, cold, removed), asked(prompt, other), asked(prompt, cold, removed, other), nil},
		{"same member", "a number has no lines", asked(prompt), asked(prompt, cold), asked(prompt, warm), asked(prompt, cold), []string{"temperature"}},
		{"prompt and tool", "of different elements", asked(prompt), asked(put("one", "1"), tool), asked(put("five", "5"), other),
			nil, []string{"tool search"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, left, err := mergeRequest(c.base, c.ours, c.theirs)
			require.NoError(t, err)
			require.Equal(t, c.left, left, c.reason)
			if c.merged != nil {
				require.Equal(t, c.merged, merged, c.reason)
			}
			same, left, err := mergeRequest(c.base, c.ours, c.ours)
			require.NoError(t, err)
			require.Empty(t, left)
			require.Equal(t, c.ours, same, "nothing of a request is lost")
		})
	}
}
