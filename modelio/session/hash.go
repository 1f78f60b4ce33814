package session

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A coreHash computes the hash of a session's core (MIO §4), with the text of one interaction in memory at a time. The
// core contains only what is passed to it; in particular no times and no metrics (MI12). All strings are in canonical
// form, with quotes.
type coreHash struct {
	hash   hash.Hash
	length int // number of interactions so far
}

// newCore begins with adapter_id, which is the start of the core.
func newCore(adapterID []byte) *coreHash {
	c := &coreHash{hash: sha256.New()}
	fmt.Fprintf(c.hash, `{"adapter_id":%s,"interactions":[`, adapterID)
	return c
}

// interaction adds an interaction. Call it in the order of the session.
func (c *coreHash) interaction(i int, promptHash, content, responseHash []byte) {
	fmt.Fprintf(c.hash, `%s{"i":%d,"prompt_hash":%s,"response_content":%s,"response_hash":%s}`,
		jsontext.AppendComma(nil, c.length), i, promptHash, content, responseHash)
	c.length++
}

// sum adds the remaining members of the core, and returns its hash.
func (c *coreHash) sum(mode, modelID, version []byte) canon.Hash {
	fmt.Fprintf(c.hash, `],"mode":%s,"model_id":%s,"model_io_schema_version":%s}`, mode, modelID, version)
	return canon.Hash(fmt.Sprintf("sha256:%x", c.hash.Sum(nil)))
}
