package modelio

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A coreHash computes the hash of a session's core (MIO §4) while the session is read, so
// that no more of it than one interaction need be in memory. The core holds what is given here
// and nothing else; above all no times and no metrics (MI12).
//
// All strings are given in canonical form, without quotes.
type coreHash struct {
	hash   hash.Hash
	text   []byte // of the core, not yet in hash
	begun  bool   // else text lacks the beginning
	length int    // interactions so far
}

// begin gives the first member of the core. What follows it is kept in memory until then.
func (c *coreHash) begin(adapterID []byte) {
	interactions := c.text
	c.hash = sha256.New()
	c.text = nil
	c.write(`{"adapter_id":"`, adapterID)
	c.text = append(append(c.text, `","interactions":[`...), interactions...)
	c.begun = true
}

func (c *coreHash) interaction(i int, promptHash, content, responseHash []byte) {
	if c.length > 0 {
		c.text = append(c.text, ',')
	}
	c.length++
	c.text = strconv.AppendInt(append(c.text, `{"i":`...), int64(i), 10)
	c.write(`,"prompt_hash":"`, promptHash)
	c.write(`","response_content":"`, content)
	c.write(`","response_hash":"`, responseHash)
	c.text = append(c.text, `"}`...)
	if c.begun && len(c.text) >= windowSize {
		c.hash.Write(c.text)
		c.text = c.text[:0]
	}
}

// sum gives the last members of the core and returns its hash.
func (c *coreHash) sum(mode, modelID, version []byte) canon.Hash {
	c.write(`],"mode":"`, mode)
	c.write(`","model_id":"`, modelID)
	c.write(`","model_io_schema_version":"`, version)
	c.text = append(c.text, `"}`...)
	c.hash.Write(c.text)
	return canon.Hash(appendHash(nil, c.hash))
}

func (c *coreHash) write(before string, value []byte) {
	c.text = append(append(c.text, before...), value...)
}

// appendHash appends the sum of h as a hash is spelled.
func appendHash(dst []byte, h hash.Hash) []byte {
	var sum [sha256.Size]byte
	return hex.AppendEncode(append(dst, "sha256:"...), h.Sum(sum[:0]))
}

// The strings of a [Session] are UTF-8, but for lone surrogates: these are the three bytes
// that UTF-8 would give them (WTF-8), since JavaScript, and so MIO, tells them from U+FFFD.

// canonicalString returns a string of a session in canonical form, without quotes.
func canonicalString[T ~string](s T) []byte { return appendEscaped(nil, []byte(s)) }

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, []byte(s))
	return append(dst, '"')
}

func appendEscaped(dst, chars []byte) []byte {
	for {
		n, ascii := jsontext.Plain(chars)
		run := chars[:n]
		for i := nextSurrogate(run); !ascii && i >= 0; i = nextSurrogate(run) {
			dst = jsontext.AppendRune(append(dst, run[:i]...), surrogate(run[i:]))
			run = run[i+3:]
		}
		dst = append(dst, run...)
		if n == len(chars) {
			return dst
		}
		dst = jsontext.AppendRune(dst, rune(chars[n]))
		chars = chars[n+1:]
	}
}

// appendSurrogate appends a lone surrogate to the characters of a session's string.
func appendSurrogate(dst []byte, r rune) []byte {
	return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// surrogate returns the lone surrogate at the start of chars.
func surrogate(chars []byte) rune {
	return 0xD000 | rune(chars[1]&0x3F)<<6 | rune(chars[2]&0x3F)
}

// nextSurrogate returns the index of the first lone surrogate in chars, or -1.
func nextSurrogate(chars []byte) int {
	const lead = 0xED // of U+D000 to U+DFFF; a second byte from 0xA0 on makes it a surrogate
	for from := 0; ; {
		i := bytes.IndexByte(chars[from:], lead)
		if i < 0 {
			return -1
		}
		if i += from; i+2 < len(chars) && chars[i+1]&0xE0 == 0xA0 && chars[i+2]&0xC0 == 0x80 {
			return i
		}
		from = i + 1
	}
}

// toUTF8 returns a string of a session with U+FFFD for every lone surrogate.
func toUTF8(s string) []byte {
	chars := []byte(s)
	rest := chars
	for i := nextSurrogate(rest); i >= 0; i = nextSurrogate(rest) {
		utf8.EncodeRune(rest[i:], utf8.RuneError)
		rest = rest[i+3:]
	}
	return chars
}
