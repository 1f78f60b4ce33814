package provider

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Refusal is an answer of status 400, in which a provider says that a request is wrong. No client
// tries such a request again.
type Refusal struct {
	Header http.Header
	Body   []byte // JSON
}

// A refusalForm writes a text as the refusal of a request. It is a declared fact of a codec, or of a
// provider that speaks another's API and has errors of its own.
type refusalForm func(w *Wire, text string) *Refusal

// Refuse returns a text as the refusal that the client of a request understands: that of the provider
// where it has one of its own, else that of the API, else OpenAI's, which most others copy. hosts is as
// in [ProviderOf].
func Refuse(w *Wire, hosts map[string]string, text string) *Refusal {
	codec, _ := Match(w)
	name := ProviderOf(w, codec, hosts)
	form := codec.Refusal
	for _, p := range others {
		if p.Name == name && p.Refusal != nil {
			form = p.Refusal
		}
	}
	for _, c := range registered {
		if codec == generic && c.Provider == name && form == nil {
			form = c.Refusal
		}
	}
	if form == nil {
		form = refuseAsOpenAI
	}
	return form(w, text)
}

func refuse(format, text string) *Refusal {
	return &Refusal{
		Header: http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}}, // Stainless's clients ask for the latter
		Body:   fmt.Appendf(nil, format, jsontext.Text(text)),
	}
}

func refuseAsOpenAI(_ *Wire, text string) *Refusal {
	return refuse(`{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":"traceforge"}}`, text)
}

func refuseAsMistral(_ *Wire, text string) *Refusal {
	return refuse(`{"object":"error","message":%s,"type":"invalid_request_error","param":null,"code":"traceforge"}`, text)
}

func refuseAsAnthropic(_ *Wire, text string) *Refusal {
	return refuse(`{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, text)
}

// refuseAsGoogle makes a list of one where the method streams and was not asked for events.
func refuseAsGoogle(w *Wire, text string) *Refusal {
	const format = `{"error":{"code":400,"message":%s,"status":"INVALID_ARGUMENT"}}`
	if strings.HasSuffix(w.URL.Path, ":streamGenerateContent") && w.URL.Query().Get("alt") != "sse" {
		return refuse("["+format+"]", text)
	}
	return refuse(format, text)
}

func refuseAsBedrock(_ *Wire, text string) *Refusal {
	r := refuse(`{"message":%s}`, text)
	r.Header.Set("X-Amzn-Errortype", "ValidationException")
	return r
}

func refuseAsCohere(_ *Wire, text string) *Refusal { return refuse(`{"message":%s}`, text) }

func refuseAsOllama(_ *Wire, text string) *Refusal { return refuse(`{"error":%s}`, text) }
