package snapshot_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// asking returns the n-th record of a test, with the given messages in the request and "answer n" as answer.
func asking(n int, messages ...modelio.Message) snapshot.Snapshot {
	s := record("TestContinues", n)
	s.Request.Messages = messages
	s.Response = answered(modelio.TextPart(fmt.Sprint("answer ", n)))
	return s
}

func user(s string) modelio.Message  { return text(modelio.RoleUser, s) }
func model(s string) modelio.Message { return text(modelio.RoleModel, s) }

// choices lists the calls that the records continue, as "call:messages".
func choices(doc *snapshot.Document) string {
	var all []string
	for _, s := range doc.Snapshots {
		if s.Continues == nil {
			all = append(all, "-")
		} else {
			all = append(all, fmt.Sprintf("%d:%d", s.Continues.Call, s.Continues.Messages))
		}
	}
	return strings.Join(all, " ")
}

func TestWhatARequestContinues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		records   []snapshot.Snapshot
		want      string
	}{
		{"turns", "each turn continues the one before, with its answer", []snapshot.Snapshot{
			asking(1, user("a")), asking(2, user("a"), model("answer 1"), user("b")),
			asking(3, user("a"), model("answer 1"), user("b"), model("answer 2"), user("c")),
		}, "- 1:2 2:4"},
		{"retry", "the same request once more continues all of it", []snapshot.Snapshot{
			asking(1, user("a"), user("b")), asking(2, user("a"), user("b")), asking(3, user("a"), user("b")),
		}, "- 1:2 2:2"},
		{"after-a-retry", "the answer decides which of two equal requests is continued", []snapshot.Snapshot{
			asking(1, user("a")), asking(2, user("a")), asking(3, user("a"), model("answer 1"), user("b")),
		}, "- 1:1 1:2"},
		{"fork", "two calls continue one", []snapshot.Snapshot{
			asking(1, user("a")), asking(2, user("a"), model("answer 1"), user("b")), asking(3, user("a"), model("answer 1"), user("c")),
		}, "- 1:2 2:2"},
		{"latest", "of equals the latest", []snapshot.Snapshot{
			asking(1, user("s"), user("a")), asking(2, user("s"), user("b")), asking(3, user("s"), user("c")),
		}, "- 1:1 2:1"},
		{"longest", "the longest beginning, not the latest call", []snapshot.Snapshot{
			asking(1, user("s"), user("a")), asking(2, user("s"), user("b")), asking(3, user("s"), user("a"), user("c")),
		}, "- 1:1 1:2"},
		{"window", "a window that slides keeps what it keeps", []snapshot.Snapshot{
			asking(1, user("s"), user("a"), user("b")), asking(2, user("s"), user("b"), user("c")),
		}, "- 1:1"},
		{"altered-answer", "an answer that was changed is another message", []snapshot.Snapshot{
			asking(1, user("a")), asking(2, user("a"), model("something else"), user("b")),
		}, "- 1:1"},
		{"nothing", "what shares nothing continues nothing", []snapshot.Snapshot{
			asking(1, user("a")), asking(2, user("b")),
		}, "- -"},
		{"not-in-order", "n says nothing about the order", []snapshot.Snapshot{
			asking(7, user("a")), asking(2, user("a"), model("answer 7"), user("b")),
		}, "- 7:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := document(t, c.records...)
			require.Equal(t, c.want, choices(doc), c.why)
			requireCanonical(t, doc)
		})
	}
}

// conversation returns a document of four turns.
func conversation(t *testing.T) *snapshot.Document {
	var records []snapshot.Snapshot
	var history []modelio.Message
	for n := 1; n <= 4; n++ {
		history = append(history[:len(history):len(history)], user(fmt.Sprint("question ", n)))
		records = append(records, asking(n, history...))
		history = append(history, model(fmt.Sprint("answer ", n)))
	}
	return document(t, records...)
}

// TestChoicesThatAreTrueStand checks that sealing again changes only choices that are wrong now.
func TestChoicesThatAreTrueStand(t *testing.T) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) {
		doc := conversation(t)
		doc.Snapshots[3].Continues = &snapshot.Continues{Call: 1, Messages: 2}
		require.NoError(t, doc.Seal())
		require.Equal(t, "- 1:2 2:4 1:2", choices(doc), "a shorter beginning is true too")
		requireCanonical(t, doc)
	})
	t.Run("removed", func(t *testing.T) {
		doc := parse(t, encode(t, conversation(t)))
		want := cores(t, doc)
		doc.Snapshots = append(doc.Snapshots[:1:1], doc.Snapshots[2:]...)
		require.NoError(t, doc.Seal())
		require.Equal(t, "- 1:2 3:6", choices(doc), "call 3 continued call 2, which is gone")
		require.Equal(t, append(want[:4:4], want[8:]...), cores(t, parse(t, encode(t, doc))))
	})
	t.Run("first-removed", func(t *testing.T) {
		doc := parse(t, encode(t, conversation(t)))
		doc.Snapshots = doc.Snapshots[1:]
		require.NoError(t, doc.Seal())
		require.Equal(t, "- 2:4 3:6", choices(doc))
		again := parse(t, encode(t, doc))
		require.Equal(t, "TestContinues", again.Snapshots[0].Source.Test, "package and test are in the first record now")
		requireCanonical(t, doc)
	})
	t.Run("reordered", func(t *testing.T) {
		doc := parse(t, encode(t, conversation(t)))
		doc.Snapshots[0], doc.Snapshots[1] = doc.Snapshots[1], doc.Snapshots[0]
		require.NoError(t, doc.Seal())
		require.Equal(t, "- 2:1 2:4 3:6", choices(doc))
		requireCanonical(t, doc)
	})
	t.Run("answer-changed", func(t *testing.T) {
		doc := parse(t, encode(t, conversation(t)))
		doc.Snapshots[1].Response = answered(modelio.TextPart("another answer"))
		require.NoError(t, doc.Seal())
		require.Equal(t, "- 1:2 2:3 3:6", choices(doc), "call 3 sent what call 2 had answered before")
		requireCanonical(t, doc)
	})
	t.Run("sent-in-no-message", func(t *testing.T) {
		for _, more := range [][]modelio.Message{nil, {user("again")}} {
			doc := document(t, asking(1, user("hi")), asking(2, append([]modelio.Message{user("hi")}, more...)...))
			doc.Snapshots[1].Continues = &snapshot.Continues{Call: 1, Messages: 2, Sent: []snapshot.Sent{}}
			want := cores(t, doc)
			require.Equal(t, want, cores(t, parse(t, encode(t, doc))))
			require.Equal(t, "- 1:1", choices(doc))
		}
	})
}

// TestWhatIsInherited checks that members equal to those of the continued call are left out, and restored when read.
func TestWhatIsInherited(t *testing.T) {
	t.Parallel()
	first, second, third := asking(1, user("a")), asking(2, user("a"), user("b")), asking(3, user("a"), user("b"), user("c"))
	for _, s := range []*snapshot.Snapshot{&first, &third} {
		s.Request.API, s.Request.Seed, s.Request.TopP, s.Request.Stop = "openai.chat", number("1"), number("0.5"), []string{"x"}
		s.Request.Options = modelio.Object{"user": json.RawMessage(`"u"`)}
		s.Request.Tools = []modelio.ToolDefinition{{Name: "t", Description: "d"}}
		s.Response.Model, s.Response.Status, s.Response.Headers = "m-1", 200, map[string][]string{"A": {"1"}, "B": {"2"}}
	}
	first.Response.Candidates[0].FinishReasonRaw, third.Response.Candidates[0].FinishReasonRaw = "end", "end"
	first.Response.Usage = &modelio.Usage{InputTokens: ptr(int64(1)), CachedContentTokens: ptr(int64(0)), ThoughtsTokens: ptr(int64(5))}
	second.Response.Usage = &modelio.Usage{InputTokens: ptr(int64(1)), CachedContentTokens: ptr(int64(0))}
	second.Provider = "groq"
	second.Request.Temperature = nil
	doc := document(t, first, second, third)
	data := string(encode(t, doc))
	require.Equal(t, 7+6, strings.Count(data, ": null"), "what the second has not of requests, its temperature among it, and of answers")
	require.Equal(t, 1, strings.Count(data, `"cache_read"`))
	require.Equal(t, 2, strings.Count(data, `"input"`), "what is always there says the whole")
	again := parse(t, []byte(data))
	for i, s := range []snapshot.Snapshot{first, second, third} {
		require.Equal(t, s.Request.Stop, again.Snapshots[i].Request.Stop)
		require.Equal(t, s.Request.API, again.Snapshots[i].Request.API)
		require.Equal(t, s.Provider, again.Snapshots[i].Provider)
		require.Equal(t, s.Response.Headers, again.Snapshots[i].Response.Headers)
		require.Equal(t, s.Response.Model, again.Snapshots[i].Response.Model)
		require.Equal(t, s.Response.Usage, again.Snapshots[i].Response.Usage)
		require.Equal(t, s.Response.Candidates, again.Snapshots[i].Response.Candidates)
		require.Equal(t, s.Response.Status, again.Snapshots[i].Response.Status)
	}
	require.Equal(t, cores(t, doc), cores(t, again))
}

// TestSentAnswers checks that an answer is recognized in each API's own spelling of a tool loop.
func TestSentAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ api, path, request, response, sent string }{
		{"cohere.chat", "https://api.cohere.com/v2/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
			`{"id":"1","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_plan":"I will look.","tool_calls":[{"id":"look_1","type":"function","function":{"name":"look","arguments":"{\"at\":\"it\"}"}}]},"usage":{}}`,
			`{"role":"assistant","tool_plan":"I will look.","tool_calls":[{"id":"look_1","type":"function","function":{"name":"look","arguments":"{\"at\": \"it\"}"}}]},{"role":"tool","tool_call_id":"look_1","content":"seen"}`},
		{"ollama.chat", "http://localhost:11434/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"m","created_at":"2025-06-05T00:31:43Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"at":"it"}}}]},"done":true,"done_reason":"stop"}`,
			`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"at":"it"}}}]},{"role":"tool","content":"seen"}`},
		{"openai.chat", "https://api.openai.com/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
			`{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_x","type":"function","function":{"name":"look","arguments":"{\"at\":  1.0}"}}]}}]}`,
			`{"role":"assistant","content":null,"refusal":null,"annotations":[],"tool_calls":[{"id":"call_x","type":"function","function":{"name":"look","arguments":"{\"at\":  1.0}"}}]},{"role":"tool","tool_call_id":"call_x","content":"seen"}`},
		{"anthropic.messages", "https://api.anthropic.com/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
			`{"id":"1","model":"m","role":"assistant","type":"message","stop_reason":"tool_use","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":"it"}}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"I look.","cache_control":{"type":"ephemeral"}},{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":"it"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"seen"}]}`},
		{"google.generate", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":"it"}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],"modelVersion":"m"}`,
			`{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":"it"}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"r":1}}}]}`},
		{"openai.responses", "https://api.openai.com/v1/responses", `{"model":"m","input":[{"role":"user","content":"hi"}]}`,
			`{"id":"resp_1","model":"m","status":"completed","output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"id":"fc_1","type":"function_call","status":"completed","name":"look","call_id":"call_x","arguments":"{\"at\":\"it\"}"}]}`,
			`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"id":"fc_1","type":"function_call","status":"completed","name":"look","call_id":"call_x","arguments":"{\"at\":\"it\"}"},{"type":"function_call_output","call_id":"call_x","output":"seen"}`},
		{"bedrock.converse", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
			`{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"look","input":{"at":"it"}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}`,
			`{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"look","input":{"at":"it"}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"seen"}]}}]}`},
	} {
		t.Run(c.api, func(t *testing.T) {
			last := strings.LastIndexByte(c.request, ']')
			next := c.request[:last] + "," + c.sent + c.request[last:]
			x := interaction{Status: 200}
			var records []snapshot.Snapshot
			for n, body := range []string{c.request, next} {
				u, err := url.Parse(c.path)
				require.NoError(t, err)
				w := &provider.Wire{Method: "POST", URL: u, ContentType: "application/json", Body: []byte(body)}
				codec, ok := provider.Match(w)
				require.True(t, ok)
				require.Equal(t, c.api, codec.API)
				req, err := codec.DecodeRequest(w)
				require.NoError(t, err)
				resp, err := codec.DecodeResponse(&provider.Answer{Status: 200, ContentType: "application/json", Body: []byte(c.response)})
				require.NoError(t, err)
				records = append(records, x.record("TestSent", n+1, req, resp))
			}
			doc := document(t, records...)
			require.Equal(t, "- 1:2", choices(doc))
			requireCanonical(t, doc)
			again := parse(t, encode(t, doc))
			require.Equal(t, string(core(records[1].Request.Messages)), string(core(again.Snapshots[1].Request.Messages)))
		})
	}
}

// TestInterleavedAgents checks that two agents in one test each continue their own calls.
func TestInterleavedAgents(t *testing.T) {
	t.Parallel()
	var records []snapshot.Snapshot
	history := [2][]modelio.Message{}
	for n := 1; n <= 20; n++ {
		h := &history[n%2]
		*h = append((*h)[:len(*h):len(*h)], user(fmt.Sprintf("agent %d asks %d", n%2, n)))
		records = append(records, asking(n, *h...))
		*h = append(*h, model(fmt.Sprint("answer ", n)))
	}
	doc := document(t, records...)
	for i, s := range doc.Snapshots[2:] {
		require.Equal(t, i+1, s.Continues.Call)
	}
	requireCanonical(t, doc)
}

// TestWholeRequestsShareMemory checks that the memory of a read document is linear in the length of the conversation.
func TestWholeRequestsShareMemory(t *testing.T) {
	t.Parallel()
	records, _ := agent(prompt("Never guess."), 50)
	doc := parse(t, encode(t, document(t, records...)))
	last := doc.Snapshots[50].Request.Messages
	for i := 40; i < 50; i++ {
		messages := doc.Snapshots[i].Request.Messages
		require.Equal(t, len(messages), cap(messages), "who appends to one does not write into another")
		require.Same(t, &messages[3].Content[0], &last[3].Content[0])
	}
}

// TestTooManyMessages checks that a short text cannot make a reader allocate much memory.
func TestTooManyMessages(t *testing.T) {
	t.Parallel()
	var own []modelio.Message
	for i := range 30_000 {
		own = append(own, user(fmt.Sprint(i)))
	}
	records := []snapshot.Snapshot{asking(1, own...)}
	for n := 2; n <= 40; n++ {
		records = append(records, asking(n, append(own[:len(own)-1:len(own)-1], user(fmt.Sprint("other ", n)))...))
	}
	_, err := document(t, records...).Write(nil)
	require.ErrorContains(t, err, "must not make requests of more than 1048576 messages")
}

// TestAnswersOfNoCallCostNothing holds that the messages after a shared beginning, which may be answers to it, are read
// only if a call ended there.
func TestAnswersOfNoCallCostNothing(t *testing.T) {
	history := []modelio.Message{user("hi")}
	for n := range 64 {
		history = append(history, model(fmt.Sprint("shared ", n)))
	}
	var calls []snapshot.Snapshot
	for call := range 20 {
		s := asking(call+1, history...)
		for n := range 64 {
			s.Request.Messages = append(s.Request.Messages, model(fmt.Sprint("own ", call, " ", n)))
		}
		calls = append(calls, s)
	}
	allocated := testing.AllocsPerRun(1, func() {
		require.NoError(t, (&snapshot.Document{Snapshots: slices.Clone(calls)}).Seal())
	})
	require.Less(t, allocated, 10_000.)
}
