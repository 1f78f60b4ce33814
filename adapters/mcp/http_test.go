//lint:file-ignore SA1019 MCP deprecates sampling and roots, and servers ask for them all the same.

package mcptraceforge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	mcptraceforge "github.com/traceforge/traceforge-go/adapters/mcp"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

type book struct {
	Title string `json:"title,omitempty"`
}

// A shop is a real server, with all that a server can say.
func shop(description string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions: "Use add.",
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"Ada", "Alan"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: description},
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, map[string]int, error) {
			return nil, map[string]int{"sum": in.A + in.B}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("no such book")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "picture"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")},
			&mcp.ResourceLink{URI: "file:///a.md", Name: "a.md"},
		}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "untagged"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, struct{ Name, Content, Type string }{"n", "c", "t"}, nil // members that other APIs spell in small letters
	})
	mcp.AddTool(server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			if token := req.Params.GetProgressToken(); token != nil {
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i), Total: 3})
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "grow"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(server, &mcp.Tool{Name: "new"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
		return nil, nil, nil
	})
	server.AddResource(&mcp.Resource{URI: "file:///a.md", Name: "a.md"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: "file:///a.md", MIMEType: "text/markdown", Text: "# A"},
			{URI: "file:///a.png", MIMEType: "image/png", Blob: []byte("\x89PNG\r\n\x1a\n")},
		}}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: "Greet " + req.Params.Arguments["who"]}},
			}}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, in book) (*mcp.CallToolResult, any, error) {
		sampled, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{
			{Role: "user", Content: &mcp.TextContent{Text: "Which?"}}}})
		if err != nil {
			return nil, nil, err
		}
		elicited, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Sure?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}}})
		if err != nil {
			return nil, nil, err
		}
		roots, err := req.Session.ListRoots(ctx, &mcp.ListRootsParams{})
		if err != nil {
			return nil, nil, err
		}
		text := fmt.Sprint(in.Title, sampled.Content.(*mcp.TextContent).Text, " ", elicited.Action, " ", len(roots.Roots))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	return server
}

// A visit is what a program says to a shop. It returns what it was told.
type visit func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error)

func text(result *mcp.CallToolResult) string {
	var said strings.Builder
	for _, content := range result.Content {
		switch c := content.(type) {
		case *mcp.TextContent:
			said.WriteString(c.Text)
		case *mcp.ImageContent:
			fmt.Fprintf(&said, "[%s, %d bytes]", c.MIMEType, len(c.Data))
		case *mcp.ResourceLink:
			said.WriteString("[" + c.URI + "]")
		}
	}
	if result.IsError {
		said.WriteString(" (error)")
	}
	return said.String()
}

func everything(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) (said []string, err error) {
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, args...))
	}
	var progress sync.WaitGroup
	progress.Add(3)
	session, err := connect(&mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "This one"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"ok": true}}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Done() },
	})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	say("instructions: %s", session.InitializeResult().Instructions)
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		say("tool %s: %s", tool.Name, tool.Description)
	}
	call := func(name string, arguments any) error {
		params := &mcp.CallToolParams{Name: name, Arguments: arguments}
		if name == "slow" {
			params.SetProgressToken(fmt.Sprint(time.Now().UnixNano()))
		}
		result, err := session.CallTool(ctx, params)
		if err != nil {
			return err
		}
		say("%s: %s", name, text(result))
		return nil
	}
	for _, name := range []string{"fail", "picture", "untagged", "slow", "ask"} {
		if err := call(name, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	progress.Wait()
	var group sync.WaitGroup
	sums, failures := make([]string, 8), make([]error, 8)
	for i := range sums {
		group.Go(func() {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: sum{i, 1}})
			if failures[i] = err; err == nil {
				sums[i] = text(result)
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	say("sums: %v", sums)
	resource, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///a.md"})
	if err != nil {
		return nil, err
	}
	say("resource: %s, %d bytes", resource.Contents[0].Text, len(resource.Contents[1].Blob))
	prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Ada"}})
	if err != nil {
		return nil, err
	}
	say("prompt: %s", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	completed, err := session.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "A"}})
	if err != nil {
		return nil, err
	}
	say("completed: %v", completed.Completion.Values)
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "nothing"})
	say("unknown: %v", err)
	return said, nil
}

// A way is how a program reaches a server.
type way struct {
	name    string
	connect func(t testing.TB, tf *traceforgetest.Recorder, recording bool) mcp.Transport
}

// overHTTP reaches a server by streamable HTTP. In replay nobody answers there.
func overHTTP(serve func() *mcp.Server, options *mcp.StreamableHTTPOptions) way {
	return way{"http", func(t testing.TB, tf *traceforgetest.Recorder, recording bool) mcp.Transport {
		url := "http://127.0.0.1:1/mcp"
		if recording {
			shared := serve()
			server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return shared }, options))
			t.Cleanup(server.Close)
			url = server.URL + "/mcp"
		}
		return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: tf.Client()}
	}}
}

// inMemory reaches a server by the adapter.
func inMemory(serve func() *mcp.Server) way {
	return way{"memory", func(t testing.TB, tf *traceforgetest.Recorder, recording bool) mcp.Transport {
		if !recording {
			return mcptraceforge.Transport(tf, "shop", nil)
		}
		here, there := mcp.NewInMemoryTransports()
		session, err := serve().Connect(context.Background(), there, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return mcptraceforge.Transport(tf, "shop", here)
	}}
}

// A stage is a store, and the program that uses it.
type stage struct {
	t        *testing.T
	dir      string
	protocol string // empty: the latest
}

func newStage(t *testing.T) *stage {
	return &stage{t: t, dir: filepath.Join(t.TempDir(), ".ai-snapshots")}
}

// run runs a visit in a mode, and returns what it was told and the test's log.
func (s *stage) run(mode string, w way, v visit) (said []string, tb *tbtest.TB) {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", mode)
	tb = tbtest.Run("TestVisit", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(s.dir))
		ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
		defer cancel()
		var err error
		said, err = v(ctx, func(options *mcp.ClientOptions) (*mcp.ClientSession, error) {
			client := mcp.NewClient(&mcp.Implementation{Name: "visitor", Version: "1.0.0"}, options)
			client.AddRoots(&mcp.Root{URI: "file:///here", Name: "here"})
			return client.Connect(ctx, w.connect(tb, tf, mode != ""), &mcp.ClientSessionOptions{ProtocolVersion: s.protocol})
		})
		if err != nil {
			tb.Errorf("visit: %v", err)
		}
	})
	return said, tb
}

func (s *stage) mustRun(mode string, w way, v visit) []string {
	s.t.Helper()
	said, tb := s.run(mode, w, v)
	require.False(s.t, tb.Failed(), "mode %q: %s", mode, tb.Logged())
	return said
}

func (s *stage) document() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "*", "*testvisit*.json"))
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(s.t, err)
	return string(data)
}

func sells(description string) func() *mcp.Server {
	return func() *mcp.Server { return shop(description) }
}

// TestEverything records all that a program and a server can say to each other, and replays it without a server.
func TestEverything(t *testing.T) {
	for _, tc := range []struct {
		name, protocol string
		way            way
	}{
		{"http", "2025-11-25", overHTTP(sells("Adds."), nil)},
		{"http as JSON", "2025-06-18", overHTTP(sells("Adds."), &mcp.StreamableHTTPOptions{JSONResponse: true})},
		{"http newest", "", overHTTP(sells("Adds."), nil)},
		{"memory", "2025-11-25", inMemory(sells("Adds."))},
		{"memory newest", "", inMemory(sells("Adds."))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.protocol = tc.protocol
			recorded := s.mustRun("all", tc.way, everything)
			require.Contains(t, recorded, "tool add: Adds.")
			for range 3 {
				require.Equal(t, recorded, s.mustRun("", tc.way, everything))
			}
		})
	}
}
