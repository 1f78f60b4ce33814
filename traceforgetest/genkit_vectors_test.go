package traceforgetest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Genkit's own cases of scripted models: recorded from the script and replayed twice with the
// model forbidden, each time with what the case expects; and all that again without refs.

// A genkitScript is what a scripted model says, call by call.
type genkitScript struct {
	ModelResponses []*modelio.GenerateResponse
	StreamChunks   [][]*modelio.GenerateResponseChunk
}

// model returns a model that follows the script; one that is not live is forbidden.
func (s genkitScript) model(live bool) modelio.Model {
	if !live {
		return forbidden
	}
	n := -1
	return modelio.ModelFunc(func(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		n++
		if n >= len(s.ModelResponses) {
			return nil, errors.New("the script has no more answers")
		}
		if stream != nil && n < len(s.StreamChunks) {
			for _, chunk := range s.StreamChunks[n] {
				if err := stream(ctx, chunk); err != nil {
					return nil, err
				}
			}
		}
		return s.ModelResponses[n], nil
	})
}

// genkitCases returns the cases of a file, as they are or without any ref.
func genkitCases[Case any](t *testing.T, file string, refs bool) []Case {
	t.Helper()
	var cases any
	require.NoError(t, yaml.Unmarshal(vector.Text(t, "genkit/tests/specs/"+file), &cases))
	if !refs {
		removeRefs(cases)
	}
	text, err := json.Marshal(cases)
	require.NoError(t, err)
	var decoded struct{ Tests []Case }
	require.NoError(t, json.Unmarshal(text, &decoded))
	require.NotEmpty(t, decoded.Tests)
	return decoded.Tests
}

func removeRefs(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "ref")
		for _, value := range v {
			removeRefs(value)
		}
	case []any:
		for _, value := range v {
			removeRefs(value)
		}
	}
}

// rehearse runs a test once to record and twice to replay; each has to pass.
func rehearse(t *testing.T, test func(tb *tbtest.TB, tf *traceforgetest.Recorder, live bool)) {
	t.Helper()
	s := newScene(t)
	s.record("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { test(tb, tf, true) },
		traceforgetest.Nondeterministic("the cases are Genkit's"))
	for range 2 {
		requirePass(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { test(tb, tf, false) }))
	}
	s.requireWhole()
}

// generateLoop calls a model, and again with the results of the tools that it asks for, as
// Genkit does, but for those that interrupt: all but testTool. It leaves req as the last request.
func generateLoop(m modelio.Model, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	for {
		resp, err := m.Generate(context.Background(), req, stream)
		if err != nil {
			return nil, err
		}
		results := modelio.Message{Role: modelio.RoleTool}
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil && part.ToolRequest.Name == "testTool" {
				results.Content = append(results.Content, toolCalled(part.ToolRequest))
			}
		}
		if results.Content == nil {
			return resp, nil
		}
		req.Messages = append(req.Messages, *resp.Message, results)
	}
}

func toolCalled(call *modelio.ToolRequest) modelio.Part {
	return modelio.Part{ToolResponse: &modelio.ToolResponse{Name: call.Name, Ref: call.Ref, Output: json.RawMessage(`"tool called"`)}}
}

// assertJSON compares as JSON. No list is an empty one.
func assertJSON[T any](tb *tbtest.TB, want, got []T, what string) {
	tb.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) {
			tb.Fatalf("%s: want %d, got %d", what, len(want), len(got))
		}
		assert.JSONEq(tb, marshal(tb, want[i]), marshal(tb, got[i]), what)
	}
}

func marshal(tb *tbtest.TB, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return string(text)
}

type generateCase struct {
	Name   string
	Stream bool
	Input  struct {
		Messages []modelio.Message
		Config   modelio.Object
		Tools    []string
	}
	genkitScript
	ExpectChunks   []*modelio.GenerateResponseChunk
	ExpectResponse json.RawMessage
}

func TestGenkitGenerateVectors(t *testing.T) {
	for name, refs := range map[string]bool{"refs": true, "no_refs": false} {
		for _, c := range genkitCases[generateCase](t, "generate.yaml", refs) {
			t.Run(c.Name+"/"+name, func(t *testing.T) { rehearse(t, c.run) })
		}
	}
}

func (c generateCase) run(tb *tbtest.TB, tf *traceforgetest.Recorder, live bool) {
	req := &modelio.GenerateRequest{
		Messages: slices.Clone(c.Input.Messages),
		Config:   c.Input.Config,
		Tools:    []modelio.ToolDefinition{},
		Output:   &modelio.OutputConfig{},
	}
	for _, tool := range c.Input.Tools {
		schema := json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#"}`)
		req.Tools = append(req.Tools, modelio.ToolDefinition{Name: tool, Description: "description", InputSchema: schema, OutputSchema: schema})
	}
	var chunks []*modelio.GenerateResponseChunk
	var stream modelio.StreamFunc
	if c.Stream {
		stream = func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
			chunks = append(chunks, chunk)
			return nil
		}
	}
	resp, err := generateLoop(tf.Model("genkit/programmableModel", c.model(live)), req, stream)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	assertJSON(tb, c.ExpectChunks, chunks, "chunks")

	whole := *resp // what Genkit adds to the model's answer
	whole.Custom, whole.Usage = json.RawMessage(`{}`), &modelio.Usage{}
	whole.Unknown = modelio.Object{"request": json.RawMessage(marshal(tb, req))}
	assert.JSONEq(tb, string(c.ExpectResponse), marshal(tb, &whole))
}

type agentCase struct {
	Name  string
	Steps []agentStep
}

type agentStep struct {
	Type string
	Init struct {
		SnapshotID, SessionID string
		State                 any
	}
	Inputs []struct {
		Message *modelio.Message
		Resume  struct{ Respond, Restart []modelio.Part }
	}
	genkitScript
	ExpectChunks []struct {
		ModelChunk *modelio.GenerateResponseChunk
	}
	ExpectOutput, ExpectSnapshot struct {
		Message       any
		StateContains struct{ Messages any }
		ErrorContains any
	}
	ExpectError                     any
	CaptureSnapshotID, CaptureState string
	SnapshotID, SessionID           string // of a step that looks at what was saved
}

// callsModel reports whether the agent gets as far as its model.
func (s *agentStep) callsModel() bool {
	return s.ModelResponses != nil && s.ExpectError == nil && s.ExpectOutput.ErrorContains == nil
}

func TestGenkitAgentVectors(t *testing.T) {
	for name, refs := range map[string]bool{"refs": true, "no_refs": false} {
		for _, c := range genkitCases[agentCase](t, "agent.yaml", refs) {
			if slices.ContainsFunc(c.Steps, func(s agentStep) bool { return s.callsModel() }) {
				t.Run(c.Name+"/"+name, func(t *testing.T) { rehearse(t, c.run) })
			}
		}
	}
}

// run is the agent as far as its model sees it: a conversation that is saved and taken up.
func (c agentCase) run(tb *tbtest.TB, tf *traceforgetest.Recorder, live bool) {
	saved := map[string][]modelio.Message{}
	for _, s := range c.Steps {
		if !s.callsModel() {
			if history, ok := saved[cmp.Or(s.SnapshotID, s.SessionID)]; ok {
				assertWithin(tb, s.ExpectSnapshot.StateContains.Messages, history)
			}
			continue
		}
		state, _ := s.Init.State.(string)
		history := s.send(tb, tf.Model("genkit/programmableModel", s.model(live)), saved[cmp.Or(s.Init.SnapshotID, state, s.Init.SessionID)])
		for _, name := range []string{"{{" + s.CaptureSnapshotID + "}}", "{{" + s.CaptureState + "}}", s.Init.SessionID} {
			saved[name] = history
		}
		delete(saved, "")
		assertWithin(tb, s.ExpectOutput.Message, history[len(history)-1])
		assertWithin(tb, s.ExpectOutput.StateContains.Messages, history)
	}
}

// send carries the conversation on with a step's inputs.
func (s *agentStep) send(tb *tbtest.TB, m modelio.Model, history []modelio.Message) []modelio.Message {
	var chunks, wantChunks []*modelio.GenerateResponseChunk
	var said []*modelio.GenerateResponse
	heard := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		resp, err := m.Generate(ctx, req, stream)
		said = append(said, resp)
		return resp, err
	})
	req := &modelio.GenerateRequest{Messages: slices.Clone(history)}
	for _, input := range s.Inputs {
		results := modelio.Message{Role: modelio.RoleTool, Content: input.Resume.Respond}
		for _, part := range input.Resume.Restart {
			results.Content = append(results.Content, toolCalled(part.ToolRequest))
		}
		if results.Content != nil {
			req.Messages = append(req.Messages, results)
		}
		if input.Message != nil {
			req.Messages = append(req.Messages, *input.Message)
		}
		resp, err := generateLoop(heard, req, func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
			chunks = append(chunks, chunk)
			return nil
		})
		if err != nil {
			tb.Fatalf("%v", err)
		}
		req.Messages = append(req.Messages, *resp.Message)
	}
	assertJSON(tb, s.ModelResponses, said, "answers")
	assertJSON(tb, slices.Concat(s.StreamChunks...), chunks, "chunks")
	for _, expected := range s.ExpectChunks {
		if chunk := expected.ModelChunk; chunk != nil && chunk.Role == modelio.RoleModel {
			wantChunks = append(wantChunks, chunk)
		}
	}
	if s.ExpectChunks != nil {
		assertJSON(tb, wantChunks, chunks, "chunks of the model")
	}
	return req.Messages
}

// assertWithin checks that got has all that want says; nil says nothing.
func assertWithin(tb *tbtest.TB, want, got any) {
	tb.Helper()
	text := marshal(tb, got)
	var decoded any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		tb.Fatalf("%v", err)
	}
	if want != nil && !within(want, decoded) {
		tb.Errorf("want %s\ngot %s", marshal(tb, want), text)
	}
}

func within(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && within(value, members[name])
		}
		return ok
	case []any:
		elements, ok := got.([]any)
		return ok && slices.EqualFunc(want, elements, within)
	default:
		return reflect.DeepEqual(want, got)
	}
}
