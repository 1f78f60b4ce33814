package recorder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// actionPrefix begins the APIs of calls recorded from a [modelio.Model], and of a framework's other such calls, for
// example "genkit.embed". Their only wire format is GK's own JSON: the raw answer has a line for each chunk, and one
// for the response.
const actionPrefix = "genkit."

// modelCodec returns the codec of such calls. It decodes only answers: the request is made from the model's input.
func modelCodec(api, name string) *provider.Codec {
	if api != modelio.ModelAPI {
		return &provider.Codec{API: api, Provider: name, DecodeResponse: decodeAction}
	}
	return &provider.Codec{API: api, Provider: name, Generates: true, DecodeResponse: decodeLines}
}

// decodeAction decodes the lines of an action's answer. It names no model, so R7 does not ask for a temperature.
func decodeAction(a *provider.Answer) (*modelio.Response, error) {
	resp, err := decodeLines(a)
	if err != nil {
		return nil, err
	}
	for i := range resp.Candidates {
		resp.Candidates[i].FinishReasonRaw = ""
	}
	return resp, nil
}

// A Generation is one call of a model, or of another action of that form.
type Generation struct {
	Action          string        // the kind of action, such as "embed"; empty means to generate
	Provider, Model string        // as the document names them
	Live            modelio.Model // may be nil in replay
	Request         *modelio.GenerateRequest
	Stream          modelio.StreamFunc // nil if the call does not stream
}

// String returns the call's name in messages.
func (g *Generation) String() string { return g.Provider + "/" + g.Model }

func (g *Generation) api() string { return actionPrefix + cmp.Or(g.Action, "generate") }

// Generate answers the call of a model from the document of the test, or makes and records it.
func (r *Recorder) Generate(ctx context.Context, g Generation) (*modelio.GenerateResponse, error) {
	c, served, err := r.direct(ctx, &g, modelCodec(g.api(), g.Provider), g.request)
	switch {
	case err != nil:
		return nil, err
	case served.take != nil:
		if _, only := r.run.Upstream.(*Recordings); only && served.take.step == nil {
			return nil, r.notImported(&g, served.take, errors.New("the recordings have HTTP calls only"))
		}
		return g.live(ctx, served.take)
	}
	if r.run.Mode == Check {
		r.checkModel(&g, c, served)
	}
	resp, err := ReadLines(bytes.NewReader(served.body), func(chunk *modelio.GenerateResponseChunk) error {
		if err := ctx.Err(); err != nil || g.Stream == nil || chunk == nil {
			return err
		}
		return g.Stream(ctx, chunk)
	})
	if err == io.ErrUnexpectedEOF {
		err = cutError(ctx, served.record.Response.Incomplete)
	}
	return resp, err
}

// request returns the model's input as a request. It is a copy, since the caller may change its own. Members without a
// field are in Options, under GK's names.
func (g *Generation) request() (*modelio.Request, error) {
	text, err := json.Marshal(g.Request)
	if err != nil {
		return nil, err
	}
	var asked modelio.GenerateRequest
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	req := &modelio.Request{
		API:      g.api(),
		Model:    g.Model,
		Messages: asked.Messages,
		Tools:    asked.Tools,
		Options:  modelio.Object{},
	}
	if req.Messages == nil {
		req.Messages = []modelio.Message{}
	}
	maps.Copy(req.Options, asked.Unknown)
	if g.Stream != nil {
		req.Options["stream"] = json.RawMessage("true")
	}
	if asked.ToolChoice != "" {
		req.Options["toolChoice"] = jsontext.Text(asked.ToolChoice)
	}
	if asked.Output != nil {
		req.Options["output"], _ = json.Marshal(asked.Output) // it was just read
	}
	if asked.Config == nil {
		return req, nil
	}
	rest := modelio.Object{}
	for name, value := range asked.Config {
		if !provider.GenerateParameters.Take(req, name, jsontext.ValueOf(value)) {
			rest[name] = value
		}
	}
	req.Options["config"] = jsontext.ObjectText(rest)
	return req, nil
}

// A modelLine is one line of a recorded answer of a model.
type modelLine struct {
	Chunk    *modelio.GenerateResponseChunk `json:"chunk,omitempty"`
	Response *modelio.GenerateResponse      `json:"response,omitempty"`
}

// live calls the model, and keeps its answer as lines.
func (g *Generation) live(ctx context.Context, tk *take) (*modelio.GenerateResponse, error) {
	tk.begin(0, http.Header{"Content-Type": {"application/x-ndjson"}})
	keep := func(line modelLine) error {
		text, err := json.Marshal(line)
		if err == nil {
			tk.receive(append(text, '\n'))
		}
		return err
	}
	stream := g.Stream
	var refused error
	if stream != nil {
		stream = func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
			if err := keep(modelLine{Chunk: chunk}); err != nil {
				return err
			}
			refused = g.Stream(ctx, chunk)
			return refused
		}
	}
	model := g.Live
	if tk.step != nil {
		model, tk.imported = tk.step.Model, &Provenance{Scripted: tk.step.Hash}
	}
	resp, err := model.Generate(ctx, g.Request, stream)
	if resp == nil && err == nil {
		err = fmt.Errorf("traceforge: the model, a %T, returned neither a response nor an error", model)
	}
	if err == nil {
		err = keep(modelLine{Response: resp})
	}
	if err == nil {
		tk.end(whole, nil)
		return resp, nil
	}
	how := broken
	switch said, _ := tk.received(); {
	case len(said.Body) == 0:
		how = failed
	case refused != nil || ctx.Err() != nil || errors.Is(err, context.Canceled):
		how = aborted
	}
	tk.end(how, ofContext(ctx, err))
	return nil, err
}

// ReadLines delivers the chunks of a recorded answer and returns its response.
func ReadLines(body io.Reader, deliver func(*modelio.GenerateResponseChunk) error) (*modelio.GenerateResponse, error) {
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
		if err := deliver(line.Chunk); err != nil {
			return nil, err
		}
	}
}

// decodeLines decodes the lines of an answer. It does not check that the chunks add up to the response (GK
// "Streaming"): modeltest.TestModel proves that, and any answer can be recorded.
func decodeLines(a *provider.Answer) (*modelio.Response, error) {
	var chunks []*modelio.GenerateResponseChunk
	response, err := ReadLines(bytes.NewReader(a.Body), func(chunk *modelio.GenerateResponseChunk) error {
		if chunk != nil {
			chunks = append(chunks, chunk)
		}
		return nil
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutResponse(chunks), nil
	case err != nil:
		return nil, err
	}
	resp := &modelio.Response{Usage: response.Usage, Complete: true}
	if response.Message != nil {
		resp.Candidates = []modelio.Candidate{candidate(response.Message, response.FinishReason)}
	}
	return resp, nil
}

func candidate(message *modelio.Message, reason modelio.FinishReason) modelio.Candidate {
	c := modelio.Candidate{Message: *message, FinishReason: reason, FinishReasonRaw: string(reason)}
	switch reason {
	case modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked:
	default:
		c.FinishReason = modelio.FinishOther
	}
	return c
}

// cutResponse is the known part of an answer that broke off.
func cutResponse(chunks []*modelio.GenerateResponseChunk) *modelio.Response {
	message := &modelio.Message{Role: modelio.RoleModel}
	for _, chunk := range chunks {
		message.Content = append(message.Content, chunk.Content...)
	}
	return &modelio.Response{Candidates: []modelio.Candidate{candidate(message, "")}}
}
