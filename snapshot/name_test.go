package snapshot_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestDocumentName(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ name, why, pkg, test, want string }{
		{"plain", "lower case", "example.com/shop/stock", "TestAnswers/case_00", "shop-stock-testanswers-case-00-"},
		{"runs", "of other characters are one -", "example.com/shop", "TestX/a_b  c", "example-com-shop-testx-a-b-c-"},
		{"version", "is no element", "example.com/shop/v2", "TestX", "example-com-shop-testx-"},
		{"versions", "wherever it stands", "example.com/v3/shop/v12/stock", "TestX", "shop-stock-testx-"},
		{"vowel", "no version", "example.com/v2x", "TestX", "example-com-v2x-testx-"},
		{"external", "tests of a package", "example.com/shop/stock_test", "TestX", "shop-stock-testx-"},
		{"sole", "element", "shop", "TestX", "shop-testx-"},
		{"long-test", "its beginning stays", "example.com/shop", "Test" + long + long, "example-com-shop-test" + strings.Repeat("x", 62) + "-"},
		{"long-package", "its end stays", "example.com/" + long + "/stock", "TestX", strings.Repeat("x", 34) + "-stock-testx-"},
		{"other", "letters are left out", "example.com/shop", "TestÄ", "example-com-shop-test-"},
		{"none", "the package alone", "example.com/shop", "漢字", "example-com-shop-"},
		{"nothing", "the digits alone", "漢字", "漢字", ""},
		{"program", "no test", snapshot.ProgramPackage, "agent", "exec-agent-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := snapshot.DocumentName(c.pkg, c.test)
			require.Regexp(t, "^"+c.want+"[0-9a-f]{12}$", name, c.why)
			digits := fmt.Sprintf("%x", sha256.Sum256([]byte(c.pkg+"\x00"+c.test)))[:12]
			require.True(t, strings.HasSuffix(name, digits), "of package and test with a zero byte between them: %s", digits)
			require.True(t, filename.LegalDocument(name), name)
			require.LessOrEqual(t, len(name), 96)
			require.NotEqual(t, name, snapshot.DocumentName(c.pkg+"/v9", c.test), "packages that differ in a version")
			document, n, ok := snapshot.ParseID(snapshot.ID(name, 17))
			require.True(t, ok)
			require.Equal(t, name, document)
			require.Equal(t, 17, n)
			require.True(t, filename.LegalDocument(snapshot.FormerName(c.pkg, c.test)))
		})
	}
	require.Len(t, snapshot.DocumentName("example.com/"+long, "Test"+long), 96)
}

func TestParseID(t *testing.T) {
	for _, c := range []struct{ id, why string }{
		{"", "nothing"}, {"abc", "no number"}, {"a-0", "counts from 1"}, {"a-01", "one spelling"}, {"a-+1", "one spelling"}, {"-1", "no document"},
		{"A-1", "no name"}, {"a-99999999999999999999", "no number that there is"}, {strings.Repeat("a", 97) + "-1", "too long"},
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
