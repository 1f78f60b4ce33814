package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Cassette is a call recorded by TraceForge, whose proxy writes it to .ai-tests/cassettes/<provider>/<sha256>.json
// (packages/proxy/src/vcr.ts). The proxy records only OpenAI's chat completions, without streams.
type Cassette struct {
	recordedAt time.Time
	path       string // of the API
	request    []byte
	answer     *http.Response // without its body
	body       []byte
}

// ReadCassette reads a cassette of version 1.0, from the proxy or from TraceForge's own starter. In the starter's
// format the response is the body itself, its model is next to the request, and everything else is in metadata. The
// signature is not checked, because its secret is public in the program's source.
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
	if c.recordedAt, err = time.Parse(time.RFC3339Nano, about.Member("recorded_at").Word()); err != nil {
		return nil, fmt.Errorf("/recorded_at: is no time: %w", err)
	}
	return c, c.readHead(root.Member("response"))
}

// readHead reads the status and the headers of an answer. An answer without a status is a successful completion. The
// content type is JSON, as served by TraceForge's proxy.
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

// Call returns the call of a cassette. It is recorded in a separate store at scratch, so that the rules of recording
// apply to it; file names the cassette.
func (c *Cassette) Call(file, scratch string) (Call, error) {
	name := strings.TrimSuffix(path.Base(file), ".json")
	from := recorder.Provenance{From: recorder.MigratedFrom + file, Time: c.recordedAt}
	upstream := &archive{func(req *http.Request) *http.Response {
		answer := *c.answer
		answer.Header = from.In(answer.Header)
		answer.Body, answer.Request = io.NopCloser(bytes.NewReader(c.body)), req
		return &answer
	}}
	var wrong []string
	r, err := recorder.Open(recorder.Options{
		Dir: scratch, Shown: scratch, Package: file, Test: name, Mode: recorder.UpdateAll, Upstream: upstream,
		Source: func() snapshot.Source { return snapshot.Source{File: file, Line: 1, Function: name} },
		Fail:   func() {}, Tell: func(f *recorder.Failure) { wrong = append(wrong, f.Text) },
	})
	if err != nil {
		return Call{}, err
	}
	address, _ := url.JoinPath(provider.Facts("openai").Home, c.path) // always valid
	req, _ := http.NewRequest(http.MethodPost, address, bytes.NewReader(c.request))
	req.Header.Set("Content-Type", "application/json")
	_ = r.Try(req) // what fails is told
	r.Finish(recorder.TestEnd{})
	if len(wrong) > 0 {
		return Call{}, errors.New(strings.Join(wrong, "\n"))
	}
	put, err := recorded(scratch, snapshot.DocumentName(file, name))
	if err != nil {
		return Call{}, err
	}
	made := put.Document.Snapshots[0]
	made.ID, made.Provider, made.Source.Package, made.Source.Test = "", put.Provider, "", ""
	return Call{file, made, put.Beside}, nil
}
