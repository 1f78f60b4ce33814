package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// candidate returns an answer with a finish reason in the provider's own word.
func candidate(raw string, parts ...modelio.Part) modelio.Candidate {
	return modelio.Candidate{
		Message:         modelio.Message{Role: modelio.RoleModel, Content: parts},
		FinishReason:    finishReason(raw),
		FinishReasonRaw: raw,
	}
}

// finishReason maps the finish reasons of all APIs to GK's (design R15). An empty one, as in a stream that was cut,
// becomes other. The numbers are Gemini's, which clients can request in place of its words; those above 4 differ
// between its two APIs.
func finishReason(raw string) modelio.FinishReason {
	switch strings.ToLower(raw) {
	case "stop", "finish", "finished", "stop_criteria_met", "endoftext", "eos", "eos_token", "end_turn", "stop_sequence",
		"complete", "completed", "tool_calls", "tool_call", "tool_use", "function_call", "requires_action", "1":
		return modelio.FinishStop
	case "length", "max_tokens", "model_length", "token_limit", "model_context_window_exceeded", "max_output_tokens",
		"continuation", "requires_continuation", "2":
		return modelio.FinishLength
	case "content_filter", "refusal", "safety", "error_toxic", "guardrail_intervened", "content_filtered",
		"blocklist", "image_prohibited_content", "image_recitation", "image_safety", "language", "model_armor",
		"prohibited_content", "recitation", "spii", "3", "4": // Google's
		return modelio.FinishBlocked
	}
	return modelio.FinishOther
}
