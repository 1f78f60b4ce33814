package record_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// scripted are the APIs for which a script has text answers.
var scripted = []string{
	"openai.chat", "openai.responses", "openai.completions", "anthropic.messages", "vertex.anthropic", "google.generate",
	"bedrock.converse", "bedrock.invoke", "cohere.chat", "ollama.chat", "ollama.generate",
}

// scriptScenarios are scripts for each SDK, whole and streamed.
var scriptScenarios = []struct {
	scenario
	steps []script.Step
}{
	{
		scenario{name: "says", ask: question{text: "Hello"}, says: []string{"It is 21 degrees"}},
		[]script.Step{script.Say("It is ", "21 degrees").Usage(7, 5)},
	},
	{
		scenario{name: "thinks", ask: question{text: "Hello"}, says: []string{"21 degrees"}, needs: thinks},
		[]script.Step{script.Think("so warm").Say("21 degrees")},
	},
	{
		scenario{
			name: "calls", ask: question{text: "How is the weather?", tools: true}, needs: tools | loops,
			says: []string{"Bern", "21 degrees"}, results: []string{"21"},
		},
		[]script.Step{script.Call("weather", `{"city":"Bern"}`), script.Say("21 degrees").When(script.Contains("21"))},
	},
	{
		scenario{
			name: "calls twice", ask: question{text: "How is the weather?", tools: true}, needs: tools | loops | parallel,
			says: []string{"Bern", "warm"}, results: []string{"21", "20"},
		},
		[]script.Step{script.Call("weather", `{"city":"Rome"}`).Call("weather", `{"city":"Bern"}`), script.Say("warm")},
	},
	{
		scenario{name: "schema", ask: question{text: "Sum up", schema: true}, says: []string{`{"summary":"short"}`}, needs: schemas},
		[]script.Step{script.Say(`{"summary":`, `"short"}`)},
	},
	{
		scenario{name: "tries again", ask: question{text: "Hello"}, says: []string{"at last"}, needs: retries},
		[]script.Step{script.Fail(429), script.Say("at last")},
	},
	{
		scenario{name: "fails", ask: question{text: "Hello"}, says: []string{"that is wrong"}, fails: true},
		[]script.Step{script.Fail(400, "that is wrong")},
	},
}

// TestScript checks that every SDK reads a script's answers, records them, and gets the same from the record, with and
// without the script.
func TestScript(t *testing.T) {
	reached := map[string]bool{}
	for _, s := range sdks {
		if s.scenarios != nil || !slices.Contains(scripted, s.api) {
			continue
		}
		for _, c := range scriptScenarios {
			for _, streamed := range []bool{false, true} {
				name := s.name + "/" + c.name
				if streamed {
					name += " streamed"
				}
				if s.lacks&c.needs != 0 || streamed && (s.lacks&streams != 0 || c.needs&(schemas|retries) != 0) {
					continue
				}
				if c.needs&retries != 0 && !slices.Contains([]string{openAIChat.name, claude.name, bedrockConverse.name}, s.name) {
					continue // each run would wait for the retry
				}
				reached[s.api] = true
				t.Run(name, func(t *testing.T) {
					c := c.scenario
					c.ask.stream = streamed
					playScript(t, newStage(t, &s, &c), scriptNamed(c.name))
				})
			}
		}
	}
	for _, api := range scripted {
		require.True(t, reached[api], api)
	}
}

func scriptNamed(name string) []script.Step {
	for _, c := range scriptScenarios {
		if c.name == name {
			return c.steps
		}
	}
	return nil
}

// playScript records a scenario from a script and replays it twice.
func playScript(t *testing.T, s *stage, steps []script.Step) {
	t.Helper()
	var first []result
	for _, mode := range []string{"1", "", "unscripted"} {
		opts := []traceforgetest.Option{traceforgetest.Dir(s.dir)}
		if mode != "unscripted" {
			opts = append(opts, traceforgetest.Upstream(script.New(steps...)))
		}
		t.Setenv("TRACEFORGE_UPDATE", strings.TrimPrefix(mode, "unscripted"))
		var got []result
		tb := tbtest.Run(t.Name(), func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, opts...)
			for _, name := range s.sdk.keys {
				require.NotEmpty(tb, os.Getenv(name), "no key is asked for")
			}
			ask, err := s.sdk.open(t.Context(), tf)
			require.NoError(tb, err)
			got, err = s.scenario.play(t.Context(), ask)
			require.NoError(tb, err)
		})
		require.False(t, tb.Failed(), tb.Logged())
		if first == nil {
			first = got
		}
		require.Equal(t, first, got, "the SDK gets the same")
	}
	recorded.RequireSound(t, s.dir)
	for _, call := range recorded.Calls(t, s.dir) {
		require.Equal(t, s.sdk.api, call.Request.API)
		require.True(t, call.Source.Scripted.Valid())
	}
}

// TestScriptEmbeds checks that SDKs for embeddings read a script's vectors.
func TestScriptEmbeds(t *testing.T) {
	for _, s := range append([]sdk{openAIEmbeddings}, embedding...) {
		if strings.Contains(s.name, "images") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			c := scenario{name: "embeds", ask: question{text: "one"}, says: []string{""}}
			playScript(t, newStage(t, &s, &c), []script.Step{script.Embed().When(script.Contains(""))})
		})
	}
}
