package content_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/content"
)

func TestDecode(t *testing.T) {
	encoded := func(w func(io.Writer) io.WriteCloser, text []byte) []byte {
		var b bytes.Buffer
		c := w(&b)
		_, err := c.Write(text)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		return b.Bytes()
	}
	zip := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	zipped := encoded(zip, []byte("text"))
	raw := encoded(func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 1); return f }, []byte("text"))
	upper := map[string]content.Decoder{"up": func(r io.Reader) (io.Reader, error) {
		b, err := io.ReadAll(r)
		return bytes.NewReader(bytes.ToUpper(b)), err
	}}
	for _, tt := range []struct {
		name, reason, encoding string
		body                   []byte
		want, err              string
	}{
		{"none", "as it is", "", []byte("text"), "text", ""},
		{"gzip", "in any case", "GZIP", zipped, "text", ""},
		{"zlib", "what RFC 9110 calls deflate", "deflate", encoded(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, []byte("text")), "text", ""},
		{"deflate", "and what some send", "deflate", raw, "text", ""},
		{"several", "the last was applied last", "identity, x-gzip, gzip", encoded(zip, zipped), "text", ""},
		{"given", "decoders of the caller", "up", []byte("text"), "TEXT", ""},
		{"unknown", "nobody has one", "br", []byte("text"), "", `content encoding "br" is not known: name its decoder with the option ContentEncoding`},
		{"wrong", "it is not so encoded", "gzip", []byte("text"), "", "decoding gzip content: unexpected EOF"},
		{"empty", "nor this", "deflate", nil, "", "decoding deflate content: unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := content.Decode(tt.encoding, tt.body, upper, io.ReadAll)
			if tt.err != "" {
				require.EqualError(t, err, tt.err, tt.reason)
				return
			}
			require.NoError(t, err, tt.reason)
			require.Equal(t, tt.want, string(got))
		})
	}
}
