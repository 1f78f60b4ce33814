package recorder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestResultsInTheOrderOfTheirCalls puts results in order, within a message and over several, and leaves what is not
// next to them, or answers no call of the request, where it is.
func TestResultsInTheOrderOfTheirCalls(t *testing.T) {
	parts := func(refs string) (all []modelio.Part) {
		for ref := range strings.SplitSeq(refs, "") {
			switch {
			case ref == "-":
				all = append(all, modelio.TextPart("-"))
			case strings.ToUpper(ref) == ref:
				all = append(all, modelio.Part{ToolRequest: &modelio.ToolRequest{Ref: strings.ToLower(ref)}})
			default:
				all = append(all, modelio.Part{ToolResponse: &modelio.ToolResponse{Ref: ref}})
			}
		}
		return all
	}
	for sent, want := range map[string]string{
		"- AB b a": "- AB a b", "- AB ba": "- AB ab", "ABC c ba": "ABC ab c", "AB b-a": "AB b-a", "AB b - a": "AB b - a",
		"AB ba CD dc": "AB ab CD cd", "AB xba": "AB xab", "b a": "b a", "AB a b": "AB a b", "A a": "A a",
		"AB ba AB ba": "AB ab AB ab", "AB b- a-": "AB b- a-", "AB b- a": "AB b- a",
	} {
		var messages []modelio.Message
		for refs := range strings.FieldsSeq(sent) {
			messages = append(messages, modelio.Message{Content: parts(refs)})
		}
		var got []string
		inCallOrder(messages)
		for _, m := range messages {
			var refs strings.Builder
			for _, p := range m.Content {
				switch {
				case p.ToolRequest != nil:
					refs.WriteString(strings.ToUpper(p.ToolRequest.Ref))
				case p.ToolResponse != nil:
					refs.WriteString(p.ToolResponse.Ref)
				default:
					refs.WriteString("-")
				}
			}
			got = append(got, refs.String())
		}
		require.Equal(t, want, strings.Join(got, " "), sent)
	}
}
