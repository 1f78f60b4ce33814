package recorder

import (
	"io"

	"github.com/traceforge/traceforge-go/internal/content"
)

// decodeContent undoes a Content-Encoding: what is stored is readable. A call goes out without its caller's
// Accept-Encoding, so that encodings which the standard library does not know come from servers only that do not ask.
func (s *setup) decodeContent(encodings string, body []byte) ([]byte, error) {
	return content.Decode(encodings, body, s.Decoders, func(plain io.Reader) ([]byte, error) {
		return readAtMost(plain, s.store.MaxBytes(), "the content")
	})
}
