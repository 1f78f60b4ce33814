package snapshot

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/canon"
)

// A Medium is binary content that messages or answers of a call refer to instead of containing it.
type Medium struct {
	Hash        canon.Hash
	ContentType string // empty if unknown; followed by the spelling of its base64 if that is not the usual one
	Size        int64  // bytes
}

// blob is the prefix of a medium's name.
const blob = "blob:"

// String returns m in the form that messages contain: "blob:sha256:…;image/png;1234".
func (m Medium) String() string { return fmt.Sprintf(blob+"%s;%s;%d", m.Hash, m.ContentType, m.Size) }

// Name returns the name of m's file in the document's directory.
func (m Medium) Name() string { return m.Hash.Hex() + "." + extension(m.ContentType) }

// parseMedium returns the medium that a string in a message refers to, if it is one.
func parseMedium(name string) (m Medium, ok bool) {
	rest, ok := strings.CutPrefix(name, blob)
	if !ok { // most texts
		return Medium{}, false
	}
	hash, rest, _ := strings.Cut(rest, ";")
	i := strings.LastIndexByte(rest, ';') // a content type may have parameters
	if i < 0 || !canon.Hash(hash).Valid() {
		return Medium{}, false
	}
	size, err := strconv.ParseInt(rest[i+1:], 10, 64)
	m = Medium{canon.Hash(hash), rest[:i], size}
	return m, err == nil && size >= 0 && m.String() == name
}

// spellings are the ways to write bytes in base64, the usual one first. The suffix of a medium's content type names the
// spelling.
var spellings = []struct {
	suffix   string
	encoding *base64.Encoding
}{
	{"", base64.StdEncoding},
	{";base64url", base64.URLEncoding},
	{";unpadded", base64.RawStdEncoding},
	{";base64url;unpadded", base64.RawURLEncoding},
}

// MinMedium is the minimum length in bytes of base64 that becomes a medium.
const MinMedium = 512

// MediumOf returns the medium for a text in base64 or a data: URI, and its bytes. It reports false for any other text:
// a shorter one, base64 with line breaks, a URI without a media type and, outside of a URI, a text without a capital, a
// small letter or a digit, such as a word, a line of hyphens or a hexadecimal number, and base64 of zeros only.
func MediumOf(text string) (m Medium, data []byte, ok bool) {
	encoded, isURL := strings.CutPrefix(text, "data:")
	if isURL {
		if m.ContentType, encoded, isURL = strings.Cut(encoded, ";base64,"); !isURL || m.ContentType == "" ||
			m.spelling() > 0 {
			return Medium{}, nil, false
		}
	}
	if len(encoded) < MinMedium || strings.ContainsAny(encoded, "\r\n") || !isURL && !isMixed(encoded) {
		return Medium{}, nil, false
	}
	for _, s := range spellings {
		if data, err := s.encoding.Strict().DecodeString(encoded); err == nil {
			return Medium{canon.Sum(data), m.ContentType + s.suffix, int64(len(data))}, data, true
		}
	}
	return Medium{}, nil, false
}

func isMixed(text string) bool {
	return strings.Trim(text, "A=") == "" || strings.ContainsFunc(text, unicode.IsUpper) &&
		strings.ContainsFunc(text, unicode.IsLower) && strings.ContainsFunc(text, unicode.IsDigit)
}

// Text is the inverse of [MediumOf]: it returns the text for m with the bytes data.
func (m Medium) Text(data []byte) string {
	s := spellings[m.spelling()]
	encoded := s.encoding.EncodeToString(data)
	if contentType := strings.TrimSuffix(m.ContentType, s.suffix); contentType != "" {
		return "data:" + contentType + ";base64," + encoded
	}
	return encoded
}

// spelling returns the index of the spelling in a medium's content type.
func (m Medium) spelling() int {
	for i := len(spellings) - 1; i > 0; i-- {
		if strings.HasSuffix(m.ContentType, spellings[i].suffix) {
			return i
		}
	}
	return 0
}
