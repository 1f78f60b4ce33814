package contract

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
)

// FuzzEnvelope makes a conversation with one part per byte. It proves that no call of the answer has a ref that the
// history uses, that calls differ from ids, and that all blobs can be found.
func FuzzEnvelope(t *testing.F) {
	f := mutation.New(t)
	f.Add([]byte{0x01, 0x11, 0x02, 0x40, 0x13}, uint8(2))
	f.Add([]byte{0x35, 0x45, 0x36, 0x46, 0x17, 0x18, 0x09}, uint8(4))
	f.Fuzz(func(t *testing.T, parts []byte, cut uint8) {
		parts = parts[:min(len(parts), 64)]
		at := min(int(cut), len(parts))
		history, answer := conversation(parts[:at]), modelio.Message{Role: modelio.RoleModel}
		for _, m := range conversation(parts[at:]) {
			answer.Content = append(answer.Content, m.Content...)
		}
		out, err := envelopeOf(numberCalls(history, answer))
		require.NoError(t, err)
		again, err := envelopeOf(numberCalls(history, answer))
		require.NoError(t, err)
		require.Equal(t, out, again, "the same arguments give the same bytes")

		for ref, blob := range out.blobs {
			require.Equal(t, canon.Sum(blob), ref)
		}
		require.Contains(t, out.blobs, out.ref)
		if out.ToolCallsRef == nil {
			return
		}
		used := map[string]bool{}
		for _, m := range history {
			for _, part := range m.Content {
				if part.ToolRequest != nil {
					used[part.ToolRequest.Ref] = true
				} else if part.ToolResponse != nil {
					used[part.ToolResponse.Ref] = true
				}
			}
		}
		var calls ToolCallList
		require.NoError(t, json.Unmarshal(out.blobs[*out.ToolCallsRef], &calls))
		for _, call := range calls {
			require.False(t, used[call.CallID], "%s of %v", call.CallID, used)
			used[call.CallID] = true
			require.Contains(t, out.blobs, call.ArgumentsRef)
		}
	})
}

// conversation makes one message per byte. The low bits are the number in a ref, the high bits the kind of part.
func conversation(parts []byte) (messages []modelio.Message) {
	for _, b := range parts {
		ref := "call_" + string('0'+rune(b&7))
		if b&8 != 0 {
			ref = "toolu_" + string('a'+rune(b&7))
		}
		switch b >> 4 % 8 {
		case 0:
			messages = append(messages, fromModel(modelio.TextPart(ref)))
		case 1, 2, 3:
			messages = append(messages, fromModel(aRequest(ref, "f", `{"n":1}`)))
		case 4, 5:
			messages = append(messages, fromTool(aResponse(ref, "f")))
		case 6:
			messages = append(messages, fromModel(aRequest("", "f", "")))
		default:
			messages = append(messages, fromModel(typed(aRequest(ref, "web", "{}"), "server_tool_use")))
		}
	}
	return messages
}
