package genkittraceforge

import (
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// finishReasonRaw is the unknown member of a response that holds Genkit's own word where its
// finish reason is none of GK's four: aborted, interrupted or unknown.
const finishReasonRaw = "finishReasonRaw"

// fromResponse converts an answer of Genkit's, but for what Genkit puts around it: the request,
// the latency, and its own counts of characters and media.
func fromResponse(resp *ai.ModelResponse) (*modelio.GenerateResponse, error) {
	converted := &modelio.GenerateResponse{FinishReason: modelio.FinishReason(resp.FinishReason)}
	if err := fillResponse(converted, resp); err != nil {
		return nil, fmt.Errorf("from genkit response: %w", err)
	}
	return converted, nil
}

func fillResponse(converted *modelio.GenerateResponse, resp *ai.ModelResponse) (err error) {
	if resp.Message != nil {
		message, err := fromMessage(resp.Message)
		if err != nil {
			return fmt.Errorf("message: %w", err)
		}
		converted.Message = &message
	}
	if resp.Usage != nil {
		if converted.Usage, err = fromUsage(resp.Usage); err != nil {
			return fmt.Errorf("usage: %w", err)
		}
	}
	if converted.Custom, err = fromValue(resp.Custom); err != nil {
		return fmt.Errorf("custom: %w", err)
	}
	unknown := (*extra)(&converted.Unknown)
	switch converted.FinishReason {
	case "", modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked, modelio.FinishOther:
	default:
		converted.FinishReason = modelio.FinishOther
		if err := unknown.put(finishReasonRaw, resp.FinishReason); err != nil {
			return err
		}
	}
	if resp.FinishMessage != "" {
		if err := unknown.put("finishMessage", resp.FinishMessage); err != nil {
			return err
		}
	}
	if resp.Operation != nil {
		if err := unknown.put("operation", resp.Operation); err != nil {
			return err
		}
	}
	return unknown.put("raw", resp.Raw)
}

// toResponse is the reverse of fromResponse.
func toResponse(resp *modelio.GenerateResponse) (*ai.ModelResponse, error) {
	converted := &ai.ModelResponse{FinishReason: ai.FinishReason(resp.FinishReason)}
	if err := fillGenkitResponse(converted, resp); err != nil {
		return nil, fmt.Errorf("to genkit response: %w", err)
	}
	return converted, nil
}

func fillGenkitResponse(converted *ai.ModelResponse, resp *modelio.GenerateResponse) (err error) {
	if resp.Message != nil {
		if converted.Message, err = toMessage(*resp.Message); err != nil {
			return fmt.Errorf("message: %w", err)
		}
	}
	if resp.Usage != nil {
		if converted.Usage, err = toUsage(resp.Usage); err != nil {
			return fmt.Errorf("usage: %w", err)
		}
	}
	if converted.Custom, err = toValue(resp.Custom); err != nil {
		return fmt.Errorf("custom: %w", err)
	}
	unknown := spare(resp.Unknown)
	if converted.Raw, err = toValue(unknown["raw"]); err != nil {
		return fmt.Errorf("raw: %w", err)
	}
	delete(unknown, "raw")
	for name, field := range map[string]any{
		finishReasonRaw: &converted.FinishReason,
		"finishMessage": &converted.FinishMessage,
		"operation":     &converted.Operation,
	} {
		if err := unknown.take(name, field); err != nil {
			return err
		}
	}
	return unknown.none()
}

// fromUsage converts counts of tokens. Genkit cannot tell zero from not reported, which is what
// it becomes.
func fromUsage(usage *ai.GenerationUsage) (*modelio.Usage, error) {
	converted := &modelio.Usage{
		InputTokens:         reported(usage.InputTokens),
		OutputTokens:        reported(usage.OutputTokens),
		TotalTokens:         reported(usage.TotalTokens),
		ThoughtsTokens:      reported(usage.ThoughtsTokens),
		CachedContentTokens: reported(usage.CachedContentTokens),
	}
	if len(usage.Custom) == 0 {
		return converted, nil
	}
	return converted, (*extra)(&converted.Unknown).put("custom", usage.Custom)
}

func reported(count int) *int64 {
	if count == 0 {
		return nil
	}
	n := int64(count)
	return &n
}

func toUsage(usage *modelio.Usage) (*ai.GenerationUsage, error) {
	converted := &ai.GenerationUsage{
		InputTokens:         counted(usage.InputTokens),
		OutputTokens:        counted(usage.OutputTokens),
		TotalTokens:         counted(usage.TotalTokens),
		ThoughtsTokens:      counted(usage.ThoughtsTokens),
		CachedContentTokens: counted(usage.CachedContentTokens),
	}
	if usage.CacheWriteTokens != nil {
		return nil, errors.New("genkit has no place for cacheWriteTokens")
	}
	unknown := spare(usage.Unknown)
	if err := unknown.take("custom", &converted.Custom); err != nil {
		return nil, err
	}
	return converted, unknown.none()
}

func counted(count *int64) int {
	if count == nil {
		return 0
	}
	return int(*count)
}
