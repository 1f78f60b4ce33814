package genkithooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// toolKey is a context key for the refusal of the recorded tool that is running.
type toolKey struct{}

// A refusal is the error of a recorded tool that asks a recorded model.
type refusal struct {
	tool string
	told atomic.Bool
}

func (r *refusal) Error() string {
	return fmt.Sprintf("genkithooks: tool %q asks a model, and neither happens in replay, where its result is recorded: let it run there, by Record(…).Live(%q)", r.tool, r.tool)
}

func (g *generation) callTool(ctx context.Context, params *ai.ToolParams,
	next ai.ToolNext) (*ai.MultipartToolResponse, error) {
	name := params.Request.Name
	if slices.Contains(g.live, name) {
		return next(ctx, params)
	}
	input, err := g.inputOf(params.Request)
	if err != nil {
		return nil, fmt.Errorf("genkithooks: input of tool %q: %w", name, err)
	}
	output, err := g.rec.Tool(name, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		refused := &refusal{tool: name}
		resp, err := next(context.WithValue(ctx, toolKey{}, refused), params)
		if refused.told.Load() { // Genkit's own tools for agents make a result of it
			return nil, refused
		}
		return outputOf(resp, err)
	})(ctx, input)
	if err != nil {
		return nil, err
	}
	return toResponse(output)
}

// A call is what Genkit reports about a tool call in addition to its input and output. It is recorded as the member
// $genkit of an object. A plain call is recorded as its input or output alone.
type call struct {
	Input    any `json:"input,omitempty"`
	Resumed  any `json:"resumed,omitempty"`       // the data that resumes an interrupted call
	Replaced any `json:"replacedInput,omitempty"` // the input before the call was resumed

	Output    any            `json:"output,omitempty"`
	Content   []*ai.Part     `json:"content,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	Interrupt any            `json:"interrupt,omitempty"` // the metadata of an interrupt, or true
}

// inputOf returns a tool's input. A resumed call has a different input than the call that was interrupted.
func (g *generation) inputOf(req *ai.ToolRequest) (json.RawMessage, error) {
	c := call{Input: req.Input}
	if resume := g.options.Resume; resume != nil {
		for _, part := range resume.Restart {
			if part.ToolRequest != nil && part.ToolRequest.Name == req.Name && part.ToolRequest.Ref == req.Ref {
				c.Resumed, c.Replaced = part.Metadata["resumed"], part.Metadata["replacedInput"]
			}
		}
	}
	return enveloped(c, req.Input, c.Resumed == nil && c.Replaced == nil)
}

// outputOf returns a tool's output. An interrupt is not a failure.
func outputOf(resp *ai.MultipartToolResponse, err error) (json.RawMessage, error) {
	if interrupted, metadata := ai.IsToolInterruptError(err); interrupted {
		if metadata == nil {
			return enveloped(call{Interrupt: true}, nil, false)
		}
		return enveloped(call{Interrupt: metadata}, nil, false)
	}
	if err != nil {
		return nil, err
	}
	if resp == nil {
		resp = new(ai.MultipartToolResponse)
	}
	return enveloped(call{Output: resp.Output, Content: resp.Content, Metadata: resp.Metadata}, resp.Output,
		resp.Content == nil && resp.Metadata == nil)
}

// toResponse is the inverse of outputOf.
func toResponse(output json.RawMessage) (*ai.MultipartToolResponse, error) {
	if !isEnvelope(output) {
		resp := new(ai.MultipartToolResponse)
		return resp, json.Unmarshal(output, &resp.Output)
	}
	var said struct {
		Genkit call `json:"$genkit"` // zero if it is null
	}
	if err := json.Unmarshal(output, &said); err != nil {
		return nil, fmt.Errorf("genkithooks: recorded output of a tool: %w", err)
	}
	if said.Genkit.Interrupt != nil {
		metadata, _ := said.Genkit.Interrupt.(map[string]any) // nil if it is true
		return nil, ai.NewToolInterruptError(metadata)
	}
	return &ai.MultipartToolResponse{Output: said.Genkit.Output, Content: said.Genkit.Content,
		Metadata: said.Genkit.Metadata}, nil
}

// enveloped returns the JSON text of plain, or that of c if c has more data or plain could be mistaken for an envelope.
func enveloped(c call, plain any, isPlain bool) (json.RawMessage, error) {
	text, err := jsontext.Marshal(plain)
	if err == nil && (!isPlain || isEnvelope(text)) {
		return jsontext.Marshal(map[string]call{"$genkit": c})
	}
	return text, err
}

// isEnvelope reports whether a JSON text is an object with the envelope's member.
func isEnvelope(text json.RawMessage) bool {
	var e struct {
		Genkit json.RawMessage `json:"$genkit"`
	}
	return json.Unmarshal(text, &e) == nil && e.Genkit != nil
}
