// Package websockettraceforge records sessions with realtime models over WebSockets that are dialed with
// github.com/gorilla/websocket, which does not accept an HTTP client: see [Dialer].
//
// Other libraries do not need this package. github.com/coder/websocket takes the test's client, as in
// websocket.DialOptions{HTTPClient: tf.Client()}. openai-go's client takes it too. Clients that accept only a URL, in
// any language, use tf.URL with the scheme ws.
package websockettraceforge
