package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A script is a model that gives the answers of a list in order.
type script struct {
	mu      sync.Mutex
	answers []*modelio.GenerateResponse
}

func (s *script) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil, errors.New("the model is down")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	if stream != nil && answer != nil {
		for _, piece := range []string{"3", "2", "1"} {
			if err := stream(ctx, &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(piece)}}); err != nil {
				return nil, err
			}
		}
	}
	return answer, nil
}

func says(parts ...modelio.Part) *modelio.GenerateResponse {
	return &modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: parts},
		FinishReason: modelio.FinishStop,
	}
}

func asks(msgs ...modelio.Message) *modelio.GenerateRequest {
	return &modelio.GenerateRequest{Messages: msgs, Config: modelio.Object{"temperature": json.RawMessage("11"), "seed": json.RawMessage("9223372036854775807")}}
}

func user(text string) modelio.Message {
	return modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}}
}

// converse plays a conversation of two turns with a tool call in between, and returns the answers. ref converts the ref
// of the call before converse sends its result.
func converse(t testing.TB, m modelio.Model, stream modelio.StreamFunc, ref func(string) string) [2]*modelio.GenerateResponse {
	t.Helper()
	first, err := m.Generate(t.Context(), asks(user("hi")), stream)
	require.NoError(t, err)
	call := *first.Message.Content[0].ToolRequest
	call.Ref = ref(call.Ref)
	second, err := m.Generate(t.Context(), asks(user("hi"),
		modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{{ToolRequest: &call}}},
		modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{
			Name: call.Name, Output: json.RawMessage(`"tool called"`), Ref: call.Ref,
		}}}},
	), stream)
	require.NoError(t, err)
	return [2]*modelio.GenerateResponse{first, second}
}

func toolScript() *script {
	return &script{answers: []*modelio.GenerateResponse{
		says(request("testTool", "ref123")), says(modelio.TextPart("final response")),
	}}
}

func unchanged(ref string) string { return ref }

// TestRecordAndReplayTools plays the case "calls tools" of Genkit's generate.yaml. A recording with refs replays with
// the session's refs, with others, and without refs.
func TestRecordAndReplayTools(t *testing.T) {
	recorder := session.Record(toolScript(), "a", "m")
	live := converse(t, recorder, nil, unchanged)
	require.Equal(t, "ref123", live[0].Message.Content[0].ToolRequest.Ref, "recording changes nothing for the caller")
	text := recorder.Session()
	require.JSONEq(t, `{"content":"","finish_reason":"stop","tool_calls":[{"input":{},"name":"testTool","ref":"call_1"}]}`,
		text.Interactions[0].ResponseContent)

	for name, ref := range map[string]func(string) string{
		"same": unchanged, "other": func(string) string { return "toolu_9" }, "none": func(string) string { return "" },
	} {
		replayed := converse(t, session.Replay(text, session.ReplayOptions{}), nil, ref)
		require.Equal(t, says(request("testTool", "call_1")), replayed[0], name)
		require.Equal(t, live[1], replayed[1], name)
	}

	data, err := text.Encode()
	require.NoError(t, err)
	require.Empty(t, session.Verify(data))
}

// TestRecordAndReplayStream plays the case "stream responses" of Genkit's generate.yaml. The answer is recorded whole,
// whatever its chunks.
func TestRecordAndReplayStream(t *testing.T) {
	collect := func(pieces *[]string) modelio.StreamFunc {
		return func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
			for _, part := range chunk.Content {
				*pieces = append(*pieces, *part.Text)
			}
			return nil
		}
	}
	recorder := session.Record(&script{answers: []*modelio.GenerateResponse{says(modelio.TextPart("final response"))}}, "a", "m")
	var live, replayed []string
	want, err := recorder.Generate(t.Context(), asks(user("hi")), collect(&live))
	require.NoError(t, err)
	require.Equal(t, []string{"3", "2", "1"}, live)

	replayer := session.Replay(recorder.Session(), session.ReplayOptions{})
	got, err := replayer.Generate(t.Context(), asks(user("hi")), collect(&replayed))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, []string{"final response"}, replayed)

	stop := errors.New("enough")
	replayer = session.Replay(recorder.Session(), session.ReplayOptions{})
	_, err = replayer.Generate(t.Context(), asks(user("hi")), func(context.Context, *modelio.GenerateResponseChunk) error { return stop })
	require.ErrorIs(t, err, stop)
}

// TestReplayHasCoreOfRecording checks that a recorded replay has the core of the first recording, except for the mode.
func TestReplayHasCoreOfRecording(t *testing.T) {
	recorder := session.Record(toolScript(), "a", "m")
	converse(t, recorder, nil, unchanged)
	recorded := recorder.Session()

	again := session.Record(session.Replay(recorded, session.ReplayOptions{}), "a", "m")
	converse(t, again, nil, unchanged)
	want, err := recorded.Hash()
	require.NoError(t, err)
	got, err := again.Session().Hash()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestReplayDuplicatesInOrder(t *testing.T) {
	s := session.New("a", "m")
	s.Append("same", "first")
	s.Append("other", "between")
	s.Append("same", "second")
	prompt := func(req *modelio.GenerateRequest) ([]byte, error) {
		return []byte(*req.Messages[0].Content[0].Text), nil
	}
	replayer := session.Replay(s, session.ReplayOptions{Prompt: prompt})
	for _, ask := range []struct{ prompt, want string }{{"same", "first"}, {"same", "second"}, {"other", "between"}} {
		got, err := replayer.Generate(t.Context(), asks(user(ask.prompt)), nil)
		require.NoError(t, err)
		require.Equal(t, ask.want, *got.Message.Content[0].Text)
		require.Equal(t, modelio.FinishOther, got.FinishReason, "a text from elsewhere does not say why it ends")
	}

	_, err := replayer.Generate(t.Context(), asks(user("same")), nil)
	require.ErrorIs(t, err, session.ErrSpent)
	require.EqualError(t, err, "replay session: prompt "+string(canon.Sum([]byte("same")))+": asked once more than recorded: it was recorded 2 times, last as interaction 2")

	_, err = replayer.Generate(t.Context(), asks(user("new")), nil)
	require.ErrorIs(t, err, session.ErrNotFound)
	require.EqualError(t, err, "replay session: prompt "+string(canon.Sum([]byte("new")))+": no such prompt in the session: all of its 3 interactions were replayed")
}

func TestReplayMissNamesNearest(t *testing.T) {
	s := session.New("a", "m")
	s.Append("1", "one")
	s.Append("2", "two")
	prompt := func(req *modelio.GenerateRequest) ([]byte, error) {
		return []byte(*req.Messages[0].Content[0].Text), nil
	}
	replayer := session.Replay(s, session.ReplayOptions{Prompt: prompt})
	_, err := replayer.Generate(t.Context(), asks(user("1")), nil)
	require.NoError(t, err)

	got, err := replayer.Generate(t.Context(), asks(user("two")), nil)
	require.Nil(t, got, "a miss has no answer, least of all an empty one")
	var miss *session.ReplayError
	require.ErrorAs(t, err, &miss)
	require.Equal(t, 1, miss.Nearest)
	require.EqualError(t, err, "replay session: prompt "+string(canon.Sum([]byte("two")))+
		": no such prompt in the session; the nearest is interaction 1, the first that was not replayed: "+string(canon.Sum([]byte("2"))))

	_, err = session.Replay(session.New("a", "m"), session.ReplayOptions{}).Generate(t.Context(), asks(user("hi")), nil)
	require.ErrorAs(t, err, &miss)
	require.Equal(t, -1, miss.Nearest)
}

func TestReplaySequential(t *testing.T) {
	s := session.New("a", "m")
	s.Append("1", "one")
	s.Append("2", "two")
	replayer := session.Replay(s, session.ReplayOptions{Sequential: true})
	for _, want := range []string{"one", "two"} {
		got, err := replayer.Generate(t.Context(), asks(user("anything")), nil)
		require.NoError(t, err)
		require.Equal(t, want, *got.Message.Content[0].Text)
	}
	_, err := replayer.Generate(t.Context(), asks(user("anything")), nil)
	require.ErrorIs(t, err, session.ErrSpent)
	require.ErrorContains(t, err, "all 2 interactions were replayed")
}

func TestReplayChecksContent(t *testing.T) {
	s := session.New("a", "m")
	s.Append("1", "one")
	s.Interactions[0].ResponseContent = "two"
	_, err := session.Replay(s, session.ReplayOptions{Sequential: true}).Generate(t.Context(), asks(user("hi")), nil)
	require.ErrorIs(t, err, session.ErrTampered)
	require.ErrorContains(t, err, "interaction 0: response_hash is not that of response_content")
}

func TestReplayErrors(t *testing.T) {
	s := session.New("a", "m")
	s.Append("1", `{"content":"","error":{"code":"c","message":"no","status":400,"type":"t"},"finish_reason":"other"}`)
	s.Append("2", `{"content":"ab","finish_reason":"stop","parts":[{"text":"a"},{"text":"b"}]}`)
	replayer := session.Replay(s, session.ReplayOptions{Sequential: true})
	_, err := replayer.Generate(t.Context(), asks(user("hi")), nil)
	require.EqualError(t, err, `recorded error: status 400, type "t", code "c": no`)
	about := session.New("a", "m")
	about.Append("1", `{"content":"","error":{"message":"no","param":"top_p"},"finish_reason":"other"}`)
	_, err = session.Replay(about, session.ReplayOptions{Sequential: true}).Generate(t.Context(), asks(user("hi")), nil)
	require.Equal(t, &session.RecordedError{Message: "no", Param: "top_p"}, err)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = replayer.Generate(cancelled, asks(user("hi")), nil)
	require.ErrorIs(t, err, context.Canceled)

	chunks := 0
	ctx, stop := context.WithCancel(t.Context())
	_, err = replayer.Generate(ctx, asks(user("hi")), func(context.Context, *modelio.GenerateResponseChunk) error {
		chunks++
		stop()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, chunks, "a stream ends with its context")

	replayer = session.Replay(s, session.ReplayOptions{})
	_, err = replayer.Generate(t.Context(), asks(user("\xff")), nil)
	require.ErrorAs(t, err, new(*modelio.FormatError))
}

// TestResponseCoreRoundTrip checks that a response keeps its content in a round trip, whatever its parts.
func TestResponseCoreRoundTrip(t *testing.T) {
	metadata := modelio.Object{"thoughtSignature": json.RawMessage(`"x"`)}
	tests := []struct {
		name, why string
		parts     []modelio.Part
		core      string
	}{
		{"text", "content says it all", []modelio.Part{modelio.TextPart("a<b")}, `{"content":"a<b","finish_reason":"stop"}`},
		{"nothing", "an answer may be empty", []modelio.Part{}, `{"content":"","finish_reason":"stop"}`},
		{
			"text_and_call", "content and tool calls say it all", []modelio.Part{modelio.TextPart("a"), request("t", "call_1")},
			`{"content":"a","finish_reason":"stop","tool_calls":[{"input":{},"name":"t","ref":"call_1"}]}`,
		},
		{
			"call_and_text", "the order is not the usual one", []modelio.Part{request("t", "call_1"), modelio.TextPart("a")},
			`{"content":"a","finish_reason":"stop","parts":[{"toolRequest":{"input":{},"name":"t","ref":"call_1"}},{"text":"a"}],"tool_calls":[{"input":{},"name":"t","ref":"call_1"}]}`,
		},
		{
			"two_texts", "content does not say where one ends", []modelio.Part{modelio.TextPart("a"), modelio.TextPart("b")},
			`{"content":"ab","finish_reason":"stop","parts":[{"text":"a"},{"text":"b"}]}`,
		},
		{
			"reasoning_and_metadata", "content does not hold them",
			[]modelio.Part{modelio.ReasoningPart("hm"), {Text: new(string), Metadata: metadata}},
			`{"content":"","finish_reason":"stop","parts":[{"reasoning":"hm"},{"metadata":{"thoughtSignature":"x"},"text":""}]}`,
		},
		{
			"answered_call", "the provider ran it, so that it is no call of the caller's",
			[]modelio.Part{request("t", "call_1"), {ToolResponse: &modelio.ToolResponse{Name: "t", Ref: "call_1", Output: json.RawMessage(`1`)}}},
			`{"content":"","finish_reason":"stop","parts":[{"toolRequest":{"input":{},"name":"t","ref":"call_1"}},{"toolResponse":{"name":"t","output":1,"ref":"call_1"}}]}`,
		},
		{
			"large_integer", "a float64 does not hold it", []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "t", Ref: "call_1", Input: json.RawMessage(`9223372036854775807`)}}},
			`{"content":"","finish_reason":"stop","tool_calls":[{"input":{"$number":"9223372036854775807"},"name":"t","ref":"call_1"}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			core, err := session.ResponseCore(asks(user("hi")), says(tt.parts...))
			require.NoError(t, err)
			require.Equal(t, tt.core, string(core), tt.why)
			answer := modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: tt.parts}, FinishReason: modelio.FinishStop}}}
			recorded, err := snapshot.ResponseCore(&snapshot.Response{Response: answer})
			require.NoError(t, err)
			require.Equal(t, string(recorded), string(core), "the core of a record")

			s := session.New("a", "m")
			s.Append("p", string(core))
			got, err := session.Replay(s, session.ReplayOptions{Sequential: true}).Generate(t.Context(), asks(), nil)
			require.NoError(t, err)
			require.Equal(t, says(tt.parts...), got, tt.why)
		})
	}
}

// TestResponseCoreOfRecord: what the format leaves out of a record's core is not in a session's either.
func TestResponseCoreOfRecord(t *testing.T) {
	empty := modelio.Object{}
	for name, parts := range map[string][]modelio.Part{
		"a lone empty text":                {modelio.TextPart("")},
		"empty metadata":                   {{Text: new(string), Metadata: empty}},
		"empty metadata of a call":         {{ToolRequest: &modelio.ToolRequest{Name: "t", Ref: "call_1"}, Metadata: empty}},
		"an empty text beside another one": {modelio.TextPart(""), modelio.TextPart("a")},
	} {
		t.Run(name, func(t *testing.T) {
			core, err := session.ResponseCore(asks(user("hi")), says(parts...))
			require.NoError(t, err)
			answer := modelio.Response{Candidates: []modelio.Candidate{{Message: modelio.Message{Content: parts}, FinishReason: modelio.FinishStop}}}
			recorded, err := snapshot.ResponseCore(&snapshot.Response{Response: answer})
			require.NoError(t, err)
			require.Equal(t, string(recorded), string(core))
		})
	}
}

// TestReplayOfAnotherProgram has contents that are no cores: each is the text of the answer.
func TestReplayOfAnotherProgram(t *testing.T) {
	s := session.New("a", "m")
	contents := []string{
		`hi`, `42`, `{"answer":42}`, `{"content":"x"}`, `{"finish_reason":"stop"}`, `{"content":"x","finish_reason":""}`,
		`{"Content":"x","finish_reason":"stop"}`, `{"content":"x","finiſh_reason":"stop"}`,
		`{"content":"x","finish_reason":"stop","tool_calls":[{"Name":"t","name":"t","ref":"call_1"}]}`,
		`{"content":"x","finish_reason":"stop","tool_calls":[{"more":1,"name":"t","ref":"call_1"}]}`,
		`{"content":"x","finish_reason":"stop","more":1}`, `{"content": "x", "finish_reason": "stop"}`,
	}
	for _, content := range contents {
		s.Append("p", content)
	}
	replayer := session.Replay(s, session.ReplayOptions{Sequential: true})
	for _, content := range contents {
		got, err := replayer.Generate(t.Context(), asks(), nil)
		require.NoError(t, err)
		require.Equal(t, []modelio.Part{modelio.TextPart(content)}, got.Message.Content)
		require.Equal(t, modelio.FinishOther, got.FinishReason)
	}
}

func TestReplayKeepsCandidates(t *testing.T) {
	s := session.New("a", "m")
	s.Append("p", `{"candidates":[{"content":"b","finish_reason":"stop"}],"content":"a","finish_reason":"stop"}`)
	got, err := session.Replay(s, session.ReplayOptions{Sequential: true}).Generate(t.Context(), asks(), nil)
	require.NoError(t, err)
	want := says(modelio.TextPart("a"))
	want.Unknown = modelio.Object{"candidates": json.RawMessage(`[{"content":"b","finish_reason":"stop"}]`)}
	require.Equal(t, want, got)
}

func TestRecord(t *testing.T) {
	usage := says(modelio.TextPart("a"))
	in, out := int64(3), int64(4)
	usage.Usage = &modelio.Usage{InputTokens: &in, OutputTokens: &out}
	recorder := session.Record(&script{answers: []*modelio.GenerateResponse{
		usage, nil, says(modelio.TextPart("\xff")), {Usage: &modelio.Usage{OutputTokens: &out}},
	}}, "a", "m")

	_, err := recorder.Generate(t.Context(), asks(user("\xff")), nil)
	require.ErrorContains(t, err, "record session: ")
	_, err = recorder.Generate(t.Context(), asks(user("1")), nil)
	require.NoError(t, err)
	_, err = recorder.Generate(t.Context(), asks(user("2")), nil)
	require.EqualError(t, err, "record session: the model returned neither response nor error")
	_, err = recorder.Generate(t.Context(), asks(user("3")), nil)
	require.ErrorContains(t, err, "record session: response core: ")
	_, err = recorder.Generate(t.Context(), asks(user("4")), nil)
	require.NoError(t, err)
	_, err = recorder.Generate(t.Context(), asks(user("5")), nil)
	require.EqualError(t, err, "the model is down")

	s := recorder.Session()
	require.Len(t, s.Interactions, 2, "what failed has no answer")
	require.Equal(t, session.ModeRecord, s.Mode)
	require.Equal(t, &in, s.Interactions[0].TokensInput)
	require.Equal(t, &out, s.Interactions[0].TokensOutput)
	require.Equal(t, 1, s.Interactions[1].I)
	require.Nil(t, s.Interactions[1].TokensInput, "what was not reported is not zero")
	require.Equal(t, `{"content":"","finish_reason":"other"}`, s.Interactions[1].ResponseContent)
	core, err := session.RequestCore(asks(user("4")))
	require.NoError(t, err)
	require.Equal(t, canon.Sum(core), s.Interactions[1].PromptHash)
}

// TestRecordOrder checks that interactions are in the order in which the calls began, not in which they ended.
func TestRecordOrder(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	slowFirst := modelio.ModelFunc(func(_ context.Context, req *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if *req.Messages[0].Content[0].Text == "1" {
			close(begun)
			<-release
		}
		return says(req.Messages[0].Content[0]), nil
	})
	recorder := session.Record(slowFirst, "a", "m")
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := recorder.Generate(t.Context(), asks(user("1")), nil)
		assert.NoError(t, err)
	})
	<-begun
	_, err := recorder.Generate(t.Context(), asks(user("2")), nil)
	require.NoError(t, err)
	require.Len(t, recorder.Session().Interactions, 1)
	close(release)
	wait.Wait()
	s := recorder.Session()
	require.JSONEq(t, `{"content":"1","finish_reason":"stop"}`, s.Interactions[0].ResponseContent)
	require.JSONEq(t, `{"content":"2","finish_reason":"stop"}`, s.Interactions[1].ResponseContent)
}

// TestReplayConcurrently checks that goroutines with equal requests get all the answers, each once.
func TestReplayConcurrently(t *testing.T) {
	const n = 50
	s := session.New("a", "m")
	prompt, err := session.RequestCore(asks(user("hi")))
	require.NoError(t, err)
	want := map[string]bool{}
	for i := range n {
		text := string(rune('A' + i))
		s.Append(string(prompt), text)
		want[text] = true
	}
	replayer := session.Replay(s, session.ReplayOptions{})
	got := make([]string, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			if resp, err := replayer.Generate(t.Context(), asks(user("hi")), nil); err == nil {
				got[i] = *resp.Message.Content[0].Text
			}
		})
	}
	wait.Wait()
	for _, text := range got {
		require.True(t, want[text], "%q", text)
		delete(want, text)
	}
}

func request(name, ref string) modelio.Part {
	return modelio.Part{ToolRequest: &modelio.ToolRequest{Name: name, Ref: ref, Input: json.RawMessage(`{}`)}}
}
