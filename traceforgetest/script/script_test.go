package script_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

const (
	chat      = "https://api.openai.com/v1/chat/completions"
	messages  = "https://api.anthropic.com/v1/messages"
	gemini    = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
	weather   = `"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}]`
	asksChat  = `{"model":"gpt-4o","messages":[{"role":"user","content":"How is the weather in Paris?"}],` + weather + `}`
	streams   = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"stream":true}`
	embeds    = `{"model":"text-embedding-3-small","input":["one","two"]}`
	embedding = "https://api.openai.com/v1/embeddings"
)

// post asks and returns the answer.
func post(t testing.TB, client *http.Client, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body)) // tbtest has no context
	require.NoError(t, err)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// TestFormats: one step is told in the format that is asked for.
func TestFormats(t *testing.T) {
	for _, tt := range []struct{ name, url, body, want string }{
		{"openai", chat, asksChat, `"arguments": "{\"city\":\"Paris\"}"`},
		{"anthropic", messages, `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"get_weather","input_schema":{}}]}`,
			`"name":"get_weather","input":{"city":"Paris"}`},
		{"gemini", gemini, `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"get_weather"}]}]}`,
			`"functionCall"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := script.New(script.Call("get_weather", `{"city":"Paris"}`)).Check(t)
			status, text := post(t, answers.Client(), tt.url, tt.body)
			require.Equal(t, 200, status, text)
			require.Contains(t, text, tt.want)
		})
	}
}

// TestFaces: a script is a transport, a handler and a model, and says the same.
func TestFaces(t *testing.T) {
	for _, face := range []string{"transport", "handler", "model"} {
		t.Run(face, func(t *testing.T) {
			answers := script.New(script.Say("Hel", "lo").Usage(3, 2)).Check(t)
			switch face {
			case "transport":
				_, text := post(t, answers.Client(), chat, asksChat)
				require.Contains(t, text, `"content": "Hello"`)
				require.Contains(t, text, `"prompt_tokens": 3`)
			case "handler":
				server := httptest.NewServer(answers)
				defer server.Close()
				_, text := post(t, server.Client(), server.URL+"/v1/chat/completions", streams)
				require.Contains(t, text, `{"content":"Hel"}`)
				require.Contains(t, text, `{"content":"lo"}`)
			case "model":
				var pieces []string
				resp, err := answers.Generate(t.Context(), &modelio.GenerateRequest{Messages: []modelio.Message{
					{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Hi")}},
				}}, func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
					pieces = append(pieces, *chunk.Content[0].Text)
					return nil
				})
				require.NoError(t, err)
				require.Equal(t, []string{"Hel", "lo"}, pieces)
				require.Equal(t, "Hello", *resp.Message.Content[0].Text)
				require.Equal(t, int64(2), *resp.Usage.OutputTokens)
			}
			require.Len(t, answers.Requests(), 1)
		})
	}
}

// TestModel: a script keeps the contract of a model.
func TestModel(t *testing.T) {
	offers := func(r *modelio.Request) bool {
		return len(r.Tools) > 0 && r.Messages[len(r.Messages)-1].Role == modelio.RoleUser
	}
	answers := script.New(
		script.Think("well").Call("weather", `{"city":"Oslo"}`).Call("weather", `{"city":"Rome"}`).When(offers),
		script.Say("It ", "is").Finish(modelio.FinishLength).When(script.Contains("")),
	)
	require.NoError(t, modeltest.TestModel(declared{answers}))
}

type declared struct{ *script.Script }

func (declared) Info() modelio.ModelInfo {
	return modelio.ModelInfo{Supports: modelio.Capabilities{Multiturn: true, Tools: true, SystemRole: true, Output: []string{"text"}}}
}

// TestWhen: a step with a condition answers what fulfills it, in any order and number, before the others.
func TestWhen(t *testing.T) {
	answers := script.New(
		script.Say("first"),
		script.Say("cold").When(script.Contains("Oslo")),
		script.Say("second"),
		script.Embed([]float64{1, 2}).When(script.Contains("")),
	).Check(t)
	ask := func(text string) string {
		_, said := post(t, answers.Client(), chat, `{"model":"gpt-4o","messages":[{"role":"user","content":"`+text+`"}]}`)
		_, said, _ = strings.Cut(said, `"content": "`)
		said, _, _ = strings.Cut(said, `"`)
		return said
	}
	require.Equal(t, "cold", ask("in Oslo?"))
	require.Equal(t, "first", ask("in Rome?"))
	require.Equal(t, "cold", ask("in Oslo?"))
	require.Equal(t, "second", ask("in Bern?"))
	_, vectors := post(t, answers.Client(), embedding, embeds)
	require.Contains(t, vectors, `"embedding":`)
	require.Equal(t, "openai.embeddings", answers.Requests()[4].API)
}

// TestContains: what came since the model last spoke counts, and nothing before.
func TestContains(t *testing.T) {
	text := func(role modelio.Role, text string) modelio.Message {
		return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
	}
	result := modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{
		{ToolResponse: &modelio.ToolResponse{Name: "f", Output: []byte(`{"degrees":21}`)}},
	}}
	prompt := "once"
	for _, tt := range []struct {
		name string
		req  modelio.Request
		has  string
		want bool
	}{
		{"user", modelio.Request{Messages: []modelio.Message{text(modelio.RoleUser, "weather?")}}, "weather", true},
		{"system", modelio.Request{Messages: []modelio.Message{text(modelio.RoleSystem, "weather"), text(modelio.RoleUser, "Hi")}}, "weather", false},
		{"before", modelio.Request{Messages: []modelio.Message{text(modelio.RoleUser, "weather?"), text(modelio.RoleModel, "f"), result}}, "weather", false},
		{"result", modelio.Request{Messages: []modelio.Message{text(modelio.RoleUser, "weather?"), text(modelio.RoleModel, "f"), result}}, "21", true},
		{"prompt", modelio.Request{Prompt: &prompt}, "once", true},
		{"input", modelio.Request{Options: modelio.Object{"input": []byte(`["one"]`)}}, "one", true},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, script.Contains(tt.has)(&tt.req)) })
	}
}

// TestStreams: a stream comes in its pieces, waits, and ends where it is cut.
func TestStreams(t *testing.T) {
	answers := script.New(
		script.Say("a ", "b").Pause(20*time.Millisecond),
		script.Say("a ", "b").Cut(2),
		script.Say("whole").Cut(0),
	).Check(t)
	began := time.Now()
	_, text := post(t, answers.Client(), chat, streams)
	require.Greater(t, time.Since(began), 60*time.Millisecond)
	require.Contains(t, text, "[DONE]")
	for _, body := range []string{streams, asksChat} {
		resp, err := answers.Client().Post(chat, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, resp.Body.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, chat, strings.NewReader(streams))
	require.NoError(t, err)
	_, err = answers.RoundTrip(req)
	require.ErrorIs(t, err, context.Canceled)
}

// TestFailures: a failure is told in the words of the API, and says when to try again.
func TestFailures(t *testing.T) {
	answers := script.New(
		script.Fail(429).RetryAfter(1500*time.Millisecond), script.Fail(529, "busy"), script.Fail(400, "no model"),
	).Check(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, chat, strings.NewReader(asksChat))
	require.NoError(t, err)
	resp, err := answers.RoundTrip(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "2", resp.Header.Get("Retry-After"))
	require.Contains(t, string(text), "too many requests")
	status, said := post(t, answers.Client(), messages, `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`)
	require.Equal(t, 529, status)
	require.Contains(t, said, `"type":"overloaded_error","message":"busy"`)
	status, said = post(t, answers.Client(), chat, `{}`)
	require.Equal(t, 400, status)
	require.Contains(t, said, "no model", "a failure that is wanted takes what the API refuses")
}

// TestNoStepWouldAnswer: where no step would help, the failure names none, and does not ask for one.
func TestNoStepWouldAnswer(t *testing.T) {
	for _, steps := range [][]script.Step{nil, {script.Say("x")}} {
		answers := script.New(steps...)
		for url, body := range map[string]string{"https://example.com/page": `{}`, chat: `{"messages":[]}`} {
			_, said := post(t, answers.Client(), url, body)
			require.Contains(t, said, "gets no answer: ")
			require.NotContains(t, said, "next is")
			require.NotContains(t, said, "script.Say")
		}
	}
}

// TestStrict: what gets no answer, and what could be none, fails the test, and says why.
func TestStrict(t *testing.T) {
	const hi = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]`
	schema := hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}}`
	forced := hi + `,` + weather + `,"tool_choice":"required"}`
	for _, tt := range []struct {
		name, url, body string
		steps           []script.Step
		want            []string
	}{
		{"none", chat, hi + `}`, nil, []string{"script: request 1 gets no answer: no step takes it", `asked: openai.chat gpt-4o, user: "Hi"`, "the script has no steps"}},
		{"other kind", embedding, embeds, []script.Step{script.Say("x")}, []string{`next is step 1 of 1: Say("x")`}},
		{"no step holds", chat, hi + `}`, []script.Step{script.Say("x").When(script.Contains("weather"))}, []string{"each step is used, or has a condition that does not hold: add one"}},
		{"no model call", "https://example.com/page", `{}`, []script.Step{script.Say("x")}, []string{"it is no model call", "asked: POST example.com/page"}},
		{"refused", chat, `{"messages":[]}`, []script.Step{script.Say("x")}, []string{"the API refuses it: ", "script.Fail says that this is wanted"}},
		{"other api", "https://api.openai.com/v1/moderations", `{"model":"m","input":"Hi"}`, []script.Step{script.Say("x")}, []string{"gets no answer: a script has no answers of openai.moderations", "asked: openai.moderations"}},
		{"one at a time", chat, hi + `,` + weather + `,"parallel_tool_calls":false}`, []script.Step{script.Call("get_weather", `{}`).Call("get_weather", `{}`)},
			[]string{"it calls 2 tools, and the request allows one call at a time"}},
		{"one at a time, a word", chat, hi + `,` + weather + `,"tool_choice":"auto","parallel_tool_calls":false}`, []script.Step{script.Call("get_weather", `{}`).Call("get_weather", `{}`)},
			[]string{"it calls 2 tools"}},
		{"one at a time, claude", messages, `{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`,
			[]script.Step{script.Call("f", `{}`).Call("f", `{}`)}, []string{"it calls 2 tools"}},
		{"not offered", chat, asksChat, []script.Step{script.Call("get_wether", `{}`)}, []string{
			"script: step 1 of 1 cannot answer request 1", `it calls "get_wether", and the request offers get_weather`, `it says: Call("get_wether", {})`,
		}},
		{"no tools", chat, hi + `}`, []script.Step{script.Call("f", `{}`)}, []string{`it calls "f", and the request offers no tool`}},
		{"forced", chat, forced, []script.Step{script.Say("x")}, []string{"it calls no tool, and the request forces one"}},
		{"text beside", chat, forced, []script.Step{script.Say("x").Call("get_weather", `{}`)}, []string{"it says a text beside a tool that the request forces"}},
		{"another forced", chat, hi + `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}}}`,
			[]script.Step{script.Call("f", `{}`)}, []string{`it calls "f", and the request forces g`}},
		{"no call wanted", chat, hi + `,` + weather + `,"tool_choice":"none"}`, []script.Step{script.Call("get_weather", `{}`)}, []string{`and the request wants no call`}},
		{"forced claude", messages, `{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"any"}}`,
			[]script.Step{script.Say("x")}, []string{"it calls no tool"}},
		{"forced gemini", gemini, `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}}`,
			[]script.Step{script.Call("f", `{}`)}, []string{`it calls "f", and the request forces g`}},
		{"forced bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
			`{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}],"toolChoice":{"tool":{"name":"f"}}}}`,
			[]script.Step{script.Say("x")}, []string{"it calls no tool"}},
		{"no JSON", chat, schema, []script.Step{script.Say("x")}, []string{"its text breaks the schema that the request asks for", `"x" is no JSON`}},
		{"breaks the schema", chat, schema, []script.Step{script.Say(`{"town":"Paris"}`)}, []string{"missing property 'city'"}},
		{"strict arguments", chat, hi + `,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","required":["a"]}}}]}`,
			[]script.Step{script.Call("f", `{}`)}, []string{`the arguments of "f" break its schema, which is strict`, "missing property 'a'"}},
		{"arguments", chat, asksChat, []script.Step{script.Call("get_weather", `{"city"`)}, []string{`the arguments {"city" are no JSON object`}},
		{"index", chat, streams, []script.Step{script.Say("x").Cut(9)}, []string{"it is cut after 9 events, and the stream has 4"}},
		{"negative", chat, streams, []script.Step{script.Say("x").Cut(-1)}, []string{"a cut after -1 events"}},
		{"status", chat, streams, []script.Step{script.Fail(200)}, []string{"status 200 is no error: want 400 to 599"}},
		{"retry", chat, streams, []script.Step{script.Say("x").RetryAfter(time.Second)}, []string{"RetryAfter is for script.Fail"}},
		{"retry before", chat, streams, []script.Step{script.Fail(429).RetryAfter(-time.Second)}, []string{"RetryAfter of -1s: want 0 or more"}},
		{"usage", chat, streams, []script.Step{script.Say("x").Usage(-1, 2)}, []string{"usage of -1 and 2 tokens: want 0 or more"}},
		{"fails and says", chat, streams, []script.Step{script.Fail(429).Say("hi")}, []string{"it fails, and says something: make it two steps"}},
		{"fails and calls", chat, streams, []script.Step{script.Fail(429).Call("get_weather", `{}`)}, []string{"it fails, and calls something: make it two steps"}},
		{"refuses", "http://localhost:11434/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`, []script.Step{script.Refuse("no")}, []string{"ollama.chat has no word for a refusal"}},
		{"ends", "http://localhost:11434/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`,
			[]script.Step{script.Say("no").Finish(modelio.FinishBlocked)}, []string{`ollama.chat never ends with "blocked"`}},
		{"no calls there", "https://api.openai.com/v1/completions", `{"model":"m","prompt":"Hi"}`, []script.Step{script.Call("f", `{}`)}, []string{"openai.completions has no calls of tools"}},
		{"no reasoning there", "https://api.openai.com/v1/completions", `{"model":"m","prompt":"Hi"}`, []script.Step{script.Think("hm")}, []string{"openai.completions has no reasoning"}},
		{"vectors", embedding, embeds, []script.Step{script.Embed([]float64{1}, []float64{2}, []float64{3})}, []string{"it has 3 vectors, and the request 2 texts"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
				status, text := post(t, script.New(tt.steps...).Check(tb).Client(), tt.url, tt.body)
				require.Equal(t, 400, status, text)
			})
			require.True(t, tb.Failed())
			for _, want := range tt.want {
				require.Contains(t, tb.Logged(), want)
			}
			require.NotContains(t, tb.Logged(), "no request asked for this", "a follow-up says nothing")
		})
	}
}

// TestUnused: a step that no request asked for fails the test.
func TestUnused(t *testing.T) {
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
		answers := script.New(script.Say("one"), script.Say("two"), script.Say("three").When(script.Contains("never"))).Check(tb)
		post(t, answers.Client(), chat, asksChat)
		require.Error(t, answers.Unused())
	})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), `script: no request asked for this, of 1 that came: remove it, or have it asked for
  step 2 of 3: Say("two")
  step 3 of 3: Say("three")`)
}

// TestSteps: a step that is built on leaves the one that it is built on as it was.
func TestSteps(t *testing.T) {
	base := script.Say("a")
	one, two := base.Say("b"), base.Say("c").Finish(modelio.FinishLength)
	answers := script.New(base, one, two).Check(t)
	for _, want := range []string{`"a"`, `"ab"`, `"ac"`} {
		_, text := post(t, answers.Client(), chat, asksChat)
		require.Contains(t, text, want)
		require.Equal(t, want == `"ac"`, strings.Contains(text, `"finish_reason": "length"`))
	}
}

// TestConcurrent: requests that come at once take a step each.
func TestConcurrent(t *testing.T) {
	const most = 50
	var steps []script.Step
	for i := range most {
		steps = append(steps, script.Say(fmt.Sprintf("<%d>", i)))
	}
	answers := script.New(steps...).Check(t)
	var mu sync.Mutex
	var all strings.Builder
	var wg sync.WaitGroup
	for range most {
		wg.Go(func() {
			_, text := post(t, answers.Client(), chat, asksChat)
			mu.Lock()
			defer mu.Unlock()
			all.WriteString(text)
		})
	}
	wg.Wait()
	for i := range most {
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("<%d>", i)))
	}
	require.Len(t, answers.Requests(), most)
}

// TestDocs: the failure that docs/scripted.md shows is what a test prints.
func TestDocs(t *testing.T) {
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
		answers := script.New(script.Call("get_degree", `{"city": "Paris"}`), script.Say("a"), script.Say("b")).Check(tb)
		post(t, answers.Client(), chat, `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Where is it warmest?"}],
			"tools":[{"type":"function","function":{"name":"get_degrees"}}]}`)
	})
	page, err := os.ReadFile("../../docs/scripted.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```\nscript: ")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	require.Contains(t, tb.Logged(), "script: "+strings.TrimSpace(shown))
}
