package provider

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// formWire returns a request with a form. Each part consists of headers, an empty line and content.
func formWire(t *testing.T, parts ...string) *Wire {
	w := homeOf(t, byName(t, transcriptionsAPI))
	w.ContentType = "multipart/form-data; boundary=b"
	var body strings.Builder
	for _, part := range parts {
		body.WriteString("--b\r\nContent-Disposition: form-data; " + strings.Replace(part, "\n\n", "\r\n\r\n", 1) + "\r\n")
	}
	w.Body = []byte(body.String() + "--b--\r\n")
	return &w
}

// TestFormsLoseNothing checks that two forms with different content are never one request.
func TestFormsLoseNothing(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"name=a\n\nx"},
		{"name=a\n\ny"},
		{"name=b\n\nx"},
		{"name=a\n\nx", "name=a\n\ny"},
		{"name=a\n\ny", "name=a\n\nx"},
		{"name=a\n\nx", "name=a\n\nx"},
		{"name=a\n\n\xff"},
		{"name=a\n\n/w=="},
		{"name=a; filename=f\n\nx"},
		{"name=a; filename=g\n\nx"},
		{"name=b; filename=f\n\nx"},
		{"name=a; filename=f\n\n\xff"},
		{"name=a; filename=f\r\nContent-Type: audio/ogg\n\n\xff"},
		{"name=a; filename=f\r\nContent-Type: application/octet-stream\n\n\xff"},
		{"name=a; filename=f\r\nContent-Type: audio/ogg\n\nx"},
		{"name=a; filename=f\r\nContent-Type: audio/ogg; rate=1\n\n\xff"},
		{"name=a; filename=f\r\nX-A: 1\n\n\xff"},
		{"name=a; filename=f; size=1\n\nx"},
		{"name=a; filename=f\n\nx", "name=a; filename=f\n\ny"},
		{"name=a; filename=f\n\ny", "name=a; filename=f\n\nx"},
		{"name=a\r\nContent-Type: text/plain; charset=latin1\n\nx"},
		{"name=a\r\nContent-Length: 7\n\nx"},
		{"name=prompt\n\nx"},
		{"name=prompt\n\nx", "name=prompt\n\nx"},
		{"name=prompt; filename=f\n\nx"},
		{"name=model\n\nx"},
		{"name=temperature\n\n0"},
		{"name=temperature\n\n 0"},
		{"name=temperature\n\n0.0"},
		{"name=temperature\n\n\"0\""},
		{"filename=f\n\nx"},
	} {
		w := formWire(t, parts...)
		matched, ok := Match(w)
		require.True(t, ok)
		require.Equal(t, transcriptionsAPI, matched.API, parts)
		req, err := matched.DecodeRequest(w)
		require.NoError(t, err, parts)
		described := describe(req)
		require.Nil(t, seen[described], parts)
		seen[described] = parts
	}
}

// TestFormsSpelledAlike checks the differences between forms that do not matter.
func TestFormsSpelledAlike(t *testing.T) {
	t.Parallel()
	decode := func(parts ...string) string {
		req, err := byName(t, transcriptionsAPI).DecodeRequest(formWire(t, parts...))
		require.NoError(t, err)
		return describe(req)
	}
	for _, c := range []struct {
		why  string
		a, b []string
	}{
		{"names are quoted or not", []string{`name="a"` + "\n\nx"}, []string{"name=a\n\nx"}},
		{"fields stand in any order", []string{"name=a\n\nx", "name=b\n\ny"}, []string{"name=b\n\ny", "name=a\n\nx"}},
		{"the prompt may be before the file", []string{"name=prompt\n\nx", "name=file; filename=f\n\ny"},
			[]string{"name=file; filename=f\n\ny", "name=prompt\n\nx"}},
		{"the length of a part is that of its content", []string{"name=a\r\nContent-Length: 1\n\nx"}, []string{"name=a\n\nx"}},
		{"a field is text", []string{"name=a\r\nContent-Type: text/plain; charset=UTF-8\n\nx"}, []string{"name=a\n\nx"}},
	} {
		require.Equal(t, decode(c.a...), decode(c.b...), c.why)
	}
}

// TestFormDecodedAlone checks that a codec of forms refuses other bodies.
func TestFormDecodedAlone(t *testing.T) {
	w := homeOf(t, byName(t, transcriptionsAPI))
	_, err := byName(t, transcriptionsAPI).DecodeRequest(&w)
	require.EqualError(t, err, "openai.transcriptions: the body is no multipart form")
}
