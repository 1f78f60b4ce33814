package contract_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An interaction is one recorded call to a real provider.
type interaction struct {
	Origin           string
	Method, URL      string
	RequestHeaders   http.Header `json:"request_headers"`
	RequestBody      string      `json:"request_body"`
	RequestEncoding  string      `json:"request_body_encoding"`
	RequestFidelity  string      `json:"request_fidelity"`
	Status           int
	ResponseHeaders  http.Header `json:"response_headers"`
	ResponseBody     string      `json:"response_body"`
	ResponseEncoding string      `json:"response_body_encoding"`
}

// interactions returns every nth recorded call. The traffic is not part of the repository.
func interactions(t *testing.T, nth int) (all []interaction) {
	t.Helper()
	dir := os.Getenv("TRACEFORGE_CORPUS")
	if dir == "" {
		root, err := filepath.Abs("..") // the module's root: this package is right below it
		require.NoError(t, err)
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	f, err := os.Open(filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		t.Skipf("no recorded traffic: set TRACEFORGE_CORPUS to the folder that has it: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 0; lines.Scan(); n++ {
		if n%nth != 0 {
			continue
		}
		var i interaction
		require.NoError(t, json.Unmarshal(lines.Bytes(), &i))
		if i.RequestFidelity != "absent" {
			all = append(all, i)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

func bytesIn(text, encoding string) []byte {
	if encoding != "base64" {
		return []byte(text)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

// RoundTrip gives the provider's answer, without content encoding.
func (i *interaction) RoundTrip(*http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": i.ResponseHeaders["Content-Type"]}
	return &http.Response{StatusCode: i.Status, Header: header, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(bytesIn(i.ResponseBody, i.ResponseEncoding)))}, nil
}

// record records one call and returns its record. The record has no snapshot if the call cannot be recorded.
func (i *interaction) record(t *testing.T, call func(*http.Client) error) contract.Record {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	tb := tbtest.Run("TestCorpus", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(i),
			traceforgetest.Nondeterministic("recorded by others"), traceforgetest.Allow(traceforgetest.CutStreams))
		if err := call(tf.Client()); err != nil {
			tb.Errorf("%v", err)
		}
	})
	if tb.Failed() {
		return contract.Record{}
	}
	return append(records(t, dir), contract.Record{})[0]
}

func (i *interaction) send(client *http.Client) error {
	req, err := http.NewRequest(i.Method, i.URL, bytes.NewReader(bytesIn(i.RequestBody, i.RequestEncoding)))
	if err != nil {
		return err
	}
	req.Header["Content-Type"] = i.RequestHeaders["Content-Type"]
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// TestCorpus proves with real traffic that a recorded snapshot gives params, receipt and envelope, and that the params
// give the recorded request again.
func TestCorpus(t *testing.T) {
	t.Setenv("TRACEFORGE_UPDATE", "1")
	generations, again := 0, 0
	for _, i := range interactions(t, 12) {
		record := i.record(t, i.send)
		if record.Snapshot == nil {
			continue
		}
		got, err := contract.FromSnapshot(record)
		if errors.Is(err, contract.ErrUnsupported) {
			continue // embeddings, files, lists of models
		}
		require.NoError(t, err, i.Origin)
		generations++
		text, err := json.Marshal(got.Receipt)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, new(contract.GenerateReceipt)), i.Origin)
		text, err = json.Marshal(got)
		require.NoError(t, err)
		if got.Params.Model != "" { // without a model the params are not valid
			require.NoError(t, schematest.Validate("llm-call", text), i.Origin)
		}
		if i.asksAgain(t, record, got) {
			again++
		}
	}
	require.Greater(t, generations, 80)
	require.Greater(t, again, 50)
}

// asksAgain makes the call of recorded params with the adapter, and compares its request.
func (i *interaction) asksAgain(t *testing.T, record contract.Record, recorded *contract.Recorded) bool {
	t.Helper()
	path, spoken := map[string]string{
		contract.OpenAIChat: "/v1/chat/completions", contract.OpenAIResponses: "/v1/responses", contract.AnthropicMessages: "/v1/messages",
	}[record.Snapshot.Request.API]
	at, err := url.Parse(i.URL)
	require.NoError(t, err)
	root, atHome := strings.CutSuffix(at.Scheme+"://"+at.Host+at.Path, path)
	p := recorded.Params
	if !spoken || !atHome || p.Model == "" {
		return false
	}
	s := newScene(t)
	s.adapter.Catalog = contract.Catalog{p.Provider: {API: record.Snapshot.Request.API, URL: root}}
	s.adapter.Stream = string(record.Snapshot.Request.Options["stream"]) == "true"
	for _, ref := range refsOf(p) {
		blob, err := recorded.Blob(ref)
		require.NoError(t, err)
		_, err = s.store.PutBlob(blob)
		require.NoError(t, err)
	}
	refused := false
	second := i.record(t, func(client *http.Client) error {
		s.adapter.Client = client
		_, err := s.adapter.Generate(t.Context(), p)
		if errors.Is(err, contract.ErrUnsupported) {
			refused = true // for example, a gateway's member or a custom part
		}
		if errors.As(err, new(*contract.ProviderError)) || errors.Is(err, contract.ErrIncomplete) {
			err = nil // the provider answered
		}
		return err
	})
	if refused {
		return false
	}
	require.NotNil(t, second.Snapshot, i.Origin)
	require.Equal(t, request(record), request(second), i.Origin)
	return true
}

// refsOf returns the refs of params.
func refsOf(p contract.GenerateParams) []canon.Hash {
	refs := append(slices.Clone(p.MessageRefs), p.Runtime.ToolRefs...)
	for _, ref := range []*canon.Hash{p.Runtime.ProviderOptionsRef, p.Runtime.ResponseFormatRef} {
		if ref != nil {
			refs = append(refs, *ref)
		}
	}
	return refs
}

// request returns a snapshot's request, without the choice of streaming.
func request(record contract.Record) string {
	r := record.Snapshot.Request
	options := maps.Clone(r.Options)
	if r.Options = options; options == nil {
		r.Options = modelio.Object{}
	}
	for _, name := range []string{"stream", "stream_options", "$url", "$headers"} {
		delete(r.Options, name)
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}
