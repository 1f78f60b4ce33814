package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Refusal is an answer in which a provider says that a request failed.
type Refusal struct {
	Header http.Header
	Body   []byte // JSON
}

// A refusalForm writes a text as the failure of a request with a status. It is a declared fact of a codec, or of a
// provider that speaks another's API and has errors of its own.
type refusalForm func(w *Wire, status int, text string) *Refusal

// Refuse returns a text as the answer of status 400 that the client of a request understands: see [Fail]. No client
// tries such a request again.
func Refuse(w *Wire, hosts map[string]string, text string) *Refusal {
	r := Fail(w, hosts, http.StatusBadRequest, text)
	r.Header.Set("X-Should-Retry", "false") // Stainless's clients ask for it
	return r
}

// Fail returns a text as an error, of a status of 400 or more, that the client of a request understands. Its shape is
// the provider's own, else the API's, else OpenAI's, which most others copy. hosts is as in [ProviderOf].
func Fail(w *Wire, hosts map[string]string, status int, text string) *Refusal {
	codec, _ := Match(w)
	name := ProviderOf(w, codec, hosts)
	form, maker := codec.Refusal, codec.Provider
	if own := Facts(name).Refusal; own != nil {
		form = own
	}
	if codec == generic {
		maker = name
	}
	for _, c := range registered {
		if c.Provider == maker && form == nil {
			form = c.Refusal
		}
	}
	if form == nil {
		form = refuseAsOpenAI
	}
	return form(w, status, text)
}

// statusWords are a provider's words for failures, by status. The words for 400 stand for other wrong requests, and
// the words for 500 for other failures of the provider.
type statusWords map[int]string

func (w statusWords) of(status int) string { return cmp.Or(w[status], w[status/100*100]) }

// overloaded is the status that Anthropic made up for a service that is.
const overloaded = 529

var (
	openAIWords    = statusWords{400: `"invalid_request_error","param":null,"code":"traceforge"`, 429: `"requests","param":null,"code":"rate_limit_exceeded"`, 500: `"server_error","param":null,"code":null`}
	mistralWords   = statusWords{400: `"invalid_request_error","param":null,"code":"traceforge"`, 429: `"rate_limited","param":null,"code":"1300"`, 500: `"internal_server_error","param":null,"code":"1000"`}
	anthropicWords = statusWords{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		429: "rate_limit_error", 500: "api_error", 504: "timeout_error", overloaded: "overloaded_error"}
	googleWords = statusWords{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
	bedrockWords = statusWords{400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException",
		429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException"}
)

func refuse(format string, values ...any) *Refusal {
	return &Refusal{Header: http.Header{"Content-Type": {"application/json"}}, Body: fmt.Appendf(nil, format, values...)}
}

// refusing returns the form of errors that have the text, and the provider's word for the status.
func refusing(format string, words statusWords) refusalForm {
	return func(_ *Wire, status int, text string) *Refusal {
		return refuse(format, jsontext.Text(text), words.of(status))
	}
}

var (
	refuseAsOpenAI    = refusing(`{"error":{"message":%[1]s,"type":%[2]s}}`, openAIWords)
	refuseAsMistral   = refusing(`{"object":"error","message":%[1]s,"type":%[2]s}`, mistralWords)
	refuseAsAnthropic = refusing(`{"type":"error","error":{"type":"%[2]s","message":%[1]s}}`, anthropicWords)
	refuseAsCohere    = refusing(`{"message":%[1]s}`, nil)
	refuseAsOllama    = refusing(`{"error":%[1]s}`, nil)
)

// refuseAsGoogle makes a list of one where the method streams and was not asked for events.
func refuseAsGoogle(w *Wire, status int, text string) *Refusal {
	format := `{"error":{"code":%d,"message":%s,"status":"%s"}}`
	if strings.HasSuffix(w.URL.Path, ":streamGenerateContent") && w.URL.Query().Get("alt") != "sse" {
		format = "[" + format + "]"
	}
	r := refuse(format, status, jsontext.Text(text), googleWords.of(status))
	if w.Header.Get("X-Goog-Upload-Command") != "" { // clients try again what has no status
		r.Header.Set("X-Goog-Upload-Status", "cancelled")
	}
	return r
}

func refuseAsBedrock(_ *Wire, status int, text string) *Refusal {
	r := refuse(`{"message":%s}`, jsontext.Text(text))
	r.Header.Set("X-Amzn-Errortype", bedrockWords.of(status))
	return r
}
