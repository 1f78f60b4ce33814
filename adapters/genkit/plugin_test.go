package genkittraceforge_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/example/forecast"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/internal/conformance"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Tests with Genkit's real plugins, whose provider is a fake while the calls are recorded
// and is gone when they are replayed.

// A plugin is one of Genkit's.
type plugin struct {
	provider string // whose API it speaks
	model    string // one of its models
	supports *ai.ModelSupports
	media    bool     // the model makes media
	breaches []string // of the model contract, in some version of Genkit
	install  func(t *testing.T, url string) *genkit.Genkit
}

var plugins = []plugin{
	{"openai", "openai/gpt-4o", &compat_oai.Multimodal, false, []string{"MUST stream-aggregate", "SHOULD json", "DEFINED tool-choice"}, func(t *testing.T, url string) *genkit.Genkit {
		opts := []option.RequestOption{option.WithMaxRetries(0), option.WithBaseURL(cmp.Or(url, "https://api.openai.com") + "/v1")}
		return genkit.Init(t.Context(), genkit.WithPlugins(&openai.OpenAI{APIKey: "unused", Opts: opts}))
	}},
	{"google", "googleai/gemini-2.5-flash", &googlegenai.Multimodal, true, nil, func(t *testing.T, url string) *genkit.Genkit {
		t.Setenv("GOOGLE_GEMINI_BASE_URL", url)
		return genkit.Init(t.Context(), genkit.WithPlugins(&googlegenai.GoogleAI{APIKey: "unused"}))
	}},
}

// onPlugins rehearses a test with each plugin: recorded by the middleware, and by the HTTP
// recorder under the plugin.
func onPlugins(t *testing.T, answer func(fakeprovider.Call) fakeprovider.Reply, test func(t *testing.T, p plugin, g *genkit.Genkit, middleware ...ai.ModelMiddleware)) {
	real := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = real })
	for _, p := range plugins {
		srv := fakeprovider.New(t)
		srv.Handle(answer)
		live, gone := internet{real, srv.Transport()}, internet{real, nil}
		t.Run(p.provider+"/middleware", func(t *testing.T) {
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				http.DefaultTransport = gone
				if rec.Recording() {
					http.DefaultTransport = live
				}
				test(t, p, p.install(t, ""), genkittraceforge.Middleware(rec, p.model))
			})
		})
		t.Run(p.provider+"/http", func(t *testing.T) {
			http.DefaultTransport = gone
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				test(t, p, p.install(t, rec.URL(p.provider)))
			}, traceforgetest.Upstream(live))
		})
	}
}

// An internet has a picture, and a provider unless that is nil.
type internet struct{ loopback, provider http.RoundTripper }

func (i internet) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Hostname() == "127.0.0.1":
		return i.loopback.RoundTrip(r)
	case r.URL.Host == "example.com": // Genkit's Google plugin downloads pictures itself
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("a picture")), Request: r}, nil
	case i.provider == nil:
		return nil, fmt.Errorf("%s is gone", r.URL.Host)
	case r.URL.Host == "generativelanguage.googleapis.com":
		// Genkit Go 1.4 gives results of tools the role tool, which newer Gemini models refuse.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.ReplaceAll(body, []byte(`"role":"tool"`), []byte(`"role":"user"`))
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return i.provider.RoundTrip(r)
}

// TestApplication: a flow with a tool, streamed, says the same without its provider.
func TestApplication(t *testing.T) {
	answer := fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`})
	onPlugins(t, answer, func(t *testing.T, p plugin, g *genkit.Genkit, middleware ...ai.ModelMiddleware) {
		said := ""
		for value, err := range forecast.Define(g, p.model, middleware...).Stream(t.Context(), "Oslo") {
			require.NoError(t, err)
			if value.Done {
				require.Contains(t, value.Output, "The tools say:")
				require.Contains(t, value.Output, "sunny in Oslo")
				require.Equal(t, value.Output, said)
				return
			}
			said += value.Stream
		}
	})
}

// TestSorted: calls that are recorded under a plugin do not drift by the orders that Genkit leaves to
// chance, however often they are tried: of 20 replays one at least would meet another.
func TestSorted(t *testing.T) {
	real := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = real })
	names := []string{"clock", "news", "tides", "weather"}
	var calls []fakeprovider.ToolCall
	for _, name := range names {
		calls = append(calls, fakeprovider.ToolCall{Name: name, Arguments: `{"city":"Oslo"}`})
	}
	for _, p := range plugins {
		t.Run(p.provider, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo(calls...))
			http.DefaultTransport = internet{real, nil}
			dir := t.TempDir()
			for run := range 21 {
				mode := ""
				if run == 0 {
					mode = "1"
				}
				genkittest.Play(t, dir, mode, func(rec *traceforgetest.Recorder) {
					g := p.install(t, rec.URL(p.provider))
					var tools []ai.ToolRef
					for _, name := range names {
						tools = append(tools, genkit.DefineTool(g, name, "tells the "+name, func(_ *ai.ToolContext, in map[string]any) (string, error) {
							return name + " of Oslo", nil
						}))
					}
					text, err := genkit.GenerateText(t.Context(), g,
						ai.WithModelName(p.model),
						ai.WithPrompt("Tell me all"),
						ai.WithTools(tools...),
						ai.WithMiddleware(genkittraceforge.Sorted),
					)
					require.NoError(t, err)
					require.Regexp(t, "clock of Oslo.*news of Oslo.*tides of Oslo.*weather of Oslo", text)
				}, traceforgetest.Upstream(internet{real, srv.Transport()}))
			}
		})
	}
}

// TestContract: a plugin's model breaks the same rules of the model contract when it is recorded
// and when it is replayed.
func TestContract(t *testing.T) {
	echo := fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`})
	answer := func(call fakeprovider.Call) fakeprovider.Reply {
		if bytes.Contains(call.Body, []byte(`"mode":"NONE"`)) { // Gemini's tool choice
			return fakeprovider.Text("I call no tools.")
		}
		return echo(call)
	}
	recorded := map[string][]string{}
	onPlugins(t, answer, func(t *testing.T, p plugin, g *genkit.Genkit, middleware ...ai.ModelMiddleware) {
		model := genkit.LookupModel(g, p.model)
		for _, m := range middleware {
			model = genkit.DefineModel(g, "recorded/model", &ai.ModelOptions{Supports: p.supports}, m(model.Generate))
		}
		got := rules(modeltest.TestModel(genkittraceforge.FromModel(model)))
		require.Subset(t, p.breaches, got)
		if _, again := recorded[t.Name()]; again {
			require.Equal(t, recorded[t.Name()], got)
		}
		recorded[t.Name()] = got
	})
}

// TestWire: what only the wire can show of a plugin is asked of the server that it talks to. OpenAI's declares nothing of it.
func TestWire(t *testing.T) {
	for _, p := range plugins[1:] {
		t.Run(p.provider, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo())
			real := http.DefaultTransport
			t.Cleanup(func() { http.DefaultTransport = real })
			http.DefaultTransport = internet{real, srv.Transport()}
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				model := genkittraceforge.FromModel(genkit.LookupModel(p.install(t, rec.URL(p.provider)), p.model))
				sent := func() (all []modelio.Request) {
					records, _ := rec.Snapshots()
					for i := range records {
						all = append(all, records[i].Request)
					}
					return all
				}
				require.NoError(t, modeltest.CheckWire(t.Context(), model, modelio.InfoOf(model), sent))
			})
		})
	}
}

// rules returns the rules that joined breaches are of.
func rules(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var broken []string
	for _, err := range joined.Unwrap() {
		b := err.(*modeltest.Breach)
		broken = append(broken, fmt.Sprint(b.Level, " ", b.Rule))
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// TestConformance: a plugin's answers get the same verdict when they are recorded and when they are replayed.
func TestConformance(t *testing.T) {
	cases, err := conformance.Load(os.DirFS("../../testdata/conformance"))
	require.NoError(t, err)
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			onPlugins(t, saying(tc.Answer), func(t *testing.T, p plugin, g *genkit.Genkit, middleware ...ai.ModelMiddleware) {
				model := genkit.LookupModel(g, p.model)
				req, err := genkittraceforge.ToRequest(modeltest.Simulate(&tc.Request, modelio.InfoOf(genkittraceforge.FromModel(model))))
				require.NoError(t, err)
				call := model.Generate
				for _, m := range middleware {
					call = m(call)
				}
				var chunks []*modelio.GenerateResponseChunk
				var stream ai.ModelStreamCallback
				if tc.Stream {
					stream = func(_ context.Context, chunk *ai.ModelResponseChunk) error {
						converted, err := genkittraceforge.FromChunk(chunk)
						chunks = append(chunks, converted)
						return err
					}
				}
				said, err := call(t.Context(), req, stream)
				require.NoError(t, err)
				response, err := genkittraceforge.FromResponse(said)
				require.NoError(t, err)
				for _, what := range tc.Holds {
					holds, err := conformance.Holds(what, response, chunks)
					require.NoError(t, err)
					require.Equal(t, p.media || !strings.HasPrefix(what, "valid-media"), holds, what)
				}
			})
		})
	}
}

// TestRefused: what a plugin makes an error of is told as the answer that it was, and no allowance for a broken network is offered.
func TestRefused(t *testing.T) {
	real := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = real })
	for _, p := range plugins {
		t.Run(p.provider, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(func(fakeprovider.Call) fakeprovider.Reply {
				return fakeprovider.Error(400, "invalid_request_error", "API key not valid")
			})
			http.DefaultTransport = internet{real, srv.Transport()}
			said := genkittest.Fails(t, t.TempDir(), "1", func(rec *traceforgetest.Recorder) {
				g := p.install(t, "")
				_, err := genkit.Generate(t.Context(), g, ai.WithModelName(p.model), ai.WithPrompt("hi"), ai.WithMiddleware(genkittraceforge.Middleware(rec, p.model)))
				require.ErrorContains(t, err, "API key not valid")
			})
			require.Regexp(t, ` answered with an error \(400\): API key not valid: it was not recorded\n`, said)
			require.NotContains(t, said, "TransportErrors")
		})
	}
}

// saying answers as a case wants.
func saying(a conformance.Answer) func(fakeprovider.Call) fakeprovider.Reply {
	return func(call fakeprovider.Call) fakeprovider.Reply {
		switch {
		case a.ToolRequest != nil:
			return fakeprovider.CallTools(fakeprovider.ToolCall{Name: a.ToolRequest.Name, Arguments: string(a.ToolRequest.Input)})
		case a.Media == nil:
			return fakeprovider.Text(a.Text)
		case call.API != "gemini.generate":
			return fakeprovider.Text("I cannot do that.")
		}
		return fakeprovider.Bytes("application/json", `{"candidates":[{"content":{"role":"model","parts":[{"inlineData":{"mimeType":"`+
			a.Media.ContentType+`","data":"`+a.Media.Data+`"}}]},"finishReason":"STOP","index":0}],"modelVersion":"gemini-2.5-flash"}`)
	}
}
