package stream

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// TestReaderNumbers is about numbers that the window cuts.
func TestReaderNumbers(t *testing.T) {
	long := strings.Repeat("1", jsontext.WindowSize-1)
	r := NewReader(strings.NewReader("[" + long + ",-1.5e+3]"))
	require.NoError(t, r.Skip())
	require.NoError(t, r.End())

	r = NewReader(strings.NewReader("[" + long + "1]"))
	require.EqualError(t, r.Skip(), "/0: offset 1: invalid JSON: number of more than 65536 digits")
	require.NoError(t, r.Err())
}

// FuzzReader proves that a text is to a Reader what it is to Parse, however it comes.
func FuzzReader(t *testing.F) {
	f := mutation.New(t)
	for _, text := range []string{`{"a":[1,-0.5e+3,null,true,false,"x\n\u00e9😀"],"a":{}}`, ` [ ] `, `"\ud800"`, "\"\xe2\x82\"", `[1 2]`, `tru`, `-`, `{"\udc00":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, want := jsontext.ParseLenient(text)
		skip := func(r *Reader) error {
			if err := r.Skip(); err != nil {
				return err
			}
			return r.End()
		}
		whole, pieces := NewReader(bytes.NewReader(text)), NewReader(iotest.OneByteReader(bytes.NewReader(text)))
		got := skip(whole)
		require.Equal(t, got, skip(pieces))
		require.Equal(t, want == nil, got == nil, "%v, %v", want, got)
		if want != nil {
			return
		}
		raw, cut, err := NewReader(bytes.NewReader(text)).Raw(nil, jsontext.WindowSize)
		require.NoError(t, err)
		require.False(t, cut)
		require.Equal(t, string(doc.Root().Raw()), string(raw))
		if doc.Root().IsString() {
			var chars, canonical []byte
			require.NoError(t, NewReader(bytes.NewReader(text)).String(func(a, b []byte) {
				chars, canonical = append(chars, a...), append(canonical, b...)
			}))
			var s string
			require.NoError(t, json.Unmarshal(text, &s))
			require.Equal(t, s, string(chars))
			require.Equal(t, string(jsontext.AppendCanonical(nil, raw)), `"`+string(canonical)+`"`)
		}
	})
}
