package contract

import (
	"bytes"
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// restoreMedia returns m with the media that it names as they were sent, in base64. A quote before a name that is part
// of a longer text is escaped, so such a text is left unchanged.
func (record *Record) restoreMedia(m modelio.Message, media []snapshot.Medium) (modelio.Message, error) {
	if record.Media == nil || len(media) == 0 {
		return m, nil
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return m, err
	}
	for _, medium := range media {
		name := jsontext.Text(medium.String())
		if !bytes.Contains(text, name) {
			continue
		}
		data, err := record.Media(medium.Hash)
		if err == nil {
			err = checkBlob(medium.Hash, data)
		}
		if err != nil {
			return m, fmt.Errorf("media: %w: %w", ErrBlob, err)
		}
		text = bytes.ReplaceAll(text, name, jsontext.Text(medium.Text(data)))
	}
	var restored modelio.Message
	err = restored.UnmarshalJSON(text)
	return restored, err
}
