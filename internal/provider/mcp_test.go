package provider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func mcpWire(method, body string, header ...string) *Wire {
	w := &Wire{Method: method, URL: &url.URL{Scheme: "http", Host: "localhost", Path: "/mcp"}, Header: http.Header{}, Body: []byte(body)}
	for i := 0; i < len(header); i += 2 {
		w.Header.Set(header[i], header[i+1])
	}
	return w
}

// TestMCPMatch checks which requests are MCP messages.
func TestMCPMatch(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		w         *Wire
		want      bool
	}{
		{"call", "a method of the protocol", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`), true},
		{"notification", "methods that begin so are its own", mcpWire("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`), true},
		{"initialize", "language servers have it too", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"/"}}`), false},
		{"other", "another protocol", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}`), false},
		{"agent", "another protocol, with methods that look alike", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"message/send"}`), false},
		{"own method", "its headers tell", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"shop/stock"}`, "Mcp-Protocol-Version", "2025-06-18"), true},
		{"reply", "of a client, whose header tells", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, "Mcp-Session-Id", "s"), true},
		{"bare reply", "of whatever protocol", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"result":{}}`), false},
		{"member", "no message has it", mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","messages":[]}`), false},
		{"version", "JSON-RPC 1.0", mcpWire("POST", `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`), false},
		{"batch", "revisions since 2025-06-18 have none", mcpWire("POST", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, "Mcp-Session-Id", "s"), false},
		{"listen", "the stream of a session", mcpWire("GET", "", "Mcp-Session-Id", "s", "Accept", "text/event-stream"), true},
		{"page", "somebody's page", mcpWire("GET", "", "Accept", "text/event-stream"), false},
		{"end", "of a session", mcpWire("DELETE", "", "Mcp-Session-Id", "s"), true},
		{"delete", "of something else", mcpWire("DELETE", ""), false},
		{"put", "no method of the transport", mcpWire("PUT", `{}`, "Mcp-Session-Id", "s"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, matchMCP(tc.w), tc.why)
			if tc.want {
				codec, _ := Match(tc.w)
				require.Equal(t, mcpAPI, codec.API)
			}
		})
	}
}

// TestMCPReplies checks the decoded form of a client's replies. Only their headers distinguish them from other
// messages.
func TestMCPReplies(t *testing.T) {
	var proof lossless
	for _, tc := range []struct{ name, body, role, options string }{
		{"sampled", `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}}`, "model", `{"result":{"model":"m"}}`},
		{"sampled in a list", `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":[{"type":"text","text":"hi"}],"model":"m"}}`, "model", `{"result":{"model":"m"}}`},
		{"tool", `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"add","input":{"a":1}}],"model":"m"}}`, "model", `{"result":{"model":"m"}}`},
		{"tool result", `{"jsonrpc":"2.0","id":1,"result":{"role":"user","content":[{"type":"tool_result","toolUseId":"t1","content":[{"type":"text","text":"2"}]}],"model":"m"}}`, "user", `{"result":{"model":"m"}}`},
		{"elicited", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"ok":true}}}`, "", `{"result":{"action":"accept","content":{"ok":true}}}`},
		{"roots", `{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///a"}]}}`, "", `{"result":{"roots":[{"uri":"file:///a"}]}}`},
		{"nothing", `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":[],"model":"m"}}`, "", `{"result":{"role":"assistant","content":[],"model":"m"}}`},
		{"refused", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, "", `{"error":{"code":-1,"message":"no"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := mcpWire("POST", tc.body, "Mcp-Session-Id", "s")
			codec, _ := Match(w)
			req, err := proof.add(codec, w)
			require.NoError(t, err)
			require.JSONEq(t, tc.options, string(render(req.Options)))
			role := ""
			for _, m := range req.Messages {
				role = string(m.Role)
			}
			require.Equal(t, tc.role, role)
			require.Equal(t, "1", mcpSession.Answers(w))
		})
	}
}

// TestMCPTie checks that a recorded answer gets the id of the run's request, and keeps its content.
func TestMCPTie(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":"run-9","method":"tools/call","params":{"name":"x","_meta":{"progressToken":"token-9"}}}`
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}`
	for _, tc := range []struct{ name, why, answer, want string }{
		{"answer", "JSON", `{"jsonrpc":"2.0","id":3,"result":{"id":3}}`, `{"jsonrpc":"2.0","id":"run-9","result":{"id":3}}`},
		{"error", "is an answer too", `{"id":3,"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, `{"id":"run-9","jsonrpc":"2.0","error":{"code":1,"message":"m"}}`},
		{"progress", "has the token of the run", "data: " + progress + "\n\n", "data: " + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"token-9","progress":0.5}}` + "\n\n"},
		{"request", "of the server's keeps its id, which the client returns", "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"roots/list\"}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"roots/list\"}\n\n"},
		{"fields", "of events stay", ": hello\nid: A_1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n\n", ": hello\nid: A_1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"run-9\",\"result\":{}}\n\n"},
		{"lines", "of one message", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":3,\"result\":{}}\n\n", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":\"run-9\",\"result\":{}}\n\n"},
		{"empty", "an event without data", "id: A_0\nretry: 5\ndata:\n\n", "id: A_0\nretry: 5\ndata:\n\n"},
		{"page", "is no message", "<html>", "<html>"},
		{"subscription", "named by the listening request", `{"jsonrpc":"2.0","id":3,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`, `{"jsonrpc":"2.0","id":"run-9","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"run-9"}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, string(mcpSession.Tie(mcpWire("POST", call), &Answer{Status: 200, Body: []byte(tc.answer)}, nil)), tc.why)
		})
	}
	resumed := mcpSession.Tie(mcpWire("GET", ""), &Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":3,"result":{}}`)}, []byte("7"))
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, string(resumed))
}

// TestMCPAsides checks which messages are not calls, and their answers.
func TestMCPAsides(t *testing.T) {
	for _, tc := range []struct {
		w      *Wire
		status int
		body   string
	}{
		{mcpWire("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`), 202, ""},
		{mcpWire("POST", `{"jsonrpc":"2.0","id":"p1","method":"ping"}`, "Mcp-Session-Id", "s"), 200, `{"id":"p1","jsonrpc":"2.0","result":{}}`},
		{mcpWire("POST", `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, "Mcp-Session-Id", "s"), 202, ""},
		{mcpWire("POST", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, "Mcp-Session-Id", "s"), 0, ""},
		{mcpWire("DELETE", "", "Mcp-Session-Id", "s"), 204, ""},
		{mcpWire("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), 0, ""},
		{mcpWire("GET", "", "Mcp-Session-Id", "s", "Accept", "text/event-stream"), 0, ""},
	} {
		req, err := byName(t, mcpAPI).DecodeRequest(tc.w)
		require.NoError(t, err)
		answer := mcpSession.Aside(tc.w, req)
		if tc.status == 0 {
			require.Nil(t, answer)
			continue
		}
		require.Equal(t, tc.status, answer.Status)
		require.Equal(t, tc.body, string(answer.Body))
	}
}

// TestMCPStreams checks which streams are complete without an answer.
func TestMCPStreams(t *testing.T) {
	call := &modelio.Request{API: mcpAPI, Model: "x", Options: modelio.Object{"method": []byte(`"tools/call"`)}}
	listen, err := byName(t, mcpAPI).DecodeRequest(mcpWire("GET", ""))
	require.NoError(t, err)
	const said = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"
	for _, tc := range []struct {
		name, body string
		asked      *modelio.Request
		want       bool
	}{
		{"listening", said, listen, true},
		{"nothing said", "", listen, true},
		{"cut", said, call, false},
		{"nothing", "", call, false},
		{"goes on elsewhere", "id: A_1\n" + said, call, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := byName(t, mcpAPI).DecodeResponse(&Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(tc.body), Asked: tc.asked})
			require.NoError(t, err)
			require.Equal(t, tc.want, resp.Complete)
		})
	}
}

// TestMCPRefusal checks that a refusal is a JSON-RPC error with the id of its request.
func TestMCPRefusal(t *testing.T) {
	for body, id := range map[string]string{
		`{"jsonrpc":"2.0","id":"100%d","method":"tools/list"}`: `"100%d"`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`:       `7`,
		``: `null`,
	} {
		refused := refuseAsMCP(mcpWire("POST", body), 400, `say "no"`)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32600,"message":"say \"no\""}}`, string(refused.Body))
	}
}

// TestMCPTasks checks that the result of a task, which names no tool, says what the tool's own answer would.
func TestMCPTasks(t *testing.T) {
	w := mcpWire("POST", `{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"t-1"}}`, "Mcp-Session-Id", "s")
	require.True(t, matchMCP(w))
	asked, err := byName(t, mcpAPI).DecodeRequest(w)
	require.NoError(t, err)
	resp, err := byName(t, mcpAPI).DecodeResponse(&Answer{Status: 200, ContentType: "application/json", Asked: asked,
		Body: []byte(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"It rains."},{"type":"image","mimeType":"image/png","data":"AAAA"}],"isError":true}}`)})
	require.NoError(t, err)
	said, err := json.Marshal(resp.Candidates[0].Message.Content)
	require.NoError(t, err)
	require.JSONEq(t, `[{"text":"It rains."},{"media":{"contentType":"image/png","url":"data:image/png;base64,AAAA"}},{"custom":{"isError":true}}]`, string(said))
}

// TestMCPAnswersHideNothing checks that a record has the members next to the result or error of an answer, since some
// clients read them instead.
func TestMCPAnswersHideNothing(t *testing.T) {
	call := &modelio.Request{API: mcpAPI, Model: "x", Options: modelio.Object{"method": []byte(`"tools/call"`)}}
	const good = `"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"good"}]}`
	for _, tc := range []struct{ name, message, want string }{
		{"capitals", `{` + good + `,"Result":"EVIL"}`, `[{"custom":{"Result":"EVIL"}},{"toolResponse":{"content":[{"text":"good"}],"name":"x"}}]`},
		{"nothing", `{` + good + `,"error":null}`, `[{"toolResponse":{"content":[{"text":"good"}],"name":"x"}}]`},
		{"result_of_error", `{"jsonrpc":"2.0","id":1,"result":"EVIL","error":{"code":1,"message":"good"}}`, `[{"custom":{"result":"EVIL"}}]`},
		{"data", `{"jsonrpc":"2.0","id":1,"data":"EVIL","error":{"code":1,"message":"good","data":2}}`, `[{"custom":{"data":"EVIL"}},{"custom":{"data":2}}]`},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"good"}}`, ``},
	} {
		for kind, body := range map[string]string{"application/json": tc.message, "text/event-stream": "data: " + tc.message + "\n\n"} {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				resp, err := byName(t, mcpAPI).DecodeResponse(&Answer{Status: 200, ContentType: kind, Body: []byte(body), Asked: call})
				require.NoError(t, err)
				if tc.want == "" {
					require.Empty(t, resp.Candidates)
					return
				}
				said, err := json.Marshal(resp.Candidates[0].Message.Content)
				require.NoError(t, err)
				require.JSONEq(t, tc.want, string(said))
			})
		}
	}

	const failed = `data: {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"%s"}}` + "\n\n"
	resp, err := byName(t, mcpAPI).DecodeResponse(&Answer{Status: 200, ContentType: "text/event-stream",
		Body: []byte(strings.ReplaceAll(failed, "%s", "EVIL") + strings.ReplaceAll(failed, "%s", "good")), Asked: call})
	require.NoError(t, err)
	require.Equal(t, "good", resp.Error.Message)
	require.Equal(t, `{"code":1,"message":"EVIL"}`, string(resp.Candidates[0].Message.Content[0].Custom["error"]))
}

// TestPassingIsParsedOnce: parameters, which may be long, are parsed once to find what only relates messages to each other.
func TestPassingIsParsedOnce(t *testing.T) {
	options := modelio.Object{"params": []byte(`{"_meta":{"progressToken":{}},"messages":[{"role":"user"},{"role":"user"}]}`)}
	once := testing.AllocsPerRun(10, func() { jsontext.ValueOf(options["params"]) })
	require.Equal(t, once, testing.AllocsPerRun(10, func() { keepPresence(options, mcpPassing) }))
}
