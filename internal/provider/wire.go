package provider

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Wire is one HTTP request as it was sent, with its body decoded from any Content-Encoding.
// It remembers its parsed body, so it is for one goroutine at a time, and its body must not
// change.
type Wire struct {
	Method      string
	URL         *url.URL
	ContentType string
	Body        []byte

	parsed   bool
	doc      *document
	parseErr error
}

// Our own marks. They begin with $ as no provider's names do; a body that has them as member
// names is rejected, so that they cannot be mistaken.
const (
	markWire = "$wire" // in Metadata: which of several spellings the wire had
	markURL  = "$url"  // in Options: what the URL says beyond the endpoint
	markBody = "$body" // in Options: a body that is no JSON object
)

// root returns the parsed body.
func (w *Wire) root() (value, error) {
	if !w.parsed {
		w.parsed = true
		w.doc, w.parseErr = parse(w.Body)
	}
	if w.parseErr != nil {
		return value{}, w.parseErr
	}
	return w.doc.root(), nil
}

// body returns the parsed body if it is an object that api can take.
func (w *Wire) body(api string) (value, error) {
	root, err := w.root()
	if err != nil {
		return value{}, parseError(api, err)
	}
	if !root.isObject() {
		return value{}, &WireError{API: api, Reason: "the body is no JSON object"}
	}
	if name := w.doc.reserved(); name != "" {
		return value{}, &WireError{API: api, Reason: fmt.Sprintf("a member is named %s, which is reserved", name)}
	}
	return root, nil
}

// parseError returns err, of parse, as an error of api.
func parseError(api string, err error) *WireError {
	var pointer string
	var at *scanError
	if errors.As(err, &at) {
		pointer = at.pointer()
	}
	return &WireError{API: api, Pointer: pointer, Reason: err.Error()}
}

// reserved returns one of our own marks that is the name of a member, or "".
func (d *document) reserved() string {
	if !strings.Contains(d.str, "$") && !strings.Contains(d.str, `\u`) {
		return ""
	}
	for at := range d.nodes {
		for name := range (value{d, int32(at)}).members() {
			if name == markWire || name == markURL || name == markBody {
				return name
			}
		}
	}
	return ""
}

// posts reports whether w is a POST to a path that ends in one of suffixes, with a body of the
// given shape.
func (w *Wire) posts(shape func(body value) bool, suffixes ...string) bool {
	if w.Method != "POST" || !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(w.URL.Path, s) }) {
		return false
	}
	body, err := w.root()
	if err != nil {
		return !errors.Is(err, errSyntax)
	}
	return shape(body)
}

// keepURL keeps in req what w's URL says: the path segments that the codec names, and the
// query without credentials.
func (w *Wire) keepURL(req *Request, segments map[string]string) {
	said := modelio.Object{}
	for name, segment := range segments {
		if segment != "" {
			said[name] = jsonText(segment)
		}
	}
	query := modelio.Object{}
	for name, values := range w.URL.Query() {
		switch {
		case IsCredential(name):
		case len(values) == 1:
			query[name] = jsonText(values[0])
		default:
			query[name] = jsonTexts(values)
		}
	}
	if len(query) > 0 {
		said["query"] = jsonObject(query)
	}
	if len(said) > 0 {
		req.Options[markURL] = jsonObject(said)
	}
}

// urlSegment returns a path segment that keepURL has kept; "" if there is none.
func (r *Request) urlSegment(name string) string {
	return r.url().member(name).word()
}

func (r *Request) url() value {
	doc, err := parse(r.Options[markURL])
	if err != nil {
		return value{}
	}
	return doc.root()
}

// endpoint returns an escaped path with the query that keepURL has kept.
func (r *Request) endpoint(path string) string {
	query := url.Values{}
	for name, v := range r.url().member("query").members() {
		if many, ok := v.texts(); ok {
			query[name] = many
		} else {
			query.Set(name, v.word())
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// IsCredential reports whether a query parameter is one that carries a secret: ?key=,
// api_key, X-Amz-Signature, but not pageToken or max_tokens. So are Google's upload_id, with
// which anyone may upload, and Ollama's ts, the time of a signature.
func IsCredential(name string) bool {
	if name == "ts" || name == "upload_id" {
		return true
	}
	words := strings.FieldsFunc(spaceCamelCase(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, word := range words {
		switch word {
		case "key", "apikey", "secret", "password", "passwd", "pwd", "sig", "signature", "auth",
			"authorization", "credential", "credentials", "bearer", "jwt", "code", "amz":
			return true
		case "token":
			if i == 0 || slices.Contains(tokenKinds, words[i-1]) {
				return true
			}
		}
	}
	return false
}

// tokenKinds are the words before "token" that make it a secret.
var tokenKinds = []string{"access", "auth", "api", "id", "refresh", "security", "session", "bearer", "x"}

// spaceCamelCase returns name in lower case with a space before each capital after a small letter.
func spaceCamelCase(name string) string {
	var b strings.Builder
	var small bool
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// prepend puts the system message before the others, if there is one.
func (r *Request) prepend(system *modelio.Message) {
	if system != nil {
		r.Messages = append([]modelio.Message{*system}, r.Messages...)
	}
}

// wantMessages fails for a request with a prompt, in an API that takes messages.
func (r *Request) wantMessages(api string) error {
	if r.Prompt != nil {
		return &WireError{API: api, Pointer: "/prompt", Reason: "the API takes messages and no prompt"}
	}
	return nil
}

// options returns a copy of the members of Options that go into the body.
func (r *Request) options() modelio.Object {
	o := maps.Clone(r.Options)
	delete(o, markURL)
	delete(o, markWire)
	return o
}
