package genkittraceforge

import (
	"fmt"
	"slices"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

func fromResponse(resp *ai.ModelResponse) (*modelio.GenerateResponse, error) {
	return fromGenkit("response", resp, (*conversion).response)
}

func toResponse(resp *modelio.GenerateResponse) (*ai.ModelResponse, error) {
	return toGenkit("response", resp, (*conversion).response)
}

// response converts an answer except for what Genkit adds around it: the request, the latency, and its own counts of
// characters and media.
func (c *conversion) response(genkit *ai.ModelResponse, model *modelio.GenerateResponse) {
	pointer(c, "usage", &genkit.Usage, &model.Usage, c.usage)
	c.value("custom", &genkit.Custom, &model.Custom)
	pointer(c, "message", &genkit.Message, &model.Message, c.message)
	same(c, (*string)(&genkit.FinishReason), (*string)(&model.FinishReason))
	c.beyond(&model.Unknown, func(members *modelio.Object) {
		c.finishReason(genkit, model, members)
		c.word(members, "finishMessage", &genkit.FinishMessage)
		c.operation(genkit, members)
		if raw := (*members)["raw"]; c.toGenkit {
			delete(*members, "raw")
			c.value("raw", &genkit.Raw, &raw)
		} else {
			c.member(members, "raw", genkit.Raw)
		}
	})
}

// finishReason converts a reason that GK has no equivalent for: aborted, interrupted or unknown.
func (c *conversion) finishReason(genkit *ai.ModelResponse, model *modelio.GenerateResponse, members *modelio.Object) {
	known := []modelio.FinishReason{"", modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked,
		modelio.FinishOther}
	if !c.toGenkit {
		if slices.Contains(known, model.FinishReason) {
			return
		}
		model.FinishReason = modelio.FinishOther
	}
	c.member(members, "finishReasonRaw", &genkit.FinishReason)
}

// operation converts the operation of an answer, whose output may only be an answer.
func (c *conversion) operation(genkit *ai.ModelResponse, members *modelio.Object) {
	if !c.toGenkit {
		if genkit.Operation != nil {
			op := *genkit.Operation
			if output, ok := op.Output.(*ai.ModelResponse); ok {
				said := new(modelio.GenerateResponse)
				c.in("operation: output", func() { c.response(output, said) })
				op.Output = said
			}
			c.member(members, "operation", op)
		}
		return
	}
	if c.member(members, "operation", &genkit.Operation); genkit.Operation != nil && genkit.Operation.Output != nil {
		output, said := new(ai.ModelResponse), new(modelio.GenerateResponse)
		c.check("operation: output", readAsJSON(genkit.Operation.Output, said))
		c.in("operation: output", func() { c.response(output, said) })
		genkit.Operation.Output = output
	}
}

// usage converts token counts. Genkit cannot distinguish zero from not reported, so zero becomes not reported.
func (c *conversion) usage(genkit *ai.GenerationUsage, model *modelio.Usage) {
	for name, count := range map[string]*int64{
		"cacheWriteTokens": model.CacheWriteTokens, "cacheWriteHourTokens": model.CacheWriteHourTokens,
		"toolUseTokens": model.ToolUseTokens,
	} {
		if count != nil {
			c.check("", fmt.Errorf("genkit has no place for %s", name))
		}
	}
	c.count(&genkit.InputTokens, &model.InputTokens)
	c.count(&genkit.OutputTokens, &model.OutputTokens)
	c.count(&genkit.TotalTokens, &model.TotalTokens)
	c.count(&genkit.ThoughtsTokens, &model.ThoughtsTokens)
	c.count(&genkit.CachedContentTokens, &model.CachedContentTokens)
	c.beyond(&model.Unknown, func(members *modelio.Object) {
		if c.toGenkit || len(genkit.Custom) > 0 {
			c.member(members, "custom", &genkit.Custom)
		}
	})
}
