package websockettraceforge_test

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gorilla/websocket"

	websockettraceforge "github.com/traceforge/traceforge-go/adapters/websocket"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleDialer() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"session.created","session":{"model":"gpt-realtime"}}`))
		_, _, _ = conn.ReadMessage() // until the client closes
	}))
	defer provider.Close()

	tf := traceforgetest.New(t, traceforgetest.Nondeterministic("a realtime API takes no seed"))
	url := strings.Replace(provider.URL, "http", "ws", 1) + "/v1/realtime?model=gpt-realtime"
	conn, _, err := websockettraceforge.Dialer(tf).Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, message, err := conn.ReadMessage()
	if err != nil || !strings.Contains(string(message), "session.created") {
		t.Errorf("%s, %v", message, err)
	}
}
