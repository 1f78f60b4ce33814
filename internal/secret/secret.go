// Package secret finds everything that must be neither stored nor printed (design R12). These are credentials of this
// process and of its requests, and text with a form that only keys, tokens and private keys have.
//
// A [Scanner] has an index of literals (index.go): prefixes of known formats (format.go) and values of this process
// (value.go). A [view] searches a text and everything that it encodes for them (view.go). stream.go joins texts that
// are split across events.
package secret

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Scanner finds and masks secrets in texts. It knows the [Formats] and the values that it was given. It is safe for
// concurrent use.
type Scanner struct {
	mu     sync.RWMutex
	known  map[string]bool // values that were given
	clean  map[string]bool // long texts without secrets, found by [Scanner.Holds]
	index  *index
	latest []string          // the last environment that it was given
	names  map[string]string // names of variables, by Hit.What
}

// A Hit is a secret that was found. It never contains the secret itself.
type Hit struct {
	What     string // "the value of OPENAI_API_KEY", "an Anthropic API key"
	Variable string // the variable with this value; empty if there is no such variable
	Pointer  string // RFC 6901 pointer to the string or member of a JSON text that contains it
}

// New returns a scanner that knows the formats of secrets but no values.
func New() *Scanner {
	return &Scanner{known: map[string]bool{}, clean: map[string]bool{}, names: map[string]string{},
		index: formats().clone()}
}

// Known returns the number of known values. While it is unchanged, scans of a text have the same result.
func (s *Scanner) Known() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.known)
}

// Find returns a secret that a text contains, plain or encoded: see [view]. If the text is JSON, the hit has its
// position. Pieces that the events of a stream deliver are searched together.
func (s *Scanner) Find(text []byte) (Hit, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := view{index: s.index}
	what, found := v.find(text)
	v.inflated = 0 // the same data is searched again
	if !found {
		for _, said := range joined(text) {
			if what, found = v.find(bytes.Join(said, nil)); found {
				return Hit{What: what, Variable: s.names[what]}, true
			}
		}
		return Hit{}, false
	}
	hit := Hit{What: what, Variable: s.names[what]}
	doc, _ := jsontext.ParseReplacing(text)
	hit.Pointer, _ = v.locate(doc.Root())
	return hit, true
}

// Names reports whether a text contains a word, in any case, as [Scanner.Find] finds a secret.
func Names(text []byte, word string) bool {
	if len(word) < 3 { // an index needs three bytes
		return bytes.Contains(text, []byte(word))
	}
	x := &index{first: new([1 << 15]uint16)}
	x.add(needle{literal: word, fold: true})
	_, found := (&Scanner{index: x}).Find(text)
	return found
}

// locate returns a pointer to the string or member below at that contains a secret. Secrets in member names are masked
// in the pointer.
func (v *view) locate(at jsontext.Value) (pointer string, found bool) {
	if at.IsString() {
		_, found = v.find(at.Raw())
		return "", found
	}
	for name, member := range at.Members() {
		if pointer, found = v.locate(member); !found && member.IsString() {
			_, found = v.find(slices.Concat(jsontext.Text(name), []byte(":"), member.Raw()))
		}
		if found {
			return jsontext.PointerTo(v.mask(name)) + pointer, true
		}
		if _, found = v.find([]byte(name)); found {
			return jsontext.PointerTo(v.mask(name)), true
		}
	}
	for i, element := range at.Elements() {
		if pointer, found = v.locate(element); found {
			return "/" + strconv.Itoa(i) + pointer, true
		}
	}
	return "", false
}
