package snapshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// agent returns the records of an agent with the given number of tool turns, whose client sends each answer back like
// OpenAI's SDKs. said is the number of bytes in the last body, which has the whole conversation.
func agent(system string, turns int) (records []snapshot.Snapshot, said int) {
	history := []modelio.Message{text(modelio.RoleSystem, system), text(modelio.RoleUser, "Work in turns.")}
	tools := []modelio.ToolDefinition{{
		Name: "look", Description: "Look at a place.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}}}`),
	}}
	said = len(system)
	const wire = `{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_","type":"function",` +
		`"function":{"name":"look","arguments":""}}]},{"role":"tool","tool_call_id":"call_","content":""},` + "0123456789abcdefghijklmn" + "0123456789abcdefghijklmn"
	for n := 1; n <= turns+1; n++ {
		s := record("TestAgent", n)
		s.Request = modelio.Request{
			API: "openai.chat", Model: "gpt-4o-mini", Temperature: number("0"), Seed: number("42"),
			Tools: tools, Messages: copied(history),
		}
		call := modelio.ToolRequest{
			Name: "look", Ref: fmt.Sprintf("call_%d", n), Input: json.RawMessage(fmt.Sprintf(`{"place":"room %d"}`, n)),
		}
		s.Response = answered(modelio.Part{ToolRequest: &call})
		s.Response.Model, s.Response.Status = "gpt-4o-mini-2024-07-18", 200
		s.Response.Usage = &modelio.Usage{InputTokens: ptr(int64(200 + 60*n)), OutputTokens: ptr(int64(9)), TotalTokens: ptr(int64(209 + 60*n))}
		s.Response.Headers = map[string][]string{"Content-Type": {"application/json"}}
		s.Response.RawOutputRef = canon.Sum([]byte{byte(n), byte(n >> 8)})
		s.Response.Candidates[0].FinishReasonRaw = "tool_calls"
		if n > turns {
			s.Response.Candidates[0].Message.Content = []modelio.Part{modelio.TextPart("Done.\nIt was a long way.")}
		}
		records = append(records, s)
		result := fmt.Sprintf("room %d has a table and a lamp\nand a window", n)
		history = append(history, modelio.Message{
			Role: modelio.RoleModel, Metadata: modelio.Object{"content": json.RawMessage("null"), "refusal": json.RawMessage("null")},
			Content: []modelio.Part{{ToolRequest: &call}},
		}, modelio.Message{
			Role:    modelio.RoleTool,
			Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Name: "look", Ref: call.Ref, Output: quoted(result)}}},
		})
		said += len(wire) + len(call.Input) + len(result)
	}
	return records, said
}

// copied returns a deep copy of messages, like a recorder that decodes them from each body.
func copied(messages []modelio.Message) []modelio.Message {
	all := make([]modelio.Message, len(messages))
	for i, m := range messages {
		m.Content = append([]modelio.Part(nil), m.Content...)
		all[i] = m
	}
	return all
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}

func prompt(rule string) string {
	var b strings.Builder
	b.WriteString("You are a careful assistant of a shop.\n")
	for i := range 20 {
		if i == 7 {
			b.WriteString(rule + "\n")
			continue
		}
		fmt.Fprintf(&b, "Rule %d: when the customer asks about matter %d, answer kindly.\n", i, i)
	}
	return b.String()
}

// TestAgentIsSaidOnce checks that a document has the conversation once, and little more for each call.
func TestAgentIsSaidOnce(t *testing.T) {
	t.Parallel()
	const turns = 100
	records, said := agent(prompt("Never guess."), turns)
	doc := document(t, records...)
	data := encode(t, doc)
	t.Logf("%d calls, %d bytes said, %d bytes, %d lines, %d bytes a call", len(records), said, len(data),
		strings.Count(string(data), "\n"), (len(data)-said)/len(records))
	require.Less(t, len(data), said+1300*len(records))
	for i, s := range doc.Snapshots[1:] {
		require.Equal(t, i+1, s.Continues.Call)
		require.Equal(t, 2*i+3, s.Continues.Messages)
	}
	again := parse(t, data)
	require.Equal(t, core(records[turns].Request.Messages), core(again.Snapshots[turns].Request.Messages))
	require.Equal(t, data, encode(t, again))
}

// TestOneWordOfAnAgent checks that a changed word of the system prompt changes its line and two hashes.
func TestOneWordOfAnAgent(t *testing.T) {
	t.Parallel()
	before, _ := agent(prompt("Never guess."), 100)
	after, _ := agent(prompt("Do not guess."), 100)
	minus, plus := diff(string(encode(t, document(t, before...))), string(encode(t, document(t, after...))))
	require.Len(t, minus, 3)
	require.Len(t, plus, 3)
	require.Contains(t, plus[0], "Do not guess.")
	require.Contains(t, plus[1], `"hash"`)
	require.Contains(t, plus[2], `"hash"`)
}

// TestCasesThatShareAPrompt checks that the document of a hundred cases of one test has their system prompt once.
func TestCasesThatShareAPrompt(t *testing.T) {
	t.Parallel()
	cases := func(rule string) []byte {
		var records []snapshot.Snapshot
		for n := 1; n <= 100; n++ {
			s := record("TestCases", n)
			s.Request.Messages = []modelio.Message{text(modelio.RoleSystem, prompt(rule)), text(modelio.RoleUser, fmt.Sprint("case ", n))}
			records = append(records, s)
		}
		return encode(t, document(t, records...))
	}
	minus, plus := diff(string(cases("Never guess.")), string(cases("Do not guess.")))
	require.Len(t, minus, 3)
	require.Len(t, plus, 3)
	require.Equal(t, 1, strings.Count(string(cases("Never guess.")), "Never guess."))
}

// TestAgentIsSealedQuickly checks that the time to seal is not quadratic in the number of calls.
func TestAgentIsSealedQuickly(t *testing.T) {
	records, _ := agent(prompt("Never guess."), 200)
	doc := &snapshot.Document{Version: snapshot.Version, Snapshots: records}
	start := time.Now()
	require.NoError(t, doc.Seal())
	first := time.Since(start)
	data := encode(t, doc)
	start = time.Now()
	again := parse(t, data)
	parsed := time.Since(start)
	start = time.Now()
	require.NoError(t, again.Seal())
	t.Logf("201 calls: sealed in %v, parsed in %v, sealed again in %v", first, parsed, time.Since(start))
}

// diff returns the lines that only one of two texts has. The other lines must be in the same order in both.
func diff(before, after string) (minus, plus []string) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	if len(a) != len(b) {
		return a, b
	}
	for i := range a {
		if a[i] != b[i] {
			minus, plus = append(minus, a[i]), append(plus, b[i])
		}
	}
	return minus, plus
}
