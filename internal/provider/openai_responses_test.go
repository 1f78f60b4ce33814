package provider

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestResponsesDeltas proves with the corpus that the pieces of a streamed response join to the whole response in its
// last event.
func TestResponsesDeltas(t *testing.T) {
	streams := 0
	for _, x := range corpus(t) {
		a := x.answer(t)
		if !strings.HasSuffix(x.wire(t).URL.Path, "/responses") || a.Events() == nil {
			continue
		}
		whole, err := byName(t, responsesAPI).DecodeResponse(a)
		require.NoError(t, err, x.Origin)
		if !whole.Complete {
			continue
		}
		pieces, err := byName(t, responsesAPI).DecodeResponse(&Answer{Status: 200, ContentType: "text/event-stream", Body: onlyDeltas(t, a)})
		require.NoError(t, err, x.Origin)
		require.True(t, pieces.Complete)
		streams++
		if want, got := viewDeltas(whole), viewDeltas(pieces); want != got && notInPieces[x.Origin] == "" {
			t.Errorf("%s: %v", x.Origin, equalText(want, got))
		}
	}
	t.Logf("%d streams", streams)
}

// notInPieces are streams whose last event has more content than their pieces.
var notInPieces = map[string]string{
	"vercel/ai:packages/open-responses/src/responses/__fixtures__/lmstudio-tool-call.1.chunks.txt#0": "arguments come whole",
	"vercel/ai:packages/open-responses/src/responses/__fixtures__/lmstudio-tool-call.2.chunks.txt#0": "arguments come whole",
	"vercel/ai:packages/openai/src/responses/__fixtures__/programmatic-tool-calling.1.chunks.txt#0":  "a fingerprint is another in each event",
	"vercel/ai:packages/xai/src/responses/__fixtures__/xai-x-search-tool.chunks.txt#0":               "no event of its own says that a search is completed",
}

// onlyDeltas removes events from a stream that repeat its pieces.
func onlyDeltas(t *testing.T, a *Answer) []byte {
	var body bytes.Buffer
	events := collect(t, a.Events())
	for _, e := range events {
		doc, err := jsontext.Parse(e.Data)
		if err != nil {
			continue
		}
		event := doc.Root()
		kind := event.Member("type").Word()
		switch {
		case kind == "response.output_item.done" && hasPieces(event.Member("item", "type").Word()):
			continue
		case strings.HasSuffix(kind, ".done") && kind != "response.output_item.done":
			continue
		case kind == "response.completed" || kind == "response.incomplete":
			o, response := event.Object(), event.Member("response").Object()
			response["output"] = []byte("[]")
			o["response"] = jsontext.ObjectText(response)
			fmt.Fprintf(&body, "data: %s\n\n", jsontext.ObjectText(o))
		default:
			body.Write(e.Raw)
		}
	}
	return body.Bytes()
}

// hasPieces reports whether an item of this type comes in deltas.
func hasPieces(kind string) bool {
	return kind == "message" || kind == "function_call" || kind == "custom_tool_call"
}

// viewDeltas renders a response without the parts that do not come in pieces.
func viewDeltas(r *modelio.Response) string {
	var parts []modelio.Part
	for _, part := range r.Candidates[0].Message.Content {
		if part.Reasoning != nil {
			part.Metadata = nil // encrypted content is complete only at the end
		}
		delete(part.Metadata, "annotations") // some hosts send them with the item only
		if len(part.Metadata) == 0 {
			part.Metadata = nil
		}
		parts = append(parts, part)
	}
	r.Candidates[0].Message.Content = parts
	return string(viewResponse(r))
}
