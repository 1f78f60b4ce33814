package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Refusal is an answer in which a provider reports that a request failed.
type Refusal struct {
	Header http.Header
	Body   []byte // JSON
}

// A refusalForm writes a text as the failure of a request with a status. A codec declares it, or a provider that offers
// another's API with errors of its own.
type refusalForm func(w *Wire, status int, text string) *Refusal

// Refuse returns a text as an answer with status 400 that the request's client understands: see [Fail]. Clients do not
// retry such a request.
func Refuse(w *Wire, hosts map[string]string, text string) *Refusal {
	r := Fail(w, hosts, http.StatusBadRequest, text)
	r.Header.Set("X-Should-Retry", "false") // for Stainless's clients
	return r
}

// Fail returns a text as an error, with a status of at least 400, that the request's client understands. Its form is
// the provider's own, or else the API's, or else OpenAI's, which most others copy. hosts is as in [ProviderOf].
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

// statusWords are a provider's words for failures, by status. The word for 400 stands for other invalid requests, and
// the word for 500 for other failures of the provider.
type statusWords map[int]string

func (w statusWords) of(status int) string { return cmp.Or(w[status], w[status/100*100]) }

// overloaded is Anthropic's own status for an overloaded service.
const overloaded = 529

var (
	openAIWords = statusWords{400: `"invalid_request_error","param":null,"code":"traceforge"`,
		429: `"requests","param":null,"code":"rate_limit_exceeded"`, 500: `"server_error","param":null,"code":null`}
	mistralWords = statusWords{400: `"invalid_request_error","param":null,"code":"traceforge"`,
		429: `"rate_limited","param":null,"code":"1300"`, 500: `"internal_server_error","param":null,"code":"1000"`}
	anthropicWords = statusWords{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error",
		429: "rate_limit_error", 500: "api_error", 504: "timeout_error", overloaded: "overloaded_error"}
	googleWords = statusWords{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
	bedrockWords = statusWords{400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
		408: "ModelTimeoutException",
		429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException"}
)

// retryWords are types and codes of errors in streams that ask for another try. Other APIs send a status as the code.
var retryWords = []string{
	"api_error", "overloaded_error", "rate_limit_error", "timeout_error", // Anthropic
	"rate_limit_exceeded", "server_error", // OpenAI
	// Bedrock
	"internalServerException", "modelStreamErrorException", "modelTimeoutException", "serviceUnavailableException",
	"throttlingException",
}

// AsksForRetry reports whether an answer says: not now. Its status says so, or the error in an answer with status 200;
// e is nil if it has none.
func AsksForRetry(status int, e *modelio.ProviderError) bool {
	if status == http.StatusOK && e != nil {
		if slices.Contains(retryWords, e.Type) || slices.Contains(retryWords, e.Code) {
			return true
		}
		status, _ = strconv.Atoi(e.Code)
	}
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status/100 == 5
}

func refuse(format string, values ...any) *Refusal {
	return &Refusal{Header: http.Header{"Content-Type": {"application/json"}}, Body: fmt.Appendf(nil, format, values...)}
}

// refusing returns the form of errors with the text, and the provider's word for the status.
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

// refuseAsGoogle returns a list of one error if the method streams without server-sent events.
func refuseAsGoogle(w *Wire, status int, text string) *Refusal {
	format := `{"error":{"code":%d,"message":%s,"status":"%s"}}`
	if strings.HasSuffix(w.URL.Path, ":streamGenerateContent") && w.URL.Query().Get("alt") != "sse" {
		format = "[" + format + "]"
	}
	r := refuse(format, status, jsontext.Text(text), googleWords.of(status))
	if w.Header.Get("X-Goog-Upload-Command") != "" { // clients retry without a status
		r.Header.Set("X-Goog-Upload-Status", "cancelled")
	}
	return r
}

func refuseAsBedrock(_ *Wire, status int, text string) *Refusal {
	r := refuse(`{"message":%s}`, jsontext.Text(text))
	r.Header.Set("X-Amzn-Errortype", bedrockWords.of(status))
	return r
}
