package fakeprovider

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A delivery sends a rendered reply as the script specifies: when, in which pieces, and how much of it.
type delivery struct {
	script   Reply
	status   int
	chunks   [][]byte // each is flushed separately
	streamed bool
}

func (d delivery) send(w http.ResponseWriter, r *http.Request) {
	if !sleep(r.Context(), d.script.Delay) {
		return
	}
	if d.script.Cut == CutHangup {
		reset(w)
		return
	}
	if !d.streamed && d.script.Cut != CutEnd { // a body of known length cannot end early and look complete
		w.Header().Set("Content-Length", strconv.Itoa(len(d.chunks[0])))
	}
	out := newFlusher(w, d.script.Gzip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"))
	w.WriteHeader(d.status)
	for i, chunk := range d.uncut() {
		if i > 0 && !sleep(r.Context(), d.script.Stream.Gap) {
			return
		}
		if err := out.write(chunk, d.script.Stream.WriteSize); err != nil {
			return // the client has disconnected
		}
	}
	switch d.script.Cut {
	case CutNone:
		out.close()
	case CutReset:
		out.flush()
		reset(w)
	case CutDrop:
		out.flush()
		panic(http.ErrAbortHandler) // net/http closes the connection and logs nothing
	}
}

// uncut returns the chunks to send before the cut.
func (d delivery) uncut() [][]byte {
	switch {
	case d.script.Cut == CutNone:
		return d.chunks
	case d.streamed:
		return d.chunks[:max(0, min(d.script.CutAfter, len(d.chunks)))]
	default:
		body := d.chunks[0]
		return [][]byte{body[:len(body)/2]}
	}
}

// reset ends the connection with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // unreachable: the server speaks HTTP/1.1 only
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// sleep waits for d and reports whether the client is still connected.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A flusher writes a response body and flushes every write.
type flusher struct {
	http.ResponseWriter
	zip *gzip.Writer // nil if not compressed
}

func newFlusher(w http.ResponseWriter, compress bool) flusher {
	if !compress {
		return flusher{w, nil}
	}
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Encoding", "gzip")
	return flusher{w, gzip.NewWriter(w)}
}

// write writes data in pieces of size bytes, or all at once if size is 0.
func (f flusher) write(data []byte, size int) error {
	if size <= 0 {
		size = max(1, len(data))
	}
	for len(data) > 0 {
		n := min(size, len(data))
		if _, err := f.body().Write(data[:n]); err != nil {
			return err
		}
		if err := f.flush(); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (f flusher) body() io.Writer {
	if f.zip != nil {
		return f.zip
	}
	return f.ResponseWriter
}

func (f flusher) flush() error {
	if f.zip != nil {
		if err := f.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(f.ResponseWriter).Flush()
}

func (f flusher) close() {
	if f.zip != nil {
		f.zip.Close()
	}
}
