package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/internal/filename"
)

func TestDocumentName(t *testing.T) {
	for _, c := range []struct{ name, why, test, want string }{
		{"plain", "lower case", "TestSummarize", "testsummarize-"},
		{"subtest", "runs of other characters are one -", "TestX/a_b  c", "testx-a-b-c-"},
		{"long", "cut, and told apart by its own hash", "Test" + strings.Repeat("x", 60), "testxxxxxxxxxxxxxxxxxxxxxxxxxxx-"},
		{"other", "so is what loses letters", "TestÄ", "test-"},
		{"none", "there need be no slug", "漢字", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := snapshot.DocumentName(testPackage, c.test)
			require.Regexp(t, "^"+c.want+"([0-9a-f]{8}-)?[0-9a-f]{12}$", name)
			require.True(t, filename.Legal(snapshot.ID(name, 1_000_000)), c.why)
			require.NotEqual(t, name, snapshot.DocumentName(testPackage+"/x", c.test))
			document, n, ok := snapshot.ParseID(snapshot.ID(name, 17))
			require.True(t, ok)
			require.Equal(t, name, document)
			require.Equal(t, 17, n)
		})
	}
}

func TestParseID(t *testing.T) {
	for _, c := range []struct{ id, why string }{
		{"", "nothing"}, {"abc", "no number"}, {"a-0", "counts from 1"}, {"a-01", "one spelling"}, {"a-+1", "one spelling"}, {"-1", "no document"},
		{"A-1", "no name"}, {"a-99999999999999999999", "no number that there is"}, {strings.Repeat("a", 64) + "-1", "too long"},
	} {
		_, _, ok := snapshot.ParseID(c.id)
		require.False(t, ok, "%q: %s", c.id, c.why)
	}
	require.Zero(t, (&snapshot.Snapshot{ID: "abc123def456"}).Number())
}

func TestRawName(t *testing.T) {
	for contentType, want := range map[string]string{
		"text/event-stream; charset=utf-8": "3.sse", "application/json": "3.json", "Application/JSON": "3.json", "application/x-ndjson": "3.jsonl",
		"application/vnd.amazon.eventstream": "3.bin", "text/html": "3.html", "text/plain": "3.txt", "audio/mpeg": "3.mp3", "": "3.bin", "x;;": "3.bin",
	} {
		require.Equal(t, want, snapshot.RawName(3, &snapshot.Response{Headers: map[string][]string{"Content-Type": {contentType}}}))
		require.Equal(t, want, snapshot.RawName(3, &snapshot.Response{Headers: map[string][]string{"content-type": {contentType}}}))
	}
	require.Equal(t, "1.bin", snapshot.RawName(1, &snapshot.Response{}))
}

func TestMedia(t *testing.T) {
	h := canon.Sum([]byte("x"))
	image := snapshot.Medium{Hash: h, ContentType: "image/png", Size: 12}
	plain := snapshot.Medium{Hash: h, ContentType: "text/plain;charset=utf-8", Size: 1}
	require.Equal(t, h.Hex()+".png", image.Name())
	require.Equal(t, h.Hex()+".txt", plain.Name())
	for _, name := range []string{"blob:", "blob:sha256:00;x;1", "blob:" + string(h) + ";x;-1", "blob:" + string(h) + ";x;01", "x" + image.String()} {
		_, ok := snapshot.ParseMedium(name)
		require.False(t, ok, name)
	}
	s := record("TestX", 1)
	s.Request.Messages = append(s.Request.Messages, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{
		modelio.MediaPart("image/png", image.String()), modelio.TextPart(image.String()),
		{ToolResponse: &modelio.ToolResponse{Name: "x", Output: quoted(plain.String())}},
	}})
	s.Response = answered(modelio.MediaPart("image/png", image.String()))
	require.Equal(t, []snapshot.Medium{image, plain}, s.Media())
}
