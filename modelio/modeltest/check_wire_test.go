package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// A wire is a model that calls a server in the format of chat completions.
type wire struct {
	server        *fakeprovider.Server
	schema        bool // it sends the schema
	another       bool // it sends a schema of its own
	mode          bool // it requests JSON without a schema
	system, moved bool // it sends system messages; it sends them as user messages
}

func (w *wire) Generate(ctx context.Context, req *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	body := map[string]any{"model": "m"}
	var messages []map[string]string
	for _, m := range req.Messages {
		role := string(m.Role)
		if m.Role == modelio.RoleSystem && !w.system {
			continue
		} else if m.Role == modelio.RoleSystem && w.moved {
			role = "user"
		}
		messages = append(messages, map[string]string{"role": role, "content": textOf(m)})
	}
	body["messages"] = messages
	if req.Output != nil && w.schema {
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "out", "schema": req.Output.Schema}}
	}
	if req.Output != nil && w.another {
		schema := json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}}}`)
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "out", "schema": schema}}
	}
	if req.Output != nil && w.mode {
		body["response_format"] = map[string]any{"type": "json_object"}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.openai.com/v1/chat/completions", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: w.server.Transport()}).Do(post)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	return &modelio.GenerateResponse{Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("yes")}}}, nil
}

// sent returns the requests that the server received, as the API's codec decodes them.
func (w *wire) sent(t *testing.T) func() []modelio.Request {
	codec, ok := provider.Named("openai.chat")
	require.True(t, ok)
	return func() (all []modelio.Request) {
		for _, call := range w.server.Calls() {
			req, err := codec.DecodeRequest(&provider.Wire{
				Method: http.MethodPost, URL: &url.URL{Path: "/v1/chat/completions"}, Header: http.Header{}, Body: call.Body,
			})
			require.NoError(t, err)
			all = append(all, *req)
		}
		return all
	}
}

// wrongOnTheWire are models that each break one rule that only the wire shows.
var wrongOnTheWire = []struct {
	rule modeltest.Rule
	why  string
	wire wire
}{
	{modeltest.RuleSchemaSent, "drops the schema", wire{system: true, moved: true}},
	{modeltest.RuleSchemaSent, "asks for something else", wire{another: true, system: true, moved: true}},
	{modeltest.RuleSchemaSent, "asks for any JSON", wire{mode: true, system: true, moved: true}},
	{modeltest.RuleSystemSent, "drops the system message", wire{schema: true}},
	{modeltest.RuleSystemSent, "sends the role that it does not declare", wire{schema: true, system: true}},
}

// TestCheckWire checks what a model sends to a server whose answers are all the same.
func TestCheckWire(t *testing.T) {
	info := modelio.ModelInfo{Supports: modelio.Capabilities{Constrained: modelio.ConstrainedAll}}
	served := func(w wire) *wire {
		w.server = fakeprovider.New(t)
		w.server.Handle(fakeprovider.Echo())
		return &w
	}
	good := served(wire{schema: true, system: true, moved: true})
	require.NoError(t, modeltest.CheckWire(t.Context(), good, info, good.sent(t)))
	require.Len(t, good.server.Calls(), 2)
	for _, tc := range wrongOnTheWire {
		t.Run(strings.ReplaceAll(tc.why, " ", "_"), func(t *testing.T) {
			w := served(tc.wire)
			all := breaches(t, modeltest.CheckWire(t.Context(), w, info, w.sent(t)))
			require.Len(t, all, 1)
			require.Equal(t, tc.rule, all[0].Rule)
			require.Equal(t, modeltest.Must, all[0].Level)
		})
	}
	nothing := served(wire{})
	require.NoError(t, modeltest.CheckWire(t.Context(), nothing, modelio.ModelInfo{Supports: modelio.Capabilities{SystemRole: true}}, nothing.sent(t)))
	require.Empty(t, nothing.server.Calls(), "nothing is declared that the wire could show")
	down := served(wire{schema: true, system: true, moved: true})
	down.server.Close()
	require.Len(t, breaches(t, modeltest.CheckWire(t.Context(), down, info, down.sent(t))), 2)
}

// TestWarnings checks that a long answer in one chunk is a warning.
func TestWarnings(t *testing.T) {
	saying := func(chunks ...string) modelio.ModelFunc {
		return func(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			for _, chunk := range chunks {
				if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart(chunk)}}); err != nil {
					return nil, err
				}
			}
			return &modelio.GenerateResponse{Message: &modelio.Message{Content: []modelio.Part{modelio.TextPart(strings.Join(chunks, ""))}}}, nil
		}
	}
	long := strings.Repeat("one, ", 100)
	all := modeltest.Warnings(t.Context(), saying(long))
	require.Len(t, all, 1)
	require.EqualError(t, all[0], "modelio: MUST stream-late: an answer of 500 bytes comes in one chunk (count streamed)")
	require.Empty(t, modeltest.Warnings(t.Context(), saying(long[:250], long[250:])))
	require.Empty(t, modeltest.Warnings(t.Context(), saying("one")), "a short answer may be one event")
	require.Empty(t, modeltest.Warnings(t.Context(), modelio.ModelFunc(good)))
	for _, fails := range []modelio.ModelFunc{
		func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return nil, nil
		},
		func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return &modelio.GenerateResponse{}, nil
		},
		func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			resp, _ := saying(long)(ctx, req, stream)
			return resp, io.ErrUnexpectedEOF
		},
	} {
		require.Empty(t, modeltest.Warnings(t.Context(), fails), "Check reports it")
	}
}
