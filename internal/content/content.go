// Package content undoes the content encodings of HTTP bodies.
package content

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Decoder undoes one content encoding.
type Decoder = func(io.Reader) (io.Reader, error)

// known are the encodings that the standard library has.
var known = map[string]Decoder{
	"identity": func(r io.Reader) (io.Reader, error) { return r, nil },
	"gzip":     func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":   func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate":  inflate,
}

// inflate reads zlib's format, which RFC 9110 calls deflate, and what some servers take for it: the
// same without a header.
func inflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if method := head[0] & 0x0f; method == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 { // RFC 1950
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// Unknown names an encoding that has no decoder.
type Unknown string

func (e Unknown) Error() string {
	return fmt.Sprintf("content encoding %q is not known: name its decoder with the option ContentEncoding", string(e))
}

// Decode undoes a Content-Encoding, which lists encodings in the order in which they were applied. more has decoders
// besides those of the standard library; read reads what they give, and bounds it.
func Decode(encodings string, body []byte, more map[string]Decoder, read func(io.Reader) ([]byte, error)) ([]byte, error) {
	if encodings == "" {
		return body, nil
	}
	names := strings.Split(strings.ToLower(encodings), ",")
	for _, name := range slices.Backward(names) {
		name = strings.TrimSpace(name)
		decode, ok := more[name]
		if !ok {
			decode, ok = known[name]
		}
		if !ok {
			return nil, Unknown(name)
		}
		reader, err := decode(bytes.NewReader(body))
		if err == nil {
			body, err = read(reader)
		}
		if err != nil {
			return nil, fmt.Errorf("decoding %s content: %w", name, err)
		}
	}
	return body, nil
}
