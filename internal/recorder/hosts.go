package recorder

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// notOfHost are characters that a URL or a pattern may have, but no host name.
const notOfHost = "/?#@:*[] "

// checkHosts returns an error for a value of an option that is no host.
func (o *Options) checkHosts(option string, hosts []string) error {
	for _, host := range hosts {
		_, err := netip.ParseAddr(host)
		if host == "" || err != nil && strings.ContainsAny(host, notOfHost) {
			return fmt.Errorf("%s: want a host without scheme, port and path, as in %s: its subdomains are included",
				o.option(option, host), o.option(option, "example.com"))
		}
	}
	return nil
}

// covers reports whether a host is in a list, or is below a host in it.
func covers(listed []string, host string) bool {
	return slices.ContainsFunc(listed, func(name string) bool {
		return provider.Covers(strings.ToLower(name), strings.ToLower(host))
	})
}

// passThrough makes a call that is not recorded.
func (s *setup) passThrough(req *http.Request) (*http.Response, error) {
	if s.Mode.Live() {
		return s.upstreamOf(req.Context()).RoundTrip(req)
	}
	if req.Body != nil {
		req.Body.Close()
	}
	host := req.URL.Hostname()
	f := failuref(fmt.Sprintf("%s is passed through while recording only: nothing is called in replay; "+
		"%s in its place records the call", host, s.given("Record", host)))
	return s.response400(req, &wire{Wire: provider.Wire{Method: req.Method, URL: req.URL}}, s.plain(f)), nil
}

// codecOf returns the codec of a request's API. A call that is no model call gets the generic codec if the test records
// its host.
func (s *setup) codecOf(w *wire) (*provider.Codec, bool) {
	if w.codec == nil {
		w.codec, w.known = provider.Match(&w.Wire) // the generic codec if it is not known
	}
	return w.codec, w.known || covers(s.Recorded, w.URL.Hostname())
}

// Hosts are the providers of the hosts that the repository's configuration names.
func (r *Recorder) Hosts() map[string]string { return r.run.config.Hosts }

// hostRules is the cause for a record of a call whose host config.json now gives another provider.
const hostRules = "hosts"
