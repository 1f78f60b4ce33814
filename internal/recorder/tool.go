package recorder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// toolProvider is the provider of tools that a test wraps. They have no wire format: their raw answer is a line of
// JSON.
const toolProvider = "tool"

// toolCodec decodes the answers of such tools; a request is made from the tool's input.
var toolCodec = &provider.Codec{API: modelio.ToolAPI, Provider: toolProvider, Tools: true,
	DecodeResponse: decodeToolLine}

// A ToolCall is one call of a tool.
type ToolCall struct {
	Name  string
	Run   func(context.Context, json.RawMessage) (json.RawMessage, error) // may be nil in replay
	Input json.RawMessage
}

// String returns the call's name in messages.
func (t *ToolCall) String() string { return toolNamed(t.Name) }

func toolNamed(name string) string { return "tool " + name }

// CallTool answers the call of a tool from the document of the test, or runs the tool and records it.
func (r *Recorder) CallTool(ctx context.Context, t ToolCall) (json.RawMessage, error) {
	t.Input = bytes.Clone(t.Input) // the caller may change its own
	c, served, err := r.direct(ctx, &t, toolCodec, t.request)
	switch {
	case err != nil:
		return nil, err
	case served.take != nil:
		return t.live(ctx, served.take)
	}
	if r.run.Mode == Check {
		r.checkTool(ctx, &t, c, served)
	}
	return resultIn(served.body)
}

// request returns the tool's input as a request: a model's message with one tool call (GK "Tool Request Part").
func (t *ToolCall) request() (*modelio.Request, error) {
	return &modelio.Request{
		API:   modelio.ToolAPI,
		Model: t.Name,
		Messages: []modelio.Message{{Role: modelio.RoleModel, Content: []modelio.Part{
			{ToolRequest: &modelio.ToolRequest{Name: t.Name, Input: t.Input}},
		}}},
	}, nil
}

// live runs the tool, and keeps its result as a line. The caller gets the output as replay will spell it.
func (t *ToolCall) live(ctx context.Context, tk *take) (json.RawMessage, error) {
	tk.begin(0, http.Header{"Content-Type": {"application/json"}})
	defer tk.end(failed, errUnwound) // for a tool that has not ended by then
	output, failure := t.Run(context.WithValue(ctx, insideKey{}, t.Name), t.Input)
	if isOfContext(ctx, failure) {
		tk.end(failed, ofContext(ctx, failure))
		return nil, failure
	}
	text, err := toolLineOf(t.Name, output, failure)
	if err != nil {
		tk.end(failed, err)
		return nil, err
	}
	tk.receive(text)
	tk.end(whole, nil)
	if failure != nil {
		return nil, failure
	}
	return resultIn(text)
}

// isOfContext reports whether a tool failed because its context ended. A tool may also fail by itself after that.
func isOfContext(ctx context.Context, failure error) bool {
	if failure == nil || errors.Is(failure, context.Canceled) {
		return failure != nil
	}
	return ctx.Err() != nil &&
		(errors.Is(failure, context.Cause(ctx)) || strings.Contains(failure.Error(), ctx.Err().Error()))
}

// errUnwound says why a tool returned nothing.
var errUnwound = errors.New("it panicked, or ended its goroutine")

// An insideKey is the context key of the name of the running tool.
type insideKey struct{}

// nestedFailure is the failure of a recorded call made by a recorded tool.
func nestedFailure(tool string, what fmt.Stringer) *Failure {
	return failuref(fmt.Sprintf("%s was called by %s, which is recorded itself", what, toolNamed(tool)),
		"replay does not run a recorded tool, so that this call would not be made: record the tool, or what it calls")
}

// A toolLine is a tool's recorded answer: its result, or the text of its error.
type toolLine struct {
	Error   *string          `json:"error,omitempty"`
	Message *modelio.Message `json:"message,omitempty"` // of role tool, with one result (GK "Tool Response Part")
}

func toolLineOf(name string, output json.RawMessage, failure error) ([]byte, error) {
	var line toolLine
	if failure != nil {
		text := failure.Error()
		line.Error = &text
	} else {
		response := &modelio.ToolResponse{Name: name, Output: output}
		if output != nil && !json.Valid(output) {
			return nil, &noJSON{name, output}
		}
		line.Message = &modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: response}}}
	}
	text, err := jsontext.Marshal(line) // the output stays as the tool spells it
	return append(text, '\n'), err
}

// noJSON is the error for a tool that returned something else than JSON.
type noJSON struct {
	tool   string
	output []byte
}

func (e *noJSON) Error() string {
	if len(e.output) == 0 {
		return toolNamed(e.tool) + " returned no JSON, but nothing"
	}
	return fmt.Sprintf("%s returned no JSON: %s", toolNamed(e.tool), short(string(e.output)))
}

func readToolLine(text []byte) (line toolLine, err error) {
	if err = json.Unmarshal(text, &line); err != nil {
		return line, err
	}
	m := line.Message
	if (m == nil) == (line.Error == nil) || m != nil && (len(m.Content) != 1 || m.Content[0].ToolResponse == nil) {
		return line, errors.New("want an error, or a message with one toolResponse")
	}
	return line, nil
}

// resultIn returns what the tool's caller gets for a line.
func resultIn(text []byte) (json.RawMessage, error) {
	line, err := readToolLine(text)
	switch {
	case err != nil:
		return nil, err // unreachable: the line was just written or proven
	case line.Error != nil:
		return nil, errors.New(*line.Error)
	}
	return line.Message.Content[0].ToolResponse.Output, nil
}

func decodeToolLine(a *provider.Answer) (*modelio.Response, error) {
	line, err := readToolLine(a.Body)
	switch {
	case err != nil:
		return nil, err
	case line.Error != nil:
		return &modelio.Response{Error: &modelio.ProviderError{Type: toolProvider, Message: *line.Error}, Complete: true}, nil
	}
	return &modelio.Response{Candidates: []modelio.Candidate{{Message: *line.Message}}, Complete: true}, nil
}
