package provider

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
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

// corpus returns the recorded traffic. Callers must not change it.
func corpus(t testing.TB) []*interaction {
	var files []string
	for _, name := range []string{"corpus.jsonl", "sequences.jsonl", "findings.jsonl"} {
		files = append(files, vector.Corpus(t, name))
	}
	all, err := readCorpus(files...)
	require.NoError(t, err)
	return all
}

var corpusRead struct {
	sync.Mutex
	all []*interaction
}

// readCorpus reads files once for all tests.
func readCorpus(files ...string) ([]*interaction, error) {
	corpusRead.Lock()
	defer corpusRead.Unlock()
	if corpusRead.all != nil {
		return corpusRead.all, nil
	}
	var all []*interaction
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		for lines := json.NewDecoder(bufio.NewReader(file)); ; {
			x := &interaction{}
			if err := lines.Decode(x); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
	}
	corpusRead.all = all
	return all, nil
}

// named maps paths to the names of the APIs' codecs. It does not depend on how the codecs match.
var named = []struct {
	path *regexp.Regexp
	api  string
}{
	{regexp.MustCompile(`/chat/completions$`), chatAPI},
	{regexp.MustCompile(`^/openai$`), chatAPI},
	{regexp.MustCompile(`/v1/messages$`), messagesAPI},
	{regexp.MustCompile(`/responses$`), responsesAPI},
	{regexp.MustCompile(`/completions$`), completionsAPI},
	{regexp.MustCompile(`embeddings$`), embeddingsAPI},
	{regexp.MustCompile(`:(embedContent|batchEmbedContents)$`), googleEmbedAPI},
	{regexp.MustCompile(`/v[12]/embed$`), cohereEmbedAPI},
	{regexp.MustCompile(`/api/embed$`), ollamaEmbedAPI},
	{regexp.MustCompile(`:predict(LongRunning)?$`), predictAPI},
	{regexp.MustCompile(`/model/.*embed.*/invoke$`), bedrockEmbedAPI},
	{regexp.MustCompile(`/model/.*rerank.*/invoke$`), bedrockRerankAPI},
	{regexp.MustCompile(`/rerank$`), rerankAPI},
	{regexp.MustCompile(`/moderations$`), moderationsAPI},
	{regexp.MustCompile(`/messages/count_tokens$`), messagesCountAPI},
	{regexp.MustCompile(`:countTokens$`), googleCountAPI},
	{regexp.MustCompile(`:(stream)?[gG]enerateContent$`), generateAPI},
	{regexp.MustCompile(`/api/chat$`), ollamaChatAPI},
	{regexp.MustCompile(`/api/generate$`), ollamaGenerateAPI},
	{regexp.MustCompile(`/model/.+/converse(-stream)?$`), converseAPI},
	{regexp.MustCompile(`/model/.+/invoke(-with-response-stream)?$`), invokeAPI},
	{regexp.MustCompile(`/publishers/anthropic/models/.+:(streamR|r)awPredict$`), vertexAnthropicAPI},
	{regexp.MustCompile(`/v2/chat$`), cohereAPI},
	{regexp.MustCompile(`/v1/chat$`), cohereV1API},
	{regexp.MustCompile(`/interactions$`), interactionsAPI},
	{regexp.MustCompile(`/agentAliases/.+/text$`), agentAPI},
	{regexp.MustCompile(`/audio/(transcriptions|translations)$`), transcriptionsAPI},
	{regexp.MustCompile(`/audio/speech$`), speechAPI},
	{regexp.MustCompile(`/images/(generations|edits|variations)$`), imagesAPI},
}

// called maps methods, hosts and paths likewise, for APIs with any method, or with one host only.
var called = []struct {
	call *regexp.Regexp
	api  string
}{
	{regexp.MustCompile(`^POST api.cloudflare.com/.*/ai/run/`), "cloudflare.run"},
	{regexp.MustCompile(`^GET api.cloudflare.com/.*/ai/models/search$`), "cloudflare.resources"},
	{regexp.MustCompile(`^POST api.deepgram.com/v1/listen$`), "deepgram.listen"},
	{regexp.MustCompile(`^[A-Z]+ api[.a-z0-9]*.bfl.ai/v1/`), "bfl.images"},
	{regexp.MustCompile(`^POST api.mistral.ai/v1/ocr$`), "mistral.ocr"},
	{regexp.MustCompile(`^POST api.mistral.ai/v1/agents$`), "mistral.agents"},
	{regexp.MustCompile(`^POST api.mistral.ai/v1/agents/completions$`), chatAPI},
	{regexp.MustCompile(`^POST api.openai.com/v1/responses/compact$`), responsesAPI},
	{regexp.MustCompile(`^[A-Z]+ api.openai.com/v1/responses/resp_`), "openai.responses.stored"},
	{regexp.MustCompile(`^[A-Z]+ api.openai.com/v1/conversations`), "openai.conversations"},
	{regexp.MustCompile(`^GET api.openai.com/v1/organization/`), "openai.organization"},
	{regexp.MustCompile(`^POST api.openai.com/v1/realtime/sessions$`), "openai.realtime_sessions"},
	{regexp.MustCompile(`^POST api.x.ai/v1/tts$`), "xai.speech"},
	{regexp.MustCompile(`^POST api.x.ai/v1/stt$`), "xai.transcriptions"},
	{regexp.MustCompile(`^[A-Z]+ api.x.ai/v1/videos/`), "xai.videos"},
	{regexp.MustCompile(`^GET bedrock.us-east-1.amazonaws.com/(foundation-models|inference-profiles)`), "bedrock.resources"},
	{regexp.MustCompile(`^POST bedrock-runtime.us-east-1.amazonaws.com/guardrail/`), "bedrock.guardrail"},
	{regexp.MustCompile(`^POST us-south.ml.cloud.ibm.com/ml/v1-beta/generation/text$`), "watsonx.generation"},
	{regexp.MustCompile(`^GET us-south.ml.cloud.ibm.com/ml/v1-beta/foundation_model_specs$`), "watsonx.resources"},
	{regexp.MustCompile(`/contentunderstanding/`), "azure.content_understanding"},
	{regexp.MustCompile(`:batchGenerateContent$`), "google.batches"},
	{regexp.MustCompile(`/api/pull$`), ollamaResourcesAPI},
}

// excused are interactions of named APIs that their codec rightly refuses, with the reasons.
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
	"envoyproxy/ai-gateway:tests/internal/testopenai/cassettes/audio-transcription-basic.yaml#0":                                                                                     "the recorder stored no form",
	"envoyproxy/ai-gateway:tests/internal/testopenai/cassettes/audio-translation-basic.yaml#0":                                                                                       "the recorder stored no form",
	"vercel/ai:packages/groq/src/__fixtures__/groq-transcription-text.json#0":                                                                                                        "the answer is a description of one",
}

type tally struct {
	interactions, bodies, matched, lossless, responses, answered, streams, complete int
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	ofAPI := map[string][]*interaction{}
	for _, x := range corpus(t) {
		ofAPI[x.api(t)] = append(ofAPI[x.api(t)], x)
	}
	rows := map[string]*tally{}
	t.Run("apis", func(t *testing.T) {
		for api, all := range ofAPI {
			row := &tally{}
			rows[api] = row
			t.Run(api, func(t *testing.T) {
				t.Parallel()
				row.count(t, ifThere(t, api), all)
			})
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %6s %6s %8s %9s %9s %8s %8s %9s\n", "api", "total", "bodies", "matched", "lossless", "responses", "decoded", "streams", "complete")
	for _, api := range slices.Sorted(maps.Keys(rows)) {
		r := rows[api]
		fmt.Fprintf(&b, "%-22s %6d %6d %8d %9d %9d %8d %8d %9d\n", api, r.interactions, r.bodies, r.matched, r.lossless, r.responses, r.answered, r.streams, r.complete)
	}
	t.Logf("\n%s", &b)
}

// api returns the API of x by its path.
func (x *interaction) api(t testing.TB) string {
	w := x.wire(t)
	for _, c := range called {
		if c.call.MatchString(w.Method + " " + w.URL.Host + w.URL.Path) {
			return c.api
		}
	}
	for _, n := range named {
		if n.path.MatchString(w.URL.Path) && w.Method == "POST" {
			return n.api
		}
	}
	last := w.URL.Path[strings.LastIndexByte(w.URL.Path, '/')+1:]
	switch {
	case last == "tags" || last == "show":
		return ollamaResourcesAPI
	case !resourcePath.MatchString(w.URL.Path), w.Method == "POST" && strings.Contains(w.URL.Path, "/models/"):
		return httpAPI
	case w.URL.Host == "generativelanguage.googleapis.com":
		return googleResourcesAPI
	case w.URL.Host == "api.anthropic.com":
		return anthropicResourcesAPI
	}
	return openAIResourcesAPI
}

// resourcePath matches the paths of resources in the recorded traffic.
var resourcePath = regexp.MustCompile(`/v1(beta)?/(models|files|batches|vector_stores|cachedContents|fileSearchStores|fine_tuning/jobs|messages/batches)\b|^/models$|/openai/v1/models$`)

// count decodes interactions of an API.
func (row *tally) count(t *testing.T, codec *Codec, all []*interaction) {
	var proof lossless
	for _, x := range all {
		row.interactions++
		fail := func(stage string, err error) {
			if reason := excused[x.Origin]; reason != "" {
				t.Logf("%s: %s: %v (%s)", x.Origin, stage, err, reason)
				return
			}
			t.Errorf("%s: %s: %v", x.Origin, stage, err)
		}
		if x.RequestFidelity != "absent" {
			row.bodies++
			w := x.wire(t)
			if matched, ok := Match(w); !ok || matched != codec {
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
}

// saysAnAnswer fails for a response that is decoded to nothing, as by a codec that mistakes its form. The corpus has no
// cut streams.
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

// ifThere returns the codec of an API, or skips the test, since .ci/add removes codecs. TestCases reports a missing
// codec.
func ifThere(t testing.TB, api string) *Codec {
	codec, ok := Named(api)
	if !ok {
		t.Skip("no codec is called " + api)
	}
	return codec
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

// roundTrip checks that encoding req gives the body of w as a JSON value, and that decoding the result gives req. said
// is the content of the body, described the content of req.
func roundTrip(codec *Codec, w *Wire, req *modelio.Request, said, described string) error {
	body := Encoders[codec.API](req)
	if root, err := w.root(); err == nil && !root.Member("model").Present() { // the path names it
		o, _ := jsontext.MembersOf(body)
		delete(o, "model")
		body = jsontext.ObjectText(o)
	}
	again := &Wire{Method: w.Method, URL: w.URL, ContentType: w.ContentType, Header: w.Header, Body: body}
	root, err := again.root()
	if err != nil {
		return err
	}
	if err := equalText(said, string(appendNormal(nil, root))); err != nil {
		return err
	}
	decoded, err := codec.DecodeRequest(again)
	if err != nil {
		return fmt.Errorf("decode what was encoded: %w", err)
	}
	return equalText(described, describe(decoded))
}
