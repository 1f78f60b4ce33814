package provider

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDecodeRequest measures the cost of each replayed call in this package, for a short chat and for the late
// turn of an agent loop.
func BenchmarkDecodeRequest(b *testing.B) {
	for _, size := range []struct {
		name  string
		turns int
		text  string
	}{{"2KB", 3, strings.Repeat("word ", 100)}, {"100KB", 100, strings.Repeat("word ", 180)}} {
		var messages []string
		for i := range size.turns {
			messages = append(messages,
				fmt.Sprintf(`{"role":"user","content":%q}`, size.text),
				fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`, i))
		}
		body := []byte(`{"model":"m","temperature":0,"messages":[` + strings.Join(messages, ",") + `]}`)
		at, err := url.Parse("https://api.openai.com/v1/chat/completions")
		require.NoError(b, err)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				w := &Wire{Method: "POST", URL: at, Body: body}
				codec, ok := Match(w)
				if !ok {
					b.Fatal("no match")
				}
				if _, err := codec.DecodeRequest(w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
