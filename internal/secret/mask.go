package secret

import "bytes"

// Mask replaces each secret in a text by [Hit.What] in brackets. A word that encodes a secret is replaced as a whole.
func (s *Scanner) Mask(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := view{index: s.index}
	return v.mask(text)
}

func (v *view) mask(text string) string {
	src := []byte(text)
	var masked []byte
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
	return string(v.maskWords(append(masked, src[from:]...)))
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
