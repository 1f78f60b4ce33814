package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestSpecialNames checks that a sent object with the one member $number or $text is no number and no text, and that
// neither may stand where an object must (docs/format.md section 2).
func TestSpecialNames(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"$number": `"9007199254740993"`, "$$number": `"5"`, "$text": `["a\n","b"]`} {
		s := record("TestX", 1)
		sent := modelio.Part{Custom: modelio.Object{name: json.RawMessage(value)}}
		s.Request.Messages = append(s.Request.Messages, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{sent}})
		data := encode(t, document(t, s))
		require.Contains(t, string(data), `"$`+name+`": `)
		require.Equal(t, sent, parse(t, data).Snapshots[0].Request.Messages[1].Content[0])
		if strings.HasPrefix(name, "$$") {
			continue
		}
		_, err := snapshot.Parse([]byte(strings.Replace(string(data), `"$`+name+`": `, `"`+name+`": `, 1)))
		require.ErrorContains(t, err, "/custom: type: must be an object")
	}
}
