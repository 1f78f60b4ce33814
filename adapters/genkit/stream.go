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
	return fromGenkit("chunk", chunk, (*conversion).chunk)
}

func toChunk(chunk *modelio.GenerateResponseChunk) (*ai.ModelResponseChunk, error) {
	return toGenkit("chunk", chunk, (*conversion).chunk)
}

func (c *conversion) chunk(genkit *ai.ModelResponseChunk, model *modelio.GenerateResponseChunk) {
	same(c, (*string)(&genkit.Role), (*string)(&model.Role))
	same(c, &genkit.Index, &model.Index)
	list(c, "part", &genkit.Content, &model.Content, c.part)
	c.value("custom", &genkit.Custom, &model.Custom)
	c.flag(&genkit.Aggregated, &model.Aggregated)
	c.beyond(&model.Unknown, nothing)
}
