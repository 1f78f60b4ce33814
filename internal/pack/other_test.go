package pack_test

import (
	"encoding/json"
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
