package traceforgetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// Media in base64 is kept as blobs: the snapshot stays readable, and names each by its hash,
// type and size in bytes, as in "blob:sha256:…;image/png;1234".
type media struct {
	blobs map[canon.Hash][]byte
	order []canon.Hash
}

const (
	blobScheme = "blob:"
	// minMedia is the length from which base64 is media and no word.
	minMedia = 512
)

// replace names the media of a JSON text instead of holding it.
func (m *media) replace(text json.RawMessage) (json.RawMessage, error) {
	if len(text) < minMedia {
		return text, nil
	}
	switch text[0] {
	case '{':
		return replaceIn[map[string]json.RawMessage](text, func(members map[string]json.RawMessage) error {
			for name := range members {
				var err error
				if members[name], err = m.replace(members[name]); err != nil {
					return err
				}
			}
			return nil
		})
	case '[':
		return replaceIn[[]json.RawMessage](text, func(elements []json.RawMessage) error {
			for i := range elements {
				var err error
				if elements[i], err = m.replace(elements[i]); err != nil {
					return err
				}
			}
			return nil
		})
	case '"':
		var value string
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, err
		}
		if name, ok := m.name(value); ok {
			return json.Marshal(name)
		}
	}
	return text, nil
}

// name keeps value as a blob if it is media in base64, and returns the blob's name. What
// base64 would spell in another way stays as it is.
func (m *media) name(value string) (string, bool) {
	contentType, encoded := "", value
	if head, rest, ok := strings.Cut(value, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		contentType, encoded = strings.TrimPrefix(head, "data:"), rest
	}
	if len(encoded) < minMedia || !mayBeBase64(encoded) {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || base64.StdEncoding.EncodeToString(data) != encoded {
		return "", false
	}
	hash := canon.Sum(data)
	if _, known := m.blobs[hash]; !known {
		if m.blobs == nil {
			m.blobs = map[canon.Hash][]byte{}
		}
		m.blobs[hash] = data
		m.order = append(m.order, hash)
	}
	return fmt.Sprintf("%s%s;%s;%d", blobScheme, hash, contentType, len(data)), true
}

// mayBeBase64 spares decoding text: words have spaces.
func mayBeBase64(s string) bool {
	return len(s)%4 == 0 && !strings.ContainsAny(s[:minMedia], " \n\t.,:;-_'\"")
}
