// Package secret finds what must be neither stored nor printed (design R12). That is credentials of this process and
// of its requests, and text in a form that only keys, tokens and private keys have.
//
// A [Scanner] has an index of literals (index.go): beginnings of known forms (format.go), and values of this process
// (value.go). A [view] looks for them in a text and in all that it encodes (view.go); stream.go joins what events split.
package secret

import (
	"slices"
	"strconv"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Scanner finds secrets in texts, and hides them. It knows the forms of [Formats], and the values that
// it is told of. It is safe for concurrent use.
type Scanner struct {
	mu     sync.RWMutex
	known  map[string]bool // values
	clean  map[string]bool // long texts that hold none of them, as [Scanner.Holds] found
	index  *index
	latest []string          // the environment that it was last told of
	names  map[string]string // the names of its variables, by Hit.What
}

// A Hit is a secret that was found. It never holds the secret itself.
type Hit struct {
	What     string // "the value of OPENAI_API_KEY", "an Anthropic API key"
	Variable string // the variable that has the value; empty means that it is of none
	Pointer  string // RFC 6901 pointer to the string or the member of a JSON text that holds it
}

// New returns a scanner that knows the forms of secrets, and no values.
func New() *Scanner {
	return &Scanner{known: map[string]bool{}, clean: map[string]bool{}, names: map[string]string{}, index: formats().clone()}
}

// Known returns how many values are known. As long as it stays the same, the same is found in a text.
func (s *Scanner) Known() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.known)
}

// Find returns a secret that a text holds, as it stands or encoded: see [view]. If the text is JSON, the hit says
// where. The pieces that the events of a stream deliver are looked at together.
func (s *Scanner) Find(text []byte) (Hit, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := view{index: s.index}
	what, found := v.find(text)
	if !found {
		for _, said := range joined(text) {
			if what, found = v.findPieces(said); found {
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

// locate returns a pointer to the string or the member below at that holds a secret. Secrets in names are masked in it.
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
