package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/conformance"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

var dir = filepath.Join("..", "..", "testdata", "conformance")

func load(t *testing.T) []conformance.Case {
	t.Helper()
	cases, err := conformance.Load(os.DirFS(dir))
	require.NoError(t, err)
	require.Len(t, cases, 12, "Genkit has twelve")
	return cases
}

// A model asks a provider through the codec of its API, and answers in the terms of the specification.
type model struct {
	wire
	codec  *provider.Codec
	client *http.Client
}

func (w wire) model(t *testing.T, server *fakeprovider.Server) model {
	t.Helper()
	codec, ok := provider.Named(w.api)
	require.True(t, ok)
	return model{w, codec, &http.Client{Transport: server.Transport()}}
}

// Generate sends a request, and passes what its stream adds up to on as one chunk.
func (m model) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	url := m.url
	if stream != nil && m.streamURL != "" {
		url = m.streamURL
	}
	body, err := json.Marshal(m.with(req, stream != nil))
	if err != nil {
		return nil, err
	}
	if err := m.understands(req, url, body); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01") // nobody else looks
	resp, err := m.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	said, err := m.codec.DecodeResponse(&provider.Answer{Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Body: text})
	switch {
	case err != nil:
		return nil, err
	case said.Error != nil:
		return nil, fmt.Errorf("%d: %s", said.Error.Status, said.Error.Message)
	case !said.Complete || len(said.Candidates) != 1:
		return nil, errors.New("there is no whole answer")
	}
	answer := &modelio.GenerateResponse{Message: &said.Candidates[0].Message, FinishReason: said.Candidates[0].FinishReason, Usage: said.Usage}
	if stream != nil {
		if err := stream(ctx, &modelio.GenerateResponseChunk{Content: answer.Message.Content}); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// understands holds the request that the codec decodes against the one that was meant: its texts, media, tools and calls.
func (m model) understands(req *modelio.GenerateRequest, url string, body []byte) error {
	r, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	w := &provider.Wire{Method: r.Method, URL: r.URL, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
	if codec, ok := provider.Match(w); !ok || codec != m.codec {
		return fmt.Errorf("%s does not take its own request", m.api)
	}
	got, err := m.codec.DecodeRequest(w)
	if err != nil {
		return err
	}
	if want, got := gist(req.Messages, req.Tools), gist(got.Messages, got.Tools); want != got {
		return fmt.Errorf("the codec decodes\n%s\nwant\n%s", got, want)
	}
	return nil
}

// gist says what a request is about: the system's words first, wherever a wire format has them.
func gist(messages []modelio.Message, tools []modelio.ToolDefinition) string {
	var system, rest strings.Builder
	for _, m := range messages {
		for _, p := range m.Content {
			to := &rest
			if m.Role == modelio.RoleSystem {
				to = &system
			}
			switch {
			case p.Text != nil && *p.Text != "":
				fmt.Fprintf(to, "%s: %s\n", m.Role, *p.Text)
			case p.Media != nil:
				fmt.Fprintf(to, "%s: media\n", m.Role)
			case p.ToolRequest != nil:
				fmt.Fprintf(to, "%s: calls %s\n", m.Role, p.ToolRequest.Name)
			case p.ToolResponse != nil:
				fmt.Fprintf(to, "%s: a result\n", m.Role)
			}
		}
	}
	for _, tool := range tools {
		fmt.Fprintf(&rest, "tool %s: %s\n", tool.Name, tool.Description)
	}
	return system.String() + rest.String()
}

// says returns the reply of a stand-in.
func (w wire) says(a conformance.Answer) fakeprovider.Reply {
	switch {
	case a.ToolRequest != nil:
		return fakeprovider.CallTools(fakeprovider.ToolCall{Name: a.ToolRequest.Name, Arguments: string(a.ToolRequest.Input)})
	case a.Media != nil:
		return w.media(a.Media.ContentType, a.Media.Data)
	}
	return fakeprovider.Text(a.Text)
}

// TestCases: each capability that an API has comes through its codec, and what Node.js judges of the answers is what Go does.
func TestCases(t *testing.T) {
	cases := load(t)
	var answers bytes.Buffer
	enc := json.NewEncoder(&answers)
	for _, w := range wires {
		t.Run(w.api, func(t *testing.T) {
			server := fakeprovider.New(t)
			m := w.model(t, server)
			for _, c := range cases {
				if slices.ContainsFunc(c.Needs, func(need string) bool { return slices.Contains(w.lacks, need) }) {
					continue // the API has no place for it
				}
				t.Run(c.Name, func(t *testing.T) {
					server.Reply(w.says(c.Answer))
					var chunks []*modelio.GenerateResponseChunk
					var stream modelio.StreamFunc
					if c.Stream {
						stream = func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
							chunks = append(chunks, chunk)
							return nil
						}
					}
					response, err := m.Generate(t.Context(), &c.Request, stream)
					require.NoError(t, err, c.Why)
					for _, what := range c.Holds {
						holds, err := conformance.Holds(what, response, chunks)
						require.NoError(t, err)
						require.True(t, holds, "%s: %s", c.Why, what)
					}
					require.NoError(t, enc.Encode(map[string]any{"case": c.Name, "by": w.api, "response": response, "chunks": chunks}))
				})
			}
		})
	}
	out, err := judge(t, answers.String())
	require.NoError(t, err, out)
	require.Contains(t, out, fmt.Sprintf("%d answers, 0 breaches", strings.Count(answers.String(), "\n")))
}

// judge has Node.js judge answers.
func judge(t *testing.T, answers string) (string, error) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node.js, which .ci/run installs")
	}
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(answers), 0o600))
	cmd := exec.Command(node, filepath.Join(dir, "judge.mjs"), file)
	cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1") // one tells of NO_COLOR beside FORCE_COLOR
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestHolds: an answer that breaks a case is found, by Go and by Node.js.
func TestHolds(t *testing.T) {
	var answers, want strings.Builder
	for _, c := range load(t) {
		response := &modelio.GenerateResponse{Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("{")}}}
		if c.Holds[0] == "text-not-empty" {
			response.Message.Content = []modelio.Part{modelio.TextPart(" ")}
		}
		for _, what := range c.Holds {
			holds, err := conformance.Holds(what, response, nil)
			require.NoError(t, err)
			require.False(t, holds, what)
			fmt.Fprintf(&want, "x: %s: %s does not hold\n", c.Name, what)
		}
		line, err := json.Marshal(map[string]any{"case": c.Name, "by": "x", "response": response, "chunks": []any{}})
		require.NoError(t, err)
		fmt.Fprintf(&answers, "%s\n", line)
	}
	_, err := conformance.Holds("has-charm", &modelio.GenerateResponse{}, nil)
	require.EqualError(t, err, "unknown rule has-charm")
	out, err := judge(t, answers.String())
	require.Error(t, err)
	require.Equal(t, want.String()+"12 answers, 12 breaches\n", out)
}

// TestEveryAPI: each API that generates is asked here, or takes no Generate Request, and its folder says what it takes.
func TestEveryAPI(t *testing.T) {
	for _, codec := range provider.Codecs() {
		here := slices.ContainsFunc(wires, func(w wire) bool { return w.api == codec.API })
		reason, err := os.ReadFile(filepath.Join("..", "provider", "testdata", codec.API, "no-messages.txt"))
		require.Equal(t, err == nil, len(reason) > 1, "%s: no-messages.txt is empty", codec.API)
		require.Equal(t, codec.Generates, here || err == nil, "%s: what it takes is asked in wires_test.go, or its no-messages.txt says why not", codec.API)
		require.False(t, here && err == nil, codec.API)
	}
}

// TestContract: a model behind each codec keeps the model contract, where its provider does.
func TestContract(t *testing.T) {
	for _, w := range wires {
		t.Run(w.api, func(t *testing.T) {
			server := fakeprovider.New(t)
			server.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`}))
			info := modelio.ModelInfo{Supports: modelio.Capabilities{
				Multiturn: true, Media: !slices.Contains(w.lacks, "media"), Tools: !slices.Contains(w.lacks, "tools"),
				SystemRole: true, Constrained: modelio.ConstrainedAll,
			}}
			if slices.Contains(w.lacks, "constrained") {
				info.Supports.Constrained = modelio.ConstrainedNone
			}
			require.NoError(t, modeltest.Check(t.Context(), w.model(t, server), info))
		})
	}
}
