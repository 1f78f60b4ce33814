package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio/session"
)

// FuzzVerify checks for any bytes that Verify agrees with encoding/json on whether they are JSON, and that reading in
// pieces changes nothing. A session that verifies must have the hash that canon computes of its core, and must still
// verify, with the same hash, after decode and encode.
func FuzzVerify(t *testing.F) {
	f := mutation.New(t)
	for _, tt := range verifyCases {
		f.Add(changed(f, tt.change...))
	}
	f.Add([]byte(`{"interactions":[],"mode":"record","model_id":"\ud83d\ude00\ud83d","adapter_id":"é\udc00","model_io_schema_version":"1.0.0"}`))
	f.Add([]byte("\uFEFF{}"))
	f.Add([]byte("{\"adapter_id\":\"\xed\xa0\x80\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := session.VerifyReader(bytes.NewReader(data), session.VerifyOptions{})
		if tooDeep := errors.Is(err, canon.ErrDepth); !tooDeep {
			require.Equal(t, json.Valid(data) && utf8.Valid(data), err == nil, "%v", err)
		}

		pieces, errPieces := session.VerifyReader(iotest.OneByteReader(bytes.NewReader(data)), session.VerifyOptions{})
		require.Equal(t, err, errPieces)
		require.Equal(t, report, pieces)

		violations := session.Verify(data)
		require.Equal(t, err == nil && report.OK(), len(violations) == 0)
		if len(violations) > 0 {
			return
		}
		var s session.Session
		require.NoError(t, json.Unmarshal(data, &s))
		hash, err := s.Hash()
		require.NoError(t, err)
		require.Equal(t, report.Hash, hash)
		if !strings.Contains(strings.ToLower(string(data)), `\ud`) { // canon does not accept lone surrogates
			require.Equal(t, hashByCanon(t, &s), hash)
		}
		encoded, err := s.Encode()
		require.NoError(t, err)
		require.Equal(t, report, verify(t, encoded, session.VerifyOptions{}))
	})
}

// TestVerifyFixtures verifies the fixture files of the reference. Its oracle has them too, but not as files.
func TestVerifyFixtures(t *testing.T) {
	dir := vector.File(t, "model-io/model_io")
	tests := []struct{ name, why, rule string }{
		{"valid_model_io.json", "valid", ""},
		{"invalid_too_many_interactions.json", "valid as it stands: its note says that a program adds the interactions", ""},
		{"invalid_bad_hash.json", "the response has another hash", "MI7"},
		{"invalid_mode.json", "the mode is unknown", "MI3"},
		{"invalid_non_contiguous_index.json", "the second index is 5", "MI5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, tt.name))
			require.NoError(t, err)
			violations := session.Verify(data)
			if tt.rule == "" {
				require.Empty(t, violations, tt.why)
				return
			}
			require.Len(t, violations, 1, tt.why)
			require.Equal(t, tt.rule, violations[0].Rule, tt.why)
		})
	}
}

// TestCanonicalStringsOfReference checks every string among the reference's canonical values.
func TestCanonicalStringsOfReference(t *testing.T) {
	var cases []struct {
		Text      string `json:"json_text"`
		Canonical string `json:"canonical"`
	}
	vector.Read(t, "model-io/canonical_oracle.json", &cases)
	require.Len(t, cases, 50)
	n := 0
	for _, tt := range cases {
		if tt.Text[0] != '"' {
			continue // only strings in a core have any length; canon tests the rest
		}
		n++
		text := changed(t, `"m"`, tt.Text, `"a"`, `"a","x":`+tt.Text)
		var s session.Session
		require.NoError(t, json.Unmarshal(text, &s))
		encoded, err := s.MarshalJSON()
		require.NoError(t, err)
		if tt.Text != `""` { // an empty model_id breaks MI2
			require.True(t, verify(t, text, session.VerifyOptions{}).OK(), tt.Text)
		}
		require.Contains(t, string(encoded), `"model_id":`+tt.Canonical+`,`, tt.Text)
	}
	require.GreaterOrEqual(t, n, 10)
}
