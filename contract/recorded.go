package contract

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Record is a snapshot with the files next to its document.
type Record struct {
	Provider string // the directory of the document; used if the snapshot names no provider
	Snapshot *snapshot.Snapshot
	Raw      []byte                           // the provider's own bytes; nil if none are stored
	Media    func(canon.Hash) ([]byte, error) // reads a medium that messages name; nil if they name none
}

// A Recorded is a recorded call in the contract's terms: an entry of a [Store.Journal].
type Recorded struct {
	Call       string      `json:"call"`        // the id of the record
	RunID      *string     `json:"run_id"`      // from the program's provenance, see [snapshot.Provenance]
	StepID     *string     `json:"step_id"`     //
	ConfigHash *canon.Hash `json:"config_hash"` // hash of the run's config
	// blob: the params without the members that [GenerateParams.Hash] leaves out; it is that hash
	ParamsRef  canon.Hash      `json:"params_ref"`
	Params     GenerateParams  `json:"params"`
	ReceiptRef canon.Hash      `json:"receipt_ref"` // blob: the receipt
	Receipt    GenerateReceipt `json:"receipt"`
	Envelope   OutputEnvelope  `json:"envelope"`

	blobs blobs
}

// FromSnapshot returns the params, the receipt and the envelope of a recorded call.
//
// Members of the request that the contract has no name for are in the provider options, so nothing is lost. Refs of
// tool calls and opaque values are those of the snapshot (design R8), so a conversation that is recorded again has
// params with the same hash. An API key is never recorded, and a correlation id only if the program stated its
// provenance. If the request named no model, the params name none and are not valid.
//
// A snapshot that is not a generation, such as one of embeddings, is [ErrUnsupported]. A missing or altered raw answer
// or medium is [ErrBlob].
func FromSnapshot(record Record) (*Recorded, error) {
	s := record.Snapshot
	record.Provider = cmp.Or(s.Provider, record.Provider)
	if !isGeneration(&s.Request) {
		return nil, wrong("snapshot "+s.ID, "/request", ruleUnsupported, "a call of %s is no generation", s.Request.API)
	}
	from := s.Source.Provenance
	r := &Recorded{Call: s.ID, RunID: unlessEmpty(from.RunID), StepID: unlessEmpty(from.StepID),
		ConfigHash: unlessEmpty(from.ConfigHash), blobs: blobs{}}
	var err error
	if r.Params, err = r.params(record); err != nil {
		return nil, fmt.Errorf("snapshot %s: params: %w", s.ID, err)
	}
	if err := r.outcome(record); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", s.ID, err)
	}
	asked := r.Params
	asked.CorrelationID = nil
	r.ParamsRef, r.ReceiptRef = r.blobs.addOurs(asked), r.blobs.addOurs(r.Receipt)
	return r, nil
}

// isGeneration reports whether a request asks a model to generate something (LC), unlike a tool call, an embedding or a
// search. If no codec knows its API, its messages or its prompt decide.
func isGeneration(req *modelio.Request) bool {
	codec, known := provider.Named(req.API)
	switch {
	case dialects[req.API] != nil:
		return true
	case req.API == modelio.ToolAPI, strings.HasPrefix(req.API, "genkit.") && req.API != modelio.ModelAPI,
		known && codec.API != provider.GenericAPI && !codec.Generates && codec.Realtime == nil:
		return false
	}
	return len(req.Messages) > 0 || req.Prompt != nil
}

// unlessEmpty returns a pointer to v, or nil if v is empty.
func unlessEmpty[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

// Refs returns the refs of all blobs of the call, sorted: the params, the receipt, and everything that these refer to,
// directly or indirectly.
func (r *Recorded) Refs() []canon.Hash { return slices.Sorted(maps.Keys(r.blobs)) }

// Blob returns a blob that r refers to. It implements [Blobs].
func (r *Recorded) Blob(ref canon.Hash) ([]byte, error) {
	if data, ok := r.blobs[ref]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%w: %s: %w", ErrBlob, ref, fs.ErrNotExist)
}

// outcome sets the receipt and the envelope, from the record and its raw answer.
func (r *Recorded) outcome(record Record) error {
	s := &record.Snapshot.Response
	var warnings []Warning
	if s.Incomplete != "" {
		warnings = append(warnings, Warning{WarnIncomplete, "the answer was cut: " + s.Incomplete})
	}
	for _, read := range reading.Sentences(s.Readings, s.ReadingsMore) {
		warnings = append(warnings, Warning{WarnReading, "other programs read " + read})
	}
	sent, err := r.rawAnswer(record)
	if err != nil {
		return fmt.Errorf("/response/raw_output_ref: %w", err)
	}
	resp := s.Response
	resp.ID = sent.ID
	out, err := envelopeOf(firstOf(&resp), callIDs(&resp, sent)) // its calls are numbered and keep their numbers
	if err != nil {
		return err
	}
	r.Envelope = out.OutputEnvelope
	r.Receipt = receiptOf(r.Params.Provider, &resp, out, warnings...)
	r.Receipt.RawOutputRef = unlessEmpty(s.RawOutputRef)
	maps.Copy(r.blobs, out.blobs)
	return nil
}

// rawAnswer decodes the provider's own bytes, for ids that are not in the record. It returns an empty response for
// bytes that cannot be decoded, such as a truncated answer.
func (r *Recorded) rawAnswer(record Record) (*modelio.Response, error) {
	s := record.Snapshot
	if s.Response.RawOutputRef == "" {
		return &modelio.Response{}, nil
	}
	if record.Raw == nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBlob, s.Response.RawOutputRef, fs.ErrNotExist)
	}
	if err := checkBlob(s.Response.RawOutputRef, record.Raw); err != nil {
		return nil, err
	}
	r.blobs.add(record.Raw)
	contentType := strings.Join(s.Response.Headers["content-type"], ", ") // a proven record has at most one
	answer := &provider.Answer{Status: s.Response.Status, ContentType: contentType, Body: record.Raw, Asked: &s.Request}
	if codec, ok := provider.Named(s.Request.API); ok {
		if resp, err := codec.DecodeResponse(answer); err == nil {
			return resp, nil
		}
	}
	return &modelio.Response{}, nil
}

// callIDs returns the provider's ids of the recorded answer's tool calls, by their refs. sent is the answer as it was
// received; if its calls differ, callIDs returns nothing.
func callIDs(recorded, sent *modelio.Response) map[string]string {
	ids := map[string]string{}
	numbered, calls := (&modelio.Call{Response: recorded}).ToolRequests(), (&modelio.Call{Response: sent}).ToolRequests()
	for i := 0; i < len(calls) && len(calls) == len(numbered); i++ {
		ids[numbered[i].Ref] = calls[i].Ref
	}
	return ids
}
