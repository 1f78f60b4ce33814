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

// Dialer returns a dialer whose sessions are on the tape of a test: while recording it connects to the provider, in
// replay to nobody. A session is recorded when it has ended, which the test's end does at the latest. It dials APIs
// of providers only, such as wss://api.openai.com/v1/realtime. It is safe for concurrent use.
func Dialer(tf *traceforgetest.Recorder) *websocket.Dialer {
	dial := func(scheme string) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			theirs, ours := net.Pipe()
			go answer(tf, scheme, ours)
			return theirs, nil
		}
	}
	return &websocket.Dialer{NetDialContext: dial("http"), NetDialTLSContext: dial("https"), HandshakeTimeout: 45 * time.Second}
}

// answer answers the one request that a connection is opened for, and is the connection from then on.
func answer(tf *traceforgetest.Recorder, scheme string, conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return // the client has gone
	}
	req.URL.Scheme, req.URL.Host, req.RequestURI = scheme, req.Host, ""
	resp, err := tf.RoundTrip(req)
	if err != nil {
		resp = &http.Response{Status: "502 Bad Gateway", StatusCode: http.StatusBadGateway, ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}
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
		io.Copy(session, in) // ends with the client
	}()
	io.Copy(conn, session)
}
