// Package ask makes a model call for a test.
package ask

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Ask calls a model through a recorder of the test, and returns the answer.
func Ask(t *testing.T) string {
	t.Helper()
	if os.Getenv("TRACEFORGE_DIR") == "" {
		t.Skip("TestUpdate of package collide runs this, with a store")
	}
	tf := traceforgetest.New(t)
	if tf.Recording() != traceforgetest.Updating() {
		t.Fatal("a recorder that does not update records")
	}
	host := "https://api.openai.com"
	if tf.Recording() {
		host = os.Getenv("MODEL_URL")
	}
	resp, err := tf.Client().Post(host+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(err, resp.Status)
	}
	return string(answer)
}
