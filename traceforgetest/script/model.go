package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
)

// Generate answers a model call with the step that takes it. It implements [modelio.Model].
func (s *Script) Generate(ctx context.Context, req *modelio.GenerateRequest,
	stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, err := s.takeModel(req)
	if err != nil {
		s.tell(err)
		return nil, err
	}
	return st.generate(ctx, stream)
}

// takeModel takes the step that answers a model call.
func (s *Script) takeModel(req *modelio.GenerateRequest) (*step, error) {
	a, err := askedOf(req)
	if err != nil {
		return nil, err
	}
	s.count()
	st, err := s.take(a)
	if err != nil {
		return nil, s.failure(st, a, err)
	}
	return st, nil
}

// generate returns the step's answer.
func (st *step) generate(ctx context.Context, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := sleep(ctx, st.pause); err != nil {
		return nil, err
	}
	if f := st.said.Failure; f != nil {
		return nil, fmt.Errorf("status %d: %s", f.Status, f.words())
	}
	if stream != nil {
		for i, part := range st.said.chunks() {
			if st.said.Cut != nil && i == *st.said.Cut {
				break
			}
			if err := sleep(ctx, st.pause); err != nil && i > 0 {
				return nil, err
			}
			chunk := &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: []modelio.Part{part}}
			if err := stream(ctx, chunk); err != nil {
				return nil, err
			}
		}
	}
	if st.said.Cut != nil {
		return nil, io.ErrUnexpectedEOF
	}
	message := modelio.Message{Role: modelio.RoleModel, Content: st.said.parts(strings.Join(st.said.Pieces, ""))}
	if message.Content == nil {
		message.Content = []modelio.Part{}
	}
	resp := &modelio.GenerateResponse{Message: &message, FinishReason: modelio.FinishStop}
	if st.said.Finish != "" {
		resp.FinishReason = st.said.Finish
	}
	if u := st.said.Usage; u != nil {
		input, output := int64(u.Input), int64(u.Output)
		resp.Usage = &modelio.Usage{InputTokens: &input, OutputTokens: &output}
	}
	return resp, nil
}

// parts returns the content of the answer, with its text in the given pieces.
func (s *content) parts(pieces ...string) (parts []modelio.Part) {
	if s.Reasoning != "" {
		parts = append(parts, modelio.Part{Reasoning: &s.Reasoning})
	}
	for _, piece := range pieces {
		if piece != "" {
			parts = append(parts, modelio.TextPart(piece))
		}
	}
	for i, c := range s.Calls {
		ref := c.ID
		if ref == "" {
			ref = fmt.Sprintf("call_%d", i+1)
		}
		parts = append(parts,
			modelio.Part{ToolRequest: &modelio.ToolRequest{Name: c.Tool, Input: json.RawMessage(c.Arguments), Ref: ref}})
	}
	return parts
}

// chunks returns the parts of a streamed answer.
func (s *content) chunks() []modelio.Part { return s.parts(s.Pieces...) }

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
