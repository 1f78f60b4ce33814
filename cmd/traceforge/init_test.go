package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
)

// TestInitExplainsTheConfiguration: the help names every member that config.json may have.
func TestInitExplainsTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"unknown": 1}`), 0o666))
	s, err := store.Open(dir)
	require.NoError(t, err)
	_, err = s.Config()
	known := regexp.MustCompile(`there are ([a-z_, ]+)`).FindStringSubmatch(err.Error())
	require.NotNil(t, known, err)
	text, err := os.ReadFile("help/init.txt")
	require.NoError(t, err)
	for member := range strings.SplitSeq(known[1], ", ") {
		require.Regexp(t, `(?m)^  ([a-z_]+, )*`+member+`\b`, string(text))
	}
}
