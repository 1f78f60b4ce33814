package contract

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An Adapter makes calls to models (LC "Scope"). It keeps no state between calls, and is safe for concurrent use as
// long as its fields do not change.
type Adapter struct {
	// Store provides the blobs that params refer to, and receives the blobs that receipts refer to.
	Store CAS
	// Catalog has the providers that may be called.
	Catalog Catalog
	// Client makes the calls; nil means [http.DefaultClient]. Redirects are not followed, so that no key reaches
	// another host.
	Client *http.Client
	// Secret returns the API key for a ref. It is called for each call whose params have a ref; the key is put only
	// into the request's header.
	Secret func(ctx context.Context, ref SecretRef) (string, error)
	// Stream requests streamed answers. The receipt is the same except for the raw bytes.
	Stream bool
}

// provenance adds the provider's name in the catalog to a context and, if the program states its provenance, the
// correlation id of the params.
func provenance(ctx context.Context, p GenerateParams) context.Context {
	from := snapshot.ProvenanceOf(ctx)
	if from != (snapshot.Provenance{}) && from.CorrelationID == "" && p.CorrelationID != nil {
		from.CorrelationID = *p.CorrelationID
	}
	from.ProviderID = p.Provider
	return snapshot.WithProvenance(ctx, from)
}

// Generate makes the call that p describes and stores its result: envelope, tool calls and their arguments, reasoning,
// the provider's own bytes, and warnings. After an error none of it counts: blobs that a full disk left behind are not
// in any receipt. Generate does not retry.
//
// If the call is not made because of its params, the error is an [*Error], possibly within another error that names the
// ref; a missing or altered blob is [ErrBlob]. A truncated answer is [ErrIncomplete], and an answer that contains the
// API key is [ErrKeyEchoed]. A failure that the provider reports is a [*ProviderError]. It is stored like an answer,
// and it is the only error that comes with a receipt, which has [FinishError].
//
// If Client is a recorder's client, the snapshot store contains the call and everything that the params and the receipt
// refer to: see [Store.Journal]. A program that wants its run, step, correlation id or config in the record states them
// with [snapshot.WithProvenance].
func (a *Adapter) Generate(ctx context.Context, p GenerateParams) (GenerateReceipt, error) {
	r, err := a.prepare(p)
	if err != nil {
		return GenerateReceipt{}, err
	}
	key, err := a.key(ctx, r.params.APIKey)
	if err != nil {
		return GenerateReceipt{}, err
	}
	answer, err := a.send(provenance(ctx, p), r, key)
	if err != nil {
		return GenerateReceipt{}, fmt.Errorf("call %s: %w", p.Provider, err)
	}
	return a.keep(r, answer, key)
}

// key returns the API key, or "" if the params have no ref: for hosts that need no key, and for replay.
func (a *Adapter) key(ctx context.Context, ref *TextOrSecretRef) (string, error) {
	if ref == nil {
		return "", nil
	}
	if a.Secret == nil {
		return "", fmt.Errorf("/api_key: the adapter has no Secret to look up %v", ref)
	}
	key, err := a.Secret(ctx, *ref.Secret)
	if err != nil {
		return "", fmt.Errorf("/api_key: %v: %w", ref, err)
	}
	if key == "" || strings.ContainsAny(key, "\r\n") {
		return "", fmt.Errorf("/api_key: %v is empty or more than one line", ref)
	}
	return key, nil
}

// send makes the call and reads the complete answer.
func (a *Adapter) send(ctx context.Context, r *request, key string) (*provider.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.dialect.header)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.dialect.authorize(req.Header, key)
	}
	client := *cmp.Or(a.Client, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, fmt.Errorf("the answer is encoded as %s, which was not asked for", encoding)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return &provider.Answer{Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Body: body}, nil
}

// keep stores an answer and returns its receipt.
func (a *Adapter) keep(r *request, answer *provider.Answer, key string) (GenerateReceipt, error) {
	none := GenerateReceipt{}
	resp, err := r.codec.DecodeResponse(answer)
	if err != nil {
		return none, fmt.Errorf("decode the answer of %s: %w", r.params.Provider, err)
	}
	if !resp.Complete && resp.Error == nil {
		return none, fmt.Errorf("%w of %s", ErrIncomplete, r.params.Provider)
	}
	out, err := envelopeOf(numberCalls(r.history, firstOf(resp)))
	if err != nil {
		return none, fmt.Errorf("answer of %s: %w", r.params.Provider, err)
	}
	receipt := receiptOf(r.params.Provider, resp, out)
	receipt.RawOutputRef = Some(out.add(answer.Body))
	if out.echo(key) {
		return none, fmt.Errorf("%s: %w: nothing was stored", r.params.Provider, ErrKeyEchoed)
	}
	for _, ref := range slices.Sorted(maps.Keys(out.blobs)) {
		if _, err := a.Store.PutBlob(out.blobs[ref]); err != nil {
			return none, fmt.Errorf("answer of %s: %w", r.params.Provider, err)
		}
	}
	if e := resp.Error; e != nil {
		return receipt, &ProviderError{r.params.Provider, answer.Status, e.Type, e.Code, e.Message, *receipt.RawOutputRef}
	}
	return receipt, nil
}

// echo reports whether a blob contains the key. It ignores a key that is shorter than any provider's keys: that is a
// placeholder such as "unused", which may be a normal word of the answer.
func (b blobs) echo(key string) bool {
	const shortest = 16
	for _, blob := range b {
		if len(key) >= shortest && bytes.Contains(blob, []byte(key)) {
			return true
		}
	}
	return false
}
