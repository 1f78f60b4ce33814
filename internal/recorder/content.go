package recorder

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

// A contentDecoder undoes one content encoding.
type contentDecoder = func(io.Reader) (io.Reader, error)

// contentDecoders are the encodings that the standard library knows. A call goes out without
// its caller's Accept-Encoding, so that others come from servers only that do not ask.
var contentDecoders = map[string]contentDecoder{
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

// decodeContent undoes a Content-Encoding, which lists encodings in the order in which they
// were applied: what is stored is readable.
func (r *Recorder) decodeContent(encodings string, body []byte) ([]byte, error) {
	if encodings == "" {
		return body, nil
	}
	names := strings.Split(strings.ToLower(encodings), ",")
	for _, name := range slices.Backward(names) {
		name = strings.TrimSpace(name)
		decode, ok := r.Decoders[name]
		if !ok {
			decode, ok = contentDecoders[name]
		}
		if !ok {
			return nil, fmt.Errorf("content encoding %q is not known: name its decoder with the option ContentEncoding", name)
		}
		reader, err := decode(bytes.NewReader(body))
		if err == nil {
			body, err = readAtMost(reader, r.store.MaxBytes(), "the content")
		}
		if err != nil {
			return nil, fmt.Errorf("decoding %s content: %w", name, err)
		}
	}
	return body, nil
}
