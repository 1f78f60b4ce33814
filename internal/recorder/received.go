package recorder

import "bytes"

// A receivedBody is the body of an answer as far as it has arrived. It comes in chunks, since to grow
// one piece of memory would copy a long answer many times.
type receivedBody struct {
	chunks [][]byte
	size   int // bytes in all of them
}

// add appends a copy of p.
func (r *receivedBody) add(p []byte) {
	const least, most = 4 << 10, 1 << 20 // bytes of a new chunk
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(p) {
		r.chunks = append(r.chunks, make([]byte, 0, max(len(p), least, min(r.size, most))))
		last++
	}
	r.chunks[last] = append(r.chunks[last], p...)
	r.size += len(p)
}

// bytes returns what has arrived in one piece, which does not change when more arrives.
func (r *receivedBody) bytes() []byte {
	if len(r.chunks) > 1 {
		r.chunks = [][]byte{bytes.Join(r.chunks, nil)}
	}
	if r.size == 0 {
		return nil
	}
	return r.chunks[0][:r.size:r.size]
}
