package fakeprovider_test

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

const chatPath = "/v1/chat/completions"

const hello = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there"}]}`

const helloStream = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there"}],"stream":true}`

// An answer is a response as the client received it.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // from reading the body
}

// send posts a body and reads the whole answer. Headers come in pairs.
func send(t *testing.T, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, resp.Body)
	return answer{resp.StatusCode, resp.Header, b.String(), err}
}

func TestRepliesComeInOrderThenTheHandlerAnswers(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Text("one"), fakeprovider.Error(429, "rate_limit_error", "slow down"))
	srv.Handle(func(c fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text("for " + c.Model) })

	require.Contains(t, send(t, srv.URL()+chatPath, hello).body, `"content": "one"`)
	limited := send(t, srv.URL()+chatPath, hello)
	require.Equal(t, 429, limited.status)
	require.Contains(t, limited.body, `"message": "slow down"`)
	require.Contains(t, send(t, srv.URL()+chatPath, hello).body, `"content": "for gpt-4o"`)
}

func TestACallWithoutAReplySaysSo(t *testing.T) {
	srv := fakeprovider.New(t)
	got := send(t, srv.URL()+chatPath, hello)
	require.Equal(t, 400, got.status, "no 5xx, which SDKs try again")
	require.Contains(t, got.body, "no reply is left for call 1 (POST /v1/chat/completions)")
}

func TestARefusedCallUsesUpNoReply(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Text("one"))
	require.Equal(t, 400, send(t, srv.URL()+chatPath, `{}`).status)
	require.Equal(t, 200, send(t, srv.URL()+chatPath, hello).status)
}

func TestCallsAreKept(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	body := `{"model":"gpt-4o","stream":true,"n":2,"messages":[
		{"role":"system","content":"be brief"},
		{"role":"user","content":[{"type":"text","text":"what is"},{"type":"text","text":" it"}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"a cat"}],
		"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],
		"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"string"}}}}`
	send(t, srv.URL()+chatPath+"?x=1", body, "X-Mine", "yes")

	calls := srv.Calls()
	require.Len(t, calls, 1)
	c := calls[0]
	require.Equal(t, "openai.chat", c.API)
	require.Equal(t, "POST", c.Method)
	require.Equal(t, chatPath, c.Path)
	require.Equal(t, "1", c.Query.Get("x"))
	require.Equal(t, "yes", c.Header.Get("X-Mine"))
	require.Equal(t, body, string(c.Body))
	require.Equal(t, "gpt-4o", c.Model)
	require.True(t, c.Stream)
	require.Equal(t, 2, c.Choices)
	require.Equal(t, []fakeprovider.Message{
		{Role: "system", Text: "be brief"},
		{Role: "user", Text: "what is it"},
		{Role: "assistant", ToolCalls: []fakeprovider.ToolCall{{ID: "c1", Name: "look", Arguments: "{}"}}},
		{Role: "tool", Text: "a cat", ToolResults: []fakeprovider.ToolResult{{ID: "c1", Text: "a cat"}}},
	}, c.Messages)
	require.Equal(t, "what is it", c.LastUser())
	require.Equal(t, []fakeprovider.ToolResult{{ID: "c1", Text: "a cat"}}, c.ToolResults())
	require.Equal(t, "look", c.Tools[0].Name)
	require.JSONEq(t, `{"type":"string"}`, string(c.Schema))
}

func TestTransportTakesEveryHost(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	client := &http.Client{Transport: srv.Transport()}
	resp, err := client.Post("https://api.openai.com"+chatPath, "application/json", strings.NewReader(hello))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "api.openai.com", srv.Calls()[0].Host)
}

func TestRequireKey(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.RequireKey("sk-right-key")
	srv.Handle(fakeprovider.Echo())
	claude := `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		name, why, path, body string
		header                []string
		status                int
		says                  string
	}{
		{"openai-right", "bearer token", chatPath, hello, []string{"Authorization", "Bearer sk-right-key"}, 200, "You said"},
		{"openai-wrong", "the key is masked in the answer", chatPath, hello, []string{"Authorization", "Bearer sk-wrong-key"}, 401, "Incorrect API key provided: sk-w****-key"},
		{"openai-none", "another message than for a wrong key", chatPath, hello, nil, 401, "You didn't provide an API key"},
		{"anthropic-right", "its own header", "/v1/messages", claude, []string{"X-Api-Key", "sk-right-key", "Anthropic-Version", "2023-06-01"}, 200, "You said"},
		{"anthropic-wrong", "", "/v1/messages", claude, []string{"X-Api-Key", "nope", "Anthropic-Version", "2023-06-01"}, 401, `"type":"authentication_error","message":"invalid x-api-key"`},
		{"anthropic-none", "", "/v1/messages", claude, []string{"Anthropic-Version", "2023-06-01"}, 401, "x-api-key header is required"},
		{"in-the-url", "as Gemini's", chatPath + "?key=sk-right-key", hello, nil, 200, "You said"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := send(t, srv.URL()+c.path, c.body, c.header...)
			require.Equal(t, c.status, got.status, c.why)
			require.Contains(t, got.body, c.says)
		})
	}
}

func TestIDsDifferUnlessFixed(t *testing.T) {
	loose := fakeprovider.New(t)
	loose.Handle(fakeprovider.Echo())
	require.NotEqual(t, send(t, loose.URL()+chatPath, hello).body, send(t, loose.URL()+chatPath, hello).body)

	fixed := func() (bodies []string) {
		srv := fakeprovider.New(t)
		srv.FixIDs()
		srv.Handle(fakeprovider.Echo())
		for range 2 {
			got := send(t, srv.URL()+chatPath, hello)
			bodies = append(bodies, got.header.Get("X-Request-Id")+got.header.Get("Date")+got.body)
		}
		return bodies
	}
	first, second := fixed(), fixed()
	require.Equal(t, first, second, "another server, the same answers")
	require.NotEqual(t, first[0], first[1], "the same request twice has two ids")
}

func TestServerIsSafeForConcurrentUse(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			srv.Reply(fakeprovider.Text("x"))
			if got := send(t, srv.URL()+chatPath, hello); got.status != 200 {
				t.Errorf("status %d", got.status)
			}
			srv.Calls()
		})
	}
	wg.Wait()
	require.Len(t, srv.Calls(), 20)
}

func TestBadScriptsSayWhatIsWrong(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "Hello", Stream: fakeprovider.Stream{Fragments: []string{"Hel"}}})
	got := send(t, srv.URL()+chatPath, helloStream)
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, `Stream.Fragments [\"Hel\"] do not add up to Text \"Hello\"`)

	srv.Reply(fakeprovider.CallTools(fakeprovider.ToolCall{Name: "x", Arguments: "{"}), fakeprovider.CallTools(fakeprovider.ToolCall{Name: "x", Arguments: "{"}))
	require.Equal(t, 200, send(t, srv.URL()+chatPath, hello).status, "OpenAI's arguments are a string, and models get them wrong")
	got = send(t, srv.URL()+"/api/chat", `{"model":"m","messages":[]}`)
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, `ToolCall.Arguments \"{\" are no JSON`)

	srv.Reply(fakeprovider.Reply{Vectors: [][]float64{{math.NaN()}}})
	got = send(t, srv.URL()+"/v1/embeddings", `{"model":"m","input":"x"}`)
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, "unsupported value: NaN")
}

// FuzzRequests checks that every request gets an answer.
func FuzzRequests(t *testing.F) {
	f := mutation.New(t)
	for i, d := range dialects {
		f.Add(uint8(i), d.body)
		f.Add(uint8(i), or(d.streamed, d.body))
		f.Add(uint8(i), "0") // no object
	}
	srv, err := fakeprovider.Start()
	require.NoError(f, err)
	f.Cleanup(srv.Close)
	srv.Handle(fakeprovider.Echo(weather...))
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		d := dialects[int(which)%len(dialects)]
		for _, path := range []string{d.path, or(d.streamedPath, d.path)} {
			got := send(t, srv.URL()+path, body, d.header...)
			require.NoError(t, got.err)
			require.Contains(t, []int{200, 400, 404, 422}, got.status)
			require.NotEmpty(t, got.body)
		}
	})
}
