package modelio

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
)

// A coreHash computes the hash of a session's core (MIO §4) while the session is read, so
// that no more of it than one interaction need be in memory. The core holds what is given here
// and nothing else; above all no times and no metrics (MI12).
//
// Strings are given as characters; see [appendEscaped] for those that are no UTF-8.
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
	c.text = append(appendQuoted([]byte(`{"adapter_id":`), adapterID), `,"interactions":[`...)
	c.text = append(c.text, interactions...)
	c.begun = true
}

func (c *coreHash) interaction(i int, promptHash canon.Hash, content []byte, responseHash canon.Hash) {
	if c.length > 0 {
		c.text = append(c.text, ',')
	}
	c.length++
	c.text = strconv.AppendInt(append(c.text, `{"i":`...), int64(i), 10)
	c.text = appendQuoted(append(c.text, `,"prompt_hash":`...), []byte(promptHash))
	c.text = appendQuoted(append(c.text, `,"response_content":`...), content)
	c.text = appendQuoted(append(c.text, `,"response_hash":`...), []byte(responseHash))
	c.text = append(c.text, '}')
	if c.begun && len(c.text) >= windowSize {
		c.hash.Write(c.text)
		c.text = c.text[:0]
	}
}

// sum gives the last members of the core and returns its hash.
func (c *coreHash) sum(mode, modelID, version []byte) canon.Hash {
	c.text = appendQuoted(append(c.text, `],"mode":`...), mode)
	c.text = appendQuoted(append(c.text, `,"model_id":`...), modelID)
	c.text = appendQuoted(append(c.text, `,"model_io_schema_version":`...), version)
	c.text = append(c.text, '}')
	c.hash.Write(c.text)
	return hashOf(c.hash)
}

func hashOf(h hash.Hash) canon.Hash {
	return canon.Hash("sha256:" + hex.EncodeToString(h.Sum(nil)))
}

func appendQuoted(dst, chars []byte) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, chars)
	return append(dst, '"')
}

// appendEscaped appends a string of the given characters in canonical form, without quotes. A
// lone surrogate, which chars has as the three bytes that UTF-8 would give it, is escaped
// (JSON.stringify, on which the canonical form is built).
func appendEscaped(dst, chars []byte) []byte {
	const hexDigits = "0123456789abcdef"
	for {
		n, ascii := plainEnd(chars)
		if ascii {
			dst = append(dst, chars[:n]...)
		} else {
			dst = appendEscapingSurrogates(dst, chars[:n])
		}
		if n == len(chars) {
			return dst
		}
		switch c := chars[n]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		chars = chars[n+1:]
	}
}

func appendEscapingSurrogates(dst, chars []byte) []byte {
	for i := nextSurrogate(chars); i >= 0; i = nextSurrogate(chars) {
		unit := int64(0xD000) | int64(chars[i+1]&0x3F)<<6 | int64(chars[i+2]&0x3F)
		dst = append(append(dst, chars[:i]...), '\\', 'u')
		dst = strconv.AppendInt(dst, unit, 16)
		chars = chars[i+3:]
	}
	return append(dst, chars...)
}

// replaceSurrogates replaces every lone surrogate in chars by U+FFFD, which is as long.
func replaceSurrogates(chars []byte) []byte {
	rest := chars
	for i := nextSurrogate(rest); i >= 0; i = nextSurrogate(rest) {
		utf8.EncodeRune(rest[i:], utf8.RuneError)
		rest = rest[i+3:]
	}
	return chars
}

// nextSurrogate returns the index of the first lone surrogate in chars, or -1.
func nextSurrogate(chars []byte) int {
	const lead = 0xED // of U+D000 to U+DFFF; a second byte from 0xA0 on makes it a surrogate
	for from := 0; ; {
		i := bytes.IndexByte(chars[from:], lead)
		if i < 0 {
			return -1
		}
		if i += from; i+2 < len(chars) && chars[i+1] >= 0xA0 {
			return i
		}
		from = i + 1
	}
}
