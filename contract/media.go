package contract

import (
	"bytes"
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// restoreMedia returns m with the media that it names, in base64, as they were sent. A quote before a
// name is escaped where it is a part of a longer text, so that this stays.
func (record *Record) restoreMedia(m modelio.Message, media []snapshot.Medium) (modelio.Message, error) {
	text, err := m.MarshalJSON()
	if err != nil {
		return m, err
	}
	whole := text
	for _, medium := range media {
		name := jsontext.Text(medium.String())
		if record.Media == nil || !bytes.Contains(whole, name) {
			continue
		}
		data, err := record.Media(medium.Hash)
		if err == nil {
			err = checkBlob(medium.Hash, data)
		}
		if err != nil {
			return m, fmt.Errorf("media: %w: %w", ErrBlob, err)
		}
		whole = bytes.ReplaceAll(whole, name, jsontext.Text(medium.Text(data)))
	}
	if bytes.Equal(whole, text) {
		return m, nil
	}
	var restored modelio.Message
	return restored, restored.UnmarshalJSON(whole)
}
