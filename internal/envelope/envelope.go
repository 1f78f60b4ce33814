// Package envelope is the normalized output envelope: what a model answered, in one shape for
// all providers, as blobs that name each other by hash (LC "Normalized Output Envelope").
//
// It is a package of its own so that a recorder writes while recording the same envelopes as the
// contract's adapter does, without depending on the contract.
package envelope

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// An Envelope is the answer to one call.
type Envelope struct {
	Ref          canon.Hash // of the envelope's own blob: output_ref
	ToolCallsRef canon.Hash // of the list of tool calls; empty: the model made none
	Blobs        [][]byte   // the envelope and all that it names, to be stored together
}

// output is LC's LlmOutputEnvelope, with its members in canonical order. An option that is not set
// is null.
type output struct {
	AssistantText *string     `json:"assistant_text"`
	ReasoningRef  *canon.Hash `json:"reasoning_ref"`
	ToolCallsRef  *canon.Hash `json:"tool_calls_ref"`
}

// toolCall is LC's LlmToolCall.
type toolCall struct {
	CallID         string     `json:"call_id"`
	ToolName       string     `json:"tool_name"`
	ArgumentsRef   canon.Hash `json:"arguments_ref"`
	ProviderCallID *string    `json:"provider_call_id"`
}

// Of returns the envelope of an answer: of its first candidate, or an empty one where there is
// none, as in an error. history is what was sent; tool calls are numbered on from it, see
// [Number]. The same arguments give the same bytes. An error means that the arguments of a
// tool call have no canonical form: an [*canon.Error].
func Of(history []modelio.Message, answer *modelio.Response) (*Envelope, error) {
	e := &Envelope{}
	var out output
	if len(answer.Candidates) > 0 {
		message, ids := Number(history, answer.Candidates[0].Message)
		out.AssistantText = textOf(message)
		if reasoning := reasoningOf(message); reasoning != "" {
			out.ReasoningRef = e.add([]byte(reasoning))
		}
		var err error
		if out.ToolCallsRef, err = e.addCalls(message, ids); err != nil {
			return nil, err
		}
	}
	if out.ToolCallsRef != nil {
		e.ToolCallsRef = *out.ToolCallsRef
	}
	ref, err := e.addJSON(out)
	if err != nil { // unreachable: it holds strings only
		return nil, err
	}
	e.Ref = *ref
	return e, nil
}

func (e *Envelope) add(blob []byte) *canon.Hash {
	e.Blobs = append(e.Blobs, blob)
	ref := canon.Sum(blob)
	return &ref
}

func (e *Envelope) addJSON(v any) (*canon.Hash, error) {
	blob, err := canon.Marshal(v)
	if err != nil {
		return nil, err
	}
	return e.add(blob), nil
}

// addCalls adds the list of the message's tool calls, if there are any. The provider's own calls are
// not the caller's to make, so they are not listed.
func (e *Envelope) addCalls(m modelio.Message, ids map[string]string) (*canon.Hash, error) {
	var calls []toolCall
	for _, part := range m.Content {
		if part.ToolRequest == nil || IsProviders(part) {
			continue
		}
		request := part.ToolRequest
		arguments, err := argumentsOf(request)
		if err != nil {
			return nil, fmt.Errorf("arguments of tool call %s of %s: %w", request.Ref, request.Name, err)
		}
		call := toolCall{CallID: request.Ref, ToolName: request.Name, ArgumentsRef: *e.add(arguments)}
		if id, ok := ids[request.Ref]; ok {
			call.ProviderCallID = &id
		}
		calls = append(calls, call)
	}
	if calls == nil {
		return nil, nil
	}
	return e.addJSON(calls)
}

// argumentsOf returns the canonical arguments of a call; of one without, an empty object.
func argumentsOf(request *modelio.ToolRequest) ([]byte, error) {
	if request.Input == nil {
		return []byte("{}"), nil
	}
	return canon.KeepNumbers(request.Input)
}

// IsProviders reports whether a tool call is one that the provider makes itself:
// server_tool_use, mcp_tool_use.
func IsProviders(part modelio.Part) bool {
	var kind string
	_ = json.Unmarshal(part.Metadata["type"], &kind) // absent: the caller's
	return strings.HasSuffix(kind, "_tool_use")
}

func textOf(m modelio.Message) *string {
	var texts []string
	for _, part := range m.Content {
		if part.Text != nil {
			texts = append(texts, *part.Text)
		}
	}
	whole := strings.Join(texts, "") // one text is not copied
	if whole == "" {
		return nil
	}
	return &whole
}

// reasoningOf returns the paragraphs of the message's reasoning.
func reasoningOf(m modelio.Message) string {
	var texts []string
	for _, part := range m.Content {
		if part.Reasoning != nil && *part.Reasoning != "" {
			texts = append(texts, *part.Reasoning)
		}
	}
	return strings.Join(texts, "\n\n")
}
