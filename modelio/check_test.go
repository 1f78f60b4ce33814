package modelio_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// good is a model that keeps the contract: it asks for the first tool where it is offered some
// and has no results yet, makes up a person where it is asked for JSON, and else repeats what
// it is told.
func good(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	content, chunks := goodContent(req)
	if stream != nil {
		for _, parts := range chunks {
			if err := stream(ctx, &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: parts}); err != nil {
				return nil, fmt.Errorf("streaming: %w", err)
			}
		}
	}
	return &modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: content},
		FinishReason: modelio.FinishStop,
	}, nil
}

// calls makes the refs of good differ from call to call.
var calls atomic.Int64

func goodContent(req *modelio.GenerateRequest) (content []modelio.Part, chunks [][]modelio.Part) {
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) > 0 && req.ToolChoice != modelio.ToolChoiceNone && last.Role == modelio.RoleUser {
		for _, city := range []string{"Oslo", "Rome"} {
			request := modelio.ToolRequest{
				Name:  req.Tools[0].Name,
				Ref:   fmt.Sprintf("call_%d", calls.Add(1)),
				Input: json.RawMessage(fmt.Sprintf(`{"city":%q}`, city)),
			}
			partial := modelio.ToolRequest{Name: request.Name, Input: json.RawMessage(`{}`), Partial: true}
			content = append(content, modelio.Part{ToolRequest: &request})
			chunks = append(chunks, []modelio.Part{{ToolRequest: &partial}}, []modelio.Part{{ToolRequest: &request}})
		}
		return content, chunks
	}
	text := "You said: " + textOf(last)
	if req.Output != nil && (req.Output.Format == "json" || req.Output.Schema != nil) {
		text = `{"name":"Ada","age":36}`
	}
	thought, thoughtEnd := modelio.ReasoningPart("Hm."), modelio.ReasoningPart("m.")
	thought.Metadata = modelio.Object{"signature": json.RawMessage(`"c2ln"`)}
	thoughtEnd.Metadata = thought.Metadata
	return []modelio.Part{thought, modelio.TextPart(text)},
		[][]modelio.Part{{modelio.ReasoningPart("H")}, {thoughtEnd}, {modelio.TextPart(text[:5])}, {modelio.TextPart(text[5:])}}
}

func textOf(m modelio.Message) string {
	var b strings.Builder
	for _, part := range m.Content {
		if part.Text != nil {
			b.WriteString(*part.Text)
		}
	}
	return b.String()
}

func everything() modelio.ModelInfo { return modelio.InfoOf(modelio.ModelFunc(good)) }

func TestCheck_GoodModel(t *testing.T) {
	everythingButTools := everything()
	everythingButTools.Supports.Tools = false
	noTools := everything()
	noTools.Supports.Constrained = modelio.ConstrainedNoTools
	for _, tc := range []struct {
		name, why string
		info      modelio.ModelInfo
	}{
		{"everything", "it supports all that there is", everything()},
		{"nothing", "it need not support anything", modelio.ModelInfo{}},
		{"no_tools", "requests with tools are not made", everythingButTools},
		{"constrained_without_tools", "the constrained request has no tools", noTools},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, modelio.Check(t.Context(), modelio.ModelFunc(good), tc.info), tc.why)
		})
	}
}

// TestCheck_Undeclared: a model is asked for nothing that it does not declare.
func TestCheck_Undeclared(t *testing.T) {
	strict := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		switch {
		case len(req.Messages) != 1:
			return nil, errors.New("one message only")
		case req.Messages[0].Role != modelio.RoleUser:
			return nil, errors.New("user messages only")
		case len(req.Tools) > 0 || req.ToolChoice != "":
			return nil, errors.New("no tools")
		case req.Output != nil && (req.Output.Schema != nil || *req.Output.Constrained):
			return nil, errors.New("no schema")
		}
		for _, part := range req.Messages[0].Content {
			if part.Text == nil {
				return nil, errors.New("text only")
			}
		}
		return good(ctx, req, stream)
	})
	require.NoError(t, modelio.Check(t.Context(), strict, modelio.ModelInfo{}))
}

// A wrongModel breaks one rule and no other.
type wrongModel struct {
	rule  modelio.Rule
	why   string
	model func() modelio.ModelFunc
}

// edited returns a model that answers as good does after edit has had its way.
func edited(edit func(*modelio.GenerateRequest, *modelio.GenerateResponse, []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk) func() modelio.ModelFunc {
	return func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			var chunks []*modelio.GenerateResponseChunk
			resp, err := good(ctx, req, func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
				chunks = append(chunks, chunk)
				return nil
			})
			if err != nil {
				return nil, err
			}
			chunks = edit(req, resp, chunks)
			if stream == nil {
				return resp, nil
			}
			for _, chunk := range chunks {
				if err := stream(ctx, chunk); err != nil {
					return nil, err
				}
			}
			return resp, nil
		}
	}
}

// answered returns a model whose answers, in whole and in chunks, edit changes.
func answered(edit func(*modelio.GenerateRequest, *modelio.GenerateResponse)) func() modelio.ModelFunc {
	return edited(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse, _ []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		edit(req, resp)
		if resp.Message == nil {
			return nil
		}
		return []*modelio.GenerateResponseChunk{{Content: resp.Message.Content}}
	})
}

// chunked returns a model that streams what edit makes of the parts of its chunks.
func chunked(edit func(*modelio.GenerateRequest, []modelio.Part) []modelio.Part) func() modelio.ModelFunc {
	return edited(func(req *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		var parts []modelio.Part
		for _, chunk := range chunks {
			parts = append(parts, chunk.Content...)
		}
		return []*modelio.GenerateResponseChunk{{Content: edit(req, parts)}}
	})
}

// refusing returns a model that fails where refuse says so.
func refusing(refuse func(*modelio.GenerateRequest) bool) func() modelio.ModelFunc {
	return func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if ctx.Err() == nil && refuse(req) {
				return nil, errors.New("cannot do that")
			}
			return good(ctx, req, stream)
		}
	}
}

func anyPart(req *modelio.GenerateRequest, is func(modelio.Part) bool) bool {
	for _, message := range req.Messages {
		for _, part := range message.Content {
			if is(part) {
				return true
			}
		}
	}
	return false
}

var wrongModels = []wrongModel{
	{modelio.RuleText, "it answers longer prompts only", refusing(func(req *modelio.GenerateRequest) bool {
		return textOf(req.Messages[0]) == "Say hello in one short sentence."
	})},
	{modelio.RuleMultiturn, "it has no memory", refusing(func(req *modelio.GenerateRequest) bool {
		return len(req.Messages) > 1 && req.Messages[1].Role == modelio.RoleModel && len(req.Tools) == 0
	})},
	{modelio.RuleSystemRole, "it does not know the role", refusing(func(req *modelio.GenerateRequest) bool {
		return req.Messages[0].Role == modelio.RoleSystem
	})},
	{modelio.RuleMedia, "it takes no data: URI", refusing(func(req *modelio.GenerateRequest) bool {
		return anyPart(req, func(p modelio.Part) bool { return p.Media != nil && strings.HasPrefix(p.Media.URL, "data:") })
	})},
	{modelio.RuleTools, "it takes one tool only", refusing(func(req *modelio.GenerateRequest) bool {
		return len(req.Tools) > 1 && len(req.Messages) == 1
	})},
	{modelio.RuleToolResponse, "it takes no results", refusing(func(req *modelio.GenerateRequest) bool {
		return anyPart(req, func(p modelio.Part) bool { return p.ToolResponse != nil })
	})},
	{modelio.RuleConstrained, "it does not enforce the schema", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.Output != nil && req.Output.Schema != nil {
			resp.Message.Content = []modelio.Part{modelio.TextPart(`{"name":"Ada","age":"36"}`)}
		}
	})},
	{modelio.RuleJSON, "it talks around the JSON", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.Output != nil && req.Output.Schema == nil {
			resp.Message.Content = []modelio.Part{modelio.TextPart("Here you are: {}")}
		}
	})},
	{modelio.RuleToolChoice, "it calls tools all the same", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.ToolChoice == modelio.ToolChoiceNone {
			resp.Message.Content = []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "weather", Input: json.RawMessage("{}")}}}
		}
	})},
	{modelio.RuleToolChoice, "it calls no tool all the same", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.ToolChoice == modelio.ToolChoiceRequired {
			resp.Message.Content = []modelio.Part{modelio.TextPart("no")}
		}
	})},
	{modelio.RuleMessage, "it returns no message", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message = nil
	})},
	{modelio.RuleRole, "it answers as the provider says it", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Role = "assistant"
	})},
	{modelio.RulePart, "it leaves a part empty", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = append(resp.Message.Content, modelio.Part{})
	})},
	{modelio.RulePart, "it puts two kinds into one part", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		part := modelio.TextPart("a")
		part.Reasoning = part.Text
		resp.Message.Content = append(resp.Message.Content, part)
	})},
	{modelio.RulePart, "it makes media without a URI", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = append(resp.Message.Content, modelio.MediaPart("image/png", ""))
	})},
	{modelio.RulePart, "it yields a nil chunk", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		return append(chunks, nil)
	})},
	{modelio.RuleFinishReason, "it passes the provider's word on", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.FinishReason = "end_turn"
	})},
	{modelio.RuleToolRequest, "it passes the sanitized name on", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Name = "functions__weather"
			}
		}
	})},
	{modelio.RuleToolRequest, "it passes the arguments on as text", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Input = json.RawMessage(`"{\"city\":\"Oslo\"}"`)
			}
		}
	})},
	{modelio.RuleToolRequest, "its answer has partial requests", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Partial = true
			}
		}
	})},
	{modelio.RuleToolRef, "all its calls have one ref", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Ref = "call"
			}
		}
	})},
	{modelio.RuleStreamCandidate, "it yields the second candidate alone", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		for _, chunk := range chunks {
			chunk.Index = 1
		}
		return chunks
	})},
	{modelio.RuleStreamRole, "its role changes on the way", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		chunks[len(chunks)-1].Role = modelio.RoleTool
		return chunks
	})},
	{modelio.RuleStreamPartial, "its intermediate chunks are not marked", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && part.ToolRequest.Partial {
				part.ToolRequest.Partial = false
				part.ToolRequest.Ref = parts[i+1].ToolRequest.Ref
			}
		}
		return parts
	})},
	{modelio.RuleStreamFinal, "its last chunks are marked", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil {
				request := *part.ToolRequest
				request.Partial = true
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modelio.RuleStreamFinal, "its final chunks say partial:false", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && !part.ToolRequest.Partial {
				request := *part.ToolRequest
				request.Unknown = modelio.Object{"partial": json.RawMessage("false")}
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modelio.RuleStreamInput, "its final chunks are mere ends", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && !part.ToolRequest.Partial {
				request := *part.ToolRequest
				request.Input = nil
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modelio.RuleStreamChunks, "it does not stream", edited(func(*modelio.GenerateRequest, *modelio.GenerateResponse, []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		return nil
	})},
	{modelio.RuleStreamAggregate, "it keeps the end for itself", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		if last := len(parts) - 1; parts[last].Text != nil {
			return parts[:last]
		}
		return parts
	})},
	{modelio.RuleStreamConsistent, "it drops its thoughts when it streams", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if stream == nil {
				return good(ctx, req, nil)
			}
			resp, err := good(ctx, req, func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
				if chunk.Content[0].Reasoning != nil {
					return nil
				}
				return stream(ctx, chunk)
			})
			if err == nil && resp.Message.Content[0].Reasoning != nil {
				resp.Message.Content = resp.Message.Content[1:]
			}
			return resp, err
		}
	}},
	{modelio.RuleStreamError, "it swallows the callback's error", swallowing(func(err error, _ int) (bool, error) { return true, nil })},
	{modelio.RuleStreamError, "it goes on after the callback's error", swallowing(func(err error, n int) (bool, error) { return n == 2, err })},
	{modelio.RuleStreamError, "it returns an error of its own", swallowing(func(err error, _ int) (bool, error) { return true, fmt.Errorf("stream: %v", err) })},
	{modelio.RuleCancel, "it has no ear for the context", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return good(context.WithoutCancel(ctx), req, stream)
		}
	}},
	{modelio.RuleCancelCause, "it hides why it ended", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if ctx.Err() != nil {
				return nil, errors.New("ended")
			}
			return good(ctx, req, stream)
		}
	}},
	{modelio.RuleRequest, "it puts its system prompt into the request", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			defer func() { req.Config = modelio.Object{"temperature": json.RawMessage("0")} }()
			return good(ctx, req, stream)
		}
	}},
	{modelio.RuleConcurrent, "it gives one call the answer of another", func() modelio.ModelFunc {
		pair := newPairing()
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return good(ctx, pair.swap(req), stream)
		}
	}},
}

// swallowing returns a model that treats the callback's error as end says: after n errors, to
// stop or not, and with which error.
func swallowing(end func(err error, n int) (bool, error)) func() modelio.ModelFunc {
	return func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if stream == nil {
				return good(ctx, req, nil)
			}
			n := 0
			var result error
			resp, err := good(ctx, req, func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
				err := stream(ctx, chunk)
				if err == nil {
					return nil
				}
				n++
				stop, returned := end(err, n)
				result = returned
				if stop {
					return errors.New("stop")
				}
				return nil
			})
			if n == 0 {
				return resp, err
			}
			if result == nil {
				return good(ctx, req, nil)
			}
			return nil, result
		}
	}
}

// A pairing swaps the requests for the capitals of France and of Japan, once each has been
// answered alone: from then on Check makes as many of the one as of the other, all at once.
type pairing struct {
	alone         atomic.Int64
	france, japan chan *modelio.GenerateRequest
}

func newPairing() *pairing {
	return &pairing{france: make(chan *modelio.GenerateRequest), japan: make(chan *modelio.GenerateRequest)}
}

func (p *pairing) swap(req *modelio.GenerateRequest) *modelio.GenerateRequest {
	text := textOf(req.Messages[0])
	if !strings.Contains(text, "capital of") || p.alone.Add(1) <= 2 {
		return req
	}
	if strings.Contains(text, "France") {
		p.france <- req
		return <-p.japan
	}
	other := <-p.france
	p.japan <- req
	return other
}

// breaches returns the breaches that err joins.
func breaches(t *testing.T, err error) []*modelio.Breach {
	t.Helper()
	require.Error(t, err)
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "the breaches are joined")
	var all []*modelio.Breach
	for _, err := range joined.Unwrap() {
		var breach *modelio.Breach
		require.ErrorAs(t, err, &breach)
		all = append(all, breach)
	}
	return all
}

func TestCheck_WrongModels(t *testing.T) {
	for _, tc := range wrongModels {
		t.Run(string(tc.rule)+"/"+strings.ReplaceAll(tc.why, " ", "_"), func(t *testing.T) {
			err := modelio.Check(t.Context(), tc.model(), everything())
			for _, breach := range breaches(t, err) {
				require.Equal(t, tc.rule, breach.Rule, "%s: %v", tc.why, err)
				require.NotEmpty(t, breach.Probes)
				t.Log(breach)
			}
		})
	}
}

// TestCheck_Levels: what GK says SHOULD be, and no more, is named so.
func TestCheck_Levels(t *testing.T) {
	should := map[modelio.Rule]bool{}
	for _, tc := range wrongModels {
		for _, breach := range breaches(t, modelio.Check(t.Context(), tc.model(), everything())) {
			if breach.Level == modelio.Should {
				should[breach.Rule] = true
			} else {
				require.Equal(t, modelio.Must, breach.Level)
			}
		}
	}
	require.Equal(t, map[modelio.Rule]bool{
		modelio.RuleJSON: true, modelio.RuleToolChoice: true, modelio.RuleRole: true, modelio.RuleCancelCause: true,
	}, should)
}

// TestCheck_EveryRule: each rule has a model that breaks it.
func TestCheck_EveryRule(t *testing.T) {
	source, err := os.ReadFile("rules.go")
	require.NoError(t, err)
	broken := map[string]bool{}
	for _, tc := range wrongModels {
		broken[string(tc.rule)] = true
	}
	rules := regexp.MustCompile(`(?m)^\tRule\w+ +Rule = "(.+?)"`).FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, rules)
	for _, rule := range rules {
		require.True(t, broken[rule[1]], "no wrong model breaks %s", rule[1])
	}
}

func TestCheck_EveryBreachAtOnce(t *testing.T) {
	careless := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if len(req.Tools) > 0 {
			panic("no tools here")
		}
		if stream != nil {
			_ = stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart("Yes")}})
		}
		return &modelio.GenerateResponse{Message: &modelio.Message{Role: "assistant", Content: []modelio.Part{modelio.TextPart("Yes.")}}}, nil
	})
	err := modelio.Check(t.Context(), careless, modelio.ModelInfo{Supports: modelio.Capabilities{Tools: true, SystemRole: true}})
	require.EqualError(t, err, strings.Join([]string{
		`modelio: MUST finish-reason: finishReason is "", not stop, length, blocked or other (text, text streamed, system, system streamed, constrained, constrained streamed)`,
		`modelio: SHOULD role: the message has role "assistant" (text, text streamed, system, system streamed, constrained, constrained streamed)`,
		`modelio: MUST stream-aggregate: the chunks make {"content":[{"text":"Yes"}],"role":""}, but the answer is {"content":[{"text":"Yes."}],"role":""} (text streamed, system streamed, constrained streamed)`,
		`modelio: MUST tools: the request fails: panic: no tools here (tools)`,
		`modelio: MUST stream-error: the callback's error is lost (callback error)`,
		`modelio: MUST cancel: the request is answered (cancelled context)`,
	}, "\n"))
}

// TestCheck_MoodyModel: a model that never says the same twice keeps the contract.
func TestCheck_MoodyModel(t *testing.T) {
	var n atomic.Int64
	moody := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if req.Output != nil || len(req.Tools) > 0 {
			return good(ctx, req, stream)
		}
		mood := modelio.TextPart(strconv.FormatInt(n.Add(1), 10))
		req = &modelio.GenerateRequest{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{mood}}}}
		return good(ctx, req, stream)
	})
	require.NoError(t, modelio.Check(t.Context(), moody, everything()))
}

// TestCheck_CutShort: an answer that was blocked or cut short need not be what was asked for.
func TestCheck_CutShort(t *testing.T) {
	for _, reason := range []modelio.FinishReason{modelio.FinishBlocked, modelio.FinishLength} {
		model := answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
			resp.FinishReason = reason
			resp.Message.Content = []modelio.Part{modelio.TextPart(`{"na`)}
			if reason == modelio.FinishBlocked && req.Output != nil {
				resp.Message = nil
			}
		})
		require.NoError(t, modelio.Check(t.Context(), model(), everything()), reason)
	}
}

func TestCheck_ContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := modelio.Check(ctx, modelio.ModelFunc(good), everything())
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "modelio: check ended early: context canceled")
}

// TestCheck_Image: the image that media models are asked about is one.
func TestCheck_Image(t *testing.T) {
	var url string
	_ = modelio.Check(t.Context(), modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if content := req.Messages[0].Content; len(content) > 1 {
			url = content[1].Media.URL
		}
		return nil, errors.New("enough")
	}), modelio.ModelInfo{Supports: modelio.Capabilities{Media: true, SystemRole: true}})
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	require.NoError(t, err)
	image, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	r, g, b, _ := image.At(0, 0).RGBA()
	require.Equal(t, []uint32{0xffff, 0, 0}, []uint32{r, g, b})
}

type declaring struct{ modelio.ModelFunc }

func (declaring) Info() modelio.ModelInfo {
	return modelio.ModelInfo{Label: "small", Supports: modelio.Capabilities{Multiturn: true}}
}

func TestInfoOf(t *testing.T) {
	require.Equal(t, declaring{}.Info(), modelio.InfoOf(declaring{good}))
	require.Equal(t, modelio.ConstrainedAll, modelio.InfoOf(modelio.ModelFunc(good)).Supports.Constrained)
}
