package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An agentServer runs the agents of a provider. said are the bodies that clients posted to its sessions.
type agentServer struct {
	live   *httptest.Server
	events chan string
	said   []string
}

// newAgentServer returns a server whose sessions send events, after the body of a post. Streams stay open.
func newAgentServer(t *testing.T, events func(body string) []string) *agentServer {
	s := &agentServer{events: make(chan string, 64)}
	n := 0
	s.live = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n++
		switch isEvents := strings.Contains(r.URL.Path, "/events"); {
		case r.Method == http.MethodGet && strings.Contains(r.URL.Path+r.Header.Get("Accept"), "stream"):
			s.stream(w, r)
		case r.Method == http.MethodPost && isEvents:
			s.said = append(s.said, string(body))
			for _, event := range events(string(body)) {
				s.events <- strings.ReplaceAll(event, "EVENT", fmt.Sprintf("evt_%d_%d", time.Now().UnixNano(), len(s.events)))
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":[]}`)
		case isEvents: // what was said so far
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":[],"next_page":null}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"id":"sess_1","status":"idle","created_at":%d}`, time.Now().Unix())
		}
	}))
	t.Cleanup(s.live.Close)
	return s
}

func (s *agentServer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for w.(http.Flusher).Flush(); ; w.(http.Flusher).Flush() {
		select {
		case event := <-s.events:
			var kind struct{ Type string }
			_ = json.Unmarshal([]byte(event), &kind)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, event)
		case <-r.Context().Done():
			return
		}
	}
}

// RoundTrip sends a request to the server in place of the provider.
func (s *agentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	at, err := url.Parse(s.live.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = at.Scheme, at.Host
	return http.DefaultTransport.RoundTrip(r)
}

func openAIAgent(body string) []string {
	const turn = `"session_id":"sess_1","turn_id":"turn_1"`
	item := func(kind, item string) string {
		return `{"type":"agent.session.turn.item.` + kind + `","event_id":"EVENT",` + turn + `,"output_index":0,"item":` + item + `}`
	}
	ended := func(kind, status string) string {
		return `{"type":"agent.session.turn.` + kind + `","event_id":"EVENT",` + turn + `,"turn":{"id":"turn_1","session_id":"sess_1",` +
			`"subagent_id":null,"status":"` + status + `","usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}}`
	}
	if !strings.Contains(body, "tool_result") {
		return []string{
			ended("created", "in_progress"),
			item("added", `{"id":"fc_1","type":"function_call","turn_id":"turn_1","call_id":"call_1","name":"weather","arguments":{"city":"Rome"}}`),
		}
	}
	return []string{
		`{"type":"agent.session.turn.output_text.delta","event_id":"EVENT",` + turn + `,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Warm."}`,
		item("done", `{"id":"msg_1","type":"message","role":"assistant","turn_id":"turn_1","status":"completed","phase":"final_answer",`+
			`"content":[{"type":"output_text","text":"Warm.","annotations":[]}]}`),
		ended("completed", "completed"),
		`{"type":"agent.session.idle","event_id":"EVENT","session":{"id":"sess_1","status":"idle"}}`,
	}
}

func claudeAgent(body string) []string {
	const at = `"id":"EVENT","processed_at":"2026-11-30T00:00:00Z"`
	if !strings.Contains(body, "tool_result") {
		return []string{
			`{"type":"session.status_running",` + at + `}`,
			`{"type":"agent.custom_tool_use","id":"sevt_1","processed_at":"2026-11-30T00:00:00Z","name":"weather","input":{"city":"Rome"}}`,
			`{"type":"session.status_idle",` + at + `,"stop_reason":{"type":"requires_action","event_ids":["sevt_1"]}}`,
		}
	}
	return []string{
		`{"type":"user.custom_tool_result",` + at + `,"custom_tool_use_id":"sevt_1","content":[{"type":"text","text":"21"}]}`,
		`{"type":"agent.message",` + at + `,"content":[{"type":"text","text":"Warm."}]}`,
		`{"type":"session.status_idle",` + at + `,"stop_reason":{"type":"end_turn"}}`,
	}
}

// askOpenAIAgent asks an agent of OpenAI, and answers its call.
func askOpenAIAgent(ctx context.Context, tf *traceforgetest.Recorder) (ran int, err error) {
	client := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey("none"), option.WithMaxRetries(0))
	session, err := client.Beta.Agents.Sessions.New(ctx, openai.BetaAgentSessionNewParams{
		Environment: openai.EnvironmentParamUnion{OfParamNone: &openai.EnvironmentParamNone{}},
	})
	if err != nil {
		return 0, err
	}
	stream := client.Beta.Agents.Sessions.Stream(ctx, session.ID, openai.AgentSessionStreamParams{
		Input: "The weather?",
		ToolHandlers: map[string]openai.AgentToolHandler{"weather": func(context.Context, map[string]any) (any, error) {
			ran++
			return "21", nil
		}},
	}, option.WithRequestTimeout(time.Minute))
	answer, err := stream.FinalResult()
	if err == nil && answer.OutputText() != "Warm." {
		err = fmt.Errorf("the agent said %q", answer.OutputText())
	}
	return ran, err
}

// A weatherTool is a tool of an agent of Anthropic.
type weatherTool struct{ ran int }

func (*weatherTool) Name() string        { return "weather" }
func (*weatherTool) Description() string { return "the weather" }
func (*weatherTool) InputSchema() anthropic.BetaToolInputSchemaParam {
	return anthropic.BetaToolInputSchemaParam{}
}

func (w *weatherTool) Execute(context.Context, json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	w.ran++
	return []anthropic.BetaToolResultBlockParamContentUnion{{OfText: &anthropic.BetaTextBlockParam{Text: "21"}}}, nil
}

// askClaudeAgent asks an agent of Anthropic, whose calls the SDK's runner answers: it runs no call whose result the stream
// has already repeated.
func askClaudeAgent(ctx context.Context, tf *traceforgetest.Recorder) (int, error) {
	client := anthropic.NewClient(anthropicoption.WithHTTPClient(tf.Client()), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0))
	session, err := client.Beta.Sessions.New(ctx, anthropic.BetaSessionNewParams{
		Agent: anthropic.BetaSessionNewParamsAgentUnion{OfString: anthropic.String("agent_1")}, EnvironmentID: "env_1",
	})
	if err != nil {
		return 0, err
	}
	said := anthropic.BetaManagedAgentsEventParamsOfUserMessage([]anthropic.BetaManagedAgentsUserMessageEventParamsContentUnion{
		{OfText: &anthropic.BetaManagedAgentsTextBlockParam{Text: "The weather?", Type: "text"}},
	})
	events := client.Beta.Sessions.Events
	if _, err := events.Send(ctx, session.ID, anthropic.BetaSessionEventSendParams{Events: []anthropic.BetaManagedAgentsEventParamsUnion{said}}); err != nil {
		return 0, err
	}
	tool, idle := &weatherTool{}, 50*time.Millisecond
	runner := events.NewToolRunner(ctx, session.ID, anthropic.SessionToolRunnerOptions{
		Tools: []anthropic.BetaTool{tool}, MaxIdle: &idle, Logger: slog.New(slog.DiscardHandler),
	})
	defer runner.Close()
	for runner.Next() {
	}
	if err := runner.Err(); !errors.Is(err, anthropic.ErrIdleTimeout) {
		return tool.ran, err
	}
	return tool.ran, nil
}

// TestAgentsOfProviders records sessions of agents that a provider runs, and replays them without it: the SDK runs the
// agent's tool once in each.
func TestAgentsOfProviders(t *testing.T) {
	for _, api := range []struct {
		name  string
		agent func(body string) []string
		ask   func(context.Context, *traceforgetest.Recorder) (int, error)
	}{
		{"openai", openAIAgent, askOpenAIAgent},
		{"anthropic", claudeAgent, askClaudeAgent},
	} {
		t.Run(api.name, func(t *testing.T) {
			server := newAgentServer(t, api.agent)
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			run := func(upstream http.RoundTripper) {
				tb := tbtest.Run(t.Name(), func(tb *tbtest.TB) {
					ran, err := api.ask(t.Context(), traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream)))
					require.NoError(t, err)
					require.Equal(t, 1, ran, "the tool ran")
				})
				require.False(t, tb.Failed(), tb.Logged())
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			run(server)
			require.Len(t, server.said, 2)
			t.Setenv("TRACEFORGE_UPDATE", "")
			run(unreachable{})
		})
	}
}
