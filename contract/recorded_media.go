package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// mediaScheme begins the names that a snapshot has for the media in its messages:
// "blob:sha256:…;image/png;1234".
const mediaScheme = "blob:"

// restoreMedia puts the media that blobs hold back into a JSON text, in base64, as they were
// sent.
func (r *Recorded) restoreMedia(text json.RawMessage, blobs []canon.Hash) (json.RawMessage, error) {
	if len(blobs) == 0 || !bytes.Contains(text, []byte(`"`+mediaScheme)) {
		return text, nil
	}
	switch text[0] {
	case '{':
		var all map[string]json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, err
		}
		for name := range all {
			var err error
			if all[name], err = r.restoreMedia(all[name], blobs); err != nil {
				return nil, err
			}
		}
		return encode(all), nil
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, err
		}
		for i := range all {
			var err error
			if all[i], err = r.restoreMedia(all[i], blobs); err != nil {
				return nil, err
			}
		}
		return encode(all), nil
	case '"':
		return r.restoreMedium(text, blobs)
	}
	return text, nil
}

// restoreMedium does so with a JSON string.
func (r *Recorded) restoreMedium(text json.RawMessage, blobs []canon.Hash) (json.RawMessage, error) {
	name, ok := strings.CutPrefix(textOf(text), mediaScheme)
	hash, rest, _ := strings.Cut(name, ";")
	if !ok || !slices.Contains(blobs, canon.Hash(hash)) {
		return text, nil // a text of the caller's that looks alike
	}
	data, err := readBlob(r.store, canon.Hash(hash))
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	whole := base64.StdEncoding.EncodeToString(data)
	if end := strings.LastIndexByte(rest, ';'); end > 0 {
		whole = "data:" + rest[:end] + ";base64," + whole
	}
	return encode(whole), nil
}
