package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// flushSize is the number of bytes of a core that are hashed at once.
const flushSize = 64 << 10

// A coreHash computes the hash of a session's core (MIO §4) while the session is read, with one interaction in memory
// at a time. The core contains only what is passed to the methods of coreHash; in particular no times and no metrics
// (MI12).
//
// All strings are in canonical form, without quotes.
type coreHash struct {
	hash   hash.Hash                       // nil until begin: until then text contains only interactions
	flush  func(text []byte) (room []byte) // hashes text, and returns empty memory
	text   []byte                          // the part of the core that is not yet hashed
	length int                             // number of interactions so far
}

// begin adds adapter_id, which is the start of the core. Interactions that were read before it are kept in memory until
// then.
func (c *coreHash) begin(adapterID []byte) {
	c.hash = sha256.New()
	c.flush = func(text []byte) []byte {
		c.hash.Write(text)
		return text[:0]
	}
	fmt.Fprintf(c.hash, `{"adapter_id":"%s","interactions":[%s`, adapterID, c.text)
	c.text = nil
}

// interaction adds an interaction. Call it in the order of the session.
func (c *coreHash) interaction(i int, promptHash, content, responseHash []byte) {
	c.text = append(jsontext.AppendComma(c.text, c.length), `{"i":`...)
	c.text = strconv.AppendInt(c.text, int64(i), 10)
	c.length++
	c.write(`,"prompt_hash":"`, promptHash)
	c.write(`","response_content":"`, content)
	c.write(`","response_hash":"`, responseHash)
	c.text = append(c.text, `"}`...)
	if c.hash != nil && len(c.text) >= flushSize {
		c.text = c.flush(c.text)
	}
}

// enqueue moves the hashing to a goroutine, so that with two processors it takes no extra time. Call done after the
// last interaction to wait for the goroutine.
func (c *coreHash) enqueue() (done func()) {
	full, empty := make(chan []byte), make(chan []byte, 1)
	empty <- nil
	go func() {
		defer close(empty)
		for text := range full {
			c.hash.Write(text)
			empty <- text[:0]
		}
	}()
	c.flush = func(text []byte) []byte {
		full <- text
		return <-empty
	}
	return func() {
		close(full)
		for range empty { // until everything is hashed
		}
	}
}

// sum adds the remaining members of the core, and returns its hash.
func (c *coreHash) sum(mode, modelID, version []byte) canon.Hash {
	fmt.Fprintf(c.hash, `%s],"mode":"%s","model_id":"%s","model_io_schema_version":"%s"}`, c.text, mode, modelID, version)
	return canon.Hash(sumOf(c.hash))
}

func (c *coreHash) write(before string, value []byte) {
	c.text = append(append(c.text, before...), value...)
}

// sumOf returns the sum of h in the form of a hash.
func sumOf(h hash.Hash) []byte {
	var sum [sha256.Size]byte
	return hex.AppendEncode([]byte("sha256:"), h.Sum(sum[:0]))
}
