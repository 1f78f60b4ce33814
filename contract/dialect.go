package contract

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/encoder"
	"github.com/traceforge/traceforge-go/modelio"
)

// AnthropicMaxTokens is the max_tokens that the adapter sends to Anthropic, whose API requires one, if neither the
// params nor the provider options set it. It appears only in the request, never in params.
const AnthropicMaxTokens = 4096

// A dialect describes how an API spells the controls of LC that its codec leaves in Options. A control that an API
// lacks is an error.
type dialect struct {
	path       string                        // path of the API for requests
	encode     func(*modelio.Request) []byte // writes the body without the controls below
	noStop     bool                          // the API has no stop sequences
	effort     []string                      // path of the reasoning effort in the body
	format     []string                      // path of the response format in the body
	toolChoice func(ToolChoice) any
	// ok is false if the API lacks the format; a nil value is the default
	responseFormat func(ResponseFormat) (value any, ok bool)
	takesMetadata  func(name string, options modelio.Object) bool
	metadataRule   string                                          // describes what the API accepts, for errors
	excluded       map[modelio.Role][]string                       // kinds of parts that messages of a role cannot have
	taken          memberNames                                     // metadata of messages and parts that the API accepts
	media          []string                                        // prefixes of the content types that the API accepts
	takesThinking  func(part modelio.Part, of modelio.Object) bool // of is the metadata of the message
	thinkingRule   string
	stream         modelio.Object // requests a stream, with its token counts
	defaults       modelio.Object // members that the API requires
	header         http.Header
	authorize      func(h http.Header, key string)
}

// dialects are the APIs that the adapter supports.
var dialects = map[string]*dialect{
	OpenAIChat: {
		path:       "/v1/chat/completions",
		encode:     encoder.Chat,
		effort:     []string{"reasoning_effort"},
		format:     []string{"response_format"},
		toolChoice: openAIToolChoice("function", "name"),
		responseFormat: func(f ResponseFormat) (any, bool) {
			format := openAIFormat(f)
			if f.Type == FormatJSONSchema {
				delete(format, "type")
				format = object{"type": "json_schema", "json_schema": format}
			}
			return format, true
		},
		takesMetadata: func(_ string, options modelio.Object) bool { return string(options["store"]) == "true" },
		metadataRule:  "chat completions take metadata together with the provider option store only",
		excluded:      chatExcluded,
		taken:         chatTaken,
		media:         []string{"image/", "audio/", "application/", "text/"},
		takesThinking: func(modelio.Part, modelio.Object) bool { return false },
		thinkingRule:  "the API takes no reasoning but that of the model itself: name the message that Adapter.Reply stored",
		stream:        modelio.Object{"stream": []byte("true"), "stream_options": []byte(`{"include_usage":true}`)},
		authorize:     bearer,
	},
	OpenAIResponses: {
		path:           "/v1/responses",
		encode:         encoder.Responses,
		noStop:         true,
		effort:         []string{"reasoning", "effort"},
		format:         []string{"text", "format"},
		toolChoice:     openAIToolChoice("name"),
		responseFormat: func(f ResponseFormat) (any, bool) { return openAIFormat(f), true },
		takesMetadata:  func(string, modelio.Object) bool { return true },
		excluded:       responsesExcluded,
		taken:          responsesTaken,
		media:          []string{"image/", "application/", "text/"},
		takesThinking: func(part modelio.Part, of modelio.Object) bool {
			return isSigned(part.Metadata, encryptedContent) || isSigned(of, encryptedContent)
		},
		thinkingRule: "the API takes reasoning by its encrypted_content only",
		stream:       modelio.Object{"stream": []byte("true")},
		authorize:    bearer,
	},
	AnthropicMessages: {
		path:       "/v1/messages",
		encode:     encoder.Messages,
		effort:     []string{"output_config", "effort"},
		format:     []string{"output_config", "format"},
		toolChoice: anthropicToolChoice,
		responseFormat: func(f ResponseFormat) (any, bool) {
			if f.Type == FormatJSONSchema {
				return object{"type": "json_schema", "schema": f.JSONSchema}, true
			}
			return nil, f.Type == FormatText
		},
		takesMetadata: func(name string, _ modelio.Object) bool { return name == "user_id" },
		metadataRule:  "messages take the metadata user_id only",
		taken:         messagesTaken,
		media:         []string{"image/", "application/pdf", "text/plain"},
		takesThinking: func(part modelio.Part, _ modelio.Object) bool { return isSigned(part.Metadata, "signature") },
		thinkingRule:  "the API takes thinking with its signature only",
		stream:        modelio.Object{"stream": []byte("true")},
		defaults:      modelio.Object{"max_tokens": toJSON(AnthropicMaxTokens)},
		header:        http.Header{"Anthropic-Version": {"2023-06-01"}},
		authorize:     func(h http.Header, key string) { h.Set("X-Api-Key", key) },
	},
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// openAIToolChoice returns the tool choice of OpenAI's APIs, which differ in where they put the name of a tool.
func openAIToolChoice(named ...string) func(ToolChoice) any {
	return func(c ToolChoice) any {
		if c.Tag != ChoiceTool {
			return choiceWord(c)
		}
		choice := nested(named, c.Name)
		choice["type"] = toJSON("function")
		return choice
	}
}

func anthropicToolChoice(c ToolChoice) any {
	switch c.Tag {
	case ChoiceRequired:
		return object{"type": "any"}
	case ChoiceTool:
		return object{"type": "tool", "name": c.Name}
	}
	return object{"type": choiceWord(c)}
}

// choiceWord returns the word that APIs use for a choice without a name.
func choiceWord(c ToolChoice) string { return strings.ToLower(cmp.Or(c.Tag, ChoiceAuto)) }

// schemaName is the name that OpenAI requires for a schema. It has no meaning.
const schemaName = "response"

// openAIFormat returns a format in OpenAI's APIs, which differ in where they put a schema.
func openAIFormat(f ResponseFormat) object {
	switch {
	case f.Type == FormatJSON:
		return object{"type": "json_object"}
	case f.Type != FormatJSONSchema:
		return object{"type": "text"}
	case f.Strict == nil:
		return object{"type": "json_schema", "name": schemaName, "schema": f.JSONSchema}
	}
	return object{"type": "json_schema", "name": schemaName, "schema": f.JSONSchema, "strict": *f.Strict}
}
