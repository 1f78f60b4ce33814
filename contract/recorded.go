package contract

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/envelope"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Recorded is a recorded snapshot in the terms of the contract. Its JSON is an object with the
// members params, receipt and envelope.
type Recorded struct {
	Params   GenerateParams  `json:"params"`
	Receipt  GenerateReceipt `json:"receipt"`
	Envelope OutputEnvelope  `json:"envelope"`

	store   Blobs
	derived map[canon.Hash][]byte
}

// FromSnapshot returns the params, the receipt and the envelope of a recorded call. store is where
// the snapshot comes from; nothing is written to it.
//
// What of the request the contract has no name for is in the provider options, so nothing is
// lost. Refs of tool calls and opaque values are those of the snapshot (design R8), so a
// conversation that is recorded again has params of the same hash. Neither a correlation id nor an
// API key is recorded. Where the request named no model, the params name none, and are not valid.
//
// A snapshot that is no generation, such as one of embeddings, is [ErrUnsupported]; a blob that is
// missing or altered is [snapshot.ErrBlob].
func FromSnapshot(record snapshot.Record, store Blobs) (*Recorded, error) {
	r := &Recorded{store: store, derived: map[canon.Hash][]byte{}}
	s := record.Snapshot
	if _, spoken := dialectOf(s.Request.API); len(s.Request.Messages) == 0 && s.Request.Prompt == nil && !spoken {
		return nil, newError("snapshot "+s.ID, Violation{"/request", ruleUnsupported, "a call of " + s.Request.API + " without messages is no generation"})
	}
	var err error
	if r.Params, err = r.params(record); err != nil {
		return nil, fmt.Errorf("snapshot %s: params: %w", s.ID, err)
	}
	if err := r.outcome(record); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", s.ID, err)
	}
	return r, nil
}

// Blob returns a blob that r refers to: from the store, or made of what the snapshot says itself.
// It implements [Blobs].
func (r *Recorded) Blob(ref canon.Hash) ([]byte, error) {
	if data, ok := r.derived[ref]; ok {
		return data, nil
	}
	return r.store.Blob(ref)
}

func (r *Recorded) derive(blob []byte) canon.Hash {
	ref := canon.Sum(blob)
	r.derived[ref] = blob
	return ref
}

func (r *Recorded) deriveJSON(v any) (canon.Hash, error) {
	blob, err := jsonBlob(v)
	if err != nil {
		return "", err
	}
	return r.derive(blob), nil
}

// outcome sets the receipt and the envelope.
func (r *Recorded) outcome(record snapshot.Record) error {
	s := &record.Snapshot.Response
	resp, err := responseOf(s)
	if err != nil {
		return err
	}
	var warnings []Warning
	if s.Incomplete != "" {
		warnings = append(warnings, Warning{WarnIncomplete, "the answer was cut: " + s.Incomplete})
	}
	var raw *canon.Hash
	if s.RawOutputRef != "" {
		raw = Some(s.RawOutputRef)
		if resp.ID, err = r.responseID(record.Snapshot); err != nil {
			return fmt.Errorf("/response/raw_output_ref: %w", err)
		}
	}
	out, err := r.envelope(record.Snapshot, resp)
	if err != nil {
		return err
	}
	receipt, more := receiptOf(record.Provider, resp, out)
	receipt.RawOutputRef = raw
	if warnings = append(warnings, more...); len(warnings) > 0 {
		ref, err := r.deriveJSON(warnings)
		if err != nil { // unreachable: texts only
			return err
		}
		receipt.WarningsRef = &ref
	}
	r.Receipt = receipt
	return nil
}

// envelope sets the recorded envelope, or one that is made of the snapshot where it names none.
func (r *Recorded) envelope(s *snapshot.Snapshot, resp *modelio.Response) (*envelope.Envelope, error) {
	out := &envelope.Envelope{Ref: s.Response.OutputRef}
	if out.Ref == "" {
		history, err := loadMessages(r, r.Params.MessageRefs)
		if err != nil {
			return nil, err
		}
		if out, err = envelope.Of(history, resp); err != nil {
			return nil, err
		}
		for _, blob := range out.Blobs {
			r.derive(blob)
		}
	}
	if err := ReadJSON(r, out.Ref, &r.Envelope); err != nil {
		return nil, fmt.Errorf("/response/output_ref: %w", err)
	}
	if r.Envelope.ToolCallsRef != nil {
		out.ToolCallsRef = *r.Envelope.ToolCallsRef
	}
	return out, nil
}

// responseID returns what the provider calls the answer, which only its bytes say.
func (r *Recorded) responseID(s *snapshot.Snapshot) (string, error) {
	body, err := readBlob(r, s.Response.RawOutputRef)
	if err != nil {
		return "", err
	}
	codec, ok := codecOf(s.Request.API)
	if !ok {
		return "", nil
	}
	answer := &provider.Answer{Status: s.Response.Status, Body: body}
	if types := s.Response.Headers["content-type"]; len(types) > 0 {
		answer.ContentType = types[0]
	}
	resp, err := codec.DecodeResponse(answer)
	if err != nil {
		return "", nil // an answer that was cut has no id
	}
	return resp.ID, nil
}

// responseOf returns the answer that a snapshot holds.
func responseOf(s *snapshot.Response) (*modelio.Response, error) {
	resp := &modelio.Response{Model: s.Model}
	if u := s.Usage; u != nil {
		resp.Usage = &modelio.Usage{
			InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Total,
			ThoughtsTokens: u.Reasoning, CachedContentTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		}
	}
	if e := s.Error; e != nil {
		resp.Error = &modelio.ProviderError{Type: e.Type, Code: e.Code, Message: e.Message}
	}
	first := snapshot.Candidate{
		Content: s.Content, FinishReason: s.FinishReason, FinishReasonRaw: s.FinishReasonRaw, ToolCalls: s.ToolCalls, Parts: s.Parts,
	}
	m, err := messageOf(&first)
	if err != nil {
		return nil, fmt.Errorf("/response/parts: %w", err)
	}
	if len(m.Content) == 0 && s.Error != nil {
		return resp, nil
	}
	resp.Candidates = append(resp.Candidates, modelio.Candidate{
		Message: m, FinishReason: modelio.FinishReason(first.FinishReason), FinishReasonRaw: first.FinishReasonRaw,
	})
	for range s.Candidates { // they count; the envelope is of the first one
		resp.Candidates = append(resp.Candidates, modelio.Candidate{})
	}
	return resp, nil
}

// messageOf returns the message of a candidate.
func messageOf(c *snapshot.Candidate) (modelio.Message, error) {
	m := modelio.Message{Role: modelio.RoleModel}
	for _, raw := range c.Parts {
		var part modelio.Part
		if err := json.Unmarshal(raw, &part); err != nil {
			return m, err
		}
		m.Content = append(m.Content, part)
	}
	if m.Content != nil {
		return m, nil
	}
	if c.Content != "" {
		m.Content = append(m.Content, modelio.TextPart(c.Content))
	}
	for _, call := range c.ToolCalls {
		m.Content = append(m.Content, modelio.Part{
			ToolRequest: &modelio.ToolRequest{Name: call.Name, Ref: call.Ref, Input: call.Input},
		})
	}
	return m, nil
}
