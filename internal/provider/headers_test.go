package provider

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestBehaviourHeaders checks which headers are part of a request.
func TestBehaviourHeaders(t *testing.T) {
	for _, test := range []struct {
		name, why string
		header    http.Header
		want      string
	}{
		{"none", "most requests have none", http.Header{"Accept": {"*/*"}}, ""},
		{"version", "the version of an API changes its answers", http.Header{"Anthropic-Version": {"2023-06-01"}}, `{"anthropic-version":"2023-06-01"}`},
		{"beta", "so do features", http.Header{"Anthropic-Beta": {"b"}}, `{"anthropic-beta":"b"}`},
		{"list", "a set of features has no order", http.Header{"Anthropic-Beta": {"c, a", "b,c"}}, `{"anthropic-beta":["a","b","c"]}`},
		{"openai", "the version of the assistants", http.Header{"Openai-Beta": {"assistants=v2"}}, `{"openai-beta":"assistants=v2"}`},
		{"guardrail", "what is blocked and what is said about it", http.Header{
			"X-Amzn-Bedrock-Guardrailidentifier": {"g1"}, "X-Amzn-Bedrock-Guardrailversion": {"DRAFT"}, "X-Amzn-Bedrock-Trace": {"ENABLED"}},
			`{"x-amzn-bedrock-guardrailidentifier":"g1","x-amzn-bedrock-guardrailversion":"DRAFT","x-amzn-bedrock-trace":"ENABLED"}`},
		{"spelling", "names have no case", http.Header{"X-AMZN-BEDROCK-PerformanceConfig-Latency": {"optimized"}}, `{"x-amzn-bedrock-performanceconfig-latency":"optimized"}`},
		{"empty", "says nothing", http.Header{"Anthropic-Beta": {""}}, ""},
		{"account", "who pays is no behaviour", http.Header{"Openai-Organization": {"o"}, "X-Goog-User-Project": {"p"}, "Authorization": {"Bearer x"}}, ""},
		{"client", "nor is who asks", http.Header{"User-Agent": {"x"}, "X-Stainless-Lang": {"go"}, "X-Title": {"x"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, codec := range Codecs() {
				w := requestOf(t, codec)
				w.Header = test.header
				req, err := codec.DecodeRequest(w)
				require.NoError(t, err)
				require.Equal(t, test.want, string(req.Options[markHeaders]), "%s: %s", codec.API, test.why)
			}
		})
	}
}

// TestHeadersAreIdentity covers a fault that an examination found: requests without their anthropic-beta or guardrail
// counted as the same request.
func TestHeadersAreIdentity(t *testing.T) {
	for _, test := range []struct{ name, api, header string }{
		{"beta", messagesAPI, "Anthropic-Beta"},
		{"guardrail", invokeAPI, "X-Amzn-Bedrock-GuardrailIdentifier"},
	} {
		t.Run(test.name, func(t *testing.T) {
			codec := byName(t, test.api)
			decode := func(header http.Header) *modelio.Request {
				w := requestOf(t, codec)
				w.Header = header
				req, err := codec.DecodeRequest(w)
				require.NoError(t, err)
				return req
			}
			with, without := decode(http.Header{http.CanonicalHeaderKey(test.header): {"x"}}), decode(nil)
			require.Error(t, equalRequests(with, without))
			delete(with.Options, markHeaders)
			require.NoError(t, equalRequests(with, without), "only the header is another")
		})
	}
}

// TestHeadersAreNotSent proves that the value of a header is not written into a body.
func TestHeadersAreNotSent(t *testing.T) {
	for api, encode := range Encoders {
		codec := byName(t, api)
		w := requestOf(t, codec)
		w.Header = http.Header{"Anthropic-Beta": {"x"}}
		req, err := codec.DecodeRequest(w)
		require.NoError(t, err)
		require.NoError(t, equalJSON(w.Body, encode(req)))
	}
}

// requestOf returns a request from an API's cases.
func requestOf(t testing.TB, codec *Codec) *Wire {
	for _, file := range cases(t) {
		if filepath.Base(filepath.Dir(file)) != codec.API {
			continue
		}
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		w := homeOf(t, codec)
		for _, s := range archive.Files {
			if s.Name == "url" {
				w = parseURL(t, &s)
			}
			if s.Name == "request" {
				w.Body = s.Data
				return &w
			}
		}
	}
	t.Fatalf("no case of %s has a request", codec.API)
	return nil
}
