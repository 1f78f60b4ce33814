package genkittraceforge

import (
	"context"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// converted returns a callback that converts chunks and passes them to send; nil if send is nil.
func converted[From, To any](
	send func(context.Context, To) error, convert func(From) (To, error),
) func(context.Context, From) error {
	if send == nil {
		return nil
	}
	return func(ctx context.Context, chunk From) error {
		to, err := convert(chunk)
		if err != nil {
			return err
		}
		return send(ctx, to)
	}
}

func fromChunk(chunk *ai.ModelResponseChunk) (*modelio.GenerateResponseChunk, error) {
	var c conversion
	return &modelio.GenerateResponseChunk{
		Role:       modelio.Role(chunk.Role),
		Index:      chunk.Index,
		Content:    field(&c, "", chunk.Content, eachOf("part", fromPart)),
		Custom:     field(&c, "custom", chunk.Custom, fromValue),
		Aggregated: set(chunk.Aggregated),
	}, c.failed("from genkit chunk")
}

func toChunk(chunk *modelio.GenerateResponseChunk) (*ai.ModelResponseChunk, error) {
	var c conversion
	converted := &ai.ModelResponseChunk{
		Role:       ai.Role(chunk.Role),
		Index:      chunk.Index,
		Content:    field(&c, "", chunk.Content, each("part", toPart)),
		Custom:     field(&c, "custom", chunk.Custom, toValue),
		Aggregated: orZero(chunk.Aggregated),
	}
	c.none(spare(chunk.Unknown))
	return converted, c.failed("to genkit chunk")
}
