package contract

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// An envelope holds the blobs of an answer in the common form for all providers (LC "Normalized Output Envelope").
type envelope struct {
	OutputEnvelope
	ref canon.Hash // ref of the envelope's own blob: output_ref
	blobs
}

// blobs maps hashes to content, for one call.
type blobs map[canon.Hash][]byte

func (b blobs) add(blob []byte) canon.Hash {
	ref := canon.Sum(blob)
	b[ref] = blob
	return ref
}

func (b blobs) addJSON(v any) (canon.Hash, error) {
	blob, err := jsonBlob(v)
	if err != nil {
		return "", err
	}
	return b.add(blob), nil
}

// addOurs is addJSON for this package's own types, which always have a canonical form.
func (b blobs) addOurs(v any) canon.Hash {
	blob, _ := jsonBlob(v)
	return b.add(blob)
}

// envelopeOf returns the envelope of an answer's message, whose tool calls are numbered. It is empty for a message
// without parts, as in an error. ids are the provider's ids of the tool calls. The same arguments give the same bytes.
// It returns a [*canon.Error] if the arguments of a tool call have no canonical form.
func envelopeOf(message modelio.Message, ids map[string]string) (*envelope, error) {
	e := &envelope{OutputEnvelope: OutputEnvelope{AssistantText: unlessEmpty(texts.Join(message.Content))}, blobs: blobs{}}
	if reasoning := joinReasoning(message); reasoning != "" {
		e.ReasoningRef = Some(e.add([]byte(reasoning)))
	}
	var err error
	e.ToolCallsRef, err = e.addCalls(message, ids)
	e.ref = e.addOurs(e.OutputEnvelope)
	return e, err
}

// firstOf returns the message of the first candidate; without one, an empty message.
func firstOf(answer *modelio.Response) (first modelio.Message) {
	if len(answer.Candidates) > 0 {
		first = answer.Candidates[0].Message
	}
	return first
}

// addCalls adds the list of the message's tool calls that the caller must run, if there are any.
func (b blobs) addCalls(m modelio.Message, ids map[string]string) (*canon.Hash, error) {
	var calls ToolCallList
	for _, request := range texts.Calls(m.Content) {
		arguments, err := argumentsOf(request)
		if err != nil {
			return nil, fmt.Errorf("arguments of tool call %s of %s: %w", request.Ref, request.Name, err)
		}
		calls = append(calls, ToolCall{request.Ref, request.Name, b.add(arguments), unlessEmpty(ids[request.Ref])})
	}
	if calls == nil {
		return nil, nil
	}
	return Some(b.addOurs(calls)), nil
}

// argumentsOf returns the canonical arguments of a call; an empty object if there are none.
func argumentsOf(request modelio.ToolRequest) ([]byte, error) {
	if request.Input == nil {
		return []byte("{}"), nil
	}
	return canon.KeepNumbers(request.Input)
}

// callersOf returns the refs of the calls that the caller must run, which are those of [texts.Calls].
func callersOf(parts []modelio.Part) map[string]bool {
	refs := map[string]bool{}
	for _, call := range texts.Calls(parts) {
		refs[call.Ref] = true
	}
	return refs
}

// joinReasoning returns the paragraphs of the message's reasoning.
func joinReasoning(m modelio.Message) string {
	var paragraphs []string
	for _, part := range m.Content {
		if part.Reasoning != nil && *part.Reasoning != "" {
			paragraphs = append(paragraphs, *part.Reasoning)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
