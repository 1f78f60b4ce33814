package fakeprovider

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// TB is the part of testing.TB that [New] needs. The package does not import testing, so that commands can link it.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// A Server is a fake provider on a loopback address. It is safe for concurrent use.
type Server struct {
	addr      string
	http      *http.Server
	transport *http.Transport

	mu      sync.Mutex
	queue   []Reply
	handler func(Call) Reply
	calls   []Call
	key     string
	fixed   bool
	seen    map[string]int // how often each request was received, for FixIDs
}

// New starts a server that is closed when the test ends.
func New(t TB) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. The caller must close it.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fakeprovider: listen on loopback: %w", err)
	}
	s := &Server{
		addr: l.Addr().String(),
		seen: make(map[string]int),
		// Use no proxy: requests for every host must come here.
		transport: &http.Transport{MaxIdleConnsPerHost: 16},
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)}
	go s.http.Serve(l) // returns once Close is called
	return s, nil
}

// Close stops the server and closes its remaining connections.
func (s *Server) Close() {
	s.http.Close()
	s.transport.CloseIdleConnections()
}

// URL returns the server's base URL, without a path or a trailing slash.
func (s *Server) URL() string { return "http://" + s.addr }

// Transport returns a transport that sends every request to s, whatever its host. The original host is in [Call.Host],
// so a client of api.openai.com can be tested unchanged.
func (s *Server) Transport() http.RoundTripper { return redirect{s} }

type redirect struct{ s *Server }

func (t redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	if out.Host == "" {
		out.Host = r.URL.Host
	}
	out.URL.Scheme, out.URL.Host = "http", t.s.addr
	return t.s.transport.RoundTrip(out)
}

// Reply appends to the queue of replies, one for each call, in order. When the queue is empty, the handler of
// [Server.Handle] answers, or the server returns an error if there is none.
func (s *Server) Reply(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Handle sets the function that answers calls when no reply is queued. It is called concurrently.
func (s *Server) Handle(f func(Call) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = f
}

// RequireKey makes the server refuse calls without this API key.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// FixIDs makes ids, timestamps, padding and rate-limit headers depend only on the request and how often it was
// received. Without it they differ in every answer and every run, like those of a real provider.
func (s *Server) FixIDs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = true
}

// Calls returns the calls that the server has received so far, in order of arrival, including refused calls.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	call, format := callOf(r, body)
	fail := s.refuse(call, format)
	x := s.exchange(call, format)
	if fail == nil {
		x.reply, fail = s.next(*call)
	}
	if fail != nil {
		x.reply = Reply{Failure: fail}
	}
	x.answer(w, r)
}

// callOf returns the unparsed call of a request, and its format.
func callOf(r *http.Request, body []byte) (*Call, format) {
	call := &Call{
		Method: r.Method,
		Host:   r.Host,
		Path:   r.URL.Path,
		Query:  r.URL.Query(),
		Header: r.Header.Clone(),
		Body:   body,

		Choices: 1,
	}
	format := formatOf(call)
	call.API = format.name()
	return call, format
}

// refuse returns the reason why the real provider would refuse the call; if it would not, refuse parses the call.
func (s *Server) refuse(c *Call, f format) *Failure {
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	if key != "" && c.key() != key {
		return f.badKey(c)
	}
	if _, any := f.(anyMethod); c.Method != http.MethodPost && !any {
		return f.badMethod(c)
	}
	return f.read(c)
}

// exchange records the call and opens the exchange for it.
func (s *Server) exchange(c *Call, f format) *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, *c)
	x := &exchange{call: c, format: f}
	if !s.fixed {
		x.mint = newMint()
		return x
	}
	what := c.Path + "\x00" + string(c.Body)
	s.seen[what]++
	x.mint = fixedMint(what, s.seen[what])
	return x
}

// next returns the next reply to a call.
func (s *Server) next(c Call) (Reply, *Failure) {
	s.mu.Lock()
	handler := s.handler
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return reply, nil
	}
	n := len(s.calls)
	s.mu.Unlock()
	if handler == nil {
		return Reply{}, badScript(fmt.Sprintf(
			"no reply is left for call %d (%s %s); script one with Reply, or answer all with Handle", n, c.Method, c.Path))
	}
	return handler(c), nil
}

// key returns the call's API key from any place where providers accept it.
func (c *Call) key() string {
	if k, ok := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer "); ok {
		return k
	}
	for _, h := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if k := c.Header.Get(h); k != "" {
			return k
		}
	}
	return c.Query.Get("key")
}
