package reading

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestOf tells what programs read in answers that a record has otherwise. TestReadings of integration holds all against SDKs.
func TestOf(t *testing.T) {
	const begin, end = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"`, `"},"done":true,"done_reason":"stop"}` + "\n"
	item := func(kind string) string {
		return `{"id":"r","object":"response","status":"completed","model":"m","output":[{` + kind +
			`"id":"i","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}`
	}
	claudeText := func(text string) string {
		return `event: content_block_start` + "\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":` + text + "}}\n\n"
	}
	chunk := func(text string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n"
	}
	for _, x := range []struct{ name, api, contentType, text, body, want string }{
		{"plain", "openai.responses", "application/json", "Hi", item(`"type":"message",`), "[]"},
		{"an item without a type is no message", "openai.responses", "application/json", "Hi", item(""), "[{0 text }]"},
		{"programs stop at the first event", "openai.responses", "text/event-stream", "Hi",
			"data: [DONE]\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n", "[{1 text }]"},
		{"a list in a text is read as it is spelled", "openai.responses", "text/event-stream", "Hi",
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":[\"Hi\"]}\n\n", `[{1 text } {1 text ["Hi"]}]`},
		{"and a list of objects", "anthropic.messages", "text/event-stream", "", claudeText(`[{"text":"EVIL"}]`), `[{1 text [{"text":"EVIL"}]}]`},
		{"and what is empty", "anthropic.messages", "text/event-stream", "", claudeText("{}"), `[{1 text {}}]`},
		{"and a block of no kind", "openai.chat", "text/event-stream", "", `data: {"choices":[{"index":0,"delta":{"content":[{}]}}]}` + "\n\n", "[{1 text [{}]}]"},
		{"Mistral's blocks are its text", "openai.chat", "text/event-stream", "Hi",
			`data: {"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Hi"}]}}]}` + "\n\n", "[]"},
		{"a number in a text is read", "openai.chat", "application/json", "", `{"id":"c","object":"chat.completion","model":"m",` +
			`"choices":[{"index":0,"message":{"role":"assistant","content":1.50},"finish_reason":"stop"}]}`, "[{0 text 1.5}]"},
		{"and a word", "openai.chat", "text/event-stream", "", `data: {"choices":[{"index":0,"delta":{"content":true}}]}` + "\n\n", "[{1 text true}]"},
		{"a null block is the one before, again", "bedrock.converse", "application/json", "Hi",
			`{"output":{"message":{"role":"assistant","content":[{"text":"Hi"},{"toolUse":null}]}},"stopReason":"end_turn"}`, "[{0 text HiHi}]"},
		{"cohere-go replaces what stands twice", "cohere.chat", "text/event-stream", "Hi",
			`data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"},"Content":{}}}}` + "\n\n",
			"[{1 spelling Content} {1 text }]"},
		{"cohere-go stops within a text too", "cohere.chat", "text/event-stream", "[DONE]Hi",
			`data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"[DONE]"}}}}` + "\n\n" +
				`data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"}}}}` + "\n\n", "[{0 text }]"},
		{"openai-go reads no event of another API", "openai.chat", "text/event-stream", "Hi", "event: thread.x\n" + chunk("Hi") + "\n", "[{0 text }]"},
		{"nor the first behind a byte order mark", "openai.chat", "text/event-stream", "Hi", "\ufeff" + chunk("Hi") + "\n", "[{0 byte-order-mark } {0 text }]"},
		{"nor an event without its end", "openai.chat", "text/event-stream", "Hi", chunk("H") + "\n" + chunk("i"), "[{1 text H}]"},
		{"nor what follows the last", "openai.chat", "text/event-stream", "Hi", chunk("H") + "\ndata: [DONE]\n\n" + chunk("i") + "\n", "[{2 text H}]"},
		{"Claude's client stops at an error", "anthropic.messages", "text/event-stream", "Hi", "event: error\ndata: {\"type\":\"ping\"}\n\n" + claudeText(`"Hi"`),
			"[{1 event-name error} {0 text }]"},
		{"and reads no ping", "anthropic.messages", "text/event-stream", "Hi", strings.Replace(claudeText(`"Hi"`), "event: content_block_start", "event: ping", 1),
			"[{1 event-name ping} {0 text }]"},
		{"genai takes all lines of an event for one", "google.generate", "text/event-stream", "Hi",
			"id: 1\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n", "[{1 text } {1 error }]"},
		{"a transcript is a model's words too", "openai.chat", "application/json", "Hi", `{"choices":[{"index":0,"message":{"content":"Hi",` +
			`"audio":{"id":"a","data":"","Transcript":"EVIL"}},"finish_reason":""}]}`, "[{0 spelling Transcript}]"},
		{"any member counts where one beside it has small letters", "openai.chat", "text/event-stream", "Hi",
			`data: {"choices":[{"index":0,"delta":{"content":"Hi","executed_tools":[],"Executed_tools":[{}]}}]}` + "\n\n", "[{1 spelling Executed_tools}]"},
		{"what a caller has named is no member of the API", "openai.responses", "application/json", "Hi", strings.TrimSuffix(item(`"type":"message",`), "}") +
			`,"metadata":{"Title":"x"},"text":{"format":{"type":"json_schema","name":"n","schema":{"properties":{"Title":{},"URL":{}}}}}}`, "[]"},
		{"nor are variables, schemas and sources", "openai.responses", "application/json", "Hi", strings.TrimSuffix(item(`"type":"message",`), "}") +
			`,"prompt":{"id":"p","variables":{"Name":"Jane"}},"tools":[{"input_schema":{"Text":1},"inputSchema":{"Title":1},"output_schema":{"Text":1},"outputSchema":{"Title":1}}],` +
			`"sources":[{"type":"tool","tool_output":{"Name":"Ann"}},{"type":"document","document":{"Title":"A","Text":"b"}}]}`, "[]"},
		{"a document of another API is", "bedrock.converse", "application/json", "Hi",
			`{"output":{"message":{"role":"assistant","content":[{"text":"Hi"},{"document":{"Name":"x"}}]}},"stopReason":"end_turn"}`, "[{0 spelling Name}]"},
		{"a count that is no integer is an error", "ollama.chat", "application/x-ndjson", "Hi", begin + `Hi"},"eval_count":4.0,"done":true}` + "\n", "[{1 text } {1 error }]"},
		{"and one that no integer holds", "ollama.chat", "application/x-ndjson", "Hi", begin + `Hi"},"eval_count":9999999999999999999,"done":true}` + "\n", "[{1 text } {1 error }]"},
		{"an empty line is an error", "ollama.chat", "application/x-ndjson", "Hi", begin + `Hi"},"done":false}` + "\n\n" + begin + end, "[{2 finish stop} {2 error }]"},
		{"and to genai one more", "google.generate", "text/event-stream", "Hi",
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n\ndata: {\"candidates\":[]}\n\n", "[{2 error }]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			resp := &modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: []modelio.Part{{Text: &x.text}}}}}}
			got := Of(&provider.Answer{Status: 200, ContentType: x.contentType, Body: []byte(x.body)}, x.api, "", resp)
			require.Equal(t, x.want, fmt.Sprint(got))
		})
	}
}

// TestSilentEvents bounds the memory that is allocated for events without data. A stream may have millions of them, and
// they are counted all the same.
func TestSilentEvents(t *testing.T) {
	codec, _ := provider.Named("openai.chat")
	for name, silent := range map[string]string{"empty lines": "\n", "returns": "\r\n", "comments": ":\n\n", "ids": "id: 1\n\n"} {
		t.Run(name, func(t *testing.T) {
			n := 1 << 17 / len(silent)
			body := strings.Repeat(silent, n) + `data: {"choices":[{"index":0,"delta":{"Content":"Hi"}}]}` + "\n\n"
			a := &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			resp, err := codec.DecodeResponse(a)
			require.NoError(t, err)
			read := Of(a, codec.API, "", resp)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*len(body)))
			require.NotEmpty(t, read)
			require.Equal(t, fmt.Sprintf("{%d spelling Content}", n+1), fmt.Sprint(read[0]))
		})
	}
}

// TestChunks tells of the chunks of a wrapped model what its response does not say.
func TestChunks(t *testing.T) {
	const pay = `{"toolRequest":{"name":"pay","ref":"r1","input":{"sum":1}}}`
	chunk := func(parts ...string) string { return `{"chunk":{"content":[` + strings.Join(parts, ",") + "]}}\n" }
	for _, x := range []struct{ name, chunks, want string }{
		{"none", "", "[]"},
		{"pieces", chunk(`{"text":"Do not "}`) + chunk(`{"text":"pay"}`, pay), "[]"},
		{"calls in the response alone", chunk(`{"text":"Do not pay"}`), "[]"},
		{"a text in the response alone", chunk(`{"reasoning":"hm"}`, pay), "[]"},
		{"an input in pieces", chunk(`{"toolRequest":{"name":"pay","input":"{\"sum\":"}}`) + chunk(`{"toolRequest":{"name":"","input":"1}"}}`), "[]"},
		{"a call that is not over", chunk(`{"toolRequest":{"name":"pay","partial":true,"input":{}}}`) + chunk(pay), "[]"},
		{"all so far again", chunk(`{"text":"Do"}`) + `{"chunk":{"aggregated":true,"content":[{"text":"Do not pay"}]}}` + "\n", "[]"},
		{"another call", chunk(`{"toolRequest":{"name":"transfer","ref":"r1","input":{"sum":9}}}`), `[{1 name transfer} {1 arguments {"sum":9}}]`},
		{"a call more", chunk(pay, pay), `[{1 added-call pay({"sum":1})}]`},
		{"another text", chunk(`{"text":"Pay"}`), "[{1 text Pay}]"},
		{"another text before all so far", chunk(`{"text":"EVIL"}`) + `{"chunk":{"aggregated":true,"content":[{"text":"Do not pay"}]}}` + "\n", "[{2 text EVILDo not pay}]"},
		{"less as all so far", chunk(`{"text":"Do not pay"}`) + `{"chunk":{"aggregated":true,"content":[{"text":"Do"}]}}` + "\n", "[{2 text Do not payDo}]"},
		{"nothing as all so far", chunk(`{"text":"EVIL"}`) + `{"chunk":{"aggregated":true,"content":[]}}` + "\n", "[{2 text EVIL}]"},
		{"another call before all so far", chunk(strings.Replace(pay, "1}", "9}", 1)) + `{"chunk":{"aggregated":true,"content":[` + pay + "]}}\n",
			`[{1 added-call pay({"sum":9})}]`},
		{"a call that is never over", chunk(`{"toolRequest":{"name":"transfer","partial":true,"input":{}}}`), "[{1 added-call transfer({})}]"},
		{"a part of another kind", chunk(`{"custom":{"a":1}}`), `[{1 added-call custom({"a":1})}]`},
		{"a name with each piece", chunk(`{"toolRequest":{"name":"pay","ref":"r1","input":"{\"sum\":"}}`) + chunk(`{"toolRequest":{"name":"pay","ref":"r1","input":"1}"}}`), "[]"},
		{"two ends", chunk(`{"toolRequest":{"name":"transfer","partial":true,"input":{}}}`, `{"toolRequest":{"name":"pay","partial":true,"input":{}}}`) +
			`{"response":{"message":{"role":"model","content":[` + pay + "]}}}\n", "[{1 added-call transfer({})}]"},
		{"a text as the input so far, twice", strings.Repeat(`{"chunk":{"aggregated":true,"content":[{"toolRequest":{"name":"pay","ref":"r1","input":"{\"sum\":1}"}}]}}`+"\n", 2), "[]"},
		{"pieces of two calls by turns", chunk(`{"toolRequest":{"name":"pay","input":""}}`) + chunk(`{"toolRequest":{"name":"pay","input":""}}`) +
			chunk(`{"toolRequest":{"name":"","input":"{\"sum\":1}"}}`) + chunk(`{"toolRequest":{"name":"","input":"{}"}}`), "[]"},
		{"and another name", chunk(`{"toolRequest":{"name":"pay","input":""}}`) + chunk(`{"toolRequest":{"name":"transfer","input":""}}`) +
			chunk(`{"toolRequest":{"name":"","input":"{}"}}`) + chunk(`{"toolRequest":{"name":"","input":"{}"}}`), "[{2 added-call transfer({}{})}]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			body := x.chunks + `{"response":{"message":{"role":"model","content":[{"text":"Do not pay"},` + pay + `]},"custom":{"Text":"x"}}}` + "\n"
			text := "Do not pay"
			call := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "pay", Input: []byte(`{"sum":1}`)}}
			resp := &modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: []modelio.Part{{Text: &text}, call}}}}}
			got := Of(&provider.Answer{ContentType: "application/x-ndjson", Body: []byte(body)}, modelio.ModelAPI, "", resp)
			require.Equal(t, x.want, fmt.Sprint(got))
		})
	}
}

// TestChunksOften counts what it costs that chunks with everything so far repeat calls: it grows with their number, not with its
// square.
func TestChunksOften(t *testing.T) {
	const calls = 2000
	pay := func(sum int) string {
		return fmt.Sprintf(`{"toolRequest":{"name":"pay","ref":"r","input":{"sum":%d}}}`, sum)
	}
	var each, last strings.Builder
	for i := range calls {
		fmt.Fprintf(&each, `{"chunk":{"aggregated":true,"content":[%s]}}`+"\n", pay(i))
		fmt.Fprintf(&last, `{"chunk":{"content":[%s]}}`+"\n", pay(i))
	}
	fmt.Fprintf(&last, `{"chunk":{"aggregated":true,"content":[%s]}}`, strings.Repeat(pay(-1)+",", calls-1)+pay(-1))
	for _, body := range []string{each.String(), last.String()} {
		answer := &provider.Answer{ContentType: "application/x-ndjson", Body: []byte(body)}
		resp := &modelio.Response{Candidates: []modelio.Candidate{{}}}
		require.GreaterOrEqual(t, len(Of(answer, modelio.ModelAPI, "", resp)), calls)
		require.Less(t, testing.AllocsPerRun(1, func() { Of(answer, modelio.ModelAPI, "", resp) }), 100.0*calls)
	}
}

// TestItems holds each item of a response as it is completed against the items at its end.
func TestItems(t *testing.T) {
	const end = `{"id":"s","type":"shell_call","status":"completed","action":{"commands":["ls"]}}`
	for _, x := range []struct{ name, item, output, want string }{
		{"the same", `{"type":"shell_call","id":"s","status":"in_progress","agent":null,"action":{"commands":["ls"]}}`, end, "[]"},
		{"another command", strings.Replace(end, "ls", "rm", 1), end, `[{1 added-call shell_call({"action":{"commands":["rm"]},"id":"s","type":"shell_call"})}]`},
		{"an item that the end lacks", `{"type":"mcp_call","id":"m","name":"pay"}`, end, `[{1 added-call mcp_call({"id":"m","name":"pay","type":"mcp_call"})}]`},
		{"reasoning", `{"type":"reasoning","id":"t","encrypted_content":"a"}`, `{"type":"reasoning","id":"t","encrypted_content":"b"}`, "[]"},
		{"an end without items", end, "", "[]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			body := "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" + x.item + "}\n\n" +
				"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[" + x.output + "]}}\n\n"
			a := &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body)}
			require.Equal(t, x.want, fmt.Sprint(Of(a, "openai.responses", "", &modelio.Response{Candidates: []modelio.Candidate{{}}})))
		})
	}
}

// TestInputAtOnce: some servers send the input of a call in the beginning of its block, without pieces.
func TestInputAtOnce(t *testing.T) {
	body := "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":" +
		`{"type":"tool_use","id":"t","name":"pay","input":{"sum":1}}` + "}\n\n"
	for input, want := range map[string]string{`{"sum":1}`: "[]", `{"sum":2}`: `[{1 arguments {"sum":1}}]`} {
		call := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "pay", Input: []byte(input)}}
		resp := &modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: []modelio.Part{call}}}}}
		a := &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body)}
		require.Equal(t, want, fmt.Sprint(Of(a, "anthropic.messages", "", resp)))
	}
}

// TestFrames tells of the frames of a session what encoding/json takes for another member.
func TestFrames(t *testing.T) {
	var body []byte
	for _, frame := range []string{
		`{"type":"response.output_text.delta","item_id":"i","delta":"Hi","Delta":"EVIL"}`, `no JSON`,
		`{"type":"session.updated","session":{"tools":[{"name":"a","parameters":{"Text":{}}}]}}`,
		`{"type":"response.output_text.done","item_id":"i","Text":"EVIL"}`,
	} {
		body = provider.AppendFrame(body, provider.Frame{Data: []byte(frame)})
	}
	got := Of(&provider.Answer{Status: 101, ContentType: "application/x-ndjson", Body: body}, "openai.realtime", "", nil)
	require.Equal(t, "[{1 spelling Delta} {4 spelling Text}]", fmt.Sprint(got))
}

// TestTwins: an object of many members is looked at once, and one name of it in two spellings is found.
func TestTwins(t *testing.T) {
	for _, x := range []struct{ last, want string }{{"fieldName9", "[{0 spelling fieldName9}]"}, {"fieldName40", "[]"}} {
		var members strings.Builder
		for i := range 20 {
			fmt.Fprintf(&members, `"fieldname%d":1,`, i)
		}
		body := `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"more":{` + members.String() + `"` + x.last + `":2}}`
		text := "Hi"
		resp := &modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: []modelio.Part{{Text: &text}}}}}}
		got := Of(&provider.Answer{Status: 200, ContentType: "application/json", Body: []byte(body)}, "openai.chat", "", resp)
		require.Equal(t, x.want, fmt.Sprint(got))
	}
}

// TestGaps: calls that a stream leaves out, which openai-go makes for indexes that jump, take no memory without bound.
func TestGaps(t *testing.T) {
	const events = 2000
	var body strings.Builder
	for i := range events {
		fmt.Fprintf(&body, `data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"name":"a"}}]}}]}`+"\n\n", 129*i+128)
	}
	answer := &provider.Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(body.String())}
	resp := &modelio.Response{Candidates: []modelio.Candidate{{}}}
	require.Contains(t, fmt.Sprint(Of(answer, "openai.chat", "", resp)), "added-call ()")
	require.Less(t, testing.AllocsPerRun(1, func() { Of(answer, "openai.chat", "", resp) }), 100.0*events)
}
