package provider

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestFinishReasons checks the words of all providers, in the spelling of their documentation.
func TestFinishReasons(t *testing.T) {
	t.Parallel()
	for want, words := range map[modelio.FinishReason][]string{
		modelio.FinishStop: {
			"stop", "tool_calls", "function_call", // OpenAI's chat completions
			"completed", "requires_action", // OpenAI's responses, Gemini's interactions
			"end_turn", "stop_sequence", "tool_use", // Anthropic
			"STOP", "1", // Gemini
			"COMPLETE", "STOP_SEQUENCE", "TOOL_CALL", // Cohere
			"FINISH", "FINISHED", "STOP_CRITERIA_MET", // Titan
			"endoftext",        // AI21
			"eos_token", "eos", // watsonx and Hugging Face, Together
		},
		modelio.FinishLength: {
			"length", "max_output_tokens", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS", "2", "LENGTH",
			"CONTINUATION", "requires_continuation", // Gemini
			"model_length", // Mistral
			"token_limit",  // watsonx
		},
		modelio.FinishBlocked: {
			"content_filter", "refusal", "SAFETY", "3", "RECITATION", "4", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT",
			"SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ERROR_TOXIC",
			"guardrail_intervened", "content_filtered", "CONTENT_FILTERED",
		},
		modelio.FinishOther: {"", "OTHER", "5", "MALFORMED_FUNCTION_CALL", "ERROR", "RAG_QUERY_WHEN_RAG_DISABLED"},
	} {
		for _, word := range words {
			require.Equal(t, want, candidate(word).FinishReason, word)
		}
	}
}
