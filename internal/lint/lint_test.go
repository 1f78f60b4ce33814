package lint_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A change makes a call another one.
type change func(s *snapshot.Snapshot)

// recorded returns a call that no rule has anything to say of, changed.
func recorded(changes ...change) *snapshot.Snapshot {
	tokens := func(n int64) *int64 { return &n }
	limit, zero := json.Number("100"), json.Number("0")
	s := &snapshot.Snapshot{
		Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC), Provider: "openai",
		Source: snapshot.Source{File: "a/a.go", Line: 12, Function: "Ask", Package: "example.com/a"},
		Request: modelio.Request{API: "openai.chat", Model: "gpt-4o-2024-08-06", MaxTokens: &limit, Temperature: &zero,
			Messages: []modelio.Message{said(modelio.RoleSystem, "Be brief."), said(modelio.RoleUser, "Hello")}},
	}
	s.Response = snapshot.Response{Status: 200, Headers: map[string][]string{"content-type": {"application/json"}}}
	s.Response.Complete, s.Response.Model = true, s.Request.Model
	s.Response.Candidates = []modelio.Candidate{{Message: said(modelio.RoleModel, "Hi"), FinishReason: "stop", FinishReasonRaw: "stop"}}
	s.Response.Usage = &modelio.Usage{InputTokens: tokens(1000), OutputTokens: tokens(100)}
	for _, c := range changes {
		c(s)
	}
	return s
}

func said(role modelio.Role, text string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
}

// A test of the recorded store: its name, its calls, and the bytes of their answers.
type test struct {
	name  string
	calls []*snapshot.Snapshot
}

// stored records tests.
func stored(t *testing.T, tests ...test) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), ".ai-snapshots"))
	require.NoError(t, err)
	var c store.Change
	for _, test := range tests {
		name := snapshot.DocumentName("example.com/a", test.name)
		put := store.Put{Provider: test.calls[0].Provider, Name: name, Document: &snapshot.Document{Version: snapshot.Version}, Beside: map[canon.Hash][]byte{}}
		for i, call := range test.calls {
			call.ID, call.Source.Test = snapshot.ID(name, i+1), test.name
			body := []byte(strings.Repeat("x", 2000))
			call.Response.RawOutputRef = canon.Sum(body)
			put.Beside[call.Response.RawOutputRef] = body
			put.Document.Snapshots = append(put.Document.Snapshots, *call)
		}
		c.Put = append(c.Put, put)
	}
	require.NoError(t, s.Commit(c))
	return s
}

// linted records tests, and returns what the linter finds.
func linted(t *testing.T, config *store.Config, tests ...test) ([]lint.Finding, *lint.Linter) {
	t.Helper()
	l := lint.New(config)
	result, err := audit.Verify(stored(t, tests...), l.Check)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	return l.Findings(), l
}

// lines returns findings as lines without files.
func lines(found []lint.Finding) (all []string) {
	for i := range found {
		line := found[i].Line()
		line.File = ""
		all = append(all, line.String())
	}
	return all
}

func model(provider, asked, answered string) change {
	return func(s *snapshot.Snapshot) {
		s.Provider, s.Request.Model, s.Response.Model = provider, asked, answered
	}
}

func tools(all ...modelio.ToolDefinition) change {
	return func(s *snapshot.Snapshot) { s.Request.Tools = all }
}

func tool(name, description, schema string) modelio.ToolDefinition {
	return modelio.ToolDefinition{Name: name, Description: description, InputSchema: json.RawMessage(schema)}
}

func strict(t modelio.ToolDefinition) modelio.ToolDefinition {
	t.Metadata = modelio.Object{"function": json.RawMessage(`{"strict":true}`)}
	return t
}

func system(text string) change {
	return func(s *snapshot.Snapshot) { s.Request.Messages[0] = said(modelio.RoleSystem, text) }
}

// marked marks the system prompt as one to cache.
func marked(s *snapshot.Snapshot) {
	s.Request.Messages[0].Content[0].Metadata = modelio.Object{"cache_control": json.RawMessage(`{"type":"ephemeral"}`)}
}

// long is a prompt that caches keep.
var long = strings.Repeat("Answer in one sentence, and name what you know it from. ", 100)

const closed = `{"type":"object","properties":{"city":{"type":"string"}},"additionalProperties":false}`

// one returns a test of one call.
func one(changes ...change) []test {
	return []test{{"TestX", []*snapshot.Snapshot{recorded(changes...)}}}
}

// two returns two tests of a call each.
func two(a, b []change) []test {
	return []test{{"TestX", []*snapshot.Snapshot{recorded(a...)}}, {"TestY", []*snapshot.Snapshot{recorded(b...)}}}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const request = "/snapshots/0/request/"
	budgets := func(b store.Budgets) *store.Config { return &store.Config{Budgets: b} }
	weather, search := tool("weather", "Tells the weather. "+long, closed), tool("search", "Searches.", closed)
	for _, c := range []struct {
		name, reason string
		config       *store.Config
		tests        []test
		want         []string // nil: a near miss
	}{
		{"clean", "most traffic is as it should be", nil, one(), nil},

		{"scripted", "no model gave the answer", nil, one(func(s *snapshot.Snapshot) { s.Source.Scripted = canon.Sum(nil) }),
			[]string{"/snapshots/0/source/scripted: scripted-answer: the answer is of a script, and no model gave it: take the script away, and buy it: traceforge update --scripted (TestX)"}},
		{"unpinned-dated", "who answered tells the name to ask for", nil, one(model("openai", "gpt-4o", "gpt-4o-2024-08-06")),
			[]string{request + "model: unpinned-model: gpt-4o is an alias, which the provider may move to another model: ask for gpt-4o-2024-08-06, which answered (TestX)"}},
		{"unpinned-unknown-family", "a dated answer is evidence, whoever gave it", nil, one(model("openrouter", "qwen/qwen3.5-35b-a3b", "qwen/qwen3.5-35b-a3b-20260224")),
			[]string{request + "model: unpinned-model: qwen/qwen3.5-35b-a3b is an alias, which the provider may move to another model: ask for qwen/qwen3.5-35b-a3b-20260224, which answered (TestX)"}},
		{"unpinned-latest", "the word says it", nil, one(model("google", "gemini-flash-latest", "gemini-3.5-flash")),
			[]string{request + "model: unpinned-model: gemini-flash-latest is an alias, which the provider may move to another model: ask for gemini-3.5-flash, which answered (TestX)"}},
		{"unpinned-documented", "where nothing dated answered, the provider documents it", nil, one(model("google", "gemini-2.0-flash", "gemini-2.0-flash")),
			[]string{request + "model: unpinned-model: gemini-2.0-flash is an alias, which the provider may move to another model: ask for a name with a date or a version (TestX)"}},
		{"unpinned-once", "one cause is one line", nil, two([]change{model("anthropic", "claude-sonnet-4-5", "")}, []change{model("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929")}),
			[]string{request + "model: unpinned-model: claude-sonnet-4-5 is an alias, which the provider may move to another model: ask for claude-sonnet-4-5-20250929, which answered (2 calls of 2 tests, the first is TestX)"}},
		{"pinned-date", "a date pins", nil, one(model("anthropic", "claude-3-5-haiku-20241022", "claude-3-5-haiku-20241022")), nil},
		{"pinned-number", "so does a number that stands for one", nil, one(model("google", "gemini-2.0-flash-001", "gemini-2.0-flash-001")), nil},
		{"pinned-undated", "names of this generation have no date, and do not move", nil, one(model("anthropic", "claude-opus-4-6", "claude-opus-4-6")), nil},
		{"pinned-stable", "so have these", nil, one(model("google", "gemini-2.5-flash", "gemini-2.5-flash")), nil},
		{"pinned-deployment", "a deployment is pinned where it is made", nil, one(model("azure", "gpt-4o", "gpt-4o-2024-08-06")), nil},
		{"pinned-routed", "what follows a colon says where, not what", nil, one(model("huggingface", "moonshotai/Kimi-K2-Instruct-0905:groq", "moonshotai/kimi-k2-instruct-0905")), nil},
		{"pinned-ollama", "a tag moves when somebody pulls", nil, one(model("ollama", "llama3.2:latest", "llama3.2:latest")), nil},
		{"pinned-no-name", "nobody can ask for what is no name", nil, one(model("openai", "gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct:20230824-v2")), nil},

		{"other", "the one that was asked is no more", nil, one(model("google", "gemini-3-pro-preview", "gemini-3.1-pro-preview")),
			[]string{request + "model: other-model: gemini-3-pro-preview was asked, and gemini-3.1-pro-preview answered: ask for the one that is meant (TestX)"}},
		{"other-smaller", "a smaller one is another", nil, one(model("openai", "gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18")),
			[]string{request + "model: other-model: gpt-4o-2024-08-06 was asked, and gpt-4o-mini-2024-07-18 answered: ask for the one that is meant (TestX)"}},
		{"other-maker", "a router fell back", nil, one(model("openrouter", "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/llama-3.2-1b-instruct")),
			[]string{request + "model: other-model: meta-llama/Llama-3.1-8B-Instruct was asked, and meta-llama/llama-3.2-1b-instruct answered: ask for the one that is meant (TestX)"}},
		{"foreign", "a proxy asked to sign in, and no model said anything", nil,
			one(func(s *snapshot.Snapshot) { s.Response.Note = `openai.chat: the answer is no JSON: it begins "<html>"` }),
			[]string{`/snapshots/0/response/note: foreign-answer: the answer is not one of its API: openai.chat: the answer is no JSON: it begins "<html>": ` +
				"record it again, or silence this where a gateway answers so (TestX)"}},
		{"same-bedrock", "who made it and its version are no other model", nil, one(model("bedrock", "us.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet-20240620")), nil},
		{"same-vertex", "nor is the spelling of the date", nil, one(model("vertex", "claude-3-7-sonnet@20250219", "claude-3-7-sonnet-20250219")), nil},
		{"same-words", "nor the order of its words", nil, one(model("huggingface", "anthropic/claude-haiku-4.5-20251001", "anthropic/claude-4.5-haiku-20251001")), nil},
		{"same-case", "nor capitals, nor a hyphen", nil, one(model("cerebras", "Llama-3.1-8b", "llama3.1-8b")), nil},
		{"same-longer", "nor that more is said about it", nil, one(model("xai", "grok-4-fast", "grok-4-fast-reasoning")), nil},
		{"same-router", "who asks for any gets one", nil, one(model("openrouter", "openrouter/auto", "openai/gpt-4.1")), nil},
		{"same-unsaid", "an answer that names nobody tells nothing", nil, one(model("cohere", "command-a-03-2025", "")), nil},

		{"cache-tools", "the cache serves neither order to the other", nil, two([]change{tools(weather, search)}, []change{tools(search, weather)}),
			[]string{request + "tools: cache-prefix: the 2 tools of testx-1 are in another order, from search on, and the prompt cache serves neither to the other: put them in one order, such as that of their names (TestY)"}},
		{"cache-tools-same", "the same order is served", nil, two([]change{tools(weather, search)}, []change{tools(weather, search), system("Other.")}), nil},
		{"cache-tools-other", "other tools are other requests", nil, two([]change{tools(weather, search)}, []change{tools(search, weather, tool("x", "X.", closed))}), nil},
		{"cache-tools-short", "nothing so short is cached", nil, two([]change{tools(search, tool("x", "X.", closed))}, []change{tools(tool("x", "X.", closed), search)}), nil},
		{"cache-tools-model", "models have caches of their own", nil, two([]change{tools(weather, search)}, []change{tools(search, weather), model("openai", "o3-2025-04-16", "o3-2025-04-16")}), nil},
		{"cache-tools-nowhere", "this provider caches no beginnings", nil, two([]change{tools(weather, search), model("cohere", "m", "m")}, []change{tools(search, weather), model("cohere", "m", "m")}), nil},
		{"cache-date", "a date in front makes all that follows new", nil, two([]change{system("Today is 2026-01-09. " + long)}, []change{system("Today is 2026-01-10. " + long)}),
			[]string{request + "messages/0: cache-prefix: 2026-01-10 at byte 9 of a system prompt of 5621 bytes is 2026-01-09 in the same prompt of testx-1, and the prompt cache serves nothing behind it: put what varies behind what stays (TestY)"}},
		{"cache-placeholder", "a value that was scrubbed is known to vary", nil, one(system("Run {{uuid:1}}. " + long)),
			[]string{request + "messages/0: cache-prefix: {{uuid:1}} at byte 4 of a system prompt of 5616 bytes is another in every run, and the prompt cache serves nothing behind it: put what varies behind what stays (TestX)"}},
		{"cache-late", "behind it there is nothing to serve", nil, two([]change{system(long + "Today is 2026-01-09.")}, []change{system(long + "Today is 2026-01-10.")}), nil},
		{"cache-same-date", "a date that stays is served", nil, two([]change{system("Since 2026-01-09. " + long)}, []change{system("Since 2026-01-09. " + long)}), nil},
		{"cache-other-prompt", "these are two prompts, and one date each", nil, two([]change{system("Today is 2026-01-09. " + long)}, []change{system("Now it is 2026-01-10. " + long)}), nil},
		{"cache-zero-byte", "it is no value that varies", nil, two([]change{system("On \x00. ")}, []change{system("On 2026-01-09. ")}), nil},
		{"cache-zero-bytes", "which stand elsewhere", nil, two([]change{system("\x00 of 2026-01-09. " + long)}, []change{system("2026-01-09 of \x00. " + long)}), nil},
		{"cache-short", "nothing so short is cached", nil, two([]change{system("Today is 2026-01-09.")}, []change{system("Today is 2026-01-10.")}), nil},
		{"cache-unmarked", "this provider caches what is marked", nil, two(
			[]change{system("Today is 2026-01-09. " + long), model("anthropic", "claude-opus-4-6", "claude-opus-4-6")},
			[]change{system("Today is 2026-01-10. " + long), model("anthropic", "claude-opus-4-6", "claude-opus-4-6")}), nil},
		{"cache-marked", "and this is marked", nil, two(
			[]change{system("Today is 2026-01-09. " + long), model("anthropic", "claude-opus-4-6", "claude-opus-4-6"), marked},
			[]change{system("Today is 2026-01-10. " + long), model("anthropic", "claude-opus-4-6", "claude-opus-4-6"), marked}),
			[]string{request + "messages/0: cache-prefix: 2026-01-10 at byte 9 of a system prompt of 5621 bytes is 2026-01-09 in the same prompt of testx-1, and the prompt cache serves nothing behind it: put what varies behind what stays (TestY)"}},

		{"schema-none", "the provider runs it", nil, one(tools(modelio.ToolDefinition{Name: "web_search"})), nil},

		{"schema-anything", "no type is any type", nil, one(tools(tool("t", "T.", `{"description":"x"}`))),
			[]string{request + "tools/0: open-schema: tool t takes anything, which has no type: say what it takes (TestX)"}},
		{"schema-properties", "no property is named", nil, one(tools(tool("t", "T.", `{"type":"object"}`))),
			[]string{request + "tools/0: open-schema: tool t takes an object of which no properties are named: say what it takes (TestX)"}},
		{"schema-nested", "a property may be open too", nil, one(tools(tool("t", "T.", `{"type":"object","properties":{"a/b":{"type":"array","items":{}}}}`))),
			[]string{request + "tools/0: open-schema: tool t takes anything at /a~1b/*, which has no type: say what it takes (TestX)"}},
		{"schema-strict", "the provider is to hold the model to it", nil, one(tools(strict(tool("t", "T.", `{"type":"object","properties":{"a":{"type":"string"}}}`)))),
			[]string{request + "tools/0: open-schema: tool t is strict, and takes any more properties: say what it takes (TestX)"}},
		{"schema-description", "a name alone is a guess", nil, one(tools(tool("t", " ", closed))),
			[]string{request + "tools/0: open-schema: tool t has no description: say what it takes (TestX)"}},
		{"schema-many", "one schema is not many lines", nil, one(tools(tool("t", "T.", `{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{},"e":{}}}`))),
			[]string{
				request + "tools/0: open-schema: tool t leaves 2 places more open: say what it takes (TestX)",
				request + "tools/0: open-schema: tool t takes anything at /a, which has no type: say what it takes (TestX)",
				request + "tools/0: open-schema: tool t takes anything at /b, which has no type: say what it takes (TestX)",
				request + "tools/0: open-schema: tool t takes anything at /c, which has no type: say what it takes (TestX)",
			}},
		{"schema-closed", "it says all", nil, one(tools(strict(tool("t", "T.", closed)))), nil},
		{"schema-nothing", "a tool may take nothing", nil, one(tools(tool("t", "T.", `{"type":"object","properties":{}}`), modelio.ToolDefinition{Name: "u", Description: "U."})), nil},
		{"schema-any-said", "it says that anything may come", nil, one(tools(tool("t", "T.", `{"type":"object","additionalProperties":true}`))), nil},
		{"schema-gemini", "Gemini has capitals", nil, one(tools(tool("t", "T.", `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`))), nil},
		{"schema-types", "these say it in other words", nil, one(tools(tool("t", "T.", `{"type":["object","null"],"properties":{"a":{"enum":[1]},"b":{"$ref":"#/x"},"c":{"anyOf":[]},"d":true}}`))), nil},

		{"max-tokens", "an answer has no end", nil, one(func(s *snapshot.Snapshot) { s.Request.MaxTokens = nil }),
			[]string{request + "max_tokens: no-max-tokens: a call of openai.chat sets no limit of the tokens that are answered: set it (TestX)"}},
		{"max-tokens-elsewhere", "it is set by another name", nil, one(func(s *snapshot.Snapshot) {
			s.Request.MaxTokens, s.Request.Options = nil, modelio.Object{"extra_body": json.RawMessage(`{"max_new_tokens":10}`)}
		}), nil},
		{"max-tokens-embeddings", "there is no answer to limit", nil, one(func(s *snapshot.Snapshot) { s.Request.MaxTokens, s.Request.API = nil, "openai.embeddings" }), nil},
		{"max-tokens-speech", "sound has no limit", nil, one(func(s *snapshot.Snapshot) { s.Request.MaxTokens, s.Request.API = nil, "openai.speech" }), nil},
		{"max-tokens-transcriptions", "nor has what is heard", nil, one(func(s *snapshot.Snapshot) { s.Request.MaxTokens, s.Request.API = nil, "openai.transcriptions" }), nil},
		{"max-tokens-image", "the model draws", nil, one(func(s *snapshot.Snapshot) {
			s.Request.MaxTokens, s.Request.API, s.Request.Model = nil, "bedrock.invoke", "amazon.titan-image-generator-v1"
			s.Response.Model = ""
		}), nil},
		{"max-tokens-error", "nothing was answered", nil, one(func(s *snapshot.Snapshot) {
			s.Request.MaxTokens, s.Response.Candidates, s.Response.Status = nil, nil, 400
			s.Response.Error = &modelio.ProviderError{Status: 400, Message: "no"}
		}), nil},

		{"large-document", "nobody reviews it", budgets(store.Budgets{Document: 5000}), one(system(long)),
			[]string{"large-document: the document has 9 kB, more than the 5 kB of budgets.document: split the test (TestX)"}},
		{"small-document", "it is within", budgets(store.Budgets{Document: 50_000}), one(system(long)), nil},
		{"large-answer", "git keeps it", budgets(store.Budgets{Answer: 1999}), one(),
			[]string{"/snapshots/0/response/raw_output_ref: large-answer: the raw answer has 2 kB, more than the 2 kB of budgets.answer: ask for less (TestX)"}},
		{"small-answer", "it is within", budgets(store.Budgets{Answer: 2000}), one(), nil},
		{"tokens-per-test", "a test takes more", budgets(store.Budgets{TokensPerTest: 1099}), one(),
			[]string{"tokens-per-test: the calls took 1100 tokens, more than the 1099 of budgets.tokens_per_test: ask less, or less often (TestX)"}},
		{"tokens-within", "each test is within, and so are all", budgets(store.Budgets{TokensPerTest: 1100, TokensOfAll: 2200}), two(nil, nil), nil},
		{"tokens-of-all", "all together take more", budgets(store.Budgets{TokensPerTest: 1100, TokensOfAll: 2199}), two(nil, nil),
			[]string{"tokens-of-all: all calls took 2200 tokens, more than the 2199 of budgets.tokens_of_all: see traceforge ls --sort tokens"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.config == nil {
				c.config = &store.Config{}
			}
			found, _ := linted(t, c.config, c.tests...)
			x, y := snapshot.DocumentName("example.com/a", "TestX"), snapshot.DocumentName("example.com/a", "TestY")
			got := lines(found)
			for i := range got {
				got[i] = strings.NewReplacer(x, "testx", y, "testy").Replace(got[i])
			}
			require.Equal(t, c.want, got, c.reason)
		})
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	prices := map[string]store.Price{"gpt-4o": {Input: 2.5, Output: 10}} // 1,000 and 100 tokens: 0.0035
	found, _ := linted(t, &store.Config{Prices: prices, Budgets: store.Budgets{CostPerTest: 0.003, CostOfAll: 0.006}}, two(nil, nil)...)
	require.Equal(t, []string{
		"cost-per-test: the calls cost 0.0035, more than the 0.0030 of budgets.cost_per_test: ask less, or a cheaper model (2 tests, the first is TestX)",
		"cost-of-all: all calls cost 0.0070, more than the 0.0060 of budgets.cost_of_all: see traceforge ls --sort tokens",
	}, lines(found))

	found, _ = linted(t, &store.Config{Prices: prices, Budgets: store.Budgets{CostPerTest: 0.0036, CostOfAll: 0.0071}}, two(nil, nil)...)
	require.Empty(t, found, "what is within is no finding")

	for budgets, want := range map[store.Budgets]string{{CostPerTest: 0.003}: "cost-per-test", {CostOfAll: 0.006}: "cost-of-all"} {
		found, _ = linted(t, &store.Config{Prices: prices, Budgets: budgets}, two(nil, nil)...)
		require.Len(t, found, 1, "one budget alone")
		require.Equal(t, want, found[0].Rule)
	}

	found, _ = linted(t, &store.Config{Budgets: store.Budgets{CostOfAll: 1}}, two(nil, nil)...)
	require.Equal(t, []string{"/snapshots/0/request/model: cost-per-test: gpt-4o-2024-08-06 has no price, so that its calls count nothing: " +
		`add it to "prices" in config.json (2 calls of 2 tests, the first is TestX)`}, lines(found), "a budget that cannot be held says so")
	found, _ = linted(t, &store.Config{Budgets: store.Budgets{CostPerTest: 1}}, two(nil, nil)...)
	require.Len(t, found, 1, "so does one of each test")

	found, _ = linted(t, &store.Config{}, two(nil, nil)...)
	require.Empty(t, found, "no budget, no finding")
}

// A call that goes on from another one repeats nothing that was told of that.
func TestContinued(t *testing.T) {
	t.Parallel()
	first := recorded(tools(tool("t", "", closed)), func(s *snapshot.Snapshot) { s.Request.MaxTokens = nil })
	second := recorded(tools(tool("t", "", closed)), func(s *snapshot.Snapshot) {
		s.Request.MaxTokens = nil
		s.Request.Messages = append(s.Request.Messages, said(modelio.RoleModel, "Hi"), said(modelio.RoleUser, "Again"))
	})
	found, _ := linted(t, &store.Config{}, test{"TestX", []*snapshot.Snapshot{first, second}})
	require.Equal(t, []string{
		"/snapshots/0/request/tools/0: open-schema: tool t has no description: say what it takes (TestX)",
		"/snapshots/0/request/max_tokens: no-max-tokens: a call of openai.chat sets no limit of the tokens that are answered: set it (2 calls, the first is TestX)",
	}, lines(found), "tools stand where they are new; what each call asks is counted")
	require.Equal(t, 2, found[1].Calls)
	require.Equal(t, []int{1, 2}, []int{len(found[0].Places), len(found[1].Places)})
}

func TestSilence(t *testing.T) {
	t.Parallel()
	alias := model("openai", "gpt-4o", "")
	tests := []test{
		{"TestX", []*snapshot.Snapshot{recorded(alias)}}, {"TestX/sub", []*snapshot.Snapshot{recorded(alias)}}, {"TestXY", []*snapshot.Snapshot{recorded(alias)}},
	}
	config := &store.Config{Lint: store.Lint{Silences: []store.Silence{{Rule: "unpinned-model", Why: "w", Test: "TestX"}}}}
	found, l := linted(t, config, tests...)
	require.Len(t, found, 1)
	require.Equal(t, "TestXY", found[0].Places[0].Test.Name, "a test and its subtests are silenced")
	require.Empty(t, l.Wrong())

	config.Lint.Silences = []store.Silence{{Rule: "unpinned-model", Why: "w"}, {Rule: "other-model", Why: "w"}, {Rule: "unpinned", Why: "w"}}
	found, l = linted(t, config, tests...)
	require.Empty(t, found)
	wrong := l.Wrong()
	require.Len(t, wrong, 2)
	require.Equal(t, snapshot.Finding{File: "config.json", Pointer: "/lint/silence/1", Rule: "lint", Message: "silences nothing that other-model finds: remove it"}, wrong[0])
	require.Equal(t, "/lint/silence/2/rule", wrong[1].Pointer)
	require.Regexp(t, `^"unpinned" is no rule: there are scripted-answer, unpinned-model, .*, cost-of-all$`, wrong[1].Message)
}

// A linter holds nothing of the documents that it has looked at but what it found: here 40 of 100 kB each.
func TestHoldsNoDocuments(t *testing.T) {
	var tests []test
	for i := range 40 {
		text := fmt.Sprintf("Today is 2026-01-%02d.\n%s", i%28+1, strings.Repeat(long, 18))
		call := recorded(system(text), model("openai", "gpt-4o", "gpt-4o-2024-08-06"), tools(tool("t", "", closed), tool("u", "U. "+long, "{}")))
		tests = append(tests, test{fmt.Sprintf("Test%02d", i), []*snapshot.Snapshot{call}})
	}
	s := stored(t, tests...)
	tests = nil
	before := heap()
	l := lint.New(&store.Config{})
	_, err := audit.Verify(s, l.Check)
	require.NoError(t, err)
	require.Less(t, heap()-before, int64(500_000))
	require.Len(t, l.Findings(), 4)
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep for one collection what they hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// In whatever order documents are looked at, the same is found.
func TestOrder(t *testing.T) {
	t.Parallel()
	var tests []test
	for i := range 40 {
		text := fmt.Sprintf("Today is 2026-01-%02d. %s", i%28+1, long)
		tests = append(tests, test{fmt.Sprintf("Test%02d", i), []*snapshot.Snapshot{recorded(system(text), model("openai", "gpt-4o", "gpt-4o-2024-08-06"))}})
	}
	first, _ := linted(t, &store.Config{}, tests...)
	require.Len(t, first, 2)
	require.Equal(t, []int{40, 27}, []int{len(first[0].Places), len(first[1].Places)})
	for range 5 {
		again, _ := linted(t, &store.Config{}, tests...)
		require.Equal(t, first, again)
	}
}
