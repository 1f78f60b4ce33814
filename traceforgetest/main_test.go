package traceforgetest_test

import (
	"os"
	"testing"
)

// TestMain runs the tests as outside of CI, where messages name the flag and GitHub gets no annotations.
func TestMain(m *testing.M) {
	os.Setenv("CI", "")
	os.Setenv("GITHUB_ACTIONS", "")
	os.Exit(m.Run())
}
