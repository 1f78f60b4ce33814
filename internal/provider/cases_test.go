package provider

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

var update = flag.Bool("update", false, "rewrite the wanted results in testdata")

// A section of a case is an input or a wanted result. A case is a txtar file in its API's directory. Its comment says
// why it exists. go test -update fills a wanted result, whose section has to be there, even if it is empty. Sections:
//
//	url                            [METHOD] URL [CONTENT-TYPE] of the requests that follow; by default the API's own
//	request                        a body
//	decoded                        the decoded form of the requests before it; decoding must lose nothing
//	failure                        the error for the request before it
//	answer STATUS [CONTENT-TYPE]   a body
//	frames STATUS                  a body in AWS's binary framing, one event per line; see frames
//	response                       the decoded form of each answer before it, as answers to the latest request
//	refused                        the error for each of the answers before it
type section = txtar.File

func cases(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func TestCases(t *testing.T) {
	for _, file := range cases(t) {
		api := filepath.Base(filepath.Dir(file))
		t.Run(api+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, bytes.TrimSpace(archive.Comment), "a case says why it is there")
			c := testCase{codec: byName(t, api)}
			for i := range archive.Files {
				c.section(t, &archive.Files[i])
			}
			require.Empty(t, len(c.requests), "requests without a section decoded or failure behind them")
			require.Empty(t, len(c.answers), "answers without a section response or refused behind them")
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o666))
			}
		})
	}
}

// A testCase is the state of a running case.
type testCase struct {
	codec    *Codec
	at       Wire // without its body
	requests []*Wire
	answers  []*Answer
	asked    *modelio.Request // the latest request
	proof    lossless
}

func (c *testCase) section(t *testing.T, s *section) {
	kind, arguments, _ := strings.Cut(s.Name, " ")
	switch kind {
	case "url":
		c.at = parseURL(t, s)
	case "request":
		w := c.at
		if w.URL == nil {
			w = homeOf(t, c.codec)
		}
		w.Body = s.Data
		c.requests = append(c.requests, &w)
	case "decoded":
		for _, w := range c.requests {
			require.True(t, c.codec.Match(w), "match")
			matched, ok := Match(w)
			require.True(t, ok)
			require.Equal(t, c.codec.API, matched.API, "another codec takes it first")
			req, err := c.proof.add(c.codec, w)
			require.NoError(t, err)
			want(t, s, viewRequest(req))
			require.NoError(t, c.proof.addChanged(c.codec, w))
			c.asked = req
		}
		c.requests, c.at = nil, Wire{}
	case "failure":
		for _, w := range c.requests {
			require.True(t, c.codec.Match(w), "match")
			_, err := c.codec.DecodeRequest(w)
			require.ErrorAs(t, err, new(*WireError))
			want(t, s, []byte(err.Error()+"\n"))
		}
		c.requests, c.at = nil, Wire{}
	case "answer":
		status, contentType, _ := strings.Cut(arguments, " ")
		n, err := strconv.Atoi(status)
		require.NoError(t, err)
		c.answers = append(c.answers, &Answer{Status: n, ContentType: contentType, Body: s.Data, Asked: c.asked})
	case "frames":
		n, err := strconv.Atoi(arguments)
		require.NoError(t, err)
		c.answers = append(c.answers, &Answer{Status: n, ContentType: "application/vnd.amazon.eventstream", Body: frames(t, s.Data)})
	case "response":
		for i, a := range c.answers {
			resp, err := c.codec.DecodeResponse(a)
			require.NoError(t, err)
			if i == 0 || !*update {
				want(t, s, viewResponse(resp))
			}
		}
		c.answers = nil
	case "refused":
		for _, a := range c.answers {
			_, err := c.codec.DecodeResponse(a)
			require.ErrorAs(t, err, new(*WireError))
			want(t, s, []byte(err.Error()+"\n"))
		}
		c.answers = nil
	default:
		t.Fatalf("no section is called %q", s.Name)
	}
}

// parseURL returns the request of a section named url, without a body.
func parseURL(t testing.TB, s *section) Wire {
	words := strings.Fields(string(s.Data))
	w := Wire{Method: "POST", ContentType: "application/json"}
	if !strings.Contains(words[0], "://") {
		w.Method, words = words[0], words[1:]
	}
	var err error
	w.URL, err = url.Parse(words[0])
	require.NoError(t, err)
	if len(words) > 1 {
		w.ContentType = strings.Join(words[1:], " ")
	}
	return upgraded(w)
}

// upgraded makes a request for a WebSocket ask for the upgrade.
func upgraded(w Wire) Wire {
	if w.URL.Scheme == "wss" {
		w.Method, w.ContentType, w.Header = http.MethodGet, "", http.Header{"Upgrade": {"websocket"}}
	}
	return w
}

// homeOf returns a request to an API's own endpoint, without a body. The URL is in testdata.
func homeOf(t testing.TB, codec *Codec) Wire {
	home, err := os.ReadFile(filepath.Join("testdata", codec.API, "home.url"))
	require.NoError(t, err)
	u, err := url.Parse(strings.TrimSpace(string(home)))
	require.NoError(t, err)
	return upgraded(Wire{Method: "POST", URL: u, ContentType: "application/json"})
}

func want(t *testing.T, s *section, got []byte) {
	t.Helper()
	if *update {
		s.Data = got
		return
	}
	require.Equal(t, string(s.Data), string(got))
}

// viewRequest renders a request for comparison, without absent members.
func viewRequest(r *modelio.Request) []byte {
	view := struct {
		Model            string                   `json:"model,omitempty"`
		Prompt           *string                  `json:"prompt,omitempty"`
		Messages         []modelio.Message        `json:"messages,omitempty"`
		Tools            []modelio.ToolDefinition `json:"tools,omitempty"`
		Temperature      *json.Number             `json:"temperature,omitempty"`
		MaxTokens        *json.Number             `json:"max_tokens,omitempty"`
		TopP             *json.Number             `json:"top_p,omitempty"`
		FrequencyPenalty *json.Number             `json:"frequency_penalty,omitempty"`
		PresencePenalty  *json.Number             `json:"presence_penalty,omitempty"`
		Seed             *json.Number             `json:"seed,omitempty"`
		Stop             []string                 `json:"stop,omitempty"`
		Options          modelio.Object           `json:"options,omitempty"`
	}{r.Model, r.Prompt, r.Messages, r.Tools, r.Temperature, r.MaxTokens, r.TopP, r.FrequencyPenalty, r.PresencePenalty, r.Seed, r.Stop, r.Options}
	return render(view)
}

func viewResponse(r *modelio.Response) []byte {
	type citation struct {
		Start  *int64 `json:"start,omitempty"`
		End    *int64 `json:"end,omitempty"`
		URL    string `json:"url,omitempty"`
		Title  string `json:"title,omitempty"`
		Quote  string `json:"quote,omitempty"`
		Source string `json:"source,omitempty"`
	}
	type candidate struct {
		FinishReason string          `json:"finish_reason"`
		Raw          string          `json:"raw,omitempty"`
		Message      modelio.Message `json:"message"`
		Citations    []citation      `json:"citations,omitempty"`
	}
	view := struct {
		ID         string                 `json:"id,omitempty"`
		Model      string                 `json:"model,omitempty"`
		Candidates []candidate            `json:"candidates,omitempty"`
		Usage      *modelio.Usage         `json:"usage,omitempty"`
		Metadata   modelio.Object         `json:"metadata,omitempty"`
		Error      *modelio.ProviderError `json:"error,omitempty"`
		Incomplete bool                   `json:"incomplete,omitempty"`
	}{ID: r.ID, Model: r.Model, Usage: r.Usage, Metadata: r.Metadata, Error: r.Error, Incomplete: !r.Complete}
	for _, c := range r.Candidates {
		var citations []citation
		for _, one := range c.Citations {
			citations = append(citations, citation(one))
		}
		view.Candidates = append(view.Candidates, candidate{string(c.FinishReason), c.FinishReasonRaw, c.Message, citations})
	}
	return render(view)
}

// render writes JSON with sorted members, one per line.
func render(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	normal, err := normalText(text)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(normal), "", "  ") // normal is valid JSON
	return append(b.Bytes(), '\n')
}
