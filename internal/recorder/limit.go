package recorder

import (
	"bytes"
	"fmt"
	"io"
)

// A tooLong is the error for a body that exceeds its limit (design R16).
type tooLong struct {
	what  string
	limit int64
}

func (e *tooLong) Error() string {
	return fmt.Sprintf("%s has more than %d bytes, which are the most that is kept", e.what, e.limit)
}

const raiseLimit = "TRACEFORGE_MAX_BYTES raises the limit"

// readAtMost reads at most limit bytes. If size, the announced length, is known, it allocates only one copy. For a
// longer body it returns the beginning, and a [tooLong].
func readAtMost(r io.Reader, size, limit int64, what string) (body []byte, err error) {
	r = io.LimitReader(r, limit+1)
	if 0 < size && size <= limit { // otherwise the length is unknown, or too large to trust
		text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = text.ReadFrom(r)
		body = text.Bytes()
	} else {
		body, err = io.ReadAll(r) // grows by a quarter at a time; a bytes.Buffer doubles
	}
	if err == nil && int64(len(body)) > limit {
		err = &tooLong{what, limit}
	}
	return body, err
}

// rewound returns a body of which a part has been read, from its beginning.
func rewound(read []byte, body io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), body), body}
}
