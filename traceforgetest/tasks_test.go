package traceforgetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A taskServer is a server of MCP whose tool is a task.
type taskServer struct{ asked []string }

func (m *taskServer) RoundTrip(r *http.Request) (*http.Response, error) {
	var message struct {
		Method string
		Params struct {
			TaskID    string
			Arguments struct{ About string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		return nil, err
	}
	var n int
	result := ""
	if message.Method == "tools/call" {
		n = len(m.asked)
		m.asked = append(m.asked, message.Params.Arguments.About)
		result = fmt.Sprintf(`{"task":{"taskId":"786512e2-9e0d-44bd-8f29-%012d","status":"working"}}`, n)
	} else {
		fmt.Sscanf(message.Params.TaskID, "786512e2-9e0d-44bd-8f29-%d", &n)
		result = fmt.Sprintf(`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}},"content":[{"type":"text","text":"about %s"}]}`,
			message.Params.TaskID, m.asked[n])
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`))}, nil
}

// TestTasks: a task of MCP gets its own result, in whatever order a program asks for the results, also after updates of all or
// some of the calls.
func TestTasks(t *testing.T) {
	s, m := newScene(t), &taskServer{}
	run := func(mode string, backwards bool, abouts ...string) {
		t.Helper()
		t.Setenv("TRACEFORGE_UPDATE", mode)
		tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			call := func(method, params string) string {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
				req, err := http.NewRequest(http.MethodPost, "https://tools.example.com/mcp", strings.NewReader(body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				resp, err := tf.Client().Do(req)
				require.NoError(t, err)
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return string(text)
			}
			ids := make([]string, len(abouts))
			for n, about := range abouts {
				_, id, _ := strings.Cut(call("tools/call", fmt.Sprintf(`{"name":"tell","arguments":{"about":%q},"task":{}}`, about)), `"taskId":"`)
				ids[n], _, _ = strings.Cut(id, `"`)
			}
			for n := range ids {
				if backwards {
					n = len(ids) - 1 - n
				}
				said := call("tasks/result", fmt.Sprintf(`{"taskId":%q}`, ids[n]))
				if !strings.Contains(said, "about "+abouts[n]) || !strings.Contains(said, ids[n]) {
					tb.Errorf("%s, the task about %s: %s", ids[n], abouts[n], said)
				}
			}
		}, traceforgetest.Upstream(m))
		require.False(t, tb.Failed(), "%s %v: %s", mode, abouts, tb.Logged())
	}
	for _, step := range []struct {
		mode   string
		abouts []string
	}{
		{"1", []string{"cats", "dogs"}}, {"all", []string{"cats", "dogs"}}, {"1", []string{"cats", "cows"}},
		{"1", []string{"hens", "cows"}}, {"all", []string{"hens", "cows"}}, {"1", []string{"hens", "cows", "pigs"}},
	} {
		run(step.mode, false, step.abouts...)
		run("", false, step.abouts...)
		run("", true, step.abouts...)
	}
	s.requireWhole()
}
