package genkittraceforge

import (
	"encoding/json"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// finishReasonRaw is an unknown member with Genkit's finish reason if GK has no equivalent: aborted, interrupted or
// unknown.
const finishReasonRaw = "finishReasonRaw"

// fromResponse converts a Genkit answer except for what Genkit adds around it: the request, the latency, and its own
// counts of characters and media.
func fromResponse(resp *ai.ModelResponse) (*modelio.GenerateResponse, error) {
	var c conversion
	converted := &modelio.GenerateResponse{
		FinishReason: modelio.FinishReason(resp.FinishReason),
		Usage:        pointer(&c, "usage", resp.Usage, fromUsage),
		Custom:       field(&c, "custom", resp.Custom, fromValue),
	}
	if resp.Message != nil {
		message := field(&c, "message", resp.Message, fromMessage)
		converted.Message = &message
	}
	switch converted.FinishReason {
	case "", modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked, modelio.FinishOther:
	default:
		converted.FinishReason = modelio.FinishOther
		c.put(&converted.Unknown, finishReasonRaw, resp.FinishReason)
	}
	c.putWord(&converted.Unknown, "finishMessage", resp.FinishMessage)
	if resp.Operation != nil {
		op := *resp.Operation
		if output, ok := op.Output.(*ai.ModelResponse); ok {
			op.Output = pointer(&c, "operation: output", output, fromResponse)
		}
		c.put(&converted.Unknown, "operation", op)
	}
	c.put(&converted.Unknown, "raw", resp.Raw)
	return converted, c.failed("from genkit response")
}

// toResponse is the inverse of fromResponse.
func toResponse(resp *modelio.GenerateResponse) (*ai.ModelResponse, error) {
	var c conversion
	unknown := spare(resp.Unknown)
	converted := &ai.ModelResponse{
		FinishReason: ai.FinishReason(resp.FinishReason),
		Usage:        pointer(&c, "usage", resp.Usage, toUsage),
		Custom:       field(&c, "custom", resp.Custom, toValue),
		Raw:          field(&c, "raw", unknown["raw"], toValue),
	}
	if resp.Message != nil {
		converted.Message = field(&c, "message", *resp.Message, toMessage)
	}
	delete(unknown, "raw")
	c.take(unknown, finishReasonRaw, &converted.FinishReason)
	c.take(unknown, "finishMessage", &converted.FinishMessage)
	c.take(unknown, "operation", &converted.Operation)
	if op := converted.Operation; op != nil && op.Output != nil { // Genkit accepts only an answer
		output := new(modelio.GenerateResponse)
		c.check("operation: output", json.Unmarshal(field(&c, "operation: output", op.Output, fromValue), output))
		op.Output = field(&c, "operation: output", output, toResponse)
	}
	c.none(unknown)
	return converted, c.failed("to genkit response")
}

// fromUsage converts token counts. Genkit cannot distinguish zero from not reported, so zero becomes not reported.
func fromUsage(usage *ai.GenerationUsage) (*modelio.Usage, error) {
	var c conversion
	converted := &modelio.Usage{
		InputTokens:         set(int64(usage.InputTokens)),
		OutputTokens:        set(int64(usage.OutputTokens)),
		TotalTokens:         set(int64(usage.TotalTokens)),
		ThoughtsTokens:      set(int64(usage.ThoughtsTokens)),
		CachedContentTokens: set(int64(usage.CachedContentTokens)),
	}
	if len(usage.Custom) > 0 {
		c.put(&converted.Unknown, "custom", usage.Custom)
	}
	return converted, c.failed("")
}

func toUsage(usage *modelio.Usage) (*ai.GenerationUsage, error) {
	for name, count := range map[string]*int64{
		"cacheWriteTokens": usage.CacheWriteTokens, "cacheWriteHourTokens": usage.CacheWriteHourTokens, "toolUseTokens": usage.ToolUseTokens,
	} {
		if count != nil {
			return nil, fmt.Errorf("genkit has no place for %s", name)
		}
	}
	var c conversion
	converted := &ai.GenerationUsage{
		InputTokens:         int(orZero(usage.InputTokens)),
		OutputTokens:        int(orZero(usage.OutputTokens)),
		TotalTokens:         int(orZero(usage.TotalTokens)),
		ThoughtsTokens:      int(orZero(usage.ThoughtsTokens)),
		CachedContentTokens: int(orZero(usage.CachedContentTokens)),
	}
	unknown := spare(usage.Unknown)
	c.take(unknown, "custom", &converted.Custom)
	return done(&c, converted, unknown)
}
