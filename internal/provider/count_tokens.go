package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// These APIs count the tokens of a request without answering it. The count is their answer, and not usage, because it
// costs nothing.

// Anthropic's API, which has its own path on Vertex AI.
var _ = Register(&Codec{
	API:    "anthropic.count_tokens",
	Match:  posts(hasList("messages"), "/messages/count_tokens", "/publishers/anthropic/models/count-tokens:rawPredict"),
	body:   claudeForm.decode,
	answer: stated("input_tokens"),
})

// OpenAI's API, for a request to its responses API.
var _ = Register(&Codec{
	API:    "openai.input_tokens",
	Match:  posts(jsontext.Value.IsObject, "/responses/input_tokens"),
	body:   responsesForm.decode,
	answer: stated("input_tokens"),
})

// Bedrock's API, for a request to Converse or InvokeModel. The body for InvokeModel is kept in base64.
var _ = Register(&Codec{
	API:     "bedrock.count_tokens",
	Match:   both(namesModel, posts(has("input"), "/count-tokens")),
	body:    wrapped(converseForm, requestForm{}, "input", "converse"),
	outside: operationOf("count-tokens"),
	answer:  stated("inputTokens"),
})

// wrapped returns the function that takes a complete request out of the objects around it, which $wire names; other
// takes any other body.
func wrapped(form, other requestForm, around ...string) func(body jsontext.Value) *modelio.Request {
	return func(body jsontext.Value) *modelio.Request {
		for i := range around {
			if !body.Member(around[:i+1]...).IsObject() || body.Member(around[:i]...).Len() > 1 {
				return other.decode(body)
			}
		}
		req := form.decode(body.Member(around...))
		req.Options[markWire] = jsontext.Text(around[len(around)-1])
		return req
	}
}

// Google's API, including computeTokens on Vertex AI, which lists the tokens.
var _ = Register(&Codec{
	API:     "google.count_tokens",
	Match:   posts(jsontext.Value.IsObject, ":countTokens", ":computeTokens"),
	body:    wrapped(anyContents, anyContents, "generateContentRequest"),
	outside: methodOf("countTokens"),
	answer:  stated("tokensInfo", "totalTokens"),
})

// Cohere's API that splits a text into tokens, and its inverse.
var _ = Register(&Codec{
	API:     "cohere.tokenize",
	Match:   either(posts(has("text"), "/v1/tokenize"), posts(hasList("tokens"), "/v1/detokenize")),
	body:    requestForm{prompt: "text"}.decode,
	outside: sayOperation("tokenize"),
	answer:  cohereTokens,
})

// cohereTokens decodes tokens, or the text of tokens.
func cohereTokens(body jsontext.Value) (*modelio.Response, error) {
	var part modelio.Part
	switch text, ok := body.Member("text").Text(); {
	case ok:
		part = modelio.TextPart(text)
	case body.Member("tokens").IsArray():
		part = modelio.Part{Custom: briefObject(body, "meta")}
	default:
		return nil, neither("tokens")
	}
	return &modelio.Response{Candidates: candidateOf(part), Metadata: beside(body, "text", "tokens", "token_strings")}, nil
}
