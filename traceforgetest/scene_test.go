package traceforgetest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A scene is a store, a provider, and tests that run in it.
type scene struct {
	t        *testing.T
	dir      string
	provider *fakeprovider.Server
}

func newScene(t *testing.T) *scene {
	tbtest.Unfiltered(t)
	s := &scene{t: t, dir: filepath.Join(t.TempDir(), ".ai-snapshots"), provider: fakeprovider.New(t)}
	s.provider.Handle(fakeprovider.Echo())
	return s
}

// record runs a test that updates; it must pass.
func (s *scene) record(name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) {
	s.t.Helper()
	tb := s.update("1", name, test, opts...)
	require.False(s.t, tb.Failed(), tb.Logged())
}

// recordAll runs a test that records every call again; it must pass.
func (s *scene) recordAll(name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) {
	s.t.Helper()
	tb := s.update("all", name, test, opts...)
	require.False(s.t, tb.Failed(), tb.Logged())
}

func (s *scene) update(mode, name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) *tbtest.TB {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", mode)
	defer s.t.Setenv("TRACEFORGE_UPDATE", "")
	return s.run(name, test, append(opts, traceforgetest.Upstream(s.provider.Transport()))...)
}

// replay runs a test that replays; there is nothing that it could call.
func (s *scene) replay(name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) *tbtest.TB {
	s.t.Helper()
	return s.run(name, test, append(opts, traceforgetest.Upstream(unreachable{}))...)
}

type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("a replay called " + r.URL.String())
}

func (s *scene) run(name string, test func(*tbtest.TB, *traceforgetest.Recorder), opts ...traceforgetest.Option) *tbtest.TB {
	return tbtest.Run(name, func(tb *tbtest.TB) {
		test(tb, traceforgetest.New(tb, append(opts, traceforgetest.Dir(s.dir))...))
	})
}

var apis = regexp.MustCompile(`known: .*`)

var hashes = regexp.MustCompile(`(sha256:|sha256/)[0-9a-f]{64}`)

var lines = regexp.MustCompile(`(?m)^\S+\.go:\d+: `)

// text makes a failure text independent of where the store and the call are, and of times and ids.
func (s *scene) text(tb *tbtest.TB) string {
	text := strings.ReplaceAll(tb.Logged(), gotest.Quote(filepath.ToSlash(s.dir)), "STORE")
	text = strings.ReplaceAll(text, filepath.ToSlash(s.dir), "STORE")
	text = strings.ReplaceAll(text, s.provider.URL(), "http://provider")
	text = lines.ReplaceAllString(text, "LINE: ")
	text = apis.ReplaceAllString(text, "known: ...")
	return hashes.ReplaceAllString(text, "${1}HASH")
}

// files returns the store's files by path, without pending answers.
func (s *scene) files() map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".pending" {
				err = fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(s.dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	require.NoError(s.t, err)
	return files
}

// requireFiles fails the test if the store's files are not these, naming those that differ.
func (s *scene) requireFiles(want map[string]string) {
	s.t.Helper()
	got := s.files()
	var differ []string
	for name := range want {
		if got[name] != want[name] {
			differ = append(differ, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			differ = append(differ, name)
		}
	}
	require.Empty(s.t, differ, "files of the store that changed")
}

// document returns the path of a test's document in the store, under openai.
func (s *scene) document(test string) string {
	return "openai/" + snapshot.DocumentName("github.com/traceforge/traceforge-go/traceforgetest", test) + ".json"
}

// documents returns the paths of the documents under a provider.
func (s *scene) documents(provider string) []string {
	paths, err := filepath.Glob(filepath.Join(s.dir, provider, "*.json"))
	require.NoError(s.t, err)
	return paths
}

// records returns the records of the calls to a provider, in all documents.
func (s *scene) records(provider string) []snapshot.Snapshot {
	s.t.Helper()
	var found []snapshot.Snapshot
	store, err := store.Open(s.dir)
	require.NoError(s.t, err)
	files, err := store.List()
	require.NoError(s.t, err)
	for _, file := range files {
		under, name, _ := strings.Cut(strings.TrimSuffix(file, ".json"), "/")
		doc, err := store.Load(name, under)
		require.NoError(s.t, err)
		for _, record := range doc.Document.Snapshots {
			if cmp.Or(record.Provider, under) == provider {
				found = append(found, record)
			}
		}
	}
	return found
}

func (s *scene) edit(path string, edit func(string) string) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(s.t, err)
	edited := edit(string(data))
	require.NotEqual(s.t, string(data), edited, "the edit of %s changes nothing", path)
	require.NoError(s.t, os.WriteFile(path, []byte(edited), 0o644))
}

func (s *scene) requireWhole() {
	s.t.Helper()
	store, err := store.Open(s.dir)
	require.NoError(s.t, err)
	result, err := audit.Verify(store)
	require.NoError(s.t, err)
	require.Empty(s.t, result.Findings)
}

// A chat is a chat completion request, deterministic unless changed.
type chat map[string]any

func newChat(prompt string) chat {
	return chat{
		"model": "gpt-4o-mini", "temperature": 0, "seed": 42,
		"messages": []any{map[string]any{"role": "user", "content": prompt}},
	}
}

func (c chat) with(name string, value any) chat {
	changed := chat{name: value}
	for n, v := range c {
		if n != name {
			changed[n] = v
		}
	}
	return changed
}

func (c chat) without(name string) chat {
	changed := chat{}
	for n, v := range c {
		if n != name {
			changed[n] = v
		}
	}
	return changed
}

// send posts a chat and returns the answer's body.
func send(client *http.Client, c chat) (string, error) {
	return post(client, "https://api.openai.com/v1/chat/completions", c)
}

func post(client *http.Client, url string, body any) (string, error) {
	if client == nil {
		client = http.DefaultClient
	}
	data, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	resp, err := client.Post(url, "application/json", bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	return string(answer), err
}

// asks is a test that sends chats in order and fails when one gets no answer.
func asks(chats ...chat) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, c := range chats {
			if _, err := send(tf.Client(), c); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
}
