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

// An Adapter makes calls to models (LC "Scope"). It keeps nothing between calls: it is safe
// for concurrent use while its fields are not changed.
type Adapter struct {
	// Store has the blobs that params name, and gets those that receipts name.
	Store CAS
	// Catalog has the providers that may be called.
	Catalog Catalog
	// Client makes the calls; nil means [http.DefaultClient]. Redirects are not followed, so that no
	// key reaches another host.
	Client *http.Client
	// Secret returns the API key that a ref names. It is called for every call whose params have
	// one; the key goes into the request's header and nowhere else.
	Secret func(ctx context.Context, ref SecretRef) (string, error)
	// Stream asks for streamed answers. The receipt is the same, except for the raw bytes.
	Stream bool
}

// provenance adds the catalog's name of the provider to a context and, where the program states its provenance, the
// correlation id of the params.
func provenance(ctx context.Context, p GenerateParams) context.Context {
	from := snapshot.ProvenanceOf(ctx)
	if from != (snapshot.Provenance{}) && from.CorrelationID == "" && p.CorrelationID != nil {
		from.CorrelationID = *p.CorrelationID
	}
	from.ProviderID = p.Provider
	return snapshot.WithProvenance(ctx, from)
}

// Generate makes the call that p asks for and stores its result: envelope, tool calls and their arguments, reasoning,
// the provider's own bytes, warnings. After an error nothing of it counts: what a full disk left behind is named by
// no receipt. Nothing is tried again.
//
// A call that is not made because of its params is an [*Error], also within another error that names the ref; a
// missing or altered blob is [ErrBlob]. An answer that breaks off is [ErrIncomplete], an answer that holds the API
// key is [ErrKeyEchoed]. A failure that the provider reports is a [*ProviderError]. It is stored like an answer, and
// it alone has a receipt beside the error, with [FinishError].
//
// Where Client is that of a recorder, the call is in the snapshot store, and with it all that the params and the
// receipt name: see [Store.Journal]. A program that wants its run, step, correlation id or config in the record says
// them with [snapshot.WithProvenance].
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

// key returns the API key, or nothing where the params name none: for hosts that need none,
// and for replay.
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

// send makes the call and reads its answer to the end.
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

// echo reports whether a blob holds the key. It ignores a key that is shorter than any provider's: that is a
// placeholder, such as "unused", and may well be a word of the answer.
func (b blobs) echo(key string) bool {
	const shortest = 16
	for _, blob := range b {
		if len(key) >= shortest && bytes.Contains(blob, []byte(key)) {
			return true
		}
	}
	return false
}
