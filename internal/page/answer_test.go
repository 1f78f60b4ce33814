package page

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func answerOf(parts ...modelio.Part) *snapshot.Response {
	r := &snapshot.Response{Status: 200, Headers: map[string][]string{"content-type": {"application/json"}, "x-request-id": {"1"}}}
	r.Model = "m-1"
	r.Candidates = []modelio.Candidate{{Message: modelio.Message{Role: modelio.RoleModel, Content: parts}, FinishReason: modelio.FinishStop}}
	return r
}

func TestAnswers(t *testing.T) {
	call := func(input string) modelio.Part {
		return modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "look", Ref: "1", Input: []byte(input)}}
	}
	result := func(output string) modelio.Part {
		return modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "look", Ref: "1", Output: []byte(output)}}
	}
	used := int64(7)
	again := func(_, is *snapshot.Snapshot) { is.Timestamp = time.Unix(1, 0) }
	for _, c := range []struct {
		name, why, want string
		before, after   *snapshot.Response
		change          func(*snapshot.Response)
		source          func(was, is *snapshot.Snapshot)
	}{
		{name: "noise", why: "what is another with every call", change: func(r *snapshot.Response) {
			r.LatencyMS, r.TokensUsed, r.RawOutputRef, r.ID = 9, &used, "x", "y"
			r.Headers["x-request-id"] = []string{"2"}
		}, source: again},
		{name: "id", why: "of a call that was not made again", want: "answer: headers /headers -x-request-id: 1 +x-request-id: 2",
			change: func(r *snapshot.Response) { r.Headers["x-request-id"] = []string{"2"} }},
		{name: "text", why: "what it says", want: "answer: text /content -Yes. +No.", after: answerOf(modelio.TextPart("No."))},
		{name: "calls", why: "what the caller is to run", want: "answer: text removed /content -Yes.\nanswer: tool calls added /tool_calls +look({\"a\":1})",
			after: answerOf(call(`{"a":1}`))},
		{name: "arguments", why: "of a call", want: `answer: tool calls /tool_calls -look({"a":1}) +look({"a":2})`,
			before: answerOf(call(`{"a":1}`)), after: answerOf(call(`{"a":2}`))},
		{name: "reasoning", why: "what led to it", want: "answer: reasoning /parts -a +b",
			before: answerOf(modelio.ReasoningPart("a"), modelio.TextPart("Yes.")), after: answerOf(modelio.ReasoningPart("b"), modelio.TextPart("Yes."))},
		{name: "media", why: "what neither text nor calls say", want: "answer: parts /parts -      \"url\": \"a\" +      \"url\": \"b\"",
			before: answerOf(modelio.MediaPart("", "a")), after: answerOf(modelio.MediaPart("", "b"))},
		{name: "result", why: "of a provider's own tool", want: "answer: result of tool look /parts -      \"output\": 1, +      \"output\": 2,",
			before: answerOf(result("1")), after: answerOf(result("2"))},
		{name: "beside", why: "what is said besides a changed text", want: "answer: text /content -Yes. +No.\nanswer: parts /parts -      \"url\": \"a\" +      \"url\": \"b\"",
			before: answerOf(modelio.TextPart("Yes."), call("1"), modelio.MediaPart("", "a")), after: answerOf(modelio.TextPart("No."), call("1"), modelio.MediaPart("", "b"))},
		{name: "same beside", why: "is no change", want: "answer: text /content -Yes. +No.\nanswer: tool calls /tool_calls -look(1) +look(2)",
			before: answerOf(modelio.TextPart("Yes."), call("1"), modelio.MediaPart("", "a")), after: answerOf(modelio.TextPart("No."), call("2"), modelio.MediaPart("", "a"))},
		{name: "same result", why: "is no change", before: answerOf(result("1")), after: answerOf(result("1"))},
		{name: "reason", why: "why it ended", want: "answer: finish reason /finish_reason -stop +length",
			change: func(r *snapshot.Response) { r.Candidates[0].FinishReason = modelio.FinishLength }},
		{name: "candidates", why: "further answers", want: "answer 2: text added /candidates/0/content +Or not.\nanswer 2: finish reason added /candidates/0/finish_reason +stop",
			change: func(r *snapshot.Response) {
				r.Candidates = append(r.Candidates, answerOf(modelio.TextPart("Or not.")).Candidates...)
			}},
		{name: "how", why: "which model, and how it came", want: "answer: model /model -m-1 +m-2\nanswer: status /status -200 +203\n" +
			"answer: content type /headers/content-type -application/json +text/html\nanswer: incomplete added /incomplete +aborted",
			change: func(r *snapshot.Response) {
				r.Model, r.Status, r.Incomplete = "m-2", 203, "aborted"
				r.Headers["content-type"] = []string{"text/html"}
			}},
		{name: "error", why: "a refusal", want: "answer: error added /error +{ +  \"message\": \"no\" +}",
			change: func(r *snapshot.Response) { r.Error = &modelio.ProviderError{Message: "no"} }},
		{name: "headers", why: "that replay serves", want: "answer: headers /headers +openai-processing-ms +request-id +retry-after-ms: 60000 +x-verified: true",
			change: func(r *snapshot.Response) {
				r.Headers["request-id"], r.Headers["openai-processing-ms"] = []string{"2"}, []string{"2"}
				r.Headers["retry-after-ms"], r.Headers["x-verified"] = []string{"60000"}, []string{"true"}
			}, source: again},
		{name: "time", why: "that the test is told", want: "answer: source added /source +now: 2020-01-01T00:00:00Z",
			source: func(_, is *snapshot.Snapshot) { is.Source.Now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{name: "mark", why: "of an answer to another request, which nobody has bought since", want: "answer: source removed /source -stale: sha256:1",
			source: func(was, _ *snapshot.Snapshot) { was.Response.Stale = "sha256:1" }},
		{name: "bought", why: "the mark goes when the answer is bought", source: func(was, is *snapshot.Snapshot) {
			was.Response.Stale, is.Timestamp = "sha256:1", time.Unix(1, 0)
		}},
		{name: "command", why: "of a program, which commands print", want: "answer: source /source -command: chat +command: chat | sh",
			source: func(was, is *snapshot.Snapshot) {
				was.Source.Package, is.Source.Package = snapshot.ProgramPackage, snapshot.ProgramPackage
				was.Source.Function, is.Source.Function = "chat", "chat | sh"
			}},
		{name: "rule", why: "a lifted rule", want: "answer: source /source -nondeterministic: a +nondeterministic: b",
			source: func(was, is *snapshot.Snapshot) {
				was.Source.Nondeterministic, is.Source.Nondeterministic, is.Timestamp = "a", "b", time.Unix(1, 0)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.before, c.after
			if before == nil {
				before = answerOf(modelio.TextPart("Yes."))
			}
			if after == nil {
				after = answerOf(modelio.TextPart("Yes."))
			}
			if c.change != nil {
				c.change(after)
			}
			was, is := &snapshot.Snapshot{Response: *before}, &snapshot.Snapshot{Response: *after}
			if c.source != nil {
				c.source(was, is)
			}
			changes, err := Answers(was, is)
			require.NoError(t, err)
			var lines []string
			for _, change := range changes {
				line := change.String() + " " + change.Pointer
				change.Visit(func(op, text string) { line += " " + op + text })
				lines = append(lines, line)
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"), c.why)
		})
	}
	broken, whole := &snapshot.Snapshot{Response: *answerOf(call(`{`))}, &snapshot.Snapshot{Response: *answerOf()}
	_, err := Answers(broken, whole)
	require.Error(t, err, "arguments that are no JSON")
	_, err = Answers(whole, broken)
	require.Error(t, err, "on either side")
}
