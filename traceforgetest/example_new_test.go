package traceforgetest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// summarize is a program that calls a model. The temperature of 0 and the seed make its answers worth keeping.
func summarize(client *http.Client, text string) (string, error) {
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4o-mini", "temperature": 0, "seed": 42,
		"messages": []any{map[string]any{"role": "user", "content": "Summarize: " + text}},
	})
	if err != nil {
		return "", err
	}
	base := cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1")
	req, err := http.NewRequest("POST", base+"/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var completion struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&completion); err != nil {
		return "", err
	}
	if len(completion.Choices) == 0 {
		return "", errors.New("the model gave no answer: " + resp.Status)
	}
	return completion.Choices[0].Message.Content, nil
}

// testSummarize is a test. In a file of your own it is called TestSummarize, so that go test runs it:
//
//	go test -update                                                                              # record, with a key
//	go run github.com/traceforge/traceforge-go/internal/demo/fake go test -update    # record, without one
//	go test                                                                                      # replay
func testSummarize(t *testing.T) {
	tf := traceforgetest.New(t)
	got, err := summarize(tf.Client(), "AI is transforming software development")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "software") {
		t.Errorf("the summary does not say what the text is about: %s", got)
	}
}

// The test of a program that calls a model. This package runs it too: its snapshot is in .ai-snapshots of this module.
func ExampleNew() {
	_ = testing.InternalTest{Name: "TestSummarize", F: testSummarize}
}
