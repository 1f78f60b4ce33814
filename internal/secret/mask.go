package secret

import (
	"bytes"
	"unsafe"
)

// Mask replaces each secret in a text by [Hit.What] in brackets. A word that encodes a secret is replaced as a whole.
func (s *Scanner) Mask(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := view{index: s.index}
	return v.mask(text)
}

func (v *view) mask(text string) string {
	src := unsafe.Slice(unsafe.StringData(text), len(text)) // never written to
	var masked []byte                                       // nil if nothing was masked
	from := 0
	clear(v.long)
	for {
		what, start, end := v.index.next(src, from, &v.long)
		if end == 0 {
			break
		}
		start = max(start, from)
		masked = append(append(append(append(masked, src[from:start]...), '['), what...), ']')
		from = end
	}
	if masked != nil {
		src = append(masked, src[from:]...)
	}
	words := v.maskWords(src)
	if masked == nil && unsafe.SliceData(words) == unsafe.StringData(text) {
		return text // unchanged
	}
	return string(words)
}

// maskWords masks words that encode a secret.
func (v *view) maskWords(src []byte) []byte {
	if what, found := v.find(src); !found {
		return src
	} else if len(bytes.Fields(src)) == 1 {
		return []byte("[" + what + "]")
	}
	const separators = " \t\r\n\"'`<>,;()[]{}"
	var masked []byte
	for len(src) > 0 {
		end := bytes.IndexAny(src, separators)
		if end < 0 {
			end = len(src)
		}
		if what, found := v.find(src[:end]); found {
			masked = append(append(append(masked, '['), what...), ']')
		} else {
			masked = append(masked, src[:end]...)
		}
		if end < len(src) {
			masked = append(masked, src[end])
			end++
		}
		src = src[end:]
	}
	return masked
}
