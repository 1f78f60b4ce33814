// Package websockettraceforge records sessions with realtime models over a WebSocket that is dialed with
// github.com/gorilla/websocket, which takes no HTTP client: see [Dialer].
//
// Others need nothing of it. github.com/coder/websocket takes the client of the test, as in
// websocket.DialOptions{HTTPClient: tf.Client()}. The client of openai-go does too. Clients that take a URL only, of any
// language, are given that of tf.URL with the scheme ws.
package websockettraceforge
