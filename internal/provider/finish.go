package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// finishReason maps the words for why a generation stopped, of all APIs, to GK's
// (design R15). No word, as in a stream that was cut, is other.
func finishReason(raw string) modelio.FinishReason {
	switch strings.ToLower(raw) {
	case "stop", "finish", "endoftext", "tool_calls", "function_call", "eos", "end_turn", "stop_sequence", "tool_use", "complete", "completed", "tool_call", "tool-calls":
		return modelio.FinishStop
	case "length", "max_tokens", "model_length", "model_context_window_exceeded", "max_output_tokens":
		return modelio.FinishLength
	case "content_filter", "refusal", "safety", "guardrail_intervened", "content_filtered",
		"blocklist", "image_prohibited_content", "image_recitation", "image_safety", "language", "model_armor",
		"prohibited_content", "recitation", "spii": // Google's
		return modelio.FinishBlocked
	}
	return modelio.FinishOther
}
