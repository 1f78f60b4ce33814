package recorder

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/websocket"
)

// Serve starts a server on a loopback address that stands for the named provider. A request to it goes through the
// recorder as if it had been sent to the provider. close waits for the answers under way and ends the server.
//
// The server spends the caller's money with the caller's key, so it must not answer anyone else: address ends in a path
// that cannot be guessed, and pages of browsers are refused (design R16).
func (r *Recorder) Serve(name string) (address string, closeServer func(), err error) {
	facts := provider.Facts(name)
	if facts.Home == "" {
		return "", nil, fmt.Errorf("no provider is named %q; there are %s", name, strings.Join(homes(), ", "))
	}
	home, _ := url.Parse(facts.Home) // a test parses all homes
	return r.ServeAt(Endpoint{Home: home, Keys: facts.Keys})
}

// An Endpoint says what a recorder's server stands for.
type Endpoint struct {
	Home *url.URL // the URL that the server stands for; its host decides the provider of the calls
	Path string   // the path of the server's own URL, as SDKs need it; Home's path replaces it in requests
	Keys []string // environment variables with the provider's key
	// Upstream is the URL for live calls; nil means Home.
	Upstream *url.URL
}

// ServeAt is [Recorder.Serve] for an endpoint.
func (r *Recorder) ServeAt(e Endpoint) (url string, closeServer func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening on a loopback address: %w", err)
	}
	g := &gateway{host: listener.Addr().String(), prefix: "/" + strings.ToLower(rand.Text()), astray: r.run.noteAstray,
		Endpoint: e}
	g.proxy = httputil.ReverseProxy{
		Rewrite:       g.rewrite,
		Transport:     r.Over(redirect{e, r.run.Upstream}),
		FlushInterval: -1, // keeps a stream a stream
		ModifyResponse: func(resp *http.Response) error {
			err := g.clean(resp)
			if err != nil {
				w := &wire{Wire: provider.Wire{Method: resp.Request.Method, URL: PublicURL(resp.Request.URL)}}
				err = r.report.failCall(w, w.String(), failuref(w.String()+": "+err.Error()))
			}
			return err
		},
		ErrorHandler: g.refuse,
		ErrorLog:     log.New(io.Discard, "", 0), // the caller sees the error in its answer
	}
	unused := &unusedConns{}
	server := &http.Server{Handler: g, ConnState: unused.note}
	server.RegisterOnShutdown(unused.close)
	go server.Serve(listener) // ends with Close
	return "http://" + g.host + g.prefix + e.Path, func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		server.Shutdown(ctx) // lets answers under way be recorded
		server.Close()
	}, nil
}

// unusedConns are connections that clients opened in advance and that no request has used. Shutdown would wait for
// them.
type unusedConns struct {
	open   locked.Map[net.Conn, bool]
	closed atomic.Bool
}

// note notes the state of a connection. A connection that arrives while close runs is closed by either of the two.
func (u *unusedConns) note(conn net.Conn, state http.ConnState) {
	if u.open.Delete(conn); state != http.StateNew {
		return
	}
	if u.open.Add(conn, true); u.closed.Load() {
		conn.Close()
	}
}

func (u *unusedConns) close() {
	u.closed.Store(true)
	for conn := range u.open.All() {
		conn.Close()
	}
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

// A gateway passes a server's requests to a recorder. The proxy keeps headers of one connection from the other.
type gateway struct {
	host   string // the server's own
	prefix string // that all paths begin with
	proxy  httputil.ReverseProxy
	astray func(why string) // notes that a request lacks the prefix
	Endpoint
}

// methods are the methods that APIs use. CONNECT and TRACE are for proxies, and OPTIONS comes from browsers.
var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if status, why := g.forbids(in); why != "" {
		http.Error(w, "traceforge: "+why, status)
		return
	}
	g.proxy.ServeHTTP(w, in)
}

// forbids returns the status and the reason for refusing a request, or "" if it is allowed.
func (g *gateway) forbids(in *http.Request) (status int, why string) {
	origin, site := in.Header.Get("Origin"), in.Header.Get("Sec-Fetch-Site")
	switch {
	case in.Host != g.host:
		return http.StatusMisdirectedRequest, "the request is for another host than this server's"
	case origin != "" && origin != "http://"+g.host,
		site != "" && site != "same-origin" && site != "none":
		return http.StatusForbidden, "a page of a browser asked, which is no code under test"
	case !slices.Contains(methods, in.Method):
		return http.StatusMethodNotAllowed, "the method is none that APIs use"
	case in.Header.Get("Upgrade") != "" && !websocket.Asked(in.Method, in.Header):
		return http.StatusBadRequest, "the connection can be upgraded to a WebSocket only"
	case in.URL.User != nil || in.URL.Host != "":
		return http.StatusBadRequest, "the request's target is a whole URL: this server is no proxy"
	case !strings.HasPrefix(in.URL.EscapedPath(), g.prefix+"/") && !g.bearsKey(in):
		why = "the path does not begin as that of the base URL: append to that what follows the provider's host"
		if len(g.Keys) > 0 {
			why += "; a client that drops the path of its base URL must send the key that is in " + strings.Join(g.Keys, " or ")
		}
		g.astray("a request was turned away: " + why)
		return http.StatusNotFound, why
	}
	return 0, ""
}

// noteAstray notes why a server turned a request away, which may be why the test seems to make no call.
func (r *run) noteAstray(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.astray = why
}

// bearsKey reports whether a request has the provider's key from the environment. Some clients drop the path of their
// base URL, and the owner of the key could ask the provider without this server.
func (g *gateway) bearsKey(in *http.Request) bool {
	said, _ := strings.CutPrefix(in.Header.Get("Authorization"), "Bearer ")
	said = cmp.Or(said, in.Header.Get("X-Api-Key"))
	return said != "" && slices.ContainsFunc(g.Keys, func(name string) bool { return os.Getenv(name) == said })
}

// rewrite directs a request to the provider.
func (g *gateway) rewrite(p *httputil.ProxyRequest) {
	u := *g.Home
	u.RawQuery = p.In.URL.RawQuery
	movePath(&u, strings.TrimPrefix(p.In.URL.EscapedPath(), g.prefix), g.Path, g.Home)
	p.Out.URL, p.Out.Host = &u, u.Host
	p.Out.Header.Del("Accept-Encoding") // the transport then sets its own, and decodes the answer
}

// movePath sets the path of u to path, with the path of to in place of the prefix. A path without the prefix is
// appended to the path of to, which loses the prefix at its end.
func movePath(u *url.URL, path, prefix string, to *url.URL) {
	base := strings.TrimSuffix(to.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok {
		base = strings.TrimSuffix(base, prefix)
	}
	u.RawPath = base + rest
	u.Path, _ = url.PathUnescape(u.RawPath) // both were parsed, so this cannot fail
}

// A redirect makes the live calls of an endpoint.
type redirect struct {
	Endpoint
	next http.RoundTripper
}

// errSigned says why a call cannot be passed on.
var errSigned = errors.New(
	"the request is signed for the server that it was sent to, so that it cannot be passed on: " +
		"use a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK) to record")

func (d redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasPrefix(req.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		return nil, errSigned
	}
	if d.Upstream != nil {
		u := *req.URL
		u.Scheme, u.Host = d.Upstream.Scheme, d.Upstream.Host
		movePath(&u, req.URL.EscapedPath(), strings.TrimSuffix(d.Home.EscapedPath(), "/"), d.Upstream)
		req = req.Clone(req.Context())
		req.URL, req.Host = &u, u.Host
	}
	return d.next.RoundTrip(req)
}

// clean removes headers that are meant for browsers, and lets a redirect lead back to this server. Any other redirect
// is an error: the client would follow it with its key, and past the recorder.
func (g *gateway) clean(resp *http.Response) error {
	maps.DeleteFunc(resp.Header, func(name string, _ []string) bool {
		return name == "Set-Cookie" || strings.HasPrefix(name, "Access-Control-")
	})
	to, err := resp.Location()
	if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	if to.Host != g.Home.Host && (g.Upstream == nil || to.Host != g.Upstream.Host) {
		return fmt.Errorf("the answer redirects to %s, for which the base URL does not stand: give the program a client in place of a base URL", to.Host)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(g.Home.EscapedPath(), "/"), g.Path)
	resp.Header.Set("Location", g.prefix+strings.TrimPrefix(to.RequestURI(), base))
	return nil
}

// refuse answers a call that ended in an error of the transport, in a way that no client tries again.
func (g *gateway) refuse(w http.ResponseWriter, out *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		panic(http.ErrAbortHandler) // the client has gone
	}
	refused := provider.Refuse(&provider.Wire{Method: out.Method, URL: out.URL}, nil, err.Error())
	maps.Copy(w.Header(), refused.Header)
	w.WriteHeader(http.StatusBadRequest)
	w.Write(refused.Body) // the client is told, or has gone
}
