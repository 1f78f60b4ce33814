package provider

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Wire is an HTTP request as it was sent, with its body decoded from any Content-Encoding. It caches its parsed body,
// so it is not safe for concurrent use, and its body must not change.
type Wire struct {
	Method      string
	URL         *url.URL
	Header      http.Header
	ContentType string
	Body        []byte

	said     modelio.Object     // data from the path, see say
	taken    string             // the query parameter that is the model
	doc      *jsontext.Document // the body; nil if it was not parsed
	parseErr error
	formRead bool
	parts    []formPart // of a multipart body
}

// root returns the parsed body.
func (w *Wire) root() (jsontext.Value, error) {
	if w.doc == nil && w.parseErr == nil {
		w.doc, w.parseErr = jsontext.Parse(w.Body)
	}
	return w.doc.Root(), w.parseErr
}

// body returns the parsed body if it is an object that a codec can accept.
func (w *Wire) body() (jsontext.Value, error) {
	root, err := w.root()
	if err != nil {
		return jsontext.Value{}, parseError(err)
	}
	if !root.IsObject() {
		return jsontext.Value{}, &WireError{Reason: "the body is no JSON object"}
	}
	if name := w.doc.MemberNamed(marks...); name != "" {
		return jsontext.Value{}, &WireError{Reason: fmt.Sprintf("a member is named %s, which is reserved", name)}
	}
	return root, nil
}

// parseError turns a parse error into an error of an API.
func parseError(err error) *WireError {
	at := err.(*jsontext.Error) // the only type of error
	return &WireError{Pointer: at.Pointer, Reason: fmt.Sprintf("offset %d: %v", at.Offset, at.Err)}
}

// Codecs make their conditions with the functions below. These are not inlined: the compiler would otherwise make each
// condition again at some 200 places, which took a tenth of the time of compiling this package.

// posts returns a Match for requests that POST a body with the given shape to a path with one of suffixes.
//
//go:noinline
func posts(shape func(body jsontext.Value) bool, suffixes ...string) func(*Wire) bool {
	return func(w *Wire) bool {
		if w.Method != "POST" || !w.pathEndsIn(suffixes) {
			return false
		}
		body, err := w.root()
		if err != nil {
			return !errors.Is(err, jsontext.ErrSyntax)
		}
		return shape(body)
	}
}

// either, both and not return a Match that combines others.
//
//go:noinline
func either(a, b func(*Wire) bool) func(*Wire) bool {
	return func(w *Wire) bool { return a(w) || b(w) }
}

//go:noinline
func both(a, b func(*Wire) bool) func(*Wire) bool {
	return func(w *Wire) bool { return a(w) && b(w) }
}

//go:noinline
func not(a func(*Wire) bool) func(*Wire) bool {
	return func(w *Wire) bool { return !a(w) }
}

// sentTo returns a Match for requests that go to a provider.
func sentTo(provider string) func(*Wire) bool {
	return func(w *Wire) bool { return knownHost(bareHost(w.URL)) == provider }
}

// pathLike returns a Match for paths that match a pattern.
func pathLike(pattern string) func(*Wire) bool { return pathOf(regexp.MustCompile(pattern)) }

//go:noinline
func pathOf(pattern *regexp.Regexp) func(*Wire) bool {
	return func(w *Wire) bool { return pattern.MatchString(w.URL.Path) }
}

// has, hasList and with return the shape of a body. It has one of the members, a list, or a value of a kind at a path.
//
//go:noinline
func has(members ...string) func(jsontext.Value) bool {
	return func(body jsontext.Value) bool {
		return slices.ContainsFunc(members, func(name string) bool { return body.Member(name).Present() })
	}
}

//go:noinline
func hasList(member string) func(jsontext.Value) bool { return with(jsontext.Value.IsArray, member) }

//go:noinline
func with(kind func(jsontext.Value) bool, path ...string) func(jsontext.Value) bool {
	return func(body jsontext.Value) bool { return kind(body.Member(path...)) }
}

func (w *Wire) pathEndsIn(suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(w.URL.Path, s) })
}

// IsCredential reports whether a query parameter contains a secret: ?key=, api_key, X-Amz-Signature, but not pageToken
// or max_tokens. Google's upload_id, with which anyone may upload, and Ollama's ts, the time of a signature, count as
// secrets too.
func IsCredential(name string) bool {
	if name == "ts" || name == "upload_id" {
		return true
	}
	if strings.HasSuffix(name, "_endpoint") { // the address of OpenID's authorization_endpoint, which answers have too
		return false
	}
	spaced := name
	if strings.ContainsFunc(name, unicode.IsUpper) {
		spaced = strings.ToLower(camelCase.ReplaceAllString(name, "$1 $2"))
	}
	before := "" // the word before
	isBetween := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(spaced, isBetween) {
		switch word {
		case "key", "apikey", "secret", "password", "passwd", "pwd", "sig", "signature", "auth",
			"authorization", "credential", "credentials", "bearer", "jwt", "code", "amz", "passphrase", "assertion", "sid",
			"accesskey", "secretkey", "accesstoken", "sessiontoken", "authtoken", "privatetoken", "refreshtoken", "idtoken":
			return true
		case "token":
			if !slices.Contains(placeTokens, before) {
				return true
			}
		}
		before = word
	}
	return false
}

// placeTokens are words before "token" that make it a position in a list or a text.
var placeTokens = []string{
	"page", "next", "previous", "prev", "continuation", "sync", "start", "end", "stop", "max", "eos", "bos", "pad",
}

// camelCase is the place in a name where a capital follows a small letter.
var camelCase = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// cutLast is strings.Cut around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}
