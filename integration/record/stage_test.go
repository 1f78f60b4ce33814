package record_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// liveKey is the API key that the provider requires while recording.
const liveKey = "the-key-of-the-recording"

// A stage plays one scenario with one SDK. It has a store, and an environment without the variables of the user who
// runs the tests.
type stage struct {
	t        *testing.T
	sdk      *sdk
	scenario *scenario
	dir      string
}

func newStage(t *testing.T, s *sdk, c *scenario) *stage {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		for _, of := range []string{"_API_KEY", "_TOKEN", "_SECRET", "AWS_", "GOOGLE_", "OPENAI_", "ANTHROPIC_", "OLLAMA_"} {
			if strings.Contains(name, of) {
				t.Setenv(name, "") // restores the variable after the test
				os.Unsetenv(name)
			}
		}
	}
	for _, file := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(file, os.DevNull)
	}
	log.SetOutput(io.Discard) // some SDKs log the errors that they return
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return &stage{t, s, c, filepath.Join(t.TempDir(), ".ai-snapshots")}
}

// record plays the scenario against a provider with new ids. It returns the SDK's results and the provider's bytes.
func (s *stage) record() (got []result, heard string) {
	s.t.Helper()
	provider := fakeprovider.New(s.t)
	defer provider.Close()
	if !s.sdk.unkeyed {
		provider.RequireKey(liveKey)
	}
	for _, name := range s.sdk.keys {
		s.t.Setenv(name, liveKey)
		defer os.Unsetenv(name)
	}
	s.scenario.script(provider, s.sdk)
	s.t.Setenv("TRACEFORGE_UPDATE", "all")
	wire := listener{provider.Transport(), &strings.Builder{}}
	got = s.play(wire)
	require.GreaterOrEqual(s.t, len(provider.Calls()), s.scenario.calls(), "the SDK called the provider")
	return got, wire.heard.String()
}

// A listener copies all answers of a transport.
type listener struct {
	http.RoundTripper
	heard *strings.Builder
}

func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = overheard{resp.Body, io.TeeReader(resp.Body, l.heard)}
	}
	return resp, err
}

type overheard struct {
	io.Closer
	io.Reader
}

// replay plays the scenario without a provider and a key.
func (s *stage) replay() []result {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", "")
	return s.play(unreachable{})
}

type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("a replay called " + r.URL.String())
}

func (s *stage) play(upstream http.RoundTripper) (got []result) {
	s.t.Helper()
	options := []traceforgetest.Option{traceforgetest.Dir(s.dir), traceforgetest.Upstream(upstream)}
	if s.sdk.nondeterministic != "" {
		options = append(options, traceforgetest.Nondeterministic(s.sdk.nondeterministic))
	}
	tb := tbtest.Run(s.t.Name(), func(tb *tbtest.TB) {
		ask, err := s.sdk.open(s.t.Context(), traceforgetest.New(tb, options...))
		if err != nil {
			tb.Fatalf("making the SDK's client: %v", err)
		}
		if got, err = s.scenario.play(s.t.Context(), ask); err != nil {
			tb.Fatalf("%v", err)
		}
	})
	require.False(s.t, tb.Failed(), tb.Logged())
	return got
}

// play asks the scenario's question and sends the results of tool calls back.
func (c *scenario) play(ctx context.Context, ask asker) ([]result, error) {
	q := c.ask
	var results []result
	for turn, want := range c.says {
		got, err := ask(ctx, q)
		if got == nil {
			got = &answer{}
		}
		results = append(results, result{got.value, fault(err)})
		said := got.text + strings.Join(got.calls, " ")
		if err != nil && c.fails {
			said = got.text + fault(err)
		} else if err != nil || c.fails {
			return nil, fmt.Errorf("turn %d said %q and failed with: %w", turn+1, said, err)
		}
		if !strings.Contains(said, want) {
			return nil, fmt.Errorf("turn %d said %q, which has no %q", turn+1, said, want)
		}
		q.after, q.results = got, c.results
	}
	return results, nil
}

// files returns the store's files by path.
func (s *stage) files() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	require.NoError(s.t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(s.dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return files
}

// changes describes changed files, each with its first changed line.
func changes(before, after map[string]string) (changed []string) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] == after[name] {
			continue
		}
		was, is := strings.Split(before[name], "\n"), strings.Split(after[name], "\n")
		line := 0
		for line < min(len(was), len(is))-1 && (was[line] == is[line] || strings.Contains(was[line], `"timestamp"`)) {
			line++
		}
		changed = append(changed, fmt.Sprintf("%s:%d: was %s, is %s", name, line+1, was[line], is[line]))
	}
	for name := range after {
		if _, old := before[name]; !old {
			changed = append(changed, name+" is new")
		}
	}
	return changed
}

// requireWhole checks that the store is sound and does not contain the key. Each answered call must have one record by
// the SDK's codec.
func (s *stage) requireWhole() {
	s.t.Helper()
	recorded.RequireSound(s.t, s.dir)
	calls := recorded.Calls(s.t, s.dir)
	for _, call := range calls {
		require.Equal(s.t, s.sdk.api, call.Request.API)
		require.Equal(s.t, s.sdk.provider, call.Provider)
	}
	require.Len(s.t, calls, s.scenario.calls())
	for name, text := range s.files() {
		require.NotContains(s.t, text, liveKey, name)
	}
}
