package recorder

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// keptHeaders are the response headers that programs, SDKs and [http.Client] act on (design R5). A name that ends in *
// stands for all names with that beginning. A test may name more.
var keptHeaders = []string{
	"content-type", "content-disposition", "etag", "link", "location", "retry-after", "retry-after-ms", "x-should-retry",
	"mcp-session-id", "x-amzn-errortype", "x-goog-upload-status", "x-goog-upload-url",
	"x-amzn-bedrock-content-type", "x-amzn-bedrock-performanceconfig-latency", "x-amzn-bedrock-service-tier",
}

// requestIDs are ids of requests, which errors print.
var requestIDs = []string{"apim-request-id", "request-id", "x-amzn-requestid", "x-request-id"}

// transferHeaders describe the transfer, not the content: replay serves the content as it is stored.
var transferHeaders = []string{
	"connection", "content-encoding", "content-length", "keep-alive", "proxy-connection", "te", "trailer",
	"transfer-encoding", "upgrade",
}

// secretHeaders belong to one account or one visit, as do those that provider.IsCredential knows. No option keeps them.
var secretHeaders = []string{
	"authentication-info", "cookie", "proxy-authentication-info", "set-cookie", "set-cookie2",
}

// isSecretHeader reports whether a header, named in lower case, carries a secret. Some names that carry secrets as
// parameters are harmless as headers: those of AWS, and error codes.
func isSecretHeader(name string) bool {
	bare := strings.ReplaceAll(strings.ReplaceAll(name, "x-amz-", ""), "-code", "")
	return slices.Contains(secretHeaders, name) || provider.IsCredential(bare)
}

// listed reports whether a list has the name of a header, in lower case.
func listed(names []string, name string) bool {
	return slices.ContainsFunc(names, func(pattern string) bool {
		begin, all := strings.CutSuffix(strings.ToLower(pattern), "*")
		return name == begin || all && strings.HasPrefix(name, begin)
	})
}

// checkKeptHeaders returns an error for a header that a test cannot keep.
func (o *Options) checkKeptHeaders(names []string) error {
	for _, name := range names {
		bare := strings.ToLower(strings.TrimSuffix(name, "*"))
		switch {
		case !snapshot.LegalHeader(bare) || strings.Contains(bare, "*"):
			return fmt.Errorf("%s: is no name of a header", o.option("KeepHeaders", name))
		case isSecretHeader(bare):
			return fmt.Errorf("%s: carries a secret, which is never kept", o.option("KeepHeaders", name))
		case slices.Contains(transferHeaders, bare):
			return fmt.Errorf("%s: says how an answer came, and raw answers are served as they are",
				o.option("KeepHeaders", name))
		}
	}
	return nil
}

// isKept reports whether a header, named in lower case, is stored of an answer with that status.
func (s *setup) isKept(name string, status int) bool {
	return (listed(keptHeaders, name) || status >= 400 && listed(requestIDs, name) || listed(s.KeptHeaders, name)) &&
		!isSecretHeader(name) && !slices.Contains(transferHeaders, name)
}

// headers returns the stored headers of an answer, with placeholders, or nil.
func (s *setup) headers(tk *take) map[string][]string {
	var stored map[string][]string
	for name, values := range tk.header {
		name = strings.ToLower(name)
		if !s.isKept(name, tk.status) {
			continue
		}
		for _, value := range values {
			public, ok := withURLs(name, value, func(u *url.URL) string { return PublicURL(u).String() })
			if !ok {
				continue
			}
			if stored == nil {
				stored = map[string][]string{}
			}
			stored[name] = append(stored[name], tk.values.AnswerText(public))
		}
	}
	return stored
}

// The most headers that a record keeps. Real answers have at most a few dozen values and a few kilobytes.
const (
	headerValuesMost = 256
	headerBytesMost  = 256 << 10
)

// checkHeaders reports headers that no recording keeps, by pointers into an answer. Replay could not serve them, or
// they would change the bytes or carry a secret.
func checkHeaders(headers map[string][]string, report func(pointer, format string, args ...any)) {
	count, size := 0, 0
	for name, values := range headers {
		count += len(values)
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if count > headerValuesMost || size > headerBytesMost {
		report("/headers", "has %d values of %d bytes, and at most %d values of %d bytes are kept", count, size,
			headerValuesMost, headerBytesMost)
		return
	}
	for name, values := range headers {
		at := func(more ...string) string { return jsontext.PointerTo(append([]string{"headers", name}, more...)...) }
		if !snapshot.LegalHeader(name) {
			report(at(), "is no name of a header")
		}
		lower := strings.ToLower(name)
		if slices.Contains(transferHeaders, lower) {
			report(at(), "says how an answer came, which is not kept: raw answers are served as they are")
		}
		if isSecretHeader(lower) {
			report(at(), "carries a secret, which is never kept")
		}
		if lower == "content-type" && len(values) > 1 {
			report(at(), "says it %d times", len(values))
		}
		for n, value := range values {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				report(at(strconv.Itoa(n)), "has a control character, which no header can have")
			}
			if leadsWithCredential(lower, value) {
				report(at(strconv.Itoa(n)), "has a URL with credentials, which are never kept")
			}
		}
	}
}

// linkTarget is a URL in a header Link (RFC 8288 section 3).
var linkTarget = regexp.MustCompile(`<[^>]*>`)

// withURLs returns the value of a header with changed URLs. ok is false if the header should be a URL and is not.
func withURLs(name, value string, change func(*url.URL) string) (with string, ok bool) {
	switch name {
	case "location", "x-goog-upload-url":
		u, err := url.Parse(value)
		if err != nil {
			return "", false
		}
		return change(u), true
	case "link":
		return linkTarget.ReplaceAllStringFunc(value, func(target string) string {
			with, _ := withURLs("location", target[1:len(target)-1], change)
			return "<" + with + ">"
		}), true
	}
	return value, true
}

// leadsWithCredential reports whether a value has a URL with a credential, which no recording keeps.
func leadsWithCredential(name, value string) (leads bool) {
	withURLs(name, value, func(u *url.URL) string {
		leads = leads || u.User != nil || slices.ContainsFunc(inorder.Names(u.Query()), provider.IsCredential)
		return ""
	})
	return leads
}

// lackHeaders reports whether a record lacks headers that the test names, since it was recorded before the test did.
func lackHeaders(was, now map[string][]string, asked []string) bool {
	for name := range now {
		if _, has := was[name]; !has && listed(asked, name) {
			return true
		}
	}
	return false
}

// idleHeaders are headers that no program is known to act on: those of the transfer, and those that differ with each
// call, such as ids.
var idleHeaders = []string{
	"anthropic-ratelimit-*", "x-ratelimit-*", "apim-request-id", "request-id", "x-amzn-requestid", "x-request-id",
	"anthropic-organization-id", "openai-organization", "openai-processing-ms", "openai-project", "openai-version",
	"x-openai-proxy-wasm", "mistral-correlation-id", "x-gemini-service-tier", "x-groq-region", "x-kong-*", "x-ms-region",
	"accept-ranges", "access-control-*", "age", "alt-svc", "cache-control", "cf-*", "content-language",
	"content-security-policy*", "cross-origin-*", "date", "expires", "last-modified", "nel", "p3p", "permissions-policy",
	"pragma", "referrer-policy", "report-to", "reporting-endpoints", "server", "server-timing",
	"strict-transport-security", "timing-allow-origin", "vary", "via", "x-cache*", "x-content-type-options", "x-envoy-*",
	"x-frame-options", "x-powered-by", "x-robots-tag", "x-served-by", "x-xss-protection",
}

// droppedHeaders returns the headers of the answers that replay will lack and a program may act on.
func (n *notes) droppedHeaders() (names []string) {
	for _, tk := range n.run.takes {
		for name := range tk.header {
			name = strings.ToLower(name)
			idle := listed(idleHeaders, name) || isSecretHeader(name) || slices.Contains(transferHeaders, name)
			if !idle && !n.run.isKept(name, tk.status) {
				names = inorder.With(names, name)
			}
		}
	}
	return inorder.Strings(names)
}
