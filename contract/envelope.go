package contract

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// An envelope is the blobs of an answer in the one shape of all providers (LC "Normalized Output
// Envelope").
type envelope struct {
	ref          canon.Hash // of the envelope's own blob: output_ref
	toolCallsRef canon.Hash // of the list of tool calls; empty means the model made none
	blobs        [][]byte   // the envelope and all that it names, to be stored together
}

// envelopeOf returns the envelope of an answer's message, whose tool calls are numbered; an empty one of
// a message without parts, as in an error. ids are what the provider called the calls. The same
// arguments give the same bytes. An error means that the arguments of a tool call have no canonical
// form: a [*canon.Error].
func envelopeOf(message modelio.Message, ids map[string]string) (*envelope, error) {
	e := &envelope{}
	out := OutputEnvelope{AssistantText: joinTexts(message)}
	if reasoning := joinReasoning(message); reasoning != "" {
		out.ReasoningRef = e.add([]byte(reasoning))
	}
	var err error
	if out.ToolCallsRef, err = e.addCalls(message, ids); err != nil {
		return nil, err
	}
	if out.ToolCallsRef != nil {
		e.toolCallsRef = *out.ToolCallsRef
	}
	ref, err := e.addJSON(out)
	if err != nil { // unreachable: it holds strings only
		return nil, err
	}
	e.ref = *ref
	return e, nil
}

// firstOf returns the message of the first candidate; an empty one where there is none.
func firstOf(answer *modelio.Response) (first modelio.Message) {
	if len(answer.Candidates) > 0 {
		first = answer.Candidates[0].Message
	}
	return first
}

func (e *envelope) add(blob []byte) *canon.Hash {
	e.blobs = append(e.blobs, blob)
	ref := canon.Sum(blob)
	return &ref
}

func (e *envelope) addJSON(v any) (*canon.Hash, error) {
	blob, err := canon.Marshal(v)
	if err != nil {
		return nil, err
	}
	return e.add(blob), nil
}

// addCalls adds the list of the message's tool calls, if there are any. The provider's own calls are
// not the caller's to make, so they are not listed.
func (e *envelope) addCalls(m modelio.Message, ids map[string]string) (*canon.Hash, error) {
	var calls ToolCallList
	for _, part := range m.Content {
		if part.ToolRequest == nil || isProviders(part) {
			continue
		}
		request := part.ToolRequest
		arguments, err := argumentsOf(request)
		if err != nil {
			return nil, fmt.Errorf("arguments of tool call %s of %s: %w", request.Ref, request.Name, err)
		}
		call := ToolCall{CallID: request.Ref, ToolName: request.Name, ArgumentsRef: *e.add(arguments)}
		if id := ids[request.Ref]; id != "" {
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

// isProviders reports whether a tool call is one that the provider makes itself:
// server_tool_use, mcp_tool_use.
func isProviders(part modelio.Part) bool {
	return strings.HasSuffix(jsontext.WordOf(part.Metadata["type"]), "_tool_use") // absent: the caller's
}

func joinTexts(m modelio.Message) *string {
	whole := texts.Join(m.Content)
	if whole == "" {
		return nil
	}
	return &whole
}

// reasoningOf returns the paragraphs of the message's reasoning.
func joinReasoning(m modelio.Message) string {
	var texts []string
	for _, part := range m.Content {
		if part.Reasoning != nil && *part.Reasoning != "" {
			texts = append(texts, *part.Reasoning)
		}
	}
	return strings.Join(texts, "\n\n")
}
