package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
)

// A verdict is the reference verifier's result for a session.
type verdict struct {
	OK           bool       `json:"ok"`
	Interactions int        `json:"interactions_count"`
	Hash         canon.Hash `json:"model_io_hash"`
	Violations   []struct {
		Rule    string `json:"rule_id"`
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"violations"`
	Throws string `json:"throws"`
}

// ruleOfMissing has our rule for each path of the reference's SCHEMA violations.
var ruleOfMissing = map[string]string{
	"$.model_io_schema_version": "MI1",
	"$.adapter_id":              "MI2",
	"$.model_id":                "MI2",
	"$.mode":                    "MI3",
	"$.interactions":            "MI4",
}

// ours translates the reference's verdict to the rules that we report.
func (v verdict) ours() session.Report {
	report := session.Report{Interactions: v.Interactions, Hash: v.Hash}
	for _, violation := range v.Violations {
		if rule, ok := ruleOfMissing[violation.Path]; ok && violation.Rule == session.RuleSchema {
			if rule == "MI1" { // the reference reports it next to SCHEMA
				continue
			}
			violation.Rule = rule
		}
		report.Violations = append(report.Violations, modelio.Violation{
			Pointer: strings.NewReplacer("$", "", ".", "/", "[", "/", "]", "").Replace(violation.Path), Rule: violation.Rule, Message: violation.Message,
		})
	}
	sortAsMI10(report.Violations)
	return report
}

func verify(t testing.TB, text []byte, opts session.VerifyOptions) session.Report {
	t.Helper()
	report, err := session.VerifyReader(bytes.NewReader(text), opts)
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
	vector.Read(t, "model-io/model_io_oracle.json", &cases)
	require.Len(t, cases, 68)
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			opts := session.VerifyOptions{
				NoResponseHashes: tt.Options.VerifyResponseHashes != nil && !*tt.Options.VerifyResponseHashes,
				NoSizeLimits:     tt.Options.EnforceSizeLimits != nil && !*tt.Options.EnforceSizeLimits,
			}
			got := verify(t, tt.Session, opts)
			requireSchemaAgrees(t, tt.Session, verify(t, tt.Session, session.VerifyOptions{}))
			if tt.Result.Throws != "" {
				require.NotEmpty(t, got.Violations, "where the reference crashes, we report")
				return
			}
			require.Equal(t, tt.Result.ours(), got)
			if opts == (session.VerifyOptions{}) {
				require.Equal(t, got.Violations, session.Verify(tt.Session))
			}
			if got.OK() {
				var s session.Session
				require.NoError(t, json.Unmarshal(tt.Session, &s))
				hash, err := s.Hash()
				require.NoError(t, err)
				require.Equal(t, tt.Result.Hash, hash, "a session that was read has the hash of its file")
			}
		})
	}
}

// requireSchemaAgrees compares a session's validity under its schema with the verifier's report. They must agree,
// unless the fault is in hashes, places, or sizes in bytes.
func requireSchemaAgrees(t *testing.T, text []byte, report session.Report) {
	t.Helper()
	err := schematest.Validate("model_io", text)
	if report.OK() {
		require.NoError(t, err)
		return
	}
	for _, v := range report.Violations {
		if !slices.Contains([]string{"MI5", "MI7", "MI8", "MI9", "MI11"}, v.Rule) {
			require.Error(t, err, v.String())
		}
	}
}

// TestVerifyAgreesWithReferenceOnLargeSessions generates the sessions that are too large to store. Their names are the
// recipes.
func TestVerifyAgreesWithReferenceOnLargeSessions(t *testing.T) {
	header := func() *session.Session { return session.New("mock_a1b2c3d4", "mock") }
	numbered := func(n int) *session.Session {
		s := header()
		for i := range n {
			s.Append(fmt.Sprintf("prompt_%d", i), fmt.Sprintf("response_%d", i))
		}
		return s
	}
	single := func(response string) *session.Session {
		s := header()
		s.Append("p", response)
		return s
	}
	recipes := map[string]func() *session.Session{
		"10001 interactions prompt_<i>/response_<i>":                                   func() *session.Session { return numbered(10001) },
		"10001, enforceSizeLimits=false":                                               func() *session.Session { return numbered(10001) },
		"10000 interactions prompt_<i>/response_<i> (otherwise valid_model_io header)": func() *session.Session { return numbered(10000) },
		"response 'a'*1000001":                                                         func() *session.Session { return single(strings.Repeat("a", 1000001)) },
		"response 'é'*500001 (1000002 bytes)":                                          func() *session.Session { return single(strings.Repeat("é", 500001)) },
		"response 'a'*1000000":                                                         func() *session.Session { return single(strings.Repeat("a", 1000000)) },
	}
	var cases []struct {
		Name   string
		Result verdict
	}
	vector.Read(t, "model-io/model_io_oracle_generated.json", &cases)
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			recipe, ok := recipes[tt.Name]
			require.True(t, ok, "no recipe")
			data, err := recipe().Encode()
			require.NoError(t, err)
			opts := session.VerifyOptions{NoSizeLimits: strings.Contains(tt.Name, "enforceSizeLimits=false")}
			require.Equal(t, tt.Result.ours(), verify(t, data, opts))
			requireSchemaAgrees(t, data, verify(t, data, session.VerifyOptions{}))
		})
	}
}

func TestVerifyReportsWhatTheReferencePrints(t *testing.T) {
	data, err := os.ReadFile(vector.File(t, "model-io/model_io/valid_model_io.json"))
	require.NoError(t, err)
	require.Equal(t,
		`{"interactions_count":2,"model_io_hash":"sha256:ce26da873935464d7f35df38fe4051f9a2e39b204115b87971661d42128cabb2","ok":true}`,
		verify(t, data, session.VerifyOptions{}).String())
}
