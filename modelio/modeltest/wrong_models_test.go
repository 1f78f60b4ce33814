package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// A wrongModel is a model that breaks one rule only.
type wrongModel struct {
	rule  modeltest.Rule
	why   string
	model func() modelio.ModelFunc
}

// edited returns a model that answers like good, and then changes the answer and the chunks with edit.
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

// answered returns a model whose answers edit changes, whole and in chunks.
func answered(edit func(*modelio.GenerateRequest, *modelio.GenerateResponse)) func() modelio.ModelFunc {
	return edited(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse, _ []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		edit(req, resp)
		if resp.Message == nil {
			return nil
		}
		return []*modelio.GenerateResponseChunk{{Content: resp.Message.Content}}
	})
}

// chunked returns a model that streams the parts of good's chunks after edit has changed them.
func chunked(edit func(*modelio.GenerateRequest, []modelio.Part) []modelio.Part) func() modelio.ModelFunc {
	return edited(func(req *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		var parts []modelio.Part
		for _, chunk := range chunks {
			parts = append(parts, chunk.Content...)
		}
		return []*modelio.GenerateResponseChunk{{Content: edit(req, parts)}}
	})
}

// refusing returns a model that fails if refuse returns true.
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

// constrainedTo returns a model that answers with a text where a schema constrains the answer.
func constrainedTo(text string) func() modelio.ModelFunc {
	return answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.Output != nil && req.Output.Schema != nil {
			resp.Message.Content = []modelio.Part{modelio.TextPart(text)}
		}
	})
}

func anyPart(req *modelio.GenerateRequest, is func(modelio.Part) bool) bool {
	for _, message := range req.Messages {
		if slices.ContainsFunc(message.Content, is) {
			return true
		}
	}
	return false
}

var wrongModels = []wrongModel{
	{modeltest.RuleText, "it answers longer prompts only", refusing(func(req *modelio.GenerateRequest) bool {
		return textOf(req.Messages[0]) == "Say hello in one short sentence."
	})},
	{modeltest.RuleMultiturn, "it has no memory", refusing(func(req *modelio.GenerateRequest) bool {
		return len(req.Messages) > 1 && req.Messages[1].Role == modelio.RoleModel && len(req.Tools) == 0
	})},
	{modeltest.RuleSystemRole, "it does not know the role", refusing(func(req *modelio.GenerateRequest) bool {
		return req.Messages[0].Role == modelio.RoleSystem
	})},
	{modeltest.RuleMedia, "it takes no data: URI", refusing(func(req *modelio.GenerateRequest) bool {
		return anyPart(req, func(p modelio.Part) bool { return p.Media != nil && strings.HasPrefix(p.Media.URL, "data:") })
	})},
	{modeltest.RuleTools, "it takes one tool only", refusing(func(req *modelio.GenerateRequest) bool {
		return len(req.Tools) > 1 && len(req.Messages) == 1
	})},
	{modeltest.RuleToolResponse, "it takes no results", refusing(func(req *modelio.GenerateRequest) bool {
		return anyPart(req, func(p modelio.Part) bool { return p.ToolResponse != nil })
	})},
	{modeltest.RuleConstrained, "it does not enforce the schema", constrainedTo(`{"name":"Ada","age":"36"}`)},
	{modeltest.RuleConstrained, "it adds a member that the schema does not allow", constrainedTo(`{"name":"Ada","age":36,"id":1}`)},
	{modeltest.RuleConstrained, "it answers a fraction where the schema asks for an integer", constrainedTo(`{"name":"Ada","age":36.5}`)},
	{modeltest.RuleConstrained, "it knows no name", constrainedTo(`{"name":null,"age":36}`)},
	{modeltest.RuleConstrained, "it knows no age", constrainedTo(`{"name":"Ada","age":null}`)},
	{modeltest.RuleConstrained, "it writes names in capitals", constrainedTo(`{"Name":"Ada","Age":36}`)},
	{modeltest.RuleConstrained, "it lists persons", constrainedTo(`[{"name":"Ada","age":36}]`)},
	{modeltest.RuleJSON, "it talks around the JSON", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.Output != nil && req.Output.Schema == nil {
			resp.Message.Content = []modelio.Part{modelio.TextPart("Here you are: {}")}
		}
	})},
	{modeltest.RuleToolChoice, "it calls tools all the same", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.ToolChoice == modelio.ToolChoiceNone {
			resp.Message.Content = []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "weather", Input: json.RawMessage("{}")}}}
		}
	})},
	{modeltest.RuleToolChoice, "it calls no tool all the same", answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		if req.ToolChoice == modelio.ToolChoiceRequired {
			resp.Message.Content = []modelio.Part{modelio.TextPart("no")}
		}
	})},
	{modeltest.RuleMessage, "it returns no message", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message = nil
	})},
	{modeltest.RuleMessage, "it returns nothing", func() modelio.ModelFunc {
		return func(ctx context.Context, _ *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return nil, ctx.Err()
		}
	}},
	{modeltest.RuleMessage, "its answer has no JSON form", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Custom = json.RawMessage("{")
	})},
	{modeltest.RuleRole, "it answers as the provider says it", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Role = "assistant"
	})},
	{modeltest.RulePart, "it leaves a part empty", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = append(resp.Message.Content, modelio.Part{})
	})},
	{modeltest.RulePart, "it puts two kinds into one part", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		part := modelio.TextPart("a")
		part.Reasoning = part.Text
		resp.Message.Content = append(resp.Message.Content, part)
	})},
	{modeltest.RulePart, "it makes media without a URI", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = append(resp.Message.Content, modelio.MediaPart("image/png", ""))
	})},
	{modeltest.RulePart, "it yields a nil chunk", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		return append(chunks, nil)
	})},
	{modeltest.RuleFinishReason, "it passes the provider's word on", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.FinishReason = "end_turn"
	})},
	{modeltest.RuleToolOffered, "it passes the sanitized name on", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Name = "functions__weather"
			}
		}
	})},
	{modeltest.RuleToolRequest, "it passes the arguments on as text", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Input = json.RawMessage(`"{\"city\":\"Oslo\"}"`)
			}
		}
	})},
	{modeltest.RuleToolRequest, "it leaves the arguments out", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Input = nil
			}
		}
	})},
	{modeltest.RuleToolRequest, "its answer has partial requests", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Partial = true
			}
		}
	})},
	{modeltest.RuleToolRef, "all its calls have one ref", answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		for _, part := range resp.Message.Content {
			if part.ToolRequest != nil {
				part.ToolRequest.Ref = "call"
			}
		}
	})},
	{modeltest.RuleStreamCandidate, "it yields the second candidate alone", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		for _, chunk := range chunks {
			chunk.Index = 1
		}
		return chunks
	})},
	{modeltest.RuleStreamRole, "its role changes on the way", edited(func(_ *modelio.GenerateRequest, _ *modelio.GenerateResponse, chunks []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		chunks[len(chunks)-1].Role = modelio.RoleTool
		return chunks
	})},
	{modeltest.RuleStreamPartial, "its intermediate chunks are not marked", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && part.ToolRequest.Partial {
				part.ToolRequest.Partial = false
				part.ToolRequest.Ref = parts[i+1].ToolRequest.Ref
			}
		}
		return parts
	})},
	{modeltest.RuleStreamFinal, "its last chunks are marked", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil {
				request := *part.ToolRequest
				request.Partial = true
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modeltest.RuleStreamFinal, "its final chunks say partial:false", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && !part.ToolRequest.Partial {
				request := *part.ToolRequest
				request.Unknown = modelio.Object{"partial": json.RawMessage("false")}
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modeltest.RuleStreamInput, "its final chunks are mere ends", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		for i, part := range parts {
			if part.ToolRequest != nil && !part.ToolRequest.Partial {
				request := *part.ToolRequest
				request.Input = nil
				parts[i].ToolRequest = &request
			}
		}
		return parts
	})},
	{modeltest.RuleStreamChunks, "it does not stream", edited(func(*modelio.GenerateRequest, *modelio.GenerateResponse, []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		return nil
	})},
	{modeltest.RuleStreamAggregate, "it keeps the end for itself", chunked(func(_ *modelio.GenerateRequest, parts []modelio.Part) []modelio.Part {
		if last := len(parts) - 1; parts[last].Text != nil {
			return parts[:last]
		}
		return parts
	})},
	{modeltest.RuleStreamConsistent, "it drops its thoughts when it streams", func() modelio.ModelFunc {
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
	{modeltest.RuleStreamError, "it swallows the callback's error", swallowing(func(err error, _ int) (bool, error) { return true, nil })},
	{modeltest.RuleStreamError, "it goes on after the callback's error", swallowing(func(err error, n int) (bool, error) { return n == 2, err })},
	{modeltest.RuleStreamError, "it returns an error of its own", swallowing(func(err error, _ int) (bool, error) { return true, fmt.Errorf("stream: %v", err) })},
	{modeltest.RuleCancel, "it has no ear for the context", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return good(context.WithoutCancel(ctx), req, stream)
		}
	}},
	{modeltest.RuleCancelCause, "it hides why it ended", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if ctx.Err() != nil {
				return nil, errors.New("ended")
			}
			return good(ctx, req, stream)
		}
	}},
	{modeltest.RuleRequest, "it puts its system prompt into the request", func() modelio.ModelFunc {
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			defer func() { req.Config = modelio.Object{"temperature": json.RawMessage("0")} }()
			return good(ctx, req, stream)
		}
	}},
	{modeltest.RuleConcurrent, "it gives one call the answer of another", func() modelio.ModelFunc {
		pair := newPairing()
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return good(ctx, pair.swap(req), stream)
		}
	}},
	{modeltest.RuleConcurrent, "it gives one call the chunks of another", func() modelio.ModelFunc {
		pair := newPairing()
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			other := pair.swap(req)
			if other == req {
				return good(ctx, req, stream)
			}
			if _, err := good(ctx, other, stream); err != nil {
				return nil, err
			}
			return good(ctx, req, nil)
		}
	}},
	{modeltest.RuleConcurrent, "it refuses calls when it is busy", overloaded(nil, errors.New("busy"))},
	{modeltest.RuleConcurrent, "it has nothing to say when it is busy", overloaded(&modelio.GenerateResponse{FinishReason: modelio.FinishOther}, nil)},
}

// swallowing returns a model that handles the callback's error with end, which gets the number of errors so far, and
// returns whether to stop and the error to return.
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

// overloaded returns a model that returns resp and err when Check makes simultaneous calls.
func overloaded(resp *modelio.GenerateResponse, err error) func() modelio.ModelFunc {
	return func() modelio.ModelFunc {
		pair := newPairing()
		return func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if pair.swap(req) != req {
				return resp, err
			}
			return good(ctx, req, stream)
		}
	}
}

// A pairing swaps the requests for the capitals of France and Japan, after each was answered alone. From then on Check
// makes equally many of both, all at once.
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
