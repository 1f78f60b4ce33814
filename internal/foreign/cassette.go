package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Cassette is one recorded call of TraceForge, whose proxy writes it to .ai-tests/cassettes/<provider>/<sha256>.json
// (packages/proxy/src/vcr.ts). It records OpenAI's chat completions alone, and no streams.
type Cassette struct {
	RecordedAt time.Time

	path    string // of the API
	request []byte
	answer  *http.Response // without its body
	body    []byte
}

// ReadCassette reads a cassette of version 1.0, of the proxy or of TraceForge's own starter. The starter's response
// is the body itself, its model stands beside the request, and the rest is in metadata. Its signature is not checked:
// the secret is in the program's source.
func ReadCassette(data []byte) (*Cassette, error) {
	doc, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil, err
	}
	root := doc.Root()
	about, body := root, root.Member("response", "body")
	if starter := root.Member("metadata"); starter.IsObject() && !root.Member("cassette_version").Present() {
		about, body = starter, root.Member("response")
	}
	version, request := about.Member("cassette_version").Word(), root.Member("request")
	switch {
	case version == "" || !request.IsObject() || !body.IsObject():
		return nil, errors.New("is no cassette of TraceForge: it has cassette_version, provider, request and response")
	case version != "1.0":
		return nil, fmt.Errorf("is a cassette of version %q, and this traceforge reads 1.0: upgrade "+
			"(go get -u github.com/traceforge/traceforge-go/cmd/traceforge), or record the call again", version)
	case root.Member("provider").Word() != "openai":
		return nil, fmt.Errorf("is of the provider %q, and TraceForge records openai alone: record the call again",
			root.Member("provider").Word())
	}
	c := &Cassette{path: "/v1/chat/completions", request: request.Raw(), body: jsontext.Compact(body.Raw())}
	if !request.Member("messages").Present() {
		c.path = "/v1/completions"
	}
	if model := root.Member("model"); model.IsString() && !request.Member("model").Present() {
		members := request.Object()
		members["model"] = model.Raw()
		c.request = jsontext.ObjectText(members)
	}
	if c.RecordedAt, err = time.Parse(time.RFC3339Nano, about.Member("recorded_at").Word()); err != nil {
		return nil, fmt.Errorf("/recorded_at: is no time: %w", err)
	}
	return c, c.readHead(root.Member("response"))
}

// readHead reads the status and the headers of an answer. One of which no status is said is a completion, which has
// one; the content type is that of the JSON which a cassette holds, as TraceForge's proxy serves it.
func (c *Cassette) readHead(response jsontext.Value) error {
	c.answer = &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}}
	if status := response.Member("status"); status.Present() {
		if err := json.Unmarshal(status.Raw(), &c.answer.StatusCode); err != nil {
			return fmt.Errorf("/response/status: %w", err)
		}
	}
	for name, value := range response.Member("headers").Members() {
		c.answer.Header.Set(name, value.Word())
	}
	for _, name := range []string{"Content-Encoding", "Content-Length", "Transfer-Encoding"} {
		c.answer.Header.Del(name) // the body is decoded
	}
	return nil
}

// A migratedCassette is a cassette as the archive of its call.
type migratedCassette struct {
	*Cassette
	file string
}

func (m migratedCassette) MakesNoCalls() {}

// RoundTrip answers with what the cassette has.
func (m migratedCassette) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := *m.answer
	answer.Header = recorder.Provenance{From: recorder.MigratedFrom + m.file, Time: m.RecordedAt}.In(answer.Header)
	answer.Body, answer.Request = io.NopCloser(bytes.NewReader(m.body)), req
	return &answer, nil
}

// Call returns the call of a cassette. It is recorded in a store of its own at scratch, so that the rules of recordings
// hold for it; file names the cassette.
func (c *Cassette) Call(file, scratch string) (Call, error) {
	name := strings.TrimSuffix(path.Base(file), ".json")
	var wrong []string
	r, err := recorder.Open(recorder.Options{
		Dir: scratch, Shown: scratch, Package: file, Test: name, Mode: recorder.UpdateAll, Upstream: migratedCassette{c, file},
		Source: func() snapshot.Source { return snapshot.Source{File: file, Line: 1, Function: name} },
		Fail:   func() {}, Tell: func(f *recorder.Failure) { wrong = append(wrong, f.Text) },
	})
	if err != nil {
		return Call{}, err
	}
	home, _ := provider.Home("openai")
	req, err := http.NewRequest(http.MethodPost, home.JoinPath(c.path).String(), bytes.NewReader(c.request))
	if err != nil {
		return Call{}, err // unreachable: the URL is ours
	}
	req.Header.Set("Content-Type", "application/json")
	if resp, err := r.RoundTrip(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	r.Finish(recorder.Outcome{})
	if len(wrong) > 0 {
		return Call{}, errors.New(strings.Join(wrong, "\n"))
	}
	return c.recorded(file, name, scratch)
}

// recorded returns what was recorded.
func (c *Cassette) recorded(file, name, scratch string) (Call, error) {
	s, err := store.Open(scratch)
	if err != nil {
		return Call{}, err
	}
	doc, err := s.Load(snapshot.DocumentName(file, name), "openai")
	if err != nil {
		return Call{}, err
	}
	call := Call{File: file, Snapshot: doc.Document.Snapshots[0], Media: map[canon.Hash][]byte{}}
	if call.Raw, err = doc.Raw(0); err != nil {
		return Call{}, err
	}
	for _, m := range call.Snapshot.Media() {
		if call.Media[m.Hash], err = doc.Media(m.Hash); err != nil {
			return Call{}, err
		}
	}
	made := &call.Snapshot
	made.ID, made.Provider, made.Source.Package, made.Source.Test = "", doc.Provider, "", ""
	return call, nil
}
