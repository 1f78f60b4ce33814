package moving_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// agentClient returns an agent's client in the shape of adk-go. Each agent of a test creates one, with its own trace.
func agentClient(t testing.TB) *http.Client {
	t.Helper()
	traces, err := filepath.Glob("testdata/" + strings.ReplaceAll(t.Name(), "/", "_") + "_*.httprr")
	if err != nil || len(traces) == 0 {
		t.Fatal("no traces", err)
	}
	old, err := cassette.Open(traces[0], cassette.And(traces[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	return traceforgetest.New(t, traceforgetest.Upstream(old)).Client()
}

// boardClient returns a client in the shape of genai. A test creates several, one of them with a separate recording for
// data that all its models share. The user's own transport is around the recorder, as it was around the tool.
func boardClient(t testing.TB) *http.Client {
	t.Helper()
	name := "testdata/" + strings.ReplaceAll(t.Name(), ":", "-")
	old, err := cassette.Open(name+".yaml", cassette.And(name+"/Warmup.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: explaining{traceforgetest.New(t, traceforgetest.Upstream(old))}}
}

// explaining is a user's own transport. It adds the body to each error.
type explaining struct{ http.RoundTripper }

func (e explaining) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.RoundTripper.RoundTrip(req)
	if err != nil && req.GetBody != nil {
		body, _ := req.GetBody()
		text, _ := io.ReadAll(body)
		err = fmt.Errorf("%w; body: %s", err, text)
	}
	return resp, err
}

// asks returns a program that asks OpenAI one question.
func asks(question string) func(context.Context, *http.Client) ([]string, error) {
	return func(ctx context.Context, client *http.Client) ([]string, error) {
		c := openai.NewClient(option.WithHTTPClient(client), option.WithMaxRetries(0))
		got, err := c.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		})
		if err != nil {
			return nil, err
		}
		return []string{got.Choices[0].Message.Content}, nil
	}
}

// TestShapes checks that one helper moves suites whose tests create several clients with several recordings. Each
// record must come from its client's recording.
func TestShapes(t *testing.T) {
	tests := map[string]struct {
		tool   tool
		files  []string // of the recordings; each client asks the question with the same index
		client func(testing.TB) *http.Client
	}{
		"adk-go": {tools[3], []string{"TestTeam_planner.httprr", "TestTeam_writer.httprr"}, agentClient},
		"genai":  {tools[2], []string{"TestTeam/Warmup.yaml", "TestTeam.yaml"}, boardClient},
	}
	questions := []string{"What is to do?", "How is it told?"}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.MkdirAll("testdata/TestTeam", 0o777))
			var said [][]string
			for i, question := range questions {
				said = append(said, record(t, c.tool, filepath.Join("testdata", c.files[i]), false, asks(question)))
			}
			t.Setenv("TRACEFORGE_DIR", filepath.Join(t.TempDir(), ".ai-snapshots"))
			team := func(mode string, client func(testing.TB) *http.Client) {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				tb := tbtest.Run("TestTeam", func(tb *tbtest.TB) {
					for i, question := range questions {
						got, err := asks(question)(t.Context(), client(tb))
						require.NoError(tb, err)
						require.Equal(tb, said[i], got)
					}
				})
				require.False(t, tb.Failed(), tb.Logged())
			}
			team("1", c.client)
			require.NoError(t, os.RemoveAll("testdata"))
			team("", func(t testing.TB) *http.Client { return traceforgetest.New(t).Client() })

			doc := soleDocument(t, os.Getenv("TRACEFORGE_DIR"))
			require.Len(t, doc.Document.Snapshots, 2)
			for i := range doc.Document.Snapshots {
				require.Contains(t, doc.Document.Snapshots[i].Source.Origin, "testdata/"+c.files[i]+", interaction ")
			}
		})
	}
}

// TestShapesAreShort checks that a user's code for a shape has at most 15 lines.
func TestShapesAreShort(t *testing.T) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, "shapes_test.go", nil, 0)
	require.NoError(t, err)
	counted := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "agentClient" && f.Name.Name != "boardClient" {
			continue
		}
		counted++
		require.LessOrEqual(t, positions.Position(f.End()).Line-positions.Position(f.Pos()).Line+1, 15, f.Name.Name)
	}
	require.Equal(t, 2, counted)
}
