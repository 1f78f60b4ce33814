package websockettraceforge

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Dialer returns a dialer whose sessions are recorded with a test's calls and replayed. While recording it connects to
// the provider, and in replay to nobody. A session is recorded when it ends, which is at the end of the test at the
// latest. It dials only APIs of providers, such as wss://api.openai.com/v1/realtime. It is safe for concurrent use.
func Dialer(tf *traceforgetest.Recorder) *websocket.Dialer {
	dial := func(scheme string) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			theirs, ours := net.Pipe()
			go answer(tf, scheme, ours)
			return theirs, nil
		}
	}
	return &websocket.Dialer{NetDialContext: dial("http"), NetDialTLSContext: dial("https"),
		HandshakeTimeout: 45 * time.Second}
}

// answer answers the single request for which a connection is opened; after that it serves the connection.
func answer(tf *traceforgetest.Recorder, scheme string, conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return // the client is gone
	}
	req.URL.Scheme, req.URL.Host, req.RequestURI = scheme, req.Host, ""
	resp, err := tf.RoundTrip(req)
	if err != nil {
		resp = &http.Response{StatusCode: http.StatusBadGateway, ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}
	}
	defer resp.Body.Close()
	session, opened := resp.Body.(io.ReadWriteCloser)
	if opened {
		resp.Body = nil
	}
	if resp.Write(conn) != nil || !opened {
		return
	}
	go func() {
		defer session.Close()
		io.Copy(session, in) // ends when the client closes
	}()
	io.Copy(conn, session)
}
