package genkittraceforge

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// finishReasonRaw is the unknown member of a response that holds Genkit's own word where its
// finish reason is none of GK's four.
const finishReasonRaw = "finishReasonRaw"

// FromResponse converts an answer of Genkit's. What GK does not name is in Unknown: the request,
// latencyMs, raw, counts of characters and media. Genkit's finish reasons that GK does not know
// (aborted, interrupted, unknown) become other. It is an error if something in resp has no JSON
// form.
func FromResponse(resp *ai.ModelResponse) (*modelio.GenerateResponse, error) {
	converted := &modelio.GenerateResponse{}
	if err := fromResponse(converted, resp); err != nil {
		return nil, fmt.Errorf("from genkit response: %w", err)
	}
	return converted, nil
}

func fromResponse(converted *modelio.GenerateResponse, resp *ai.ModelResponse) (err error) {
	if resp.Message != nil {
		message, err := fromMessage(resp.Message)
		if err != nil {
			return fmt.Errorf("message: %w", err)
		}
		converted.Message = &message
	}
	unknown := (*extra)(&converted.Unknown)
	converted.FinishReason = modelio.FinishReason(resp.FinishReason)
	switch converted.FinishReason {
	case "", modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked, modelio.FinishOther:
	default:
		converted.FinishReason = modelio.FinishOther
		if err := unknown.put(finishReasonRaw, resp.FinishReason); err != nil {
			return err
		}
	}
	if resp.Usage != nil {
		if converted.Usage, err = fromUsage(resp.Usage); err != nil {
			return fmt.Errorf("usage: %w", err)
		}
	}
	if converted.Custom, err = fromValue(resp.Custom); err != nil {
		return fmt.Errorf("custom: %w", err)
	}
	if resp.FinishMessage != "" {
		if err := unknown.put("finishMessage", resp.FinishMessage); err != nil {
			return err
		}
	}
	if resp.LatencyMs != 0 {
		if err := unknown.put("latencyMs", resp.LatencyMs); err != nil {
			return err
		}
	}
	if err := unknown.put("raw", resp.Raw); err != nil {
		return err
	}
	if resp.Operation != nil {
		if err := unknown.put("operation", resp.Operation); err != nil {
			return err
		}
	}
	if resp.Request != nil {
		request, err := FromRequest(resp.Request)
		if err != nil {
			return err
		}
		return unknown.put("request", request)
	}
	return nil
}

// ToResponse converts to an answer of Genkit's. It is an error if Genkit has no place for a
// member, but for those of parts: they go with the part, in its metadata.
func ToResponse(resp *modelio.GenerateResponse) (*ai.ModelResponse, error) {
	converted := &ai.ModelResponse{FinishReason: ai.FinishReason(resp.FinishReason)}
	if err := toResponse(converted, resp); err != nil {
		return nil, fmt.Errorf("to genkit response: %w", err)
	}
	return converted, nil
}

func toResponse(converted *ai.ModelResponse, resp *modelio.GenerateResponse) (err error) {
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
	if raw, ok := unknown["request"]; ok {
		var request modelio.GenerateRequest
		if err := json.Unmarshal(raw, &request); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		if converted.Request, err = ToRequest(&request); err != nil {
			return err
		}
		delete(unknown, "request")
	}
	for name, field := range map[string]any{
		finishReasonRaw: &converted.FinishReason,
		"finishMessage": &converted.FinishMessage,
		"latencyMs":     &converted.LatencyMs,
		"operation":     &converted.Operation,
	} {
		if err := unknown.take(name, field); err != nil {
			return err
		}
	}
	return unknown.none()
}

// usageExtras are the counts that Genkit has and GK does not name.
func usageExtras(usage *ai.GenerationUsage) map[string]*int {
	return map[string]*int{
		"inputAudioFiles":  &usage.InputAudioFiles,
		"inputCharacters":  &usage.InputCharacters,
		"inputImages":      &usage.InputImages,
		"inputVideos":      &usage.InputVideos,
		"outputAudioFiles": &usage.OutputAudioFiles,
		"outputCharacters": &usage.OutputCharacters,
		"outputImages":     &usage.OutputImages,
		"outputVideos":     &usage.OutputVideos,
	}
}

// cacheWrites is the member of custom usage that holds the one count Genkit has no field for.
const cacheWrites = "cacheWriteTokens"

// fromUsage converts counts. Genkit cannot tell zero from not reported, which is what it becomes.
func fromUsage(usage *ai.GenerationUsage) (*modelio.Usage, error) {
	converted := &modelio.Usage{
		InputTokens:         reported(usage.InputTokens),
		OutputTokens:        reported(usage.OutputTokens),
		TotalTokens:         reported(usage.TotalTokens),
		ThoughtsTokens:      reported(usage.ThoughtsTokens),
		CachedContentTokens: reported(usage.CachedContentTokens),
	}
	unknown := (*extra)(&converted.Unknown)
	for name, count := range usageExtras(usage) {
		if *count != 0 {
			if err := unknown.put(name, *count); err != nil {
				return nil, err
			}
		}
	}
	custom := usage.Custom
	if count := int64(custom[cacheWrites]); count != 0 && float64(count) == custom[cacheWrites] {
		converted.CacheWriteTokens = &count
		custom = maps.Clone(custom)
		delete(custom, cacheWrites)
	}
	if len(custom) > 0 {
		return converted, unknown.put("custom", custom)
	}
	return converted, nil
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
	unknown := spare(usage.Unknown)
	for name, count := range usageExtras(converted) {
		if err := unknown.take(name, count); err != nil {
			return nil, err
		}
	}
	if err := unknown.take("custom", &converted.Custom); err != nil {
		return nil, err
	}
	if usage.CacheWriteTokens != nil {
		if converted.Custom == nil {
			converted.Custom = map[string]float64{}
		}
		converted.Custom[cacheWrites] = float64(*usage.CacheWriteTokens)
	}
	return converted, unknown.none()
}

func counted(count *int64) int {
	if count == nil {
		return 0
	}
	return int(*count)
}

// FromChunk converts a chunk of Genkit's. It is an error if something in it has no JSON form.
func FromChunk(chunk *ai.ModelResponseChunk) (*modelio.GenerateResponseChunk, error) {
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

// ToChunk converts to a chunk of Genkit's. It is an error if Genkit has no place for a member,
// but for those of parts: they go with the part, in its metadata.
func ToChunk(chunk *modelio.GenerateResponseChunk) (*ai.ModelResponseChunk, error) {
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
