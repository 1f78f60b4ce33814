package traceforgetest_test

// The golden files of this test are written by GOLDIE_UPDATE=1 go test: with -update its
// recorders would record.

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestFailures provokes each failure and compares its text with a golden file.
func TestFailures(t *testing.T) {
	hello, bye := newChat("Say hello"), newChat("Say goodbye")
	cases := []struct {
		name, why string
		provoke   func(s *scene) *tbtest.TB
	}{
		{"drift", "the prompt and a parameter were changed", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			return s.replay("TestGreet", asks(newChat("Say hello, politely").with("temperature", 0.2)))
		}},
		{"drift-nearest", "of two recorded calls the changed one is shown, not the first", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			return s.replay("TestGreet", asks(newChat("Say goodbye!")))
		}},
		{"drift-line-ends", "git checked the prompt's file out with CRLF", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(newChat("Say hello.\nBe brief.\n")))
			return s.replay("TestGreet", asks(newChat("Say hello.\r\nBe brief.\r\n")))
		}},
		{"drift-subtest", "the accept command names the subtest, quoted for the shell", func(s *scene) *tbtest.TB {
			s.record("TestGreet/it's_(a|b)", asks(hello))
			return s.replay("TestGreet/it's_(a|b)", asks(bye))
		}},
		{"drift-ignored", "what is ignored is said", func(s *scene) *tbtest.TB {
			ignore := traceforgetest.Ignore("/provider_options/user")
			s.record("TestGreet", asks(hello.with("user", "ann")), ignore)
			return s.replay("TestGreet", asks(bye.with("user", "bob")), ignore)
		}},
		{"drift-tools", "tools are known by their names", func(s *scene) *tbtest.TB {
			tool := func(name, description string) any {
				return map[string]any{"type": "function", "function": map[string]any{"name": name, "description": description,
					"parameters": map[string]any{"type": "object"}}}
			}
			s.record("TestGreet", asks(hello.with("tools", []any{tool("search", "finds pages"), tool("fetch", "gets a page")})))
			return s.replay("TestGreet", asks(hello.with("tools", []any{tool("ask", "asks"), tool("search", "finds web pages"), tool("fetch", "gets a page")})))
		}},
		{"drift-order", "what joined in the order of completion is the same in another order", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(newChat("").with("messages", said("be kind", "result a", "result b", "result c"))))
			return s.replay("TestGreet", asks(newChat("").with("messages", said("be kind", "result b", "result a", "result c"))))
		}},
		{"inserted", "a call that is like none of the recorded ones is held against none", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			return s.replay("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				_, err := send(tf.Client(), newChat("Translate this: guten Morgen"))
				require.ErrorContains(s.t, err, "status 400")
				asks(hello, bye)(t, tf)
			})
		}},
		{"inserted-alike", "one that is like a recorded one is told when that comes too", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			return s.replay("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				_, err := send(tf.Client(), newChat("Say hello again"))
				require.ErrorContains(s.t, err, "status 400")
				asks(hello, bye)(t, tf)
			})
		}},
		{"drift-again", "another test of the process has told all that changed", func(s *scene) *tbtest.TB {
			for _, name := range []string{"TestFirst", "TestGreet"} {
				s.record(name, asks(hello))
			}
			s.replay("TestFirst", asks(newChat("Say hello, politely")))
			return s.replay("TestGreet", asks(newChat("Say hello, politely")))
		}},
		{"drift-again-and-more", "another test of the process has told a part of what changed", func(s *scene) *tbtest.TB {
			for _, name := range []string{"TestFirst", "TestGreet"} {
				s.record(name, asks(hello))
			}
			s.replay("TestFirst", asks(newChat("Say hello, politely")))
			return s.replay("TestGreet", asks(newChat("Say hello, politely").with("temperature", 0.2)))
		}},
		{"drift-many", "the sixth test that another has told for needs a line", func(s *scene) (tb *tbtest.TB) {
			for i := range 7 {
				s.record(fmt.Sprint("TestGreet", i), asks(hello))
			}
			for i := range 7 {
				tb = s.replay(fmt.Sprint("TestGreet", i), asks(newChat("Say hello, politely")))
			}
			return tb
		}},
		{"no-snapshot", "nothing is recorded of the test", func(s *scene) *tbtest.TB {
			return s.replay("TestGreet", asks(hello))
		}},
		{"no-snapshot-left", "the call has no recorded one to be held against", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			return s.replay("TestGreet", asks(hello, bye))
		}},
		{"not-called", "a recorded call is not made any more", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			return s.replay("TestGreet", asks(hello))
		}},
		{"no-call", "the test calls nothing, and nothing is recorded", func(s *scene) *tbtest.TB {
			return s.replay("TestGreet", asks())
		}},
		{"no-call-recorded", "the test calls nothing any more", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			return s.replay("TestGreet", asks())
		}},
		{"one-too-many", "the same call is made more often than it is recorded", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, hello))
			return s.replay("TestGreet", asks(hello, hello, hello))
		}},
		{"broken-seal", "somebody edited the recorded answer", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			s.edit(s.documents("openai")[0], func(f string) string { return strings.Replace(f, `"latency_ms": `, `"latency_ms": 1`, 1) })
			return s.replay("TestGreet", asks(hello))
		}},
		{"broken-seal-of-two", "recording again buys the answers of all calls", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			s.edit(s.documents("openai")[0], func(f string) string { return strings.Replace(f, `"latency_ms": `, `"latency_ms": 1`, 1) })
			return s.replay("TestGreet", asks(hello, bye))
		}},
		{"merged-hash", "git merged the records of both sides, and kept the hash of one", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello, bye))
			s.edit(s.documents("openai")[0], func(f string) string {
				at := strings.LastIndex(f, "sha256:")
				return f[:at] + "sha256:" + strings.Repeat("0", 64) + f[at+71:]
			})
			return s.replay("TestGreet", asks(hello, bye))
		}},
		{"missing-raw", "the provider's bytes were not committed", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			require.NoError(s.t, os.RemoveAll(strings.TrimSuffix(s.documents("openai")[0], ".json")))
			return s.replay("TestGreet", asks(hello))
		}},
		{"altered-raw", "somebody edited the provider's bytes", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			raw := filepath.Join(strings.TrimSuffix(s.documents("openai")[0], ".json"), "1.json")
			s.edit(raw, func(f string) string { return strings.Replace(f, "hello", "HELLO", 1) })
			return s.replay("TestGreet", asks(hello))
		}},
		{"altered-line-ends", "git has changed them, as the store's .gitattributes was not committed", func(s *scene) *tbtest.TB {
			stream := hello.with("stream", true)
			s.record("TestGreet", asks(stream))
			document := s.documents("openai")[0]
			for _, file := range []string{document, filepath.Join(strings.TrimSuffix(document, ".json"), "1.sse")} {
				s.edit(file, func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") })
			}
			return s.replay("TestGreet", asks(stream))
		}},
		{"conflict-markers", "a merge left its markers in the snapshot", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			s.edit(s.documents("openai")[0], func(f string) string {
				return strings.Replace(f, "{\n", "{\n<<<<<<< HEAD\n=======\n>>>>>>> other\n", 1)
			})
			return s.replay("TestGreet", asks(hello))
		}},
		{"conflict-markers-updated", "an update buys nothing in place of the answers of both sides", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			s.edit(s.documents("openai")[0], func(f string) string {
				return strings.Replace(f, "{\n", "{\n<<<<<<< HEAD\n=======\n>>>>>>> other\n", 1)
			})
			before, calls := s.files(), len(s.provider.Calls())
			var tb *tbtest.TB
			for _, mode := range []string{"all", "new", "rekey", "1"} {
				tb = s.update(mode, "TestGreet", asks(hello))
				require.True(s.t, tb.Failed(), mode)
				s.requireFiles(before)
				require.Len(s.t, s.provider.Calls(), calls, mode)
			}
			return tb
		}},
		{"unknown-version", "a snapshot of another format version", func(s *scene) *tbtest.TB {
			s.record("TestGreet", asks(hello))
			s.edit(s.documents("openai")[0], func(f string) string {
				return strings.Replace(f, `"version": "1.1.0"`, `"version": "0.9.0"`, 1)
			})
			return s.replay("TestGreet", asks(hello))
		}},
		{"record-temperature", "a temperature that makes answers random", func(s *scene) *tbtest.TB {
			return s.update("1", "TestGreet", asks(hello.with("temperature", 0.7)))
		}},
		{"record-unset", "neither temperature nor seed are set", func(s *scene) *tbtest.TB {
			return s.update("1", "TestGreet", asks(hello.without("temperature").without("seed")))
		}},
		{"record-upstream-error", "the provider is overloaded", func(s *scene) *tbtest.TB {
			s.provider.Reply(fakeprovider.Error(503, "server_error", "overloaded"))
			return s.update("1", "TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				_, err := send(tf.Client(), hello)
				require.ErrorContains(s.t, err, "503")
			})
		}},
		{"record-unreachable", "the network is down", func(s *scene) *tbtest.TB {
			s.t.Setenv("TRACEFORGE_UPDATE", "1")
			down := traceforgetest.Upstream(roundTripper(func(*http.Request) (*http.Response, error) {
				return nil, os.ErrDeadlineExceeded
			}))
			return s.run("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				_, err := send(tf.Client(), hello)
				require.ErrorIs(s.t, err, os.ErrDeadlineExceeded)
			}, down)
		}},
		{"record-no-network", "there is neither a network nor a key, and the SDK tries three times", func(s *scene) *tbtest.TB {
			s.t.Setenv("TRACEFORGE_UPDATE", "1")
			s.t.Setenv("OPENAI_API_KEY", "")
			offline := traceforgetest.Upstream(roundTripper(func(req *http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: req.URL.Hostname(), IsNotFound: true}}
			}))
			return s.run("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				for range 3 {
					_, err := send(tf.Client(), hello)
					require.ErrorContains(s.t, err, "no such host")
				}
			}, offline)
		}},
		{"record-sdk-error", "an SDK made an error of the provider's refusal", func(s *scene) *tbtest.TB {
			refused := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
				return nil, fmt.Errorf("generating: %w", sdkError{400, "API key not valid"})
			})
			return s.update("1", "TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				_, err := tf.Model("googleai/gemini-2.5-flash", refused).Generate(s.t.Context(), generateRequest("hi"), nil)
				require.ErrorAs(s.t, err, &sdkError{})
			})
		}},
		{"record-failed-test", "a test that fails records nothing", func(s *scene) *tbtest.TB {
			tb := s.update("1", "TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				asks(hello)(t, tf)
				t.Errorf("the test's own failure")
			})
			require.Empty(s.t, s.files())
			return tb
		}},
		{"record-cut-stream", "the network cut the stream", func(s *scene) *tbtest.TB {
			reply := fakeprovider.Text("one two three four")
			reply.Cut, reply.CutAfter = fakeprovider.CutEnd, 2
			s.provider.Reply(reply)
			return s.update("1", "TestGreet", asks(hello.with("stream", true)))
		}},
		{"unknown-call", "the client is used for something that is no model call", func(s *scene) *tbtest.TB {
			return s.replay("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				resp, err := tf.Client().Get("https://example.com/robots.txt?key=secret")
				require.NoError(s.t, err)
				require.Equal(s.t, http.StatusBadRequest, resp.StatusCode)
			})
		}},
		{"grpc", "replay would have no trailer, and so no status", func(s *scene) *tbtest.TB {
			return s.update("1", "TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				resp, err := tf.Client().Post("https://example.com/models.v1.Chat/Generate", "application/grpc+proto", strings.NewReader("\x00"))
				require.NoError(s.t, err)
				require.Equal(s.t, http.StatusBadRequest, resp.StatusCode)
			}, traceforgetest.Record("example.com"))
		}},
		{"unknown-session", "a session of another API than those for realtime", func(s *scene) *tbtest.TB {
			switching := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: http.NoBody, Request: r}, nil
			}))
			s.t.Setenv("TRACEFORGE_UPDATE", "1")
			return s.run("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				req, _ := http.NewRequest(http.MethodGet, "https://api.openai.com/v1/responses", nil)
				req.Header.Set("Upgrade", "websocket")
				resp, err := tf.Client().Do(req)
				require.NoError(s.t, err)
				require.Equal(s.t, http.StatusBadRequest, resp.StatusCode)
			}, switching)
		}},
		{"new-twice", "two recorders in one test would each miss the other's calls", func(s *scene) *tbtest.TB {
			return s.replay("TestGreet", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				traceforgetest.New(t, traceforgetest.Dir(s.dir))
			})
		}},
		{"unknown-mode", "a misspelled variable must not replay silently", func(s *scene) *tbtest.TB {
			return s.update("yes", "TestGreet", asks(hello))
		}},
		{"no-reason", "Nondeterministic without a reason", func(s *scene) *tbtest.TB {
			return s.replay("TestGreet", asks(hello), traceforgetest.Nondeterministic(""))
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv("OPENAI_API_KEY", "set")
			tb := c.provoke(s)
			require.True(t, tb.Failed(), c.why)
			golden := goldie.New(t, goldie.WithFixtureDir("testdata/failures"))
			if os.Getenv("GOLDIE_UPDATE") != "" { // which the oldest goldie that we ask for does not know
				require.NoError(t, golden.Update(t, c.name, []byte(s.text(tb)+"\n")))
			}
			golden.Assert(t, c.name, []byte(s.text(tb)+"\n"))
		})
	}
}

// An sdkError is as those of the Go SDKs for Gemini.
type sdkError struct {
	Code    int
	Message string
}

func (e sdkError) Error() string {
	return fmt.Sprintf("Error %d, Message: %s, Details: []", e.Code, e.Message)
}

// said are messages of a user, after one of the system.
func said(system string, texts ...string) (messages []any) {
	messages = append(messages, map[string]any{"role": "system", "content": system})
	for _, text := range texts {
		messages = append(messages, map[string]any{"role": "user", "content": text})
	}
	return messages
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRestoredByGit: git is named as way out where it can bring back the file, and its command does so.
func TestRestoredByGit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string // below the directory of the test's document
		alter func(f string) string
	}{
		{"altered", []string{"1.sse"}, func(f string) string { return strings.Replace(f, "hello", "HELLO", 1) }},
		{"line ends", []string{"1.sse", "../*.json"}, func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			hello := newChat("Say hello").with("stream", true)
			s.record("TestGreet", asks(hello))
			edit := func() {
				for _, pattern := range tt.files {
					files, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(s.documents("openai")[0], ".json"), pattern))
					require.Len(t, files, 1)
					s.edit(files[0], tt.alter)
				}
			}
			shell := func(command string) {
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = filepath.Dir(s.dir)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s: %s", command, out)
			}
			shell("git init -q && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm recorded")
			edit()
			tb := s.replay("TestGreet", asks(hello))
			_, command, said := strings.Cut(tb.Logged(), "restore it as it was committed: ")
			require.True(t, said, tb.Logged())
			command, _, _ = strings.Cut(command, "\n")
			shell(command)
			requirePass(t, s.replay("TestGreet", asks(hello)))

			shell("rm -rf .git")
			edit()
			for _, path := range []string{os.Getenv("PATH"), t.TempDir()} { // with git, and without it
				t.Setenv("PATH", path)
				tb = s.replay("TestGreet", asks(hello))
				require.Contains(t, tb.Logged(), "put back a copy of it, as none was found in git\n")
				require.NotContains(t, tb.Logged(), "git checkout")
			}
		})
	}
}
