package recorder

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// Serve starts a server on a loopback address that stands for the named provider. What it is asked
// goes through the recorder as if it had been sent to the provider. close ends it, after answers
// that are on their way.
func (r *Recorder) Serve(name string) (url string, closeServer func(), err error) {
	home, ok := provider.Home(name)
	if !ok {
		return "", nil, fmt.Errorf("no provider is named %q; there are %s", name, strings.Join(homes(), ", "))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening on a loopback address: %w", err)
	}
	server := &http.Server{Handler: &gateway{r, home}}
	go server.Serve(listener) // ends with Close
	return "http://" + listener.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		server.Shutdown(ctx) // so that answers that are on their way are recorded
		server.Close()
	}, nil
}

// homes returns the names of the providers that have a public host.
func homes() (names []string) {
	for _, p := range provider.Providers() {
		if p.Home != "" {
			names = append(names, p.Name)
		}
	}
	return names
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
