package modelio_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// A verdict is what the reference verifier said of a session.
type verdict struct {
	OK           bool                `json:"ok"`
	Interactions int                 `json:"interactions_count"`
	Hash         canon.Hash          `json:"model_io_hash"`
	Violations   []modelio.Violation `json:"violations"`
	Throws       string              `json:"throws"`
}

// The rules that we report what the reference calls SCHEMA under, by path.
var ruleOfMissing = map[string]string{
	"$.model_io_schema_version": "MI1",
	"$.adapter_id":              "MI2",
	"$.model_id":                "MI2",
	"$.mode":                    "MI3",
	"$.interactions":            "MI4",
}

// ours translates the verdict of the reference to the rules that we report.
func (v verdict) ours() modelio.Report {
	report := modelio.Report{Interactions: v.Interactions, Hash: v.Hash}
	for _, violation := range v.Violations {
		if rule, ok := ruleOfMissing[violation.Path]; ok && violation.RuleID == modelio.RuleSchema {
			if rule == "MI1" { // which the reference reports beside SCHEMA
				continue
			}
			violation.RuleID = rule
		}
		report.Violations = append(report.Violations, violation)
	}
	sortAsMI10(report.Violations)
	return report
}

func verify(t testing.TB, session []byte, opts modelio.VerifyOptions) modelio.Report {
	t.Helper()
	report, err := modelio.VerifyReader(bytes.NewReader(session), opts)
	require.NoError(t, err)
	return report
}

func TestVerifyAgreesWithReference(t *testing.T) {
	var cases []struct {
		Name    string
		Session json.RawMessage
		Options struct{ VerifyResponseHashes, EnforceSizeLimits *bool }
		Result  verdict
	}
	readVectors(t, "model-io/model_io_oracle.json", &cases)
	require.Len(t, cases, 68)
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			opts := modelio.VerifyOptions{
				NoResponseHashes: tt.Options.VerifyResponseHashes != nil && !*tt.Options.VerifyResponseHashes,
				NoSizeLimits:     tt.Options.EnforceSizeLimits != nil && !*tt.Options.EnforceSizeLimits,
			}
			got := verify(t, tt.Session, opts)
			if tt.Result.Throws != "" {
				require.NotEmpty(t, got.Violations, "where the reference crashes, we report")
				return
			}
			require.Equal(t, tt.Result.ours(), got)
			if opts == (modelio.VerifyOptions{}) {
				require.Equal(t, got.Violations, modelio.Verify(tt.Session))
			}
			if got.OK() {
				var s modelio.Session
				require.NoError(t, json.Unmarshal(tt.Session, &s))
				hash, err := s.Hash()
				require.NoError(t, err)
				require.Equal(t, tt.Result.Hash, hash, "a session that was read has the hash of its file")
			}
		})
	}
}

// The sessions that are too large to store, by the recipe that is their name.
func TestVerifyAgreesWithReferenceOnLargeSessions(t *testing.T) {
	header := func() *modelio.Session { return modelio.NewSession("mock_a1b2c3d4", "mock") }
	numbered := func(n int) *modelio.Session {
		s := header()
		for i := range n {
			s.Append(fmt.Sprintf("prompt_%d", i), fmt.Sprintf("response_%d", i))
		}
		return s
	}
	single := func(response string) *modelio.Session {
		s := header()
		s.Append("p", response)
		return s
	}
	recipes := map[string]func() *modelio.Session{
		"10001 interactions prompt_<i>/response_<i>":                                   func() *modelio.Session { return numbered(10001) },
		"10001, enforceSizeLimits=false":                                               func() *modelio.Session { return numbered(10001) },
		"10000 interactions prompt_<i>/response_<i> (otherwise valid_model_io header)": func() *modelio.Session { return numbered(10000) },
		"response 'a'*1000001":                                                         func() *modelio.Session { return single(strings.Repeat("a", 1000001)) },
		"response 'é'*500001 (1000002 bytes)":                                          func() *modelio.Session { return single(strings.Repeat("é", 500001)) },
		"response 'a'*1000000":                                                         func() *modelio.Session { return single(strings.Repeat("a", 1000000)) },
	}
	var cases []struct {
		Name   string
		Result verdict
	}
	readVectors(t, "model-io/model_io_oracle_generated.json", &cases)
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			recipe, ok := recipes[tt.Name]
			require.True(t, ok, "no recipe")
			data, err := recipe().Encode()
			require.NoError(t, err)
			opts := modelio.VerifyOptions{NoSizeLimits: strings.Contains(tt.Name, "enforceSizeLimits=false")}
			require.Equal(t, tt.Result.ours(), verify(t, data, opts))
		})
	}
}

func TestVerifyReportsWhatTheReferencePrints(t *testing.T) {
	data, err := os.ReadFile(vectorFile(t, "model-io/model_io/valid_model_io.json"))
	require.NoError(t, err)
	require.Equal(t,
		`{"interactions_count":2,"model_io_hash":"sha256:ce26da873935464d7f35df38fe4051f9a2e39b204115b87971661d42128cabb2","ok":true}`,
		verify(t, data, modelio.VerifyOptions{}).String())
}
