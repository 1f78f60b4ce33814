package contract

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Reply stores the model's message of an answer and returns its ref, for the next step to add after the messages of p.
// p and r are the arguments and the result of [Adapter.Generate]. The message contains the parts of the answer that the
// provider expects back, including signed and encrypted reasoning, and the tool calls with the envelope's call ids, by
// which a tool response names its call. Calls that the provider made itself and calls in custom parts, such as
// computer_call, keep its ids; the result of the latter is a custom part too, in a message with the metadata
// {"$wire":"item"}. Parts that only this model can read are not sent to another model in a later run. OpenAI responses
// accept images and unencrypted reasoning back only by id, so these are left out; the option include requests encrypted
// reasoning.
func (a *Adapter) Reply(p GenerateParams, r GenerateReceipt) (canon.Hash, error) {
	if err := a.Catalog.check("generate params", p.Provider, p.Model); err != nil {
		return "", err
	}
	if r.RawOutputRef == nil {
		return "", wrong("generate receipt", "/raw_output_ref", ruleMissing, "is required: it has the answer")
	}
	history, err := loadMessages(a.Store, p.MessageRefs, func(int, modelio.Message) {})
	if err != nil {
		return "", err
	}
	body, err := readBlob(a.Store, *r.RawOutputRef)
	if err != nil {
		return "", fmt.Errorf("/raw_output_ref: %w", err)
	}
	codec, _ := provider.Named(a.Catalog[p.Provider].API) // the catalog was checked
	// The decoder recognizes a body that is not a stream by its first bytes.
	resp, err := codec.DecodeResponse(&provider.Answer{Status: 200, ContentType: "text/event-stream", Body: body})
	if err != nil {
		return "", fmt.Errorf("/raw_output_ref: %w", err)
	}
	if len(resp.Candidates) == 0 {
		return "", fmt.Errorf("/raw_output_ref: %w: the answer has no message", ErrMissing)
	}
	m, ids := numberCalls(history, resp.Candidates[0].Message)
	restoreOwn(m.Content, ids)
	dropCaller(m.Content)
	m.Metadata = nil // log probabilities and filter results, which no request may have
	if codec.API == OpenAIResponses {
		m.Content = responsesReply(m.Content)
	}
	return PutMessage(a.Store, markedBy(p, m))
}

// restoreOwn gives calls that the provider made itself, and their results, the provider's ids back: Anthropic accepts
// no others.
func restoreOwn(parts []modelio.Part, ids map[string]string) {
	own := map[string]string{}
	callers := callersOf(parts)
	for _, part := range parts {
		if request := part.ToolRequest; request != nil && !callers[request.Ref] {
			own[request.Ref] = ids[request.Ref]
			request.Ref = cmp.Or(ids[request.Ref], request.Ref)
		}
		if result := part.ToolResponse; result != nil {
			result.Ref = cmp.Or(own[result.Ref], result.Ref)
		}
	}
}

// dropCaller removes the mark that the model itself made a call, which Anthropic sends but does not need back.
func dropCaller(parts []modelio.Part) {
	for i, part := range parts {
		if same(part.Metadata["caller"], json.RawMessage(`{"type":"direct"}`)) {
			delete(part.Metadata, "caller")
		}
		if len(part.Metadata) == 0 {
			parts[i].Metadata = nil
		}
	}
}
