package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	hashing "hash" // hash is a codec here
	"io"
	"iter"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
)

// The members of a record that its seal covers, in their order (SF "Individual Snapshot Hash").
const (
	sourceText   = 2
	requestText  = 3
	responseText = 4
)

var sealedNames = [...]string{"id", "timestamp", "source", "request", "response"}

// sealed is a member of a record that its seal covers, the i-th.
func sealed(i int, m member[record]) member[record] {
	decode, encode := m.decode, m.encode
	m.decode = func(c *cursor, r *record) {
		start, found := c.pos, len(c.found)
		decode(c, r)
		r.texts[i], r.valid[i] = c.text[start:c.pos], len(c.found) == found
	}
	m.encode = func(b *builder, r *record) {
		start := len(b.text)
		encode(b, r)
		b.canonical(start)
		b.text = append(b.text[:start], fileOrder(b.text[start:])...)
	}
	return m
}

// seal returns the hash of the texts of r, if all are there.
func (r *record) seal() (h canon.Hash, ok bool) {
	sum := sha256.New()
	for i, text := range r.texts {
		if text == nil {
			return "", false
		}
		sum.Write(memberOpenings[i])
		sum.Write(fileOrder(text))
	}
	sum.Write([]byte{'}'})
	return hashOf(sum), true
}

// hashOf returns the [canon.Hash] of what was written to sum, of which there is too much to be
// copied together.
func hashOf(sum hashing.Hash) canon.Hash {
	return canon.Hash("sha256:" + hex.EncodeToString(sum.Sum(nil)))
}

// combinedHash returns a document's or a manifest's hash (SF "Combined Hash"). The hashes
// are valid.
func combinedHash(version string, hashes iter.Seq[canon.Hash]) canon.Hash {
	const atOnce = 8 << 10 // bytes; a manifest's are too many to be copied together
	sum := sha256.New()
	b := builder{text: make([]byte, 0, atOnce+hashLen+len(`,""`))}
	b.text = append(b.text, `{"version":`...)
	b.appendText(version)
	b.text = append(b.text, `,"snapshots":[`...)
	separator := ""
	for h := range hashes {
		b.text = append(append(append(append(b.text, separator...), '"'), h...), '"')
		separator = ","
		if len(b.text) > atOnce {
			sum.Write(b.text)
			b.text = b.text[:0]
		}
	}
	sum.Write(append(b.text, "]}"...))
	return hashOf(sum)
}

// Seal computes the seals of the records, and all hashes in them, as [Snapshot.Seal] does,
// and the hash of the document. It changes nothing else.
func (d *Document) Seal() error {
	hashes := make([]canon.Hash, len(d.Snapshots))
	for i := range d.Snapshots {
		if err := d.Snapshots[i].Seal(); err != nil {
			return err
		}
		hashes[i] = d.Snapshots[i].Hash
	}
	d.Hash = combinedHash(d.Version, slices.Values(hashes))
	return nil
}

// Seal computes the hashes of the request's and of the response's core, and then the seal:
// the hash of the whole record (SF "Individual Snapshot Hash", design R2). It changes
// nothing else. An error is an [*Error] that names what cannot be written as JSON.
func (s *Snapshot) Seal() error {
	core, err := s.Request.Core(s.Source.Ignored)
	if err != nil {
		return fmt.Errorf("snapshot %s: request: %w", s.ID, err)
	}
	sealed := *s
	sealed.Request.PromptHash = canon.Sum(core)
	if core, err = s.Response.Core(); err != nil {
		return fmt.Errorf("snapshot %s: response: %w", s.ID, err)
	}
	sealed.Response.ResponseHash = canon.Sum(core)

	var b builder
	object[record]{members: recordObject.members[:len(sealedNames)]}.encode(&b, record{Snapshot: sealed})
	if err := b.err(); err != nil {
		return fmt.Errorf("snapshot %s: %w", s.ID, err)
	}
	sealed.Hash = canon.Sum(b.text)
	*s = sealed
	return nil
}

// Core returns the canonical JSON of what r asks for: all of it but prompt_hash, wire_hash,
// blobs, call_ids, and what the ignored RFC 6901 pointers into the request name (design R3). A
// pointer that names nothing is no error; one that is malformed, or names the whole request,
// is.
func (r *Request) Core(ignored []string) ([]byte, error) {
	core, err := encodeCore(requestObject.only(requestCore), *r)
	if err != nil {
		return nil, err
	}
	return ignoring(core, ignored)
}

// Core returns the canonical JSON of what the model said: content, finish_reason, tool_calls,
// parts, candidates and error, those that are absent left out (design R3). The provider's own
// words for why it finished are not in it.
func (r *Response) Core() ([]byte, error) {
	said := *r
	said.Candidates = slices.Clone(r.Candidates)
	for i := range said.Candidates {
		said.Candidates[i].FinishReasonRaw = ""
	}
	return encodeCore(responseObject.only(responseCore), said)
}

func encodeCore[T any](core object[T], v T) ([]byte, error) {
	var b builder
	core.encode(&b, v)
	b.canonical(0)
	if err := b.err(); err != nil {
		return nil, err
	}
	return b.text, nil
}

// A coreSum computes the hashes of cores, as they stand in files.
type coreSum struct {
	text []byte       // of the core, not yet in hash
	hash hashing.Hash // nil: all is in text
}

// Write adds text; it does not fail. What is short is kept together, as hashing has its cost each
// time, and what is long is not copied.
func (c *coreSum) Write(text []byte) (int, error) {
	const most = 32 << 10
	if len(c.text)+len(text) > most {
		if c.hash == nil {
			c.hash = sha256.New()
		}
		c.hash.Write(c.text)
		c.text = c.text[:0]
		if len(text) > most {
			return c.hash.Write(text)
		}
	}
	c.text = append(c.text, text...)
	return len(text), nil
}

// WriteString adds what is short.
func (c *coreSum) WriteString(s string) (int, error) {
	c.text = append(c.text, s...)
	return len(s), nil
}

// sum returns the hash of what was written, and begins anew.
func (c *coreSum) sum() (h canon.Hash) {
	if c.hash == nil {
		h = canon.Sum(c.text)
	} else {
		c.hash.Write(c.text)
		h = hashOf(c.hash)
	}
	*c = coreSum{text: c.text[:0]}
	return h
}

// prompt returns the hash of the core of a request.
func (c *coreSum) prompt(request []byte, ignored []string) (canon.Hash, error) {
	if len(ignored) == 0 {
		writeCore(c, request, requestCore)
		return c.sum(), nil
	}
	var core bytes.Buffer
	writeCore(&core, request, requestCore)
	text, err := ignoring(core.Bytes(), ignored)
	if err != nil {
		return "", err
	}
	return canon.Sum(text), nil
}

// response returns the hash of the core of a response.
func (c *coreSum) response(response []byte) canon.Hash {
	writeCore(c, response, responseCore)
	return c.sum()
}

// writeCore writes the core of an object in its canonical form.
func writeCore(w io.Writer, text []byte, core part) {
	if mayHaveIndex(text) {
		if canonical, err := canon.JSON(text); err == nil {
			text = canonical
		}
	}
	writePart(w, text, core)
}

// ignoring returns a core without what the pointers name.
func ignoring(core []byte, pointers []string) ([]byte, error) {
	if len(pointers) == 0 {
		return core, nil
	}
	paths := make([][]string, len(pointers))
	for i, pointer := range pointers {
		tokens, err := parsePointer(pointer)
		if err != nil {
			return nil, err
		}
		paths[i] = tokens
	}
	return without(nil, core, paths), nil
}
