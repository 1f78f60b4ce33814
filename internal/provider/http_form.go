package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// decodeForm decodes a multipart body to a list of its parts, each with headers and text or bytes. It reports
// false for a body that is none.
func decodeForm(body []byte, boundary string) (json.RawMessage, bool) {
	if boundary == "" {
		return nil, false
	}
	parts := list{}
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) && len(parts) > 0 {
			return jsontext.List(parts), true
		}
		if err != nil {
			return nil, false
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, false
		}
		headers := modelio.Object{}
		for name, values := range part.Header {
			headers[name] = jsontext.Texts(values)
		}
		o := opaque(content)
		o["headers"] = jsontext.ObjectText(headers)
		parts = append(parts, jsontext.ObjectText(o))
	}
}
