package fakeprovider

import (
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// A mint generates the values that a provider makes up for each answer: ids, timestamps, padding.
type mint struct {
	fixed bool
	rng   *rand.Rand
	now   time.Time
}

func newMint() *mint {
	var seed [32]byte
	crand.Read(seed[:]) // never fails
	return &mint{false, rand.New(rand.NewChaCha8(seed)), time.Now().UTC()}
}

// fixedMint returns the mint for the nth request with the content what.
func fixedMint(what string, n int) *mint {
	seed := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", n, what))
	return &mint{true, rand.New(rand.NewChaCha8(seed)), time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)}
}

const (
	hexDigits = "0123456789abcdef"
	alnum     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// id returns prefix and n random characters of the alphabet.
func (m *mint) id(prefix, alphabet string, n int) string {
	var b strings.Builder
	b.WriteString(prefix)
	for range n {
		b.WriteByte(alphabet[m.rng.IntN(len(alphabet))])
	}
	return b.String()
}

var latencies atomic.Uint64

// latency returns a latency in milliseconds for an answer. Consecutive values differ, since some answers differ in
// nothing else.
func (m *mint) latency() int {
	if m.fixed {
		return 100 + m.rng.IntN(900)
	}
	return 100 + int(latencies.Add(1)%900)
}

// or returns given, or else a new id.
func (m *mint) or(given, prefix, alphabet string, n int) string {
	if given != "" {
		return given
	}
	return m.id(prefix, alphabet, n)
}

// uuid returns a version 4 UUID.
func (m *mint) uuid() string {
	h := m.id("", hexDigits, 32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
