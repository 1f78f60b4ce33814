// Package ask makes the calls of the tests of a generated repository. They are the same for each tool between the tests
// and the provider.
package ask

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// promptSize is the length of a prompt in bytes.
const promptSize = 2000

// Call calls a model with a prompt that no other test has.
func Call(t testing.TB, client *http.Client) {
	t.Helper()
	sentence := "This is what " + t.Name() + " wants to know. "
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4o-mini", "temperature": 0, "seed": 42,
		"messages": []any{map[string]any{"role": "user", "content": strings.Repeat(sentence, promptSize/len(sentence))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://api.openai.com/v1/chat/completions"
	resp, err := client.Post(url, "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(answer) == 0 {
		t.Fatal(resp.Status, err, string(answer))
	}
}

// Recording reports whether the run records. If so, Provider answers.
func Recording() bool { return os.Getenv("MODEL_URL") != "" }

// Provider sends every request to the provider of the benchmark, whatever its host.
type Provider struct{}

// RoundTrip implements [http.RoundTripper].
func (Provider) RoundTrip(r *http.Request) (*http.Response, error) {
	if !Recording() {
		return nil, errors.New("no provider is running")
	}
	provider, err := url.Parse(os.Getenv("MODEL_URL"))
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = provider.Scheme, provider.Host
	return http.DefaultTransport.RoundTrip(out)
}
