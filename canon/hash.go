package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Hash is a SHA-256 hash in the form of the specifications: "sha256:" and 64 lower-case hexadecimal digits. The zero
// value is no hash.
type Hash string

const hashPrefix = "sha256:"

// Sum returns the hash of data. It is safe for concurrent use.
func Sum(data []byte) Hash {
	sum := sha256.Sum256(data)
	var text [len(hashPrefix) + 2*sha256.Size]byte
	copy(text[:], hashPrefix)
	hex.Encode(text[len(hashPrefix):], sum[:])
	return Hash(text[:])
}

// Valid reports whether h has the form of a Hash (MI6).
func (h Hash) Valid() bool {
	digits, ok := strings.CutPrefix(string(h), hashPrefix)
	return ok && len(digits) == 64 && strings.TrimLeft(digits, "0123456789abcdef") == ""
}

// Hex returns the 64 digits of h, without the prefix that names the algorithm.
func (h Hash) Hex() string { return strings.TrimPrefix(string(h), hashPrefix) }
