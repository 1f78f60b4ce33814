package traceforgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// Model returns a model whose calls are recorded from m and replayed without it, chunks
// included, in the same store and with the same rules as HTTP calls. The name is
// "provider/model"; the provider is lower-case letters, digits and hyphens. In replay m may be
// nil.
func (r *Recorder) Model(name string, m modelio.Model) modelio.Model {
	r.t.Helper()
	provider, model, _ := strings.Cut(name, "/")
	if model == "" || !providerName.MatchString(provider) {
		r.t.Fatalf("traceforge: %q does not name a model: want provider/model, such as google/gemini-2.5-flash", name)
	}
	if m == nil && r.mode != replay {
		r.t.Fatalf("traceforge: recording %s needs the model itself", name)
	}
	return &recordedModel{recorder: r, provider: provider, model: model, live: m}
}

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// A recordedModel passes the calls of a model through a recorder, as lines of JSON: a chunk
// each, and the response.
type recordedModel struct {
	recorder        *Recorder
	provider, model string
	live            modelio.Model
}

// Info is what the live model declares of itself.
func (m *recordedModel) Info() modelio.ModelInfo { return modelio.InfoOf(m.live) }

// A modelLine is one line of a recorded answer of a model.
type modelLine struct {
	Chunk    *modelio.GenerateResponseChunk `json:"chunk,omitempty"`
	Response *modelio.GenerateResponse      `json:"response,omitempty"`
}

// Generate answers from the snapshots of the test, or calls the model and records.
func (m *recordedModel) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("traceforge: keeping the request to %s: %w", m.model, err)
	}
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url(stream != nil).String(), nil)
	if err != nil {
		return nil, err // unreachable: the method and the URL are valid
	}
	live := &liveModel{model: m.live, request: req, stream: stream}
	resp, err := m.recorder.roundTrip(call, newWire(call, body, modelCodec{m.provider}), live)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := readLines(ctx, resp.Body, live.deliver)
	if live.err != nil {
		return nil, live.err
	}
	return answer, err
}

func (m *recordedModel) url(streams bool) *url.URL {
	u := &url.URL{Scheme: "model", Host: m.provider, Path: "/" + m.model}
	if streams {
		u.RawQuery = "stream=true"
	}
	return u
}

// readLines delivers the chunks of a recorded answer and returns its response.
func readLines(ctx context.Context, body io.Reader, deliver func(context.Context, *modelio.GenerateResponseChunk) error) (*modelio.GenerateResponse, error) {
	for dec := json.NewDecoder(body); ; {
		var line modelLine
		if err := dec.Decode(&line); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // the response would have been the last line
			}
			return nil, err
		}
		if line.Response != nil {
			return line.Response, nil
		}
		if err := deliver(ctx, line.Chunk); err != nil {
			return nil, err
		}
	}
}

// A liveModel is the upstream of one call.
type liveModel struct {
	model   modelio.Model
	request *modelio.GenerateRequest
	stream  modelio.StreamFunc
	called  bool  // the chunks have reached the caller already
	err     error // what the model returned after a part of its answer
}

// RoundTrip calls the model and returns its answer as lines. An answer that broke off behind
// some chunks is a body that does.
func (l *liveModel) RoundTrip(call *http.Request) (*http.Response, error) {
	l.called = true
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	var stream modelio.StreamFunc
	var refused error
	if l.stream != nil {
		stream = func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
			if err := enc.Encode(modelLine{Chunk: chunk}); err != nil {
				return err
			}
			refused = l.stream(ctx, chunk)
			return refused
		}
	}
	resp, err := l.model.Generate(call.Context(), l.request, stream)
	switch {
	case err != nil && lines.Len() == 0:
		return nil, err
	case err != nil:
		l.err = err
	default:
		err = enc.Encode(modelLine{Response: resp})
	}
	var body io.Reader = &lines
	if err != nil {
		if refused != nil {
			err = errByCaller
		}
		body = io.MultiReader(&lines, failingReader{err})
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{},
		Body:       io.NopCloser(body),
		Request:    call,
	}, nil
}

// deliver passes a replayed chunk on; one of a live model has been.
func (l *liveModel) deliver(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
	if l.called || l.stream == nil || chunk == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.stream(ctx, chunk)
}

// errByCaller is read behind the part of a stream that its caller did not refuse.
var errByCaller = errors.New("ended by the caller")

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// TestModel proves that m obeys the model contract (GK), as testing/fstest.TestFS does for file
// systems: it calls m with requests of each kind that m declares to support (see
// [modelio.Declarer]; a model that declares nothing is held to support everything) and returns
// every breach at once, each a [*modelio.Breach]. It makes a few dozen calls, some at once.
func TestModel(m modelio.Model) error {
	return modelio.Check(context.Background(), m, modelio.InfoOf(m))
}
