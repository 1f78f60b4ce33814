package genkittraceforge

import (
	"context"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// fromStream returns the callback for a model of Genkit's whose chunks go to stream; nil: none.
func fromStream(stream modelio.StreamFunc) ai.ModelStreamCallback {
	if stream == nil {
		return nil
	}
	return func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
		converted, err := fromChunk(chunk)
		if err != nil {
			return err
		}
		return stream(ctx, converted)
	}
}

// toStream is the reverse of fromStream.
func toStream(send ai.ModelStreamCallback) modelio.StreamFunc {
	if send == nil {
		return nil
	}
	return func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
		converted, err := toChunk(chunk)
		if err != nil {
			return err
		}
		return send(ctx, converted)
	}
}

func fromChunk(chunk *ai.ModelResponseChunk) (*modelio.GenerateResponseChunk, error) {
	content, err := convertAll("part", chunk.Content, fromPart)
	if err != nil {
		return nil, fmt.Errorf("from genkit chunk: %w", err)
	}
	custom, err := fromValue(chunk.Custom)
	if err != nil {
		return nil, fmt.Errorf("from genkit chunk: custom: %w", err)
	}
	converted := &modelio.GenerateResponseChunk{Role: modelio.Role(chunk.Role), Index: chunk.Index, Content: content, Custom: custom}
	if aggregated := chunk.Aggregated; aggregated {
		converted.Aggregated = &aggregated
	}
	return converted, nil
}

func toChunk(chunk *modelio.GenerateResponseChunk) (*ai.ModelResponseChunk, error) {
	content, err := convertAll("part", chunk.Content, toPart)
	if err != nil {
		return nil, fmt.Errorf("to genkit chunk: %w", err)
	}
	custom, err := toValue(chunk.Custom)
	if err != nil {
		return nil, fmt.Errorf("to genkit chunk: custom: %w", err)
	}
	if err := spare(chunk.Unknown).none(); err != nil {
		return nil, fmt.Errorf("to genkit chunk: %w", err)
	}
	return &ai.ModelResponseChunk{
		Role:       ai.Role(chunk.Role),
		Index:      chunk.Index,
		Content:    content,
		Custom:     custom,
		Aggregated: chunk.Aggregated != nil && *chunk.Aggregated,
	}, nil
}
