package secret

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// BenchmarkFind looks through texts of 100 KB, as the recording of a call of that size does.
func BenchmarkFind(b *testing.B) {
	prose := strings.Repeat(`The quick brown fox jumps over the lazy dog, says \"he\", and the_identifier_of_this is 0f8fad5b-d9cb-469f-a165-70867728950e.\n`, 800)
	var events strings.Builder
	for i := 0; events.Len() < 100_000; i++ {
		fmt.Fprintf(&events, `data: {"id":"chatcmpl-0f8fad5bd9cb","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}`+"\n\n", i)
	}
	s := New()
	s.Environment(os.Environ())
	for i := range 20 {
		s.Environment([]string{fmt.Sprintf("SECRET_%d=%032x", i, int64(i)*0x123456789abcd)})
	}
	for _, c := range []struct{ name, text string }{
		{"document", `{"request":{"messages":[{"role":"user","content":"` + prose + `"}]}}`},
		{"stream", events.String()},
		{"base64", `{"image":"` + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 2300) + `"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := []byte(c.text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if hit, found := s.Find(text); found {
					b.Fatal(hit)
				}
			}
		})
	}
}
