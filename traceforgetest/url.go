package traceforgetest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// URL returns the base URL of a server on a loopback address that stands for the named
// provider ("openai", "anthropic"), for code and child processes that take only a URL. What it
// is asked goes through the recorder as if it had been sent to the provider; it is the root of
// the provider's host, so an SDK's own path, such as /v1, is appended to it. The server ends
// with the test. An unknown provider fails the test at once.
func (r *Recorder) URL(name string) string {
	r.t.Helper()
	home, ok := provider.Home(name)
	if !ok {
		r.t.Fatalf("traceforge: no provider is named %q; there are %s", name, strings.Join(provider.Homes(), ", "))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatalf("traceforge: listening on a loopback address: %v", err)
	}
	server := &http.Server{Handler: &gateway{r, home}}
	go server.Serve(listener) // ends with Close
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		server.Shutdown(ctx) // so that answers that are on their way are recorded
		server.Close()
	})
	return "http://" + listener.Addr().String()
}

// A gateway passes what a server is asked to a recorder.
type gateway struct {
	recorder *Recorder
	home     *url.URL
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	out := in.Clone(in.Context())
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = g.home.Scheme, g.home.Host, g.home.Host
	out.Header.Del("Accept-Encoding") // the transport's own choice, which it undoes itself
	resp, err := g.recorder.RoundTrip(out)
	if err != nil {
		resp = refusal(in, err)
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	if err := copyFlushed(w, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // the client sees that its answer was cut
	}
}

// copyFlushed passes each read on at once, so that a stream stays one.
func copyFlushed(w http.ResponseWriter, body io.Reader) error {
	flusher := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
			flusher.Flush()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
