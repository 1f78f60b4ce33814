package cassette

import (
	"bytes"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/content"
)

// decode makes the body of an answer readable. Tools store a body as it was sent, or decoded but with the original
// headers. Encodings without a decoder here are left to the option ContentEncoding.
func (c *Call) decode() {
	for _, name := range []string{"Content-Length", "Transfer-Encoding", "Trailer", "Connection"} {
		c.header.Del(name) // describes the bytes as they were sent
	}
	encoding := c.header.Get("Content-Encoding")
	if encoding == "" && bytes.HasPrefix(c.body, gzipMagic) && readsAsText(c.header.Get("Content-Type")) {
		encoding = "gzip" // the header was removed, but the body is still encoded
	}
	plain, err := content.Decode(encoding, c.body, nil, readAtMost)
	if err == nil {
		c.body = plain
	}
	if err == nil || utf8.Valid(c.body) { // it was decoded already
		c.header.Del("Content-Encoding")
	}
}

func readsAsText(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json")
}

// meaning returns the same text for bodies with the same meaning. It compares JSON by values, forms by fields,
// multipart without its boundary, and everything without gzip.
func meaning(contentType string, body []byte) string {
	if bytes.HasPrefix(body, gzipMagic) {
		if plain, err := unzip(body); err == nil {
			body = plain
		}
	}
	if same, err := canon.KeepNumbers(body); err == nil {
		return string(same)
	}
	kind, params, _ := mime.ParseMediaType(contentType)
	if boundary := params["boundary"]; boundary != "" {
		return strings.ReplaceAll(string(body), boundary, "boundary")
	}
	if kind == "application/x-www-form-urlencoded" {
		if fields, err := url.ParseQuery(string(body)); err == nil {
			return fields.Encode()
		}
	}
	return string(body)
}
