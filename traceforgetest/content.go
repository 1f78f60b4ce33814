package traceforgetest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

// decodeContent undoes a response's Content-Encoding: what is stored is readable.
func decodeContent(encoding string, body []byte) ([]byte, error) {
	var r io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return nil, fmt.Errorf("content encoding %q is not known: ask for gzip, deflate or none", encoding)
	}
	if err == nil {
		body, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding %s content: %w", encoding, err)
	}
	return body, nil
}
