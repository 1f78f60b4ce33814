package moving_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// TestMoving turns each tool's recordings into records in one update without a network and a key. They replay without
// the tool and its cassette.
func TestMoving(t *testing.T) {
	for _, tool := range tools {
		for _, compressed := range []bool{false, true} {
			name := tool.name
			if compressed {
				name += " gzip"
			}
			t.Run(name, func(t *testing.T) {
				old := filepath.Join(t.TempDir(), tool.file)
				recorded := record(t, tool, old, compressed, ask)
				dir := filepath.Join(t.TempDir(), ".ai-snapshots")
				for _, key := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
					t.Setenv(key, "")
					os.Unsetenv(key)
				}

				upstream, err := cassette.Open(old)
				require.NoError(t, err)
				program := func(ctx context.Context, tf *traceforgetest.Recorder) ([]string, error) { return ask(ctx, tf.Client()) }
				require.Equal(t, recorded, run(t, "1", dir, upstream, program))
				require.NoError(t, os.Remove(old))
				require.Equal(t, recorded, run(t, "", dir, unreachable{}, program))
				check(t, dir, tool)
			})
		}
	}
}

// record runs a program while a tool records it.
func record(t *testing.T, tool tool, file string, compressed bool,
	program func(context.Context, *http.Client) ([]string, error),
) []string {
	t.Helper()
	provider := fakeprovider.New(t)
	echo := fakeprovider.Echo()
	provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
		reply := echo(c)
		reply.Gzip = compressed
		return reply
	})
	t.Setenv("OPENAI_API_KEY", "sk-real")
	t.Setenv("ANTHROPIC_API_KEY", "sk-real")
	live := provider.Transport()
	if compressed {
		live = compressing{live}
	}
	rt, save, err := tool.open(file, live)
	require.NoError(t, err)
	said, err := program(t.Context(), &http.Client{Transport: decompressing{rt}})
	require.NoError(t, err)
	require.NoError(t, save())
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, compressed, bytes.Contains(kept, []byte("\x1f\x8b")) || bytes.Contains(kept, []byte("!!binary")), "the tool stores what it gets")
	return said
}

// run runs a program as a test with a recorder.
func run(t *testing.T, mode, dir string, upstream http.RoundTripper,
	program func(context.Context, *traceforgetest.Recorder) ([]string, error),
) (said []string) {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", mode)
	tb := tbtest.Run("TestChat", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
		var err error
		if said, err = program(t.Context(), tf); err != nil {
			tb.Errorf("%v", err)
		}
	})
	require.False(t, tb.Failed(), tb.Logged())
	return said
}

// check checks that the store keeps the promises of a migration.
func check(t *testing.T, dir string, tool tool) {
	t.Helper()
	doc := soleDocument(t, dir)
	require.Len(t, doc.Document.Snapshots, 5)
	for i := range doc.Document.Snapshots {
		r := &doc.Document.Snapshots[i]
		require.Contains(t, r.Source.Origin, "/"+tool.file+", interaction ", tool.name)
		raw, err := doc.Raw(i)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "\x1f\x8b", "what is stored is readable")
		require.NotEmpty(t, r.Response.Candidates[0].Message.Content)
	}
}

// soleDocument returns the only document of a store.
func soleDocument(t *testing.T, dir string) *store.Doc {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	files, err := s.List()
	require.NoError(t, err)
	require.Len(t, files, 1)
	doc, err := s.Load(strings.TrimSuffix(path.Base(files[0]), ".json"), "openai")
	require.NoError(t, err)
	return doc
}

// compressing requests gzip itself, like some SDKs. Then no transport decodes the answer, and the tool stores it
// compressed.
type compressing struct{ http.RoundTripper }

func (c compressing) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Encoding", "gzip")
	return c.RoundTripper.RoundTrip(req)
}

type decompressing struct{ http.RoundTripper }

func (d decompressing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		return resp, err
	}
	plain, err := gzip.NewReader(resp.Body)
	resp.Body = io.NopCloser(plain)
	return resp, err
}

type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("a replay called " + r.URL.String())
}
