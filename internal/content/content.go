// Package content decodes the content encodings of HTTP bodies.
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

// A Decoder decodes one content encoding.
type Decoder = func(io.Reader) (io.Reader, error)

// known are the encodings that the standard library supports.
var known = map[string]Decoder{
	"identity": func(r io.Reader) (io.Reader, error) { return r, nil },
	"gzip":     func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":   func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate":  inflate,
}

// inflate decodes zlib's format, which RFC 9110 calls deflate, and the raw format that some servers send instead.
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

// Unknown is the error for an encoding without a decoder. It is the encoding's name.
type Unknown string

func (e Unknown) Error() string {
	return fmt.Sprintf("content encoding %q is not known: name its decoder with the option ContentEncoding", string(e))
}

// Decode decodes a body with a Content-Encoding, which lists encodings in the order in which they were applied. more
// holds additional decoders. read reads a decoder's output and limits its size.
func Decode(encodings string, body []byte, more map[string]Decoder,
	read func(io.Reader) ([]byte, error)) ([]byte, error) {
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
