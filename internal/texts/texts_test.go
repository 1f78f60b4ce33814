package texts_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestAllOfMedia: an editor edits all texts of a medium, also beside an address that it has edited.
func TestAllOfMedia(t *testing.T) {
	image := modelio.Media{URL: "https://secret/a.png", Unknown: modelio.Object{"referer": json.RawMessage(`"https://secret/"`)}}
	request := &modelio.Request{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{{Media: &image}}}}}
	e := texts.Editor{
		Text: func(text *string) bool {
			was := *text
			*text = strings.ReplaceAll(was, "secret", "hidden")
			return *text != was
		},
		JSON: func(value *json.RawMessage) bool {
			was := string(*value)
			*value = bytes.ReplaceAll(*value, []byte("secret"), []byte("hidden"))
			return string(*value) != was
		},
	}
	edited := e.Request(request).Messages[0].Content[0].Media
	require.Equal(t, "https://hidden/a.png", edited.URL)
	require.Equal(t, `"https://hidden/"`, string(edited.Unknown["referer"]))
	require.Equal(t, "https://secret/a.png", image.URL, "the request stays")
}
