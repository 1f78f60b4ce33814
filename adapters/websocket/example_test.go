package websockettraceforge_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/gorilla/websocket"

	websockettraceforge "github.com/traceforge/traceforge-go/adapters/websocket"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleDialer() {
	_ = func(t *testing.T) { // TestTalk
		tf := traceforgetest.New(t)
		header := http.Header{"Authorization": {"Bearer " + os.Getenv("OPENAI_API_KEY")}}
		conn, _, err := websockettraceforge.Dialer(tf).Dial("wss://api.openai.com/v1/realtime?model=gpt-realtime", header)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"response.create"}`)); err != nil {
			t.Fatal(err)
		}
	}
	// Output:
}
