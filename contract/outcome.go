package contract

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// receiptOf returns the receipt of an answer without the ref of the raw bytes. It adds to the warnings, and puts them
// into the blobs.
func receiptOf(name string, resp *modelio.Response, out *envelope, warnings ...Warning) GenerateReceipt {
	receipt := GenerateReceipt{
		OutputRef:          out.ref,
		FinishReason:       finishOf(resp, out.ToolCallsRef != nil),
		ProviderID:         name,
		ProviderResponseID: unlessEmpty(resp.ID),
	}
	if n := len(resp.Candidates); n > 1 {
		warnings = append(warnings, Warning{WarnCandidates, fmt.Sprintf("the envelope is of the first of %d candidates", n)})
	}
	usage := cmp.Or(resp.Usage, &modelio.Usage{})
	receipt.TokenUsage = TokenUsage{Prompt: *countOf(usage.InputTokens, Some[uint64](0)),
		Completion: *countOf(usage.OutputTokens, Some[uint64](0))}
	if usage.ThoughtsTokens != nil || usage.CachedContentTokens != nil || usage.CacheWriteTokens != nil {
		receipt.UsageDetails = &UsageDetails{
			ReasoningTokens:  countOf(usage.ThoughtsTokens, nil),
			CacheReadTokens:  countOf(usage.CachedContentTokens, nil),
			CacheWriteTokens: countOf(usage.CacheWriteTokens, nil),
		}
	}
	var unknown []string
	if usage.InputTokens == nil {
		unknown = append(unknown, "prompt")
	}
	if usage.OutputTokens == nil {
		unknown = append(unknown, "completion")
	}
	if resp.Error != nil {
		warnings = append(warnings, Warning{WarnError, resp.Error.Message})
	} else if unknown != nil {
		warnings = append(warnings,
			Warning{WarnUsage, "the provider did not report the tokens of the " + strings.Join(unknown, " and the ")})
	}
	if len(warnings) > 0 {
		receipt.WarningsRef = Some(out.addOurs(warnings))
	}
	return receipt
}

// countOf returns a token count, or missing if it was not reported.
func countOf(n *int64, missing *uint64) *uint64 {
	if n == nil {
		return missing
	}
	return Some(uint64(max(0, *n)))
}

// finishOf returns the finish reason: GK's, with exceptions for an error and for a model that waits for its tools.
func finishOf(resp *modelio.Response, calls bool) FinishReason {
	finish := FinishReason{Reason: FinishOther}
	if len(resp.Candidates) > 0 {
		first := &resp.Candidates[0]
		finish = FinishReason{Reason: string(first.FinishReason), Raw: unlessEmpty(first.FinishReasonRaw)}
	}
	switch {
	case resp.Error != nil:
		finish.Reason = FinishError
	case finish.Reason == FinishStop && calls:
		finish.Reason = FinishToolCalls
	}
	return finish
}
