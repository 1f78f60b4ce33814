package genkittraceforge

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// GK demands of a stream that its chunks add up to the answer, and that chunks of an unfinished
// tool request are marked partial. Genkit demands neither, and its OpenAI plugin keeps to
// neither: it passes the provider's fragments of arguments on as they come. What is recorded
// keeps to both, with marks by which replay knows what the model really sent.

const (
	fragmentMark = "traceforge.fragment" // in a tool request that was not marked partial
	missingMark  = "traceforge.missing"  // in a chunk that was not sent
)

var marked = json.RawMessage("true")

// markFragments marks the tool requests in chunk as partial whose input is no object yet.
func markFragments(chunk *modelio.GenerateResponseChunk) {
	for _, part := range chunk.Content {
		request := part.ToolRequest
		if request != nil && !request.Partial && request.Input != nil && !bytes.HasPrefix(request.Input, []byte("{")) {
			request.Partial = true
			request.Unknown = modelio.Object{fragmentMark: marked}
		}
	}
}

// withoutMarks returns chunk as it was before markFragments.
func withoutMarks(chunk *modelio.GenerateResponseChunk) *modelio.GenerateResponseChunk {
	original := *chunk
	original.Content = slices.Clone(chunk.Content)
	for i, part := range original.Content {
		if part.ToolRequest != nil && part.ToolRequest.Unknown[fragmentMark] != nil {
			request := *part.ToolRequest
			request.Partial, request.Unknown = false, nil
			original.Content[i].ToolRequest = &request
		}
	}
	return &original
}

// missing returns the chunk without which chunks do not add up to message, or nil: one that
// carries the whole of it.
func missing(chunks []*modelio.GenerateResponseChunk, message *modelio.Message) *modelio.GenerateResponseChunk {
	if len(chunks) == 0 || message == nil {
		return nil
	}
	want, err := modelio.Aggregate([]*modelio.GenerateResponseChunk{{Content: message.Content}})
	if err != nil {
		return nil // the message itself is no answer, so no chunk can be
	}
	got, err := modelio.Aggregate(chunks)
	if err == nil && slices.EqualFunc(got.Content, want.Content, same) {
		return nil
	}
	whole := true
	return &modelio.GenerateResponseChunk{
		Content:    message.Content,
		Aggregated: &whole,
		Unknown:    modelio.Object{missingMark: marked},
	}
}

func isMissing(chunk *modelio.GenerateResponseChunk) bool { return chunk.Unknown[missingMark] != nil }
