package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
)

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "bbbbbbbb-0000-4000-8000-000000000002"
)

func newRules(t testing.TB, all ...Rule) *Rules {
	rules, err := New(all...)
	require.NoError(t, err)
	return rules
}

func TestRulesErrors(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		rules        []Rule
		want         string
	}{
		{"zero", "it says nothing", []Rule{{}}, "Scrub(Rule{}): make rules with Value, Pattern and Volatile"},
		{"name", "it stands in placeholders", []Rule{Value("A key", "12345")},
			`Scrub(Value("A key", …): a name begins with a lower-case letter and has such letters, digits, - and _)`},
		{"reserved", "its placeholders are another's", []Rule{Pattern("uuid", regexp.MustCompile("x"))},
			`Scrub(Pattern("uuid", …): the name is one of Volatile's)`},
		{"short", "it would be found everywhere", []Rule{Value("key", "abc")},
			`Scrub(Value("key", …): a value of less than 4 bytes is found in any text: set a longer one)`},
		{"nil", "there is none", []Rule{Pattern("key", nil)}, `Scrub(Pattern("key", nil): there is no pattern)`},
		{"twice", "their placeholders would be one", []Rule{Value("key", "12345"), Pattern("key", regexp.MustCompile("x"))},
			"rules of Scrub: two are named key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.rules...)
			require.EqualError(t, err, c.want, c.reason)
			require.NotContains(t, err.Error(), "12345")
		})
	}
	_, err := New(Volatile(), Value("key", ""), Volatile())
	require.NoError(t, err, "config.json and a test may both say it")
}

func TestRules(t *testing.T) {
	order := Pattern("order", regexp.MustCompile(`\bORD-[0-9]+\b`))
	for _, c := range []struct {
		name, reason string
		rules        []Rule
		text, want   string
	}{
		{"value", "a value, wherever it is", []Rule{Value("key", "s3cret")}, "s3crets3cret", "{{key:1}}{{key:1}}"},
		{"value-escaped", "in JSON and URLs too", []Rule{Value("key", `a"b/c d`)},
			`a"b/c d a\"b/c d a%22b%2Fc+d a%22b%2Fc%20d`, "{{key:1}} {{key.json:1}} {{key.query:1}} {{key.path:1}}"},
		{"value-empty", "a dummy stands for it", []Rule{Value("key", "")}, "traceforge-key", "{{key:1}}"},
		{"pattern", "numbered as they come", []Rule{order}, "ORD-2 ORD-1 ORD-2", "{{order:1}} {{order:2}} {{order:1}}"},
		{"pattern-group", "the group alone", []Rule{Pattern("name", regexp.MustCompile(`Dear (\w+),`))}, "Dear Ann, dear Bob,", "Dear {{name:1}}, dear Bob,"},
		{"pattern-empty", "nothing is no value", []Rule{Pattern("name", regexp.MustCompile(`x*`))}, "axb", "a{{name:1}}b"},
		{"rest", "a rule that finds one more in each rest takes the rest at last", []Rule{Volatile()},
			strings.Repeat("2025-11-21T10:00", 20), strings.Repeat("{{time:1}}", mostRounds-1) + "{{time:2}}"},
		{"order", "of two that overlap the earlier rule's", []Rule{Value("a", "1234"), Value("b", "3456")}, "123456", "{{a:1}}56"},
		{"volatile-last", "what is secret comes first", []Rule{Volatile(), Value("tenant", idA)}, idA + " " + idB, "{{tenant:1}} {{uuid:1}}"},

		{"literal", "what looks like a placeholder is said to be none", nil, "{{uuid:1}} {{uuid:+1}} {{key.json:1}}", "{{}}{{uuid:1}} {{}}{{uuid:+1}} {{}}{{key.json:1}}"},
		{"literal-mark", "and so is the mark", nil, "{{}} {{}}{{uuid:1}}", "{{}}{{}} {{}}{{}}{{}}{{uuid:1}}"},
		{"template", "what does not look so stays", nil, "{{name}} {{ x:1 }} {{a:b}} {{a:01}} {{A:1}} {{a:1}", "{{name}} {{ x:1 }} {{a:b}} {{a:01}} {{A:1}} {{a:1}"},
		{"braces", "a value in braces", []Rule{Volatile()}, "{" + idA + "} {{" + idA + "}}", "{{{uuid:1}}} {{{{uuid:1}}}}"},
		{"inside", "a value in what looks so", []Rule{Value("key", "name:1")}, "{{name:1}}", "{{{{key:1}}}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, scrubbed(t, c.text, c.rules...), c.reason)

			rules := newRules(t, c.rules...)
			v := rules.newValues(false)
			kept := edited(c.text, v.requestEdits(c.text))
			restored, err := v.RestoreText(kept)
			require.NoError(t, err)
			require.Equal(t, c.text, restored, "the same values give the same text")

			again := rules.newValues(true)
			require.Equal(t, kept, edited(kept, again.requestEdits(kept)), "a text that was scrubbed stays")
		})
	}
}

// TestRequest holds that all texts of a request are looked at, and in which order they are counted.
func TestRequest(t *testing.T) {
	text := func(n int) string { return fmt.Sprintf("<%s>", id(n)) }
	raw := func(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"x": ["%s"]}`, text(n))) }
	prompt, reasoning := text(50), text(23)
	request := &modelio.Request{
		API: "openai.chat", Model: "m",
		Options: modelio.Object{"$url": raw(1), "metadata": raw(2)},
		Tools: []modelio.ToolDefinition{{Name: "t", Description: text(3), InputSchema: raw(4), OutputSchema: raw(5),
			Metadata: modelio.Object{"m": raw(6)}, Unknown: modelio.Object{"u": raw(7)}}},
		Stop:   []string{text(8)},
		Prompt: &prompt,
		Messages: []modelio.Message{
			{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart(text(20))}, Metadata: modelio.Object{"m": raw(21)}},
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.MediaPart("", "http://x/"+text(22)), {Reasoning: &reasoning}}},
			{Role: modelio.RoleModel, Content: []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "t", Input: raw(24)}}}},
			{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Name: "t", Output: raw(25),
				Content: []modelio.Part{modelio.TextPart(text(26))}}}}},
			{Role: modelio.RoleUser, Content: []modelio.Part{{Custom: modelio.Object{text(27): raw(28)}}}, Unknown: modelio.Object{"u": raw(29)}},
		},
	}
	before, err := json.Marshal(request)
	require.NoError(t, err)
	core := []byte(`{"messages":["` + id(20) + `"],"tools":["` + id(3) + `"]}`)
	scrubbed, _ := newRules(t, Volatile()).Live(request, core)
	after, err := json.Marshal(scrubbed)
	require.NoError(t, err)
	require.NotRegexp(t, "[0-9a-f]{8}-", string(after), "no text is left out")
	require.Equal(t, strings.Count(string(before), "8000-000000"), strings.Count(string(after), "{{uuid:"))
	require.Equal(t, "<{{uuid:1}}>", scrubbed.Tools[0].Description, "what stands in the core, its messages last")
	require.Equal(t, "<{{uuid:2}}>", *scrubbed.Messages[0].Content[0].Text)
	unchanged, err := json.Marshal(request)
	require.NoError(t, err)
	require.Equal(t, string(before), string(unchanged), "the caller's request stays as it was")

	same, _ := newRules(t, Value("key", "not there")).Live(request, core)
	require.Same(t, request, same, "what needs no change is not copied")
}

func id(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n) }

// TestStored holds that a record that was made with fewer rules is compared as if it had been made with
// all, and that what it has keeps its meaning.
func TestStored(t *testing.T) {
	rules := newRules(t, Pattern("order", regexp.MustCompile(`ORD-[0-9]+`)), Volatile())
	for _, c := range []struct{ name, reason, kept, want string }{
		{"whole", "it has its placeholders", "{{uuid:1}} {{order:1}} {{uuid:2}}", "{{uuid:1}} {{order:1}} {{uuid:2}}"},
		{"without", "it has the values of its run", idA + " ORD-7 " + idB, "{{uuid:1}} {{order:1}} {{uuid:2}}"},
		{"half", "one rule is new", "{{uuid:1}} ORD-7 {{uuid:2}}", "{{uuid:1}} {{order:1}} {{uuid:2}}"},
		{"literal", "it was said so", "{{}}{{uuid:1}} " + idA, "{{}}{{uuid:1}} {{uuid:1}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := rules.newValues(true)
			require.Equal(t, c.want, edited(c.kept, v.requestEdits(c.kept)), c.reason)
		})
	}
}

func TestMask(t *testing.T) {
	for _, c := range []struct {
		name, reason  string
		recorded, got string
		want          bool
	}{
		{"volatile", "other values of the same kinds", `"` + idA + ` at 2025-01-01T00:00:00Z"`, `"` + idB + ` at 2026-01-01T00:00:00Z"`, true},
		{"placeholder", "the record was scrubbed", `"{{uuid:1}}"`, `"` + idB + `"`, true},
		{"more", "something else differs", `"a ` + idA + `"`, `"b ` + idB + `"`, false},
		{"other-places", "two that were one", `"` + idA + idB + `"`, `"` + idA + idA + `"`, false},
		{"absent", "there is nothing to hold it against", ``, `"` + idA + `"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := newRules(t)
			recorded, got := rules.WithVolatile().Mask()([]byte(c.recorded)), rules.WithVolatile().Mask()([]byte(c.got))
			require.Equal(t, c.want, bytes.Equal(recorded, got), c.reason)
		})
	}
}

func FuzzText(t *testing.F) {
	f := mutation.New(t)
	for _, text := range []string{"", "{{uuid:1}}", "{{}}{{}}{{uuid:1}}", "{" + idA + "}", "ORD-1{{order:1}}", "{{{{}}}}", "{{order:+1}}",
		"s3cretab ORD-1ab", "ab {{uuid:1}} ab", "ORD-12ab" + idA + "ab"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules := newRules(t, Value("key", "s3cret"), Pattern("order", regexp.MustCompile(`ORD-[0-9]+`)),
			Pattern("edge", regexp.MustCompile(`\bab\b| ab$`)), Volatile())
		v := rules.newValues(false)
		kept := edited(text, v.requestEdits(text))
		restored, err := v.RestoreText(kept)
		require.NoError(t, err)
		require.Equal(t, text, restored)
		again := rules.newValues(true)
		require.Equal(t, kept, edited(kept, again.requestEdits(kept)))
		anywhere := rules.Anywhere().newValues(true)
		require.Equal(t, kept, edited(kept, anywhere.requestEdits(kept)), "what was scrubbed has nothing for the rules of any process")
		require.Empty(t, anywhere.Took())
	})
}
