package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

// FuzzWellFormed holds the fast way of examining a file against the slow one: it takes nothing
// that Parse and Encode do not.
func FuzzWellFormed(f *testing.F) {
	names, err := filepath.Glob("testdata/records/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data, 0, byte(0), true)
		f.Add(data, 700, byte('x'), true)
		f.Add(data, 1500, byte(' '), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, b byte, reseal bool) {
		data = append([]byte(nil), data...)
		if len(data) > 0 {
			data[min(max(at, 0), len(data)-1)] = b
		}
		if reseal {
			data = resealed(data)
		}
		s := scratch{file: data}
		fast := s.wellFormed()
		doc, err := Parse(data)
		canonical := false
		if err == nil && len(doc.Snapshots) == 1 {
			written, err := doc.Encode()
			require.NoError(t, err)
			canonical = string(written) == string(data)
		}
		if fast != nil {
			require.True(t, canonical, "%v", err)
			require.Equal(t, doc.Snapshots[0], *fast)
		}
		if r, ok := s.sealed(); ok {
			// Load decodes little, and so may take what Parse does not; but never does it
			// take another seal.
			id, _ := strconv.Unquote(string(s.text[r.members[0].start:r.members[0].end]))
			sealed := Sealed{Entry: Entry{ID: id, Hash: canon.Hash(r.seal)}}
			if s.load(&sealed) && err == nil {
				require.Equal(t, doc.Snapshots[0].Hash, sealed.Entry.Hash)
				require.Equal(t, doc.Snapshots[0].Request.PromptHash, sealed.PromptHash)
				require.Equal(t, doc.Snapshots[0].Response.RawOutputRef, sealed.RawOutputRef)
				require.Equal(t, doc.Snapshots[0].Response.Headers, sealed.Headers)
			}
		}
		_, found := s.examine()
		require.Equal(t, canonical, found == nil)
	})
}

// resealed returns data with the hashes that Parse asks for, so that the fuzzer gets behind them.
func resealed(data []byte) []byte {
	for range 3 { // cores, then seals, then the document
		_, err := Parse(data)
		var e *Error
		if !errors.As(err, &e) {
			return data
		}
		text := string(data)
		for _, v := range e.Violations {
			if v.Rule == ruleSeal || v.Rule == ruleHash {
				stated, computed := v.Message[len("says "):][:hashLen], v.Message[len(v.Message)-hashLen:]
				text = strings.Replace(text, stated, computed, 1)
			}
		}
		data = []byte(text)
	}
	return data
}
