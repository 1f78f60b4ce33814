package provider

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// An interaction is one line of the corpus of recorded traffic.
type interaction struct {
	Origin           string
	Method           string
	URL              string
	RequestHeaders   http.Header `json:"request_headers"`
	RequestBody      string      `json:"request_body"`
	RequestEncoding  string      `json:"request_body_encoding"`
	RequestFidelity  string      `json:"request_fidelity"`
	Status           int
	ResponseHeaders  http.Header `json:"response_headers"`
	ResponseBody     string      `json:"response_body"`
	ResponseEncoding string      `json:"response_body_encoding"`
}

func (x *interaction) wire(t testing.TB) *Wire {
	u, err := url.Parse(x.URL)
	require.NoError(t, err, x.Origin)
	return &Wire{Method: x.Method, URL: u, ContentType: x.RequestHeaders.Get("Content-Type"), Body: decoded(t, x.RequestBody, x.RequestEncoding)}
}

func (x *interaction) answer(t testing.TB) *Answer {
	return &Answer{Status: x.Status, ContentType: x.ResponseHeaders.Get("Content-Type"), Body: decoded(t, x.ResponseBody, x.ResponseEncoding)}
}

func decoded(t testing.TB, body, encoding string) []byte {
	if encoding != "base64" {
		return []byte(body)
	}
	b, err := base64.StdEncoding.DecodeString(body)
	require.NoError(t, err)
	return b
}

// shared finds a file of the corpus or the vectors, which a user's clone does not have.
func shared(t testing.TB, env, dir, name string) string {
	root := os.Getenv(env)
	if root == "" {
		module, err := os.Getwd()
		require.NoError(t, err)
		for {
			if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
				break
			}
			parent := filepath.Dir(module)
			require.NotEqual(t, parent, module, "no go.mod above the working directory")
			module = parent
		}
		root = filepath.Join(module, "..", "shared", dir)
	}
	file := filepath.Join(root, name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not here (set %s): recorded traffic and vectors are no part of the project", name, env)
	}
	return file
}

func corpus(t testing.TB) []*interaction {
	var all []*interaction
	for _, name := range []string{"corpus.jsonl", "sequences.jsonl"} {
		file, err := os.Open(shared(t, "TRACEFORGE_CORPUS", "corpus", name))
		require.NoError(t, err)
		defer file.Close()
		lines := bufio.NewReader(file)
		for {
			line, err := lines.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				x := &interaction{}
				require.NoError(t, json.Unmarshal(line, x))
				all = append(all, x)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	}
	return all
}

// named maps the paths of the APIs that have a codec of their own to its name, independently of
// how the codecs match.
var named = []struct {
	path *regexp.Regexp
	api  string
}{
	{regexp.MustCompile(`/chat/completions$`), chatAPI},
	{regexp.MustCompile(`^/openai$`), chatAPI},
	{regexp.MustCompile(`/v1/messages$`), messagesAPI},
	{regexp.MustCompile(`/responses$`), responsesAPI},
	{regexp.MustCompile(`/completions$`), completionsAPI},
	{regexp.MustCompile(`/embeddings$`), embeddingsAPI},
	{regexp.MustCompile(`:(stream)?[gG]enerateContent$`), generateAPI},
	{regexp.MustCompile(`/api/chat$`), ollamaChatAPI},
	{regexp.MustCompile(`/api/generate$`), ollamaGenerateAPI},
	{regexp.MustCompile(`/model/.+/converse(-stream)?$`), converseAPI},
	{regexp.MustCompile(`/model/.+/invoke(-with-response-stream)?$`), invokeAPI},
	{regexp.MustCompile(`/publishers/anthropic/models/.+:(streamR|r)awPredict$`), vertexAnthropicAPI},
	{regexp.MustCompile(`/v2/chat$`), cohereAPI},
}

// excused are the interactions of named APIs that their codec does not take, and why it is right
// not to.
var excused = map[string]string{
	"open-telemetry/opentelemetry-python-contrib:instrumentation/opentelemetry-instrumentation-botocore/tests/cassettes/test_invoke_model_with_invalid_model.yaml#0":                 "the request has no body",
	"open-telemetry/opentelemetry-python-contrib:instrumentation/opentelemetry-instrumentation-botocore/tests/cassettes/test_invoke_model_with_response_stream_invalid_model.yaml#0": "the request has no body",
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_boolean.yaml#0":                                                                                   "the recorder stored no request body",
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_categorical.yaml#0":                                                                               "the recorder stored no request body",
	"DataDog/dd-trace-py:tests/cassettes/azure_openai/azure_openai_chat_completion_score.yaml#0":                                                                                     "the recorder stored no request body",
	"lmnr-ai/lmnr-ts:packages/lmnr/test/recordings/google-genai-creates-a-streaming-genai-span.json#0":                                                                               "written by hand, without a finishReason",
	"DataDog/dd-trace-py:tests/cassettes/vertexai/vertexai_generate_content_categorical.yaml#0":                                                                                      "the recorder stored no request body",
	"DataDog/dd-trace-py:tests/cassettes/vertexai/vertexai_generate_content_score.yaml#0":                                                                                            "the recorder stored no request body",
	"vercel/ai:packages/azure/src/__fixtures__/azure-deepseek-reasoning.1.json#0":                                                                                                    "the answer is a chat completion; the URL was inferred",
	"maruel/genai:providers/huggingface/testdata/TestClient/Scoreboard/meta-llama/Llama-3.1-8B-Instruct/GenStream-JSON.yaml#0":                                                       "the stream is [DONE] and nothing else",
}

type tally struct {
	interactions, bodies, matched, lossless, responses, answered, streams, complete int
}

func TestCorpus(t *testing.T) {
	table := map[string]*tally{}
	var failures []string
	var proof lossless
	for _, x := range corpus(t) {
		w := x.wire(t)
		api := ""
		for _, n := range named {
			if n.path.MatchString(w.URL.Path) && w.Method == "POST" {
				api = n.api
				break
			}
		}
		if api == "" {
			api = httpAPI
		}
		if table[api] == nil {
			table[api] = &tally{}
		}
		row := table[api]
		row.interactions++
		fail := func(stage string, err error) {
			reason := excused[x.Origin]
			if reason == "" {
				t.Errorf("%s: %s: %s: %v", api, x.Origin, stage, err)
			}
			failures = append(failures, fmt.Sprintf("%s: %s: %s: %v (%s)", api, x.Origin, stage, err, cmp.Or(reason, "not excused")))
		}
		codec := byName(t, api)
		if x.RequestFidelity != "absent" {
			row.bodies++
			matched, ok := Match(w)
			if !ok || matched.API != api {
				fail("match", errors.New("no match"))
			} else {
				row.matched++
				if _, err := proof.add(codec, w); err != nil {
					fail("decode request", err)
				} else if err := proof.addChanged(codec, w); err != nil {
					fail("lose nothing", err)
				} else {
					row.lossless++
				}
			}
		}
		if x.Status == 0 || len(x.ResponseBody) == 0 && x.Status < 300 {
			continue
		}
		a := x.answer(t)
		row.responses++
		resp, err := codec.DecodeResponse(a)
		if err != nil {
			fail("decode response", err)
			continue
		}
		row.answered++
		if a.Events() != nil {
			row.streams++
			if resp.Complete {
				row.complete++
			}
		}
		if resp.Error == nil {
			if err := saysAnAnswer(resp); err != nil {
				fail("response", err)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %6s %6s %8s %9s %9s %8s %8s %9s\n", "api", "total", "bodies", "matched", "lossless", "responses", "decoded", "streams", "complete")
	for _, api := range slices.Sorted(maps.Keys(table)) {
		r := table[api]
		fmt.Fprintf(&b, "%-22s %6d %6d %8d %9d %9d %8d %8d %9d\n", api, r.interactions, r.bodies, r.matched, r.lossless, r.responses, r.answered, r.streams, r.complete)
	}
	t.Logf("\n%s%s", &b, strings.Join(failures, "\n"))
}

// saysAnAnswer fails for a response that is decoded to nothing, as by a codec that mistakes its
// form. The corpus has no stream that was cut.
func saysAnAnswer(resp *modelio.Response) error {
	if !resp.Complete {
		return errors.New("incomplete")
	}
	for _, c := range resp.Candidates {
		if len(c.Message.Content) > 0 || c.FinishReasonRaw != "" {
			return nil
		}
	}
	return errors.New("no candidate has content or a reason to end")
}

func byName(t testing.TB, api string) *Codec {
	for _, c := range Codecs() {
		if c.API == api {
			return c
		}
	}
	t.Fatalf("no codec is called %s", api)
	return nil
}

// roundTrip checks that encoding req gives the body of w as a JSON value, and that decoding
// that gives req.
func roundTrip(codec *Codec, w *Wire, req *modelio.Request) error {
	body, err := codec.Encoder.Request(req)
	if err != nil {
		return err
	}
	if root, err := w.root(); err == nil && !root.Member("model").Present() { // it is in the path
		o, _ := jsontext.MembersOf(body)
		delete(o, "model")
		body = jsontext.ObjectText(o)
	}
	if err := equalJSON(w.Body, body); err != nil {
		return err
	}
	again, err := codec.DecodeRequest(&Wire{Method: w.Method, URL: w.URL, ContentType: w.ContentType, Header: w.Header, Body: body})
	if err != nil {
		return fmt.Errorf("decode what was encoded: %w", err)
	}
	return equalRequests(req, again)
}
