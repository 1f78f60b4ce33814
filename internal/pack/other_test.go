package pack_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
)

// TestOthers: packs of the system that MIO is from get its verdicts. Our messages say the way out behind its own, and nothing is said of
// the content of a bundle, whose hash is not defined in MIO.
func TestOthers(t *testing.T) {
	var oracle map[string]pack.Answer
	data, err := os.ReadFile(vector.File(t, "model-io/pack_oracle.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &oracle))
	require.Len(t, oracle, 9)
	for name, want := range oracle {
		t.Run(name, func(t *testing.T) {
			report, err := pack.Verify(vector.File(t, "model-io/packs/"+name), t.TempDir(), nil)
			require.NoError(t, err)
			got := report.Answer()
			require.Equal(t, want.OK, got.OK)
			require.Equal(t, want.Files, got.Files)
			require.Len(t, got.Violations, len(want.Violations))
			for i, violation := range want.Violations {
				require.Equal(t, violation.Rule+" "+violation.Path, got.Violations[i].Rule+" "+got.Violations[i].Path)
				reason, _, _ := strings.Cut(violation.Message, ",")
				require.Contains(t, got.Violations[i].Message, reason)
			}
		})
	}
}

// TestOthersThatAreWrong: what the oracle does not show.
func TestOthersThatAreWrong(t *testing.T) {
	right := vector.File(t, "model-io/packs/valid_pack_with_model_io")
	for _, test := range []struct {
		name, want string
		change     func(dir string) error
	}{
		{"session", "PK8: MI7: response_hash mismatch", func(dir string) error {
			file := filepath.Join(dir, "model_io.json")
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, []byte(strings.Replace(string(data), `"response_content": "`, `"response_content": "x`, 1)), 0o600)
		}},
		{"link", "PK6", func(dir string) error { return os.Symlink("run.json", filepath.Join(dir, "policy.json")) }},
		{"directory", "PK2", func(dir string) error { return os.Mkdir(filepath.Join(dir, "sessions"), 0o700) }},
		{"no_json", "PK8", func(dir string) error { return os.WriteFile(filepath.Join(dir, "model_io.json"), []byte("{"), 0o600) }},
		{"other_hash", "PK5: names sha256:11", func(dir string) error {
			return name(dir, "sha256:"+strings.Repeat("1", 64))
		}},
		{"no_session", "PK5: names sha256:ce", func(dir string) error {
			return errors.Join(name(dir, hash), os.Remove(filepath.Join(dir, "model_io.json")))
		}},
		{"run_no_json", "PK3", func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.json"), []byte("{"), 0o600) }},
		{"no_bundle", "PK1", func(dir string) error { return os.Remove(filepath.Join(dir, "bundle.json")) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(right)))
			require.NoError(t, test.change(dir))
			report, err := pack.Verify(dir, t.TempDir(), nil)
			require.NoError(t, err)
			require.False(t, report.OK())
			require.Contains(t, report.Findings[0].String(), test.want)
		})
	}
}

// TestOtherNamesItsSession: a run.json that names the hash of its session (MIO §7) is held to it, whatever else it says.
func TestOtherNamesItsSession(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(vector.File(t, "model-io/packs/valid_pack_with_model_io/model_io.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model_io.json"), data, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"model_io_hash":"`+hash+`"}`), 0o600))
	report, err := pack.Verify(dir, t.TempDir(), nil)
	require.NoError(t, err)
	require.True(t, report.OK(), "%v", report.Findings)
	require.True(t, report.Other)
	require.Equal(t, []pack.Check{{
		Computed: hash, Expected: hash, Match: true, Field: "model_io_hash", Source: "run.json", Target: "model_io.json",
	}}, report.Checks)
}

// hash is that of the session in the reference's pack.
const hash = "sha256:ce26da873935464d7f35df38fe4051f9a2e39b204115b87971661d42128cabb2"

// name has run.json name the hash of a session.
func name(dir, hash string) error {
	file := filepath.Join(dir, "run.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(data), "{", `{"model_io_hash":"`+hash+`",`, 1)), 0o600)
}
