package fakeprovider_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func Example() {
	srv, err := fakeprovider.Start() // a test uses New(t)
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Reply(fakeprovider.Fragments("Hel", "lo"))

	resp, err := http.Post(srv.URL()+"/api/chat", "application/json", strings.NewReader(
		`{"model":"qwen3","messages":[{"role":"user","content":"Hi"}],"stream":true}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(body)) {
		_, rest, _ := strings.Cut(line, `"content":"`)
		piece, _, _ := strings.Cut(rest, `"`)
		fmt.Printf("%q\n", piece)
	}
	fmt.Println(srv.Calls()[0].LastUser())
	// Output:
	// "Hel"
	// "lo"
	// ""
	// Hi
}
