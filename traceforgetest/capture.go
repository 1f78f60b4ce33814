package traceforgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A call is a request as the store knows it.
type call struct {
	key
	codec   provider.Codec
	request *modelio.Request
	stored  snapshot.Request
	values  *values // what stands elsewhere than in the stored request
}

// identify decodes a request and computes its key. It serves recording and replay alike, so
// that what was recorded is found again.
func (r *Recorder) identify(w *wire) (*call, error) {
	codec, name, ok := w.match()
	if !ok {
		return nil, r.unknownCall(w)
	}
	request, err := codec.DecodeRequest(&w.Wire)
	if err != nil {
		return nil, r.undecodable(w, err)
	}
	values := newValues()
	stored, err := storedRequest(request, values)
	if err != nil {
		return nil, r.undecodable(w, err)
	}
	core, err := stored.Core(r.ignored)
	if err != nil {
		return nil, r.undecodable(w, err)
	}
	stored.PromptHash, stored.WireHash = canon.Sum(core), w.hash
	return &call{key{name, stored.PromptHash, w.hash}, codec, request, stored, values}, nil
}

func storedRequest(req *modelio.Request, values *values) (snapshot.Request, error) {
	stored := snapshot.Request{
		API:    req.API,
		Model:  req.Model,
		Prompt: req.Prompt,
		Stop:   req.Stop,
	}
	var err error
	if stored.ProviderOptions, err = values.options(req.Options); err != nil {
		return stored, err
	}
	storeNumbers(&stored, req)
	messages, ids := modelio.NormalizeRefs(req.Messages)
	if req.Prompt == nil {
		stored.Messages = make([]snapshot.Message, 0, len(messages))
	}
	for i := range messages {
		message, err := storedMessage(&messages[i], values)
		if err != nil {
			return stored, fmt.Errorf("message %d: %w", i+1, err)
		}
		stored.Messages = append(stored.Messages, message)
	}
	for i := range req.Tools {
		tool, err := json.Marshal(&req.Tools[i])
		if err != nil {
			return stored, fmt.Errorf("tool %d: %w", i+1, err)
		}
		stored.Tools = append(stored.Tools, tool)
	}
	maps.Copy(ids, values.opaque.originals)
	stored.Blobs = values.media.order
	if len(ids) > 0 {
		stored.CallIDs = ids
	}
	return stored, nil
}

// storeNumbers fills in the parameters that SF has fields for. One that its field does not
// take is kept like a member without a field, so that a provider's refusal of it can be recorded.
func storeNumbers(stored *snapshot.Request, req *modelio.Request) {
	const unbounded = math.MaxFloat64
	for _, p := range []struct {
		name        string
		sent        *json.Number
		field       **snapshot.Number
		least, most float64
	}{
		{"temperature", req.Temperature, &stored.Temperature, 0, 2},
		{"max_tokens", req.MaxTokens, &stored.MaxTokens, -unbounded, unbounded},
		{"top_p", req.TopP, &stored.TopP, -unbounded, unbounded},
		{"frequency_penalty", req.FrequencyPenalty, &stored.FrequencyPenalty, -2, 2},
		{"presence_penalty", req.PresencePenalty, &stored.PresencePenalty, -2, 2},
		{"seed", req.Seed, &stored.Seed, -unbounded, unbounded},
	} {
		if p.sent == nil {
			continue
		}
		if value, err := p.sent.Float64(); err == nil && (value < p.least || value > p.most) {
			if stored.ProviderOptions == nil {
				stored.ProviderOptions = map[string]json.RawMessage{}
			}
			stored.ProviderOptions[p.name] = json.RawMessage(*p.sent)
			continue
		}
		text := snapshot.Number(*p.sent)
		*p.field = &text
	}
}

// storedMessage writes a message's content as a string where it is one text part without
// metadata, else as the list of its parts (design R15).
func storedMessage(m *modelio.Message, values *values) (snapshot.Message, error) {
	stored := snapshot.Message{Role: string(m.Role)}
	var content any = m.Content
	if text, ok := onlyText(m.Content); ok {
		content = text
	} else if m.Content == nil {
		content = []modelio.Part{}
	}
	var err error
	if stored.Content, err = values.marshal(content); err != nil || len(m.Metadata) == 0 {
		return stored, err
	}
	stored.Metadata, err = values.marshal(m.Metadata)
	return stored, err
}

func onlyText(parts []modelio.Part) (string, bool) {
	if len(parts) != 1 || parts[0].Text == nil || !bare(&parts[0]) {
		return "", false
	}
	return *parts[0].Text, true
}

func bare(p *modelio.Part) bool { return len(p.Metadata) == 0 && len(p.Unknown) == 0 }

// storedResponse fills in what a response holds besides its transport. The tool calls and the
// opaque values of the answer are numbered on from those of the request (design R8).
//
// Short strings are copied, as the decoded ones share the memory of the whole answer.
func storedResponse(stored *snapshot.Response, resp *modelio.Response, history []modelio.Message, values *values) error {
	stored.Model = strings.Clone(resp.Model)
	stored.FinishReason = string(modelio.FinishOther)
	if u := resp.Usage; u != nil {
		stored.Usage = &snapshot.Usage{
			Input: u.InputTokens, Output: u.OutputTokens, Total: u.TotalTokens,
			Reasoning: u.ThoughtsTokens, CacheRead: u.CachedContentTokens, CacheWrite: u.CacheWriteTokens,
		}
		stored.TokensUsed = total(u)
	}
	if e := resp.Error; e != nil {
		stored.Error = &snapshot.ProviderError{Status: stored.Status, Type: e.Type, Code: e.Code, Message: e.Message}
	}
	for i, candidate := range resp.Candidates {
		c, err := storedCandidate(candidate, history, values.clone())
		if err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
		if i > 0 {
			stored.Candidates = append(stored.Candidates, c)
			continue
		}
		stored.Content, stored.ToolCalls, stored.Parts = c.Content, c.ToolCalls, c.Parts
		stored.FinishReason, stored.FinishReasonRaw = c.FinishReason, c.FinishReasonRaw
	}
	return nil
}

// total is what the provider reported, or the sum where it reports the two halves only.
func total(u *modelio.Usage) *int64 {
	if u.TotalTokens != nil || u.InputTokens == nil || u.OutputTokens == nil {
		return u.TotalTokens
	}
	sum := *u.InputTokens + *u.OutputTokens
	return &sum
}

func storedCandidate(c modelio.Candidate, history []modelio.Message, values *values) (snapshot.Candidate, error) {
	whole, _ := modelio.NormalizeRefs(append(history[:len(history):len(history)], c.Message))
	message := whole[len(whole)-1]
	stored := snapshot.Candidate{FinishReason: string(c.FinishReason), FinishReasonRaw: strings.Clone(c.FinishReasonRaw)}
	if stored.FinishReason == "" {
		stored.FinishReason = string(modelio.FinishOther)
	}
	plain := true // content and tool calls say it all
	texts := 0
	for i := range message.Content {
		part := &message.Content[i]
		plain = plain && bare(part)
		switch {
		case part.Text != nil:
			stored.Content += *part.Text
			texts++
			plain = plain && texts == 1 && len(stored.ToolCalls) == 0
		case part.ToolRequest != nil:
			stored.ToolCalls = append(stored.ToolCalls, snapshot.ToolCall{
				Ref: part.ToolRequest.Ref, Name: part.ToolRequest.Name, Input: part.ToolRequest.Input,
			})
			plain = plain && len(part.ToolRequest.Unknown) == 0
		default:
			plain = false
		}
	}
	if plain {
		return stored, nil
	}
	for i := range message.Content {
		part, err := values.marshal(&message.Content[i])
		if err != nil {
			return stored, err
		}
		stored.Parts = append(stored.Parts, part)
	}
	return stored, nil
}
