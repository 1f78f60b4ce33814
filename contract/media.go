package contract

import (
	"encoding/base64"
	"fmt"
	"regexp"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// mediaName is a JSON string by which a snapshot names a medium of its messages:
// "blob:sha256:…;image/png;1234". A quote before it is escaped in a longer string.
var mediaName = regexp.MustCompile(`"blob:(sha256:[0-9a-f]{64})(?:;([^";\\]*))?;[0-9]+"`)

// restoreMedia returns m with the media that it names, in base64, as they were sent.
func (record *Record) restoreMedia(m modelio.Message) (modelio.Message, error) {
	if record.Media == nil {
		return m, nil
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return m, err
	}
	whole := mediaName.ReplaceAllFunc(text, func(name []byte) []byte {
		groups := mediaName.FindSubmatch(name)
		ref := canon.Hash(groups[1])
		data, problem := record.Media(ref)
		if problem == nil {
			problem = checkBlob(ref, data)
		}
		if problem != nil {
			err = fmt.Errorf("media: %w: %w", ErrBlob, problem)
			return name
		}
		medium := base64.StdEncoding.EncodeToString(data)
		if kind := groups[2]; len(kind) > 0 {
			medium = "data:" + string(kind) + ";base64," + medium
		}
		return jsontext.Text(medium)
	})
	if err != nil || len(whole) == len(text) {
		return m, err
	}
	var restored modelio.Message
	return restored, restored.UnmarshalJSON(whole)
}
