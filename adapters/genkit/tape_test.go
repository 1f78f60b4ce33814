package genkittraceforge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// A tape is a Recorder that keeps what it records in memory, as JSON. It matches a call by the
// core of its request, and answers the same request asked again with the next recorded answer.
type tape struct {
	mu      sync.Mutex
	replay  bool
	entries []*entry
}

type entry struct {
	name, core string
	chunks     []string
	response   string
	request    string
	used       bool
}

// rewound returns the tape as a replaying one.
func (t *tape) rewound() *tape {
	for _, e := range t.entries {
		e.used = false
	}
	return &tape{replay: true, entries: t.entries}
}

func (t *tape) Model(name string, m modelio.Model) modelio.Model {
	return modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		core, err := modelio.RequestCore(req)
		if err != nil {
			return nil, err
		}
		if t.replay {
			return t.answer(ctx, name+" "+string(core), stream)
		}
		written, err := req.MarshalJSON()
		if err != nil {
			return nil, err
		}
		e := &entry{core: name + " " + string(core), request: string(written)}
		record := modelio.StreamFunc(nil)
		if stream != nil {
			record = func(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
				text, err := chunk.MarshalJSON()
				if err != nil {
					return err
				}
				e.chunks = append(e.chunks, string(text))
				return stream(ctx, chunk)
			}
		}
		resp, err := m.Generate(ctx, req, record)
		if err != nil {
			return nil, err
		}
		text, err := resp.MarshalJSON()
		if err != nil {
			return nil, err
		}
		e.response = string(text)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.entries = append(t.entries, e)
		return resp, nil
	})
}

func (t *tape) answer(ctx context.Context, core string, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.used || e.core != core {
			continue
		}
		e.used = true
		for _, text := range e.chunks {
			var chunk modelio.GenerateResponseChunk
			if err := json.Unmarshal([]byte(text), &chunk); err != nil {
				return nil, err
			}
			if stream == nil {
				break
			}
			if err := stream(ctx, &chunk); err != nil {
				return nil, err
			}
		}
		resp := new(modelio.GenerateResponse)
		return resp, json.Unmarshal([]byte(e.response), resp)
	}
	return nil, fmt.Errorf("drift: no recorded call has the request %s", core)
}

// requireUsed checks that every recorded call was made again.
func (t *tape) requireUsed(tb testing.TB) {
	tb.Helper()
	for _, e := range t.entries {
		require.True(tb, e.used, "not called: %s", e.core)
	}
}
