package recorder

import (
	"bytes"

	"github.com/traceforge/traceforge-go/modelio"
)

// unlikeChunks reports whether the chunks of a model say another text than its response, where both say
// one. GK forbids it, and what a model did can be recorded all the same.
func unlikeChunks(body []byte) bool {
	chunked := ""
	response, err := readLines(bytes.NewReader(body), func(chunk *modelio.GenerateResponseChunk) error {
		if chunk != nil && chunk.Index == 0 {
			if chunk.Aggregated != nil && *chunk.Aggregated {
				chunked = ""
			}
			chunked += spokenText(chunk.Content)
		}
		return nil
	})
	if err != nil || response.Message == nil {
		return false
	}
	text := spokenText(response.Message.Content)
	return chunked != "" && text != "" && chunked != text
}

func spokenText(parts []modelio.Part) (text string) {
	for _, part := range parts {
		if part.Text != nil {
			text += *part.Text
		}
	}
	return text
}
