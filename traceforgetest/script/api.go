package script

import (
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// modelAPI is the API of a [modelio.Model], which has no wire format.
const modelAPI = "genkit.generate"

// An api says what an API's answers may contain besides text, and how the API spells finish reasons.
type api struct {
	embeds  bool // its answers are vectors only
	calls   bool
	reasons bool
	refuses bool
	finish  map[modelio.FinishReason]string
}

// The finish reasons of APIs. An API cannot express a reason that its table lacks.
var (
	openAIWords = map[modelio.FinishReason]string{modelio.FinishStop: "stop", modelio.FinishLength: "length",
		modelio.FinishBlocked: "content_filter"}
	responsesWords = map[modelio.FinishReason]string{
		modelio.FinishStop: "", modelio.FinishLength: "max_output_tokens", modelio.FinishBlocked: "content_filter",
	}
	plainWords  = map[modelio.FinishReason]string{modelio.FinishStop: "stop", modelio.FinishLength: "length"}
	claudeWords = map[modelio.FinishReason]string{modelio.FinishStop: "end_turn", modelio.FinishLength: "max_tokens",
		modelio.FinishBlocked: "refusal"}
	googleWords = map[modelio.FinishReason]string{modelio.FinishStop: "STOP", modelio.FinishLength: "MAX_TOKENS",
		modelio.FinishBlocked: "SAFETY"}
	awsWords = map[modelio.FinishReason]string{modelio.FinishStop: "end_turn", modelio.FinishLength: "max_tokens",
		modelio.FinishBlocked: "content_filtered"}
	cohereWords = map[modelio.FinishReason]string{modelio.FinishStop: "COMPLETE", modelio.FinishLength: "MAX_TOKENS"}
	modelWords  = map[modelio.FinishReason]string{
		modelio.FinishStop: "stop", modelio.FinishLength: "length", modelio.FinishBlocked: "blocked",
		modelio.FinishOther: "other",
	}
)

// apis are the supported APIs, by the names that the fake provider uses.
var apis = map[string]api{
	"openai.chat":        {calls: true, reasons: true, refuses: true, finish: openAIWords},
	"openai.responses":   {calls: true, reasons: true, refuses: true, finish: responsesWords},
	"openai.completions": {finish: openAIWords},
	"mistral.chat":       {calls: true, reasons: true, finish: plainWords},
	"anthropic.messages": {calls: true, reasons: true, refuses: true, finish: claudeWords},
	"gemini.generate":    {calls: true, reasons: true, refuses: true, finish: googleWords},
	"bedrock.converse":   {calls: true, reasons: true, finish: awsWords},
	"bedrock.invoke":     {calls: true, reasons: true, finish: awsWords},
	"ollama.chat":        {calls: true, reasons: true, finish: plainWords},
	"ollama.generate":    {reasons: true, finish: plainWords},
	"cohere.chat":        {calls: true, reasons: true, finish: cohereWords},
	modelAPI:             {calls: true, reasons: true, finish: modelWords},

	"openai.embeddings": {embeds: true},
	"gemini.embed":      {embeds: true},
	"vertex.predict":    {embeds: true},
	"cohere.embed":      {embeds: true},
	"ollama.embed":      {embeds: true},
	"bedrock.embed":     {embeds: true},
}

// errorTypes are the error types that providers use for a status. Google's fake has its own.
var errorTypes = map[string]map[int]string{
	"anthropic": {
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
		http.StatusInternalServerError: "api_error", 529: "overloaded_error",
	},
	"openai": {
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "invalid_request_error",
		http.StatusForbidden: "invalid_request_error", http.StatusNotFound: "invalid_request_error",
		http.StatusTooManyRequests: "rate_limit_error", http.StatusInternalServerError: "server_error",
		http.StatusServiceUnavailable: "server_error",
	},
	"bedrock": {
		http.StatusBadRequest: "ValidationException", http.StatusForbidden: "AccessDeniedException",
		http.StatusNotFound: "ResourceNotFoundException", http.StatusRequestTimeout: "ModelTimeoutException",
		http.StatusFailedDependency: "ModelErrorException", http.StatusTooManyRequests: "ThrottlingException",
		http.StatusInternalServerError: "InternalServerException",
		http.StatusServiceUnavailable:  "ServiceUnavailableException",
	},
}

// family returns the key of errorTypes for an API.
func family(api string) string {
	name, _, _ := strings.Cut(api, ".")
	return name
}
