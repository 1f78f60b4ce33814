package schematest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

var _ = flag.Bool("update", false, "write the schemas")

// TestSchemas holds docs/schemas against the code that reads what they describe. The schemas of the command's answers are
// held in its own tests.
func TestSchemas(t *testing.T) {
	Golden(t, "run", Run(t))
	Golden(t, "receipt", Receipt(t))
	Golden(t, "config", Config(t))
	for name, s := range Contract(t) {
		Golden(t, name, s)
	}
}

// TestCompile: all schemas are ones.
func TestCompile(t *testing.T) {
	for _, name := range Names(t) {
		if _, err := compile(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManifestIsWritten: the manifest that a store writes is one.
func TestManifestIsWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(Checkout(".ai-snapshots"))))
	require.NoError(t, os.Remove(filepath.Join(dir, "manifest.json")))
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, audit.WriteManifest(s))
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, Validate("manifest", text))
}

// TestConfigIsOne: the schema of config.json takes what the store takes, and refuses what the store refuses.
func TestConfigIsOne(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		ok           bool
	}{
		{"nothing is required", `{}`, true},
		{"all of it", `{"$schema": "x", "nondeterministic": "why", "scrub": [{"name": "a", "pattern": "b+"}, {"volatile": true}],
			"hosts": {"llm.example.com": "openai"}, "max_age": {"warn_days": 1}, "lint": {"silence": [{"rule": "r", "why": "w"}]},
			"budgets": {"document": "1.5MB", "answer": "500kB", "tokens_per_test": 1, "tokens_of_all": 2, "cost_per_test": 0, "cost_of_all": 0.5},
			"prices": {"m": {"input": 1, "output": 2.5, "cached_input": 0}}}`, true},
		{"a member is unknown", `{"scrubs": []}`, false},
		{"a text is empty", `{"nondeterministic": ""}`, false},
		{"null is no text", `{"nondeterministic": null}`, false},
		{"a rule is half", `{"scrub": [{"name": "a"}]}`, false},
		{"a rule is of two kinds", `{"scrub": [{"name": "a", "pattern": "b", "volatile": true}]}`, false},
		{"a name is none", `{"scrub": [{"name": "A b", "pattern": "b"}]}`, false},
		{"a host has a port", `{"hosts": {"a.example.com:443": "openai"}}`, false},
		{"a provider is none", `{"hosts": {"a.example.com": "../x"}}`, false},
		{"an age says nothing", `{"max_age": {}}`, false},
		{"a size has no unit", `{"budgets": {"document": "1000"}}`, false},
		{"no tokens", `{"budgets": {"tokens_per_test": 0}}`, false},
		{"a price is half", `{"prices": {"m": {"input": 1}}}`, false},
		{"a silence has no reason", `{"lint": {"silence": [{"rule": "r"}]}}`, false},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.text), 0o666))
		s, err := store.Open(dir)
		require.NoError(t, err)
		_, err = s.Config()
		require.Equal(t, c.ok, err == nil, "%s: %v", c.reason, err)
		err = Validate("config", []byte(c.text))
		require.Equal(t, c.ok, err == nil, "%s, and the schema: %v", c.reason, err)
	}
}
